"""The parser that all command lines share."""

import math
from pathlib import Path
from typing import Any

import pytest

from spillway.base import durable
from spillway.base.arguments import Parser, UsageError, add_declared, add_out, given, play, words_of
from spillway.base.options import OptionInfo, describe, plain
from spillway.experiments.run.spec import Conduct, Playing
from spillway.schedulers.assembly import Settings
from spillway.workloads.logs.reading import Reading


def parser() -> Parser:
    """Two options, one of them a choice, and a number."""
    made = Parser(prog="demo", examples="\ndemo --engine fluid\n")
    made.add_argument("--engine", choices=("fluid", "fixed"))
    made.add_argument("--workload", required=True)
    made.add_argument("--jobs", type=int)
    return made


@pytest.mark.parametrize(("line", "message"), [
    ("--worklod x", "unknown option '--worklod'; did you mean '--workload'? (see demo --help)"),
    ("--frobnicate", "unknown option '--frobnicate' (see demo --help)"),
    ("--workload x --engine fluide", "--engine: expected one of fluid, fixed, got 'fluide'; did you mean 'fluid'?"),
    ("--workload x --jobs many", "--jobs: expected a whole number, got 'many'"),
    ("--workload x y", "unexpected argument 'y'"),
    ("", "missing: --workload"),
    ("--work x", "unknown option '--work'"),
])  # fmt: skip
def test_what_is_wrong_is_named(line: str, message: str) -> None:
    """With the nearest spelling, where there is one; abbreviations are no options."""
    with pytest.raises(UsageError) as caught:
        parser().parse_args(line.split())
    assert str(caught.value).startswith(message)


def test_the_help_ends_with_the_examples() -> None:
    """One a line."""
    assert parser().format_help().endswith("\nexamples:\n  demo --engine fluid\n")


def test_a_late_parser_is_filled_once_and_only_when_it_is_used(capsys: pytest.CaptureFixture[str]) -> None:
    """A subcommand that is not chosen is not filled; its own options are those that are suggested."""
    filled = []

    def fill(one: Parser) -> None:
        filled.append(one.prog)
        one.add_argument("--depth", type=int)
        one.set_defaults(handler=lambda options: options.depth)

    top = Parser(prog="demo")
    commands = top.add_subparsers(required=True, metavar="COMMAND", prog="demo")
    for name in ("first", "second"):
        commands.add_parser(name, fill=fill)
    assert play(top, ["second", "--depth", "7"]) == 7
    assert play(top, ["second", "--dept", "7"]) == 2
    assert filled == ["demo second"]
    assert capsys.readouterr().err == (
        "spillway: error: unknown option '--dept'; did you mean '--depth'? (see demo second --help)\n"
    )


@pytest.mark.parametrize(("error", "code", "line"), [
    (IsADirectoryError(21, "x", "here"), 2, "but a folder is where a file is needed; name another place"),
    (FileExistsError(17, "x", "here/inputs"), 2, "but a file is where a folder is needed at here/inputs; name"),
    (FileNotFoundError(2, "x", "here"), 2, "but there is no such folder; name another place"),
    (PermissionError(13, "x", "here/sub/a"), 2, "but you may not write there at here/sub/a; name"),
    (durable.failed(Path("here"), OSError(20, "x")), 2, "but a file is where a folder is needed; name"),
    (durable.failed(Path("here"), OSError(28, "No space left on device")), 1, "cannot write 'here': No space left"),
])  # fmt: skip
def test_a_wrong_place_to_write_is_a_wrong_command_line(
    error: OSError, code: int, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """At any stage; a full disk is no fault of the command line (failed before: 1, or a traceback)."""

    def fail(_: object) -> int:
        raise error

    one = Parser(prog="demo")
    add_out(one, "FILE", "what is written")
    one.set_defaults(handler=fail)
    assert play(one, ["--out", "here"]) == code
    said = capsys.readouterr().err
    assert line in said
    assert said.startswith("spillway: error: --out here: expected a place that can be written, " if code == 2 else "")
    assert said.count("\n") == 1


def test_a_process_without_memory(capsys: pytest.CaptureFixture[str]) -> None:
    """One line: it was a traceback."""
    one = Parser()
    one.set_defaults(handler=lambda _: bytes(2**62))
    assert play(one, []) == 1
    assert "not enough memory for this process" in capsys.readouterr().err


@pytest.mark.parametrize("error", [FileNotFoundError(2, "x", "here/gone"), FileNotFoundError(2, "x", "there")])
def test_any_other_error_of_the_system_is_a_defect(error: OSError) -> None:
    """A file that is missing elsewhere, or below the folder, is no fault of ``--out``."""

    def fail(_: object) -> int:
        raise error

    one = Parser(prog="demo")
    add_out(one, "FILE", "what is written")
    one.set_defaults(handler=fail)
    with pytest.raises(FileNotFoundError):
        play(one, ["--out", "here"])


def another(info: OptionInfo) -> Any:
    """A value that is not the default."""
    if info.form is not None:
        return ("partition=a", "user=b")
    if info.type is bool:
        return not info.default
    if info.choices:
        return plain(next(choice for choice in info.choices if choice != info.default))
    if info.type is str:
        return "another"
    bounds = (info.default + 1, info.high, info.low)
    low, high = (math.inf * sign if bound is None else bound for sign, bound in ((-1, info.low), (1, info.high)))
    return next(value for value in bounds if value is not None and value != info.default and low <= value <= high)


@pytest.mark.parametrize("declared", [Settings, Playing, Conduct, Reading])
def test_words_are_read_back(declared: type) -> None:
    """All options of a class at once, each with another value than its default; and none."""
    values = {info.name: another(info) for info in describe(declared)}
    made = Parser(prog="demo")
    add_declared(made, declared)
    assert given(made.parse_args(words_of(declared, values)), declared) == values
    assert words_of(declared, {}) == []

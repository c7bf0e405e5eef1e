"""The parser that all command lines share."""

from __future__ import annotations

import pytest

from spillway.base.arguments import Parser, UsageError, play


def parser() -> Parser:
    """Two options, one of them a choice, and a number."""
    made = Parser(prog="demo", examples="\ndemo --engine fluid\n")
    made.add_argument("--engine", choices=("fluid", "fixed"))
    made.add_argument("--workload", required=True)
    made.add_argument("--jobs", type=int)
    return made


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--worklod x", "unknown option '--worklod'; did you mean '--workload'? (see demo --help)"),
        ("--frobnicate", "unknown option '--frobnicate' (see demo --help)"),
        ("--workload x --engine fluide", "--engine: expected one of fluid, fixed, got 'fluide'; did you mean 'fluid'?"),
        ("--workload x --jobs many", "--jobs: expected a whole number, got 'many'"),
        ("--workload x y", "unexpected argument 'y'"),
        ("", "missing: --workload"),
        ("--work x", "unknown option '--work'"),
    ],
)
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

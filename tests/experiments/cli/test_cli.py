"""The command ``spillway``: its table of subcommands, former spellings, and words that are no command."""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from spillway.base.arguments import Parser
from spillway.experiments import cli
from spillway.experiments import cli as commands
from spillway.experiments.campaign.workers.signals import StopSignal


def test_every_command_is_a_module_with_what_it_needs() -> None:
    """And every module is in the table."""
    folder = Path(commands.__file__).parent
    stated = {path.stem for path in folder.glob("*.py") if "\nHELP = " in path.read_text()}
    assert stated <= {cli.module_of(name).__name__.rpartition(".")[2] for name in cli.COMMANDS}
    for name in cli.COMMANDS:
        module = cli.module_of(name)
        assert "\n" not in module.HELP
        lines = module.EXAMPLES.strip().splitlines()
        assert lines
        assert all(f"spillway {name}" in line for line in lines)


@pytest.mark.parametrize(("noun", "entry"), [
    ("models", "checkpointed"),
    ("lives", "two-reservations"),
    ("engines", "waterfill"),
    ("studies", "production-buffers"),
    ("platforms", "herbein-small"),
    ("workloads", "KTH-SP2-1996-2.1-cln"),
])  # fmt: skip
def test_every_noun_has_its_list(noun: str, entry: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One command for all that can be chosen; policies are tested with the service's list."""
    assert cli.main(["list", noun]) == 0
    assert entry in capsys.readouterr().out


def test_help_is_a_command_too(capsys: pytest.CaptureFixture[str]) -> None:
    """``spillway help run`` is ``spillway run --help``."""
    with pytest.raises(SystemExit, match="0"):
        cli.main(["help", "report"])
    assert "usage: spillway report" in capsys.readouterr().out


def test_what_is_read_is_not_written_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Failed before: a log was replaced by the workload that was made of it. Links and other spellings are seen."""
    log = tmp_path / "mine.swf"
    log.write_text("; MaxProcs: 4\n1 0 -1 30 4 -1 -1 4 60 -1 1 1 1 -1 1 -1 -1 -1\n")
    (tmp_path / "other.json").symlink_to(log)
    for out in (log, tmp_path / "." / "mine.swf", tmp_path / "other.json"):
        assert cli.main(["workload", "convert", str(log), "--out", str(out)]) == 2
        assert "would take the place of a file that is read" in capsys.readouterr().err
    assert log.read_text().startswith("; MaxProcs: 4")


@pytest.mark.parametrize(("given", "meant"), [
    ([], ["campaign"]),
    (["mine.toml", "--workers", "1"], ["campaign", "mine.toml", "--workers", "1"]),
    (["--workers", "1"], ["campaign", "--workers", "1"]),
    (["report", "results"], ["report", "results"]),
    (["--version"], ["--version"]),
])  # fmt: skip
def test_shorter_spellings(given: list[str], meant: list[str]) -> None:
    """A campaign file and no command at all stand for one."""
    assert cli.expanded(given) == meant


def test_help_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    """The help names every command in its group; the version is a line."""
    for option in ("--help", "--version"):
        with pytest.raises(SystemExit) as left:
            cli.main([option])
        assert left.value.code == 0
    printed = capsys.readouterr().out
    for group, names in cli.GROUPS.items():
        assert f"\n{group}:\n" in printed
        assert all(re.search(rf"^  {name} ", printed, re.MULTILINE) for name in names)
    assert re.fullmatch(r"spillway \d+\.\d+\.\d+( \(commit [0-9a-f]{10}(\+changes)?\))?", printed.splitlines()[-1])


def _parsers(parser: argparse.ArgumentParser) -> Iterator[Parser]:
    assert isinstance(parser, Parser)
    parser.fill()
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for child in action.choices.values():
                yield from _parsers(child)


def test_every_parser_is_in_one_style() -> None:
    """Commands, studies and actions: described, with examples, options in groups, values by a name of their own."""
    found = [parser for name in cli.COMMANDS for parser in _parsers(cli.parser_of(name))]
    assert {"spillway run", "spillway study gang", "spillway workload convert"} <= {parser.prog for parser in found}
    for parser in found:
        shown = [action for action in parser._actions if action.help not in (None, argparse.SUPPRESS)]
        options = {action.option_strings[0]: action for action in shown if action.option_strings}
        options.pop("-h")
        assert parser.format_help().startswith(f"usage: {parser.prog}"), "a percent sign in a help text is a format"
        assert parser.description, parser.prog
        lines = parser.examples.strip().splitlines()
        assert lines, parser.prog
        assert all(parser.prog in line for line in lines), parser.prog
        loose = {action.option_strings[0] for action in parser._optionals._group_actions if action in options.values()}
        assert len(options) <= 5 or not loose, f"{parser.prog}: {loose}"
        for action in shown:
            taken = action.nargs != 0 and not isinstance(action, argparse._SubParsersAction)
            assert action.metavar != "VALUE", (parser.prog, action)
            assert not taken or action.metavar or action.choices, (parser.prog, action)


def test_what_cannot_be_combined_is_refused_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before the log is read (this file is no log), everywhere: nothing else is printed, nothing is written."""
    monkeypatch.chdir(tmp_path)
    Path("c.toml").write_text('models = ["io"]\n[[workload]]\nsource = "x.swf"\n[[policy]]\npolicy = "gang"\n')
    Path("x.swf").write_text("no log\n")
    for given in (
        ["run", "--workload", "x.swf", "--policy", "gang", "--model", "io"],
        ["whatif", "x.swf", "--set", "policy=easy", "--policy", "gang", "--model", "io"],
        ["c.toml"],
    ):
        assert cli.main(given) == 2
        printed = capsys.readouterr()
        assert "Gang and --model io cannot be combined" in printed.err
        assert (printed.out, printed.err.count("\n")) == ("", 1)
    assert {path.name for path in tmp_path.iterdir()} == {"c.toml", "x.swf"}


_STUDY = """
from spillway.experiments.studies import Product, Study

GRID = {"workload": ["x.swf"], "platform": ["thesis", "nowhere"], "policy": ["easy"], "seed": [0]}
STUDY = Study(name="one", title="One", play=Product(), grids=[GRID])
"""
_TOO_SMALL = ["x.swf", "--nodes", "2", "--no-plots"]


@pytest.mark.parametrize(("given", "words"), [
    (["run", *_TOO_SMALL, "--policy", "easy"], "could never run"),
    (["run", "x.swf", "--policy", "easy", "--policy", "filler", "--max-runs", "1"], "--max-runs"),
    (["whatif", *_TOO_SMALL[:3], "--set", "load=x2"], "could never run"),
    (["c.toml", "--max-runs", "1"], "--max-runs"),
    (["study", "one.py"], "no platform 'nowhere'"),
])  # fmt: skip
@pytest.mark.parametrize("out", ["", "mine", "mine/deep/er"])
def test_a_refused_command_leaves_nothing(
    given: list[str],
    words: str,
    out: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Failed before: ``inputs`` stayed with the files that had been read. Earlier files stay, byte for byte."""
    monkeypatch.chdir(tmp_path)
    Path("x.swf").write_text("; MaxProcs: 4\n1 0 -1 30 4 -1 -1 4 60 -1 1 1 1 -1 1 -1 -1 -1\n")
    policies = "".join(f'[[policy]]\npolicy = "{name}"\n' for name in ("easy", "fcfs"))
    Path("c.toml").write_text(f'[[workload]]\nsource = "x.swf"\n{policies}')
    Path("one.py").write_text(_STUDY)
    Path("mine/inputs").mkdir(parents=True)
    Path("mine/inputs/old.json").write_text("{}")
    before = {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")}
    assert cli.main([*given, *(["--out", out] if out else [])]) == 2
    assert words in capsys.readouterr().err
    assert {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")} == before


def test_a_log_is_named_in_either_way() -> None:
    """As an argument or an option, of ``run`` and of ``whatif``; seeds are counted from the first."""
    from spillway.experiments.campaign.comparison import campaign_of

    parser = cli.parser_of("run")
    both = [
        campaign_of(parser.parse_args(words))
        for words in (
            ["kth-like:jobs=3", "-p", "easy", "--seed", "4", "--seeds", "3"],
            ["-p", "easy", "-w", "kth-like:jobs=3", "--seeds", "3", "--seed", "4"],
        )
    ]
    assert both[0] == both[1]
    assert both[0].seeds == (4, 5, 6)


@pytest.mark.parametrize(("stop", "code"), [(KeyboardInterrupt(), 130), (StopSignal(15), 143)])
def test_stopped_before_the_command(
    stop: KeyboardInterrupt, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """While its options are made: no traceback."""

    def interrupted(words: object) -> None:
        raise stop

    monkeypatch.setattr(cli, "build_parser", interrupted)
    assert cli.main(["list"]) == code
    assert "stopped" in capsys.readouterr().err

"""The command ``spillway``: its table of subcommands, former spellings, and what is no command."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from experiments import cli, commands


def test_every_command_is_a_module_with_what_it_needs() -> None:
    """And every module is in the table."""
    folder = Path(commands.__file__).parent
    modules = {path.stem.replace("_", "-") for path in folder.glob("*.py") if path.stem != "__init__"}
    assert modules == set(cli.COMMANDS)
    for name in cli.COMMANDS:
        module = cli.module_of(name)
        assert "\n" not in module.HELP
        lines = module.EXAMPLES.strip().splitlines()
        assert lines
        assert all(f"spillway {name}" in line for line in lines)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ([], ["campaign"]),
        (["mine.toml", "--workers", "1"], ["campaign", "mine.toml", "--workers", "1"]),
        (["--workers", "1"], ["campaign", "--workers", "1"]),
        (["gang", "--quick"], ["study", "gang", "--quick"]),
        (["report", "results"], ["report", "results"]),
        (["--version"], ["--version"]),
    ],
)
def test_shorter_spellings(given: list[str], meant: list[str]) -> None:
    """The former names of commands stay."""
    assert cli.expanded(given) == meant


def test_what_is_no_command(capsys: pytest.CaptureFixture[str]) -> None:
    """The nearest command is suggested."""
    assert cli.main(["reprot", "x"]) == 2
    assert capsys.readouterr().err == (
        "spillway: error: expected a command or a campaign file (.toml), got 'reprot'; did you mean 'report'? "
        "(spillway --help lists the commands)\n"
    )


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

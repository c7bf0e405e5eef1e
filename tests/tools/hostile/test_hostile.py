"""Hostile files, those that take a moment only, given to the commands in this process."""

import sys
from pathlib import Path

import pytest

from spillway.experiments.cli import main
from tools.hostile.commands import COMMANDS, good_inputs, run
from tools.hostile.files import CASES

SLOW = ("run", "run-on")
"""Commands that read a file as others do, after a second of preparations: for one file in five they are enough."""

LIGHT = [
    (case, command)
    for place, case in enumerate(CASES)
    if not case.heavy and not case.lawful
    for command in case.commands
    if command not in SLOW or len(case.commands) == 1 or place % 5 == 0
]


@pytest.mark.parametrize(("case", "command"), LIGHT, ids=lambda value: getattr(value, "name", value))
def test_one_line_and_exit_code_2(case, command, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    """For any contents of the file, its error is reported in one line."""
    given = str(case.make(tmp_path / case.name))
    try:
        code = main(COMMANDS[command](given, good_inputs(tmp_path / "good")))
    except SystemExit as stopped:
        code = stopped.code
    errors = capfd.readouterr().err.splitlines()
    assert code == 2, errors
    assert len(errors) == 1, errors
    assert len(errors[0]) < 1000
    assert case.name in errors[0] or command in ("campaign", "run", "run-on", "explain", "report"), errors


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are Linux's")
def test_a_bomb_in_a_process_of_its_own(tmp_path: Path) -> None:
    """The command of the table: 2 GB of zeros end with one line, within the limits of memory and time."""
    case = next(case for case in CASES if case.name == "bomb.json.xz")
    outcome = run(case, "info", tmp_path)
    assert outcome.fault(case) == "", outcome
    assert outcome.peak_mb < 400

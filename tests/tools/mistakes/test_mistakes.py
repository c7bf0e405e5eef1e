"""Every mistake of the table: exit code 2 and one line, the recorded one."""

from pathlib import Path

import pytest

from tools.mistakes.table import GROUPS, LINES, folder, made, text

COMMANDS = [command for commands in GROUPS.values() for command in commands]


@pytest.mark.parametrize("command", COMMANDS)
def test_one_line_as_recorded(command: str, tmp_path: Path) -> None:
    """No traceback, no usage, nothing else on either stream, and no file is left that was not there."""
    with folder(tmp_path):
        before = set(tmp_path.rglob("*"))
        code, printed = made(command)
    assert set(tmp_path.rglob("*")) - before == set()
    assert code == 2
    assert printed.startswith("spillway: error: ")
    assert printed.count("\n") == 1
    assert "Traceback" not in printed
    assert str(tmp_path) not in printed
    assert f"$ {command}\n{printed}" in LINES.read_text()


def test_the_record_has_nothing_else() -> None:
    """It is the output of ``python -m tools.mistakes``; and every interface is there."""
    recorded = LINES.read_text()
    lines = dict(
        zip(COMMANDS, [recorded.partition(f"$ {command}\n")[2].partition("\n")[0] for command in COMMANDS], strict=True)
    )
    assert recorded == text(lines)
    doors = {command.split()[1] for command in COMMANDS if command.startswith("spillway")}
    assert {"run", "campaign", "study", "report", "explain", "export", "verify", "serve", "simulate"} <= doors
    assert {"platform", "workload"} <= doors

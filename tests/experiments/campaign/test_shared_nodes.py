"""A log with jobs that share nodes: said at once, and not compared with its site's schedule."""

from __future__ import annotations

from pathlib import Path

import pytest

from spillway.experiments.cli import main

LOG = """\
JobID|Submit|Start|End|ElapsedRaw|NNodes|NodeList
1|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T01:00:00|3600|1|n1
2|2024-01-01T00:00:00|2024-01-01T00:10:00|2024-01-01T01:10:00|3600|2|n[1-2]
3|2024-01-01T00:00:00|2024-01-01T00:20:00|2024-01-01T01:20:00|3600|1|n2
"""


@pytest.mark.parametrize("command", [("run",), ("whatif", "--set", "load=x1.1", "--shakes", "0")])
@pytest.mark.parametrize("force", [False, True])
def test_shared_nodes_are_said_without_notes(
    command: tuple[str, ...], force: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It was one of the notes that only ``--notes`` prints; the site's schedule is played with ``--force``."""
    (tmp_path / "log.txt").write_text(LOG)
    forced = ("--force",) if force else ()
    options = ("-p", "easy", "--no-plots", *forced, "--out", str(tmp_path / "out"))
    assert main([command[0], str(tmp_path / "log.txt"), *command[1:], *options]) == 0
    printed = "".join(capsys.readouterr())
    words = "3 jobs (100.0 % of the node-hours) share nodes with other jobs, 100.0 % of all: played as whole nodes"
    assert words in " ".join(printed.split())
    if command[0] == "run":
        assert bool(list((tmp_path / "out").glob("*replay*"))) is force

"""Campaigns in which no job runs report that, with the reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spillway.experiments.cli import main

PAIR = {"type": "composed", "repeat": 1, "seq": ["p", "p"]}
"""Runs, but not in slices."""


def test_a_run_that_rejects_every_job_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Failed before: the table had dashes, and the reason stood in rejections.csv only. It is a result: exit code 0."""
    fields = {"subtime": 0, "res": 1, "walltime": 100, "profile": "p"}
    jobs = [{"id": str(i), **fields, "profile": "pair"} for i in range(2)] + [{"id": "2", **fields, "res": 9999}]
    workload = {"nb_res": 9999, "jobs": jobs, "profiles": {"p": {"type": "delay", "delay": 10}, "pair": PAIR}}
    (tmp_path / "w.json").write_text(json.dumps(workload))
    where = ["--workload", str(tmp_path / "w.json"), "--platform", "thesis", "--no-plots", "--workers", "1"]
    assert main(["run", *where, "--policy", "gang", "--policy", "easy", "--out", str(tmp_path / "out")]) == 0
    (note,) = [line for line in capsys.readouterr().out.splitlines() if "were rejected" in line]
    assert "w_gang" in note
    assert "all 3 jobs were rejected: a profile of type 'composed' cannot be run in slices" in note
    assert note.endswith("(2 times; other reasons: 1)")

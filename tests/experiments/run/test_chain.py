"""A chain of stage-in, compute and stage-out jobs around a persistent buffer, from job scripts to the tables."""

import json
from pathlib import Path

import pytest

from spillway.experiments.cli import main
from tests.kit.tables import csv_rows

_JOBS = (("in", 1, 30), ("one", 3, 100), ("two", 1, 80), ("out", 1, 20))
"""Of a chain: name, nodes, run time (s)."""
_SCRIPTS = {
    "in": "#BB create_persistent name={name} capacity=6GB\n#DW persistentdw name={name}\n",
    "one": "#DW persistentdw name={name}\n",
    "two": "#DW persistentdw name={name}\n",
    "out": "#BB destroy_persistent name={name}\n#DW persistentdw name={name}\n",
}
_DEPENDS = {"one": "afterok:{0}1", "two": "afterok:{0}1", "out": "afterany:{0}2:{0}3"}


@pytest.mark.parametrize("life", ["with-nodes", "slurm"])
@pytest.mark.parametrize("policy", ["easy", "conservative", "plan:steps=10"])
def test_two_chains(tmp_path: Path, policy: str, life: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Four nodes and 10 GB of burst buffer: two chains with a buffer of 6 GB each cannot run at once.

    The first one's data are staged in from 0 to 30 s; both computing jobs run from then on, the longer one until 130 s;
    staging out ends at 150 s, and the buffer is freed. Only then are there enough free bytes for the second chain's,
    whose first job was submitted at 1 s and has a node at all times: 150 to 180 s, computing until 280 s, out until
    300 s. A job of three nodes without a buffer, submitted at 5 s with 25 s of walltime, uses the nodes beside the
    first stage-in.
    """
    scripts = tmp_path / "scripts"
    scripts.mkdir()
    jobs = []
    for chain, name in enumerate(("first", "second"), start=1):
        for place, (part, nodes, run) in enumerate(_JOBS, start=1):
            job_id = 10 * chain + place
            (scripts / f"{job_id}.sh").write_text(f"#!/bin/sh\n{_SCRIPTS[part].format(name=name)}srun work\n")
            depends = {"depends": _DEPENDS[part].format(chain)} if part in _DEPENDS else {}
            at = {"subtime": (chain - 1) + place / 10}
            jobs.append({"id": job_id, "res": nodes, "walltime": run + 1, "profile": str(run)} | at | depends)
    jobs.append({"id": 30, "subtime": 5, "res": 3, "walltime": 25, "profile": "20"})
    profiles = {str(run): {"type": "delay", "delay": run} for run in (20, 30, 80, 100)}
    (tmp_path / "w.json").write_text(json.dumps({"nb_res": 4, "jobs": jobs, "profiles": profiles}))
    made = tmp_path / "buffered.json"
    assert main(["workload", "scripts", str(tmp_path / "w.json"), "--scripts", str(scripts), "--out", str(made)]) == 0
    options = ["--policy", policy, "--bb-life", life, "--platform", "nodes:4,burst_buffer_total=10GB", "--no-plots"]
    capsys.readouterr()
    assert main(["run", str(made), *options, "--out", str(tmp_path / "out")]) == 0
    assert "requested no burst buffer" not in capsys.readouterr().out  # persistent ones count
    (run_folder,) = (tmp_path / "out").glob("buffered_*")
    starts = {int(row["job_id"]): round(float(row["starting_time"])) for row in csv_rows(run_folder / "jobs.csv")}
    first = {11: 0, 12: 30, 13: 30, 14: 130}
    second = {21: 150, 22: 180, 23: 180, 24: 280}
    assert starts == first | second | {30: 5}
    buffers = [
        (row["name"], round(float(row["created_s"])), row["destroyed_by"])
        for row in csv_rows(run_folder / "persistent.csv")
    ]
    assert buffers == [("first", 0, "w0!14"), ("second", 150, "w0!24")]

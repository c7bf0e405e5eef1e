"""Features that a log states and no run plays are counted, with their share of the node-hours."""

import json
from pathlib import Path

import pytest

from spillway.experiments.campaign.inputs.input_files import Inputs
from spillway.experiments.run.spec import ModelSpec, PlatformSpec, PolicySpec, WorkloadSpec
from spillway.workloads import MachineFacts, convert
from spillway.workloads.logs.omissions import Omission
from tests.workloads.logs.test_formats import read

HEAD = "JobID|Partition|Submit|Eligible|Start|End|Timelimit|NNodes|ReqTRES|Dependency|SubmitLine\n"
ROW = (
    "{id}|{partition}|2024-01-01T00:00:{submit:02}|{eligible}|2024-01-01T00:01:00|2024-01-01T00:11:00|00:20:00|{nodes}|"
    "cpu=1,node={nodes}{tres}|{dependency}|{line}\n"
)
BLANK = {"partition": "batch", "submit": 0, "eligible": "", "nodes": 1, "tres": "", "dependency": "", "line": ""}


def rows(*jobs: dict[str, object]) -> str:
    """Text of sacct; every job runs 10 min."""
    return HEAD + "".join(ROW.format(**(BLANK | {"id": number} | job)) for number, job in enumerate(jobs, start=1))


LOG = rows(
    {"nodes": 4, "tres": ",gres/gpu=8,gres/gpu:a100=8", "partition": "gpu"},
    {"dependency": "afterok:1", "eligible": "2024-01-01T00:00:30"},
    {"eligible": "2024-01-01T00:00:40"},
    {"id": "4+0"},
    {"id": "4+1", "partition": "gpu"},
    {"id": "6_1", "line": "sbatch --array=1-9%2 job.sh"},
    {"id": "7_1", "line": "sbatch -a 1-9 job%3.sh"},
    {"id": "8_1"},
    {"id": "8_[2-9%1]"},
)


def test_counts_and_shares() -> None:
    """By hand: 11 node-intervals of 10 min each, of which the GPU job has 4."""
    workload, report = convert(read(LOG, "log.txt"), MachineFacts(nodes=8))
    assert workload.omissions == report.omissions
    found = {omission.name: (omission.jobs, round(omission.share * 11, 9)) for omission in report.omissions}
    assert found == {
        "partitions": (8, 11),
        "dependencies": (1, 1),  # it started with the job that it depends on
        "holds": (1, 1),
        "gpus": (1, 4),
        "components": (2, 2),
    }
    said = "\n".join(report.lines())
    assert "8 jobs (100.0 % of the node-hours) are of 2 partitions (batch, gpu), which share all nodes here" in said
    assert "1 jobs (36.4 % of the node-hours) request GPUs, which no node here has" in said


@pytest.mark.parametrize("text", [rows({}, {}), "; MaxNodes: 8\n1 0 1 600 1 -1 -1 1 900 -1 1 1 1 1 1 1 -1 -1\n"])
def test_a_log_of_which_all_is_played(text: str) -> None:
    """Nothing is listed if everything is played."""
    assert convert(read(text, "log.swf" if text[0] == ";" else "log.txt"), MachineFacts(nodes=8))[0].omissions == ()


def test_they_stand_in_every_run(tmp_path: Path) -> None:
    """The assumptions of a run have them as plain values; a Batsim workload, taken as it is, has no omissions."""
    (tmp_path / "log.txt").write_text(LOG)
    inputs = Inputs(tmp_path / "out", lambda _: None)
    (pair,) = inputs.pairs(
        [WorkloadSpec(source=str(tmp_path / "log.txt"))], [PlatformSpec(source="nodes:8")], ModelSpec(name="rigid"), 0
    )
    kept = [
        Omission(**fields)
        for fields in json.loads(json.dumps(inputs.assumed(*pair, PolicySpec(policy="easy"))["omissions"]))
    ]
    assert [entry.name for entry in kept][:2] == ["partitions", "dependencies"]
    made = tmp_path / "out" / pair[0].path
    (pair,) = inputs.pairs(
        [WorkloadSpec(source=str(made))], [PlatformSpec(source="nodes:8")], ModelSpec(name="rigid"), 0
    )
    assert inputs.assumed(*pair, PolicySpec(policy="easy"))["omissions"] == []

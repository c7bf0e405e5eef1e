"""Recorded run times contain their I/O: the rest is computing, so that an uncontended job takes its recorded time."""

import tempfile
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.experiments.campaign.inputs.input_files import read
from spillway.experiments.campaign.inputs.machines import load
from spillway.experiments.campaign.inputs.sources import expand
from spillway.experiments.cli import main
from spillway.experiments.run.recorded_io import jobs_alone
from spillway.experiments.run.spec import ModelSpec, PlatformSpec, WorkloadSpec
from spillway.experiments.run.uncontended_jobs import OneByOne, play_one_by_one
from spillway.platforms.simgrid.xml_reader import parse_platform
from spillway.schedulers.assembly import Settings
from spillway.schedulers.jobmodels.io_aware import IoAware
from spillway.simulator.reading.workload import workload_from_object
from spillway.workloads.batsim.workload import Workload
from tests.kit.tables import csv_rows

ROW = "{number} {submit} 0 {run} {size} -1 -1 {size} {wall} -1 1 7 1 1 1 -1 -1 -1\n"


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve jobs, one a week, whose run times are from 20 s to 11 h; each requests a burst buffer from the model."""
    path = tmp_path_factory.mktemp("io") / "site.swf"
    runs = [20, 20, 600, 1800, 3600, 5400, 7200, 10800, 14400, 20000, 30000, 40000]
    rows = [
        ROW.format(number=i, submit=604_800 * i, run=run, size=1 + i % 5, wall=4 * run)
        for i, run in enumerate(runs, start=1)
    ]
    path.write_text("; MaxProcs: 16\n" + "".join(rows))
    return path


def converted(path: Path, model: str, **convert: Any) -> Workload:
    """The workload that a run under this model plays."""
    (source,) = expand(WorkloadSpec(source=str(path), convert=convert))
    return read(source, load(PlatformSpec(source="nodes:16")), ModelSpec(name=model), 0)[0]


def test_a_job_alone_takes_its_recorded_time(log: Path, tmp_path: Path) -> None:
    """Within the time of a checkpoint; before, I/O came on top. Jobs whose I/O alone takes longer are counted."""
    common = ["--nodes", "16", "--model", "io", "--policy", "fcfs", "--no-plots", "--notes", "--no-replay"]
    assert main(["run", str(log), *common, "--out", str(tmp_path)]) == 0
    (run,) = tmp_path.glob("site_fcfs*")
    jobs = [(float(row["execution_time"]), row) for row in csv_rows(run / "jobs.csv")]
    recorded = [20, 20, 600, 1800, 3600, 5400, 7200, 10800, 14400, 20000, 30000, 40000]
    longer = [took - run_s for (took, _), run_s in zip(jobs, recorded, strict=True) if took > 1.02 * run_s + 1]
    notes = (tmp_path / "assumptions.txt").read_text()
    (note,) = [line for line in notes.splitlines() if "recorded run times contain the I/O" in line]
    assert f"of {len(longer):,} nothing remains" in note
    assert len(longer) <= 2


def test_the_thesis_rule_is_there_for_who_asks(log: Path) -> None:
    """An own kappa, and models that move nothing, convert as they did."""
    whole = [profile["cpu"] for profile in converted(log, "rigid").profiles.values()]
    rule = [profile["cpu"] for profile in converted(log, "io", kappa=40.0).profiles.values()]
    left = [profile["cpu"] for profile in converted(log, "io").profiles.values()]
    assert all(1 <= ours <= theirs for ours, theirs in zip(left, whole, strict=True))
    assert rule != left
    assert sum(left) < sum(whole)


def test_what_io_alone_outlasts_is_clipped_and_counted(log: Path) -> None:
    """On a machine with a slow file system, short jobs compute one flop; the note states their number."""
    (source,) = expand(WorkloadSpec(source=str(log)))
    slow = load(PlatformSpec(source="nodes:16", changes={"pfs.bandwidth": "1MBps"}))
    workload = read(source, slow, ModelSpec(name="io"), 0)[0]
    clipped = sum(profile["cpu"] == 1 for profile in workload.profiles.values())
    assert clipped >= 2
    assert f"of {clipped:,} nothing remains" in workload.notes[-1]


def apart(workload: Workload, speed_flops: float) -> dict[str, object]:
    """A workload file in which each job is submitted a day after twice its recorded run time, without a walltime."""
    runs_s = [workload.profiles[job.profile]["cpu"] / speed_flops for job in workload.jobs]
    submits_s = accumulate((2 * run_s + 86_400.0 for run_s in runs_s), initial=0.0)
    jobs = []
    for job, submit_s in zip(workload.jobs, submits_s, strict=False):
        fields = {name: value for name, value in job.to_object().items() if name != "walltime"}
        jobs.append(fields | {"id": job.name, "subtime": submit_s})
    return {"nb_res": workload.nb_res, "jobs": jobs, "profiles": dict(workload.profiles)}


@settings(max_examples=10)
@given(
    jobs=st.lists(st.tuples(st.integers(20, 40_000), st.integers(1, 20)), min_size=1, max_size=12),
    staging=st.sampled_from(["", "share_in=0.5,minutes=5"]),
)
def test_stages_of_a_job_alone_are_those_of_a_simulation(jobs: list[tuple[int, int]], staging: str) -> None:
    """Start, end and the seconds of each stage, to the last bit; jobs that the machine cannot carry are left out.

    Jobs whose staging takes a stated time at least are not calculated, but simulated.
    """
    rows = [
        ROW.format(number=i, submit=60 * i, run=run, size=size, wall=4 * run) for i, (run, size) in enumerate(jobs, 1)
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "site.swf"
        path.write_text("; MaxProcs: 20\n" + "".join(rows))
        workload = converted(path, "io", kappa=0.0, **({"staging": staging} if staging else {}))
    machine, model = load(PlatformSpec(source="nodes:16")), IoAware()
    platform, speed_flops = parse_platform(machine.xml, machine.name), machine.facts.node_speed_flops
    calculated = [record for _, record in jobs_alone(workload, platform, model, speed_flops)]
    played = play_one_by_one(
        OneByOne({}), Settings(), model, platform, workload_from_object(apart(workload, speed_flops))
    )
    wanted = [record for record in played if record.job.bb_bytes]
    assert [(timed.job.id, timed.start_s, timed.end_s, timed.seconds) for timed in calculated] == [
        (timed.job.id, timed.start_s, timed.end_s, timed.seconds) for timed in wanted
    ]

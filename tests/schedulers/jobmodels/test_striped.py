"""Striped burst buffers in the I/O-aware model: transfers by hand, turns at the I/O gate, refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from spillway.base.errors import OptionError
from spillway.protocol.messages import (
    ExecuteJob,
    JobCompleted,
    JobState,
    RegisterJob,
    RegisterProfile,
    ResourceInfo,
    SimulationBegins,
)
from spillway.schedulers.assembly import SessionSpec
from spillway.schedulers.jobmodels.io_aware import IoAware
from spillway.schedulers.jobmodels.record import JobRecord
from spillway.schedulers.jobmodels.runtime import ProgramRuntime
from spillway.schedulers.model.job import Allocation, Job
from tests.properties.outage_world import Played, play
from tests.schedulers.jobmodels.dynamic_wire import DYNAMIC, Told

GB = 10**9


def sent() -> list[tuple[dict[str, Any], ExecuteJob]]:
    """Profiles and executions of the sub-jobs of a job on the nodes 0, 1 and 5, with two stripes of six bytes.

    They are the stripes' stage-in, a phase, and a checkpoint; the storage nodes are 3 and 4, the file system is 2.
    """
    size = {"capacity_bytes": "10"}
    stores = (ResourceInfo(3, "s0", properties=size), ResourceInfo(4, "s1", properties=size), ResourceInfo(2, "pfs"))
    nodes = tuple(ResourceInfo(i, f"n{i}") for i in (0, 1, 5))
    told = Told(ProgramRuntime(IoAware(phase_target=1.0, checkpoint_fraction=1.0)), SimulationBegins(
        0.0, nodes, stores, config=DYNAMIC
    ))  # fmt: skip
    profile = {"type": "parallel_homogeneous", "cpu": 2.0, "com": 0, "bb_total": 12, "bb_stripes": 2}
    job = Job("w0!1", 0, 0.0, 100.0, 3, profile_name="p", profile=profile)
    requests = [*told.start(job, Allocation((0, 1, 2), (0, 1), 6, striped=True), 0.0)]
    for number in range(3):
        sub_id = f"w0%1!{number}"
        requests += told.tell(1.0 + number, JobCompleted(1.0 + number, sub_id, JobState.COMPLETED_SUCCESSFULLY, 0, ()))
    profiles = {one.profile_name: one.profile for one in requests if isinstance(one, RegisterProfile)}
    named = {one.job_id: one.job["profile"] for one in requests if isinstance(one, RegisterJob)}
    return [(profiles[named[one.job_id]], one) for one in requests if isinstance(one, ExecuteJob)]


def test_staging_has_a_task_per_stripe() -> None:
    """Six bytes each way for each stripe, on any nodes."""
    staged = sent()[:2]
    assert [run.alloc for _, run in staged] == [(2, 3), (2, 4)]
    assert [run.storage_mapping for _, run in staged] == [
        {"source": 2, "destination": 3},
        {"source": 2, "destination": 4},
    ]
    assert [profile["nb_bytes"] for profile, _ in staged] == [6, 6]


def test_each_node_has_an_equal_part_of_each_stripe() -> None:
    """Three nodes, two stripes of six bytes: two bytes for each pair, 12 in all, and nothing else moves."""
    [(profile, run)] = sent()[3:]
    assert run.alloc == (0, 1, 3, 4, 5)
    com, size = profile["com"], len(run.alloc)
    flows = {(run.alloc[at // size], run.alloc[at % size]): amount for at, amount in enumerate(com) if amount}
    assert flows == dict.fromkeys([(node, stripe) for node in (0, 1, 5) for stripe in (3, 4)], 2.0)


def ran(
    root: Path, buffer: dict[str, Any], policy: str = "fcfs", model: str = "io", nodes: int = 4, **settings: str
) -> Played:
    """A job of 2 phases of 10 s on ``tiny``: links of 1 GB/s to nodes, storage nodes and file system."""
    profile = {"type": "parallel_homogeneous", "cpu": 20e9, "com": 0} | buffer
    job = {"id": "1", "subtime": 0, "res": nodes, "profile": "p", "walltime": 1000}
    options = {"phase_target": 10e9} if model == "io" else {}
    spec = SessionSpec(policy, model=model, model_options=options, settings=settings)
    return play(root, spec, {"nb_res": 8, "jobs": [job], "profiles": {"p": profile}}, [])


@pytest.mark.parametrize(("stripes", "checkpoint_s"), [(1, 4.0), (2, 2.0)])
def test_times_by_hand(stripes: int, checkpoint_s: float, tmp_path: Path) -> None:
    """8 GB through a file system of 1 GB/s take 8 s; 4 GB of checkpoint use one link of 1 GB/s per stripe."""
    played = ran(tmp_path, {"bb_total": 8 * GB, "bb_stripes": stripes})
    record: JobRecord = played.records["w0!1"]
    seconds = {"stage_in": 8.0, "checkpoint": checkpoint_s, "stage_out": 8.0}
    for stage, expected_s in seconds.items():
        assert record.seconds[stage] == pytest.approx(expected_s, abs=0.01), stage
    moved = {"stage_in": 8 * GB, "checkpoint": 4 * GB, "drain": 4 * GB, "stage_out": 8 * GB}
    assert record.moved_bytes == moved
    assert len(set(record.allocation.storages)) == stripes
    assert record.allocation.bb_bytes == 8 * GB // stripes


def test_a_striped_buffer_takes_one_turn(tmp_path: Path) -> None:
    """The nodes have two I/O nodes; the bytes of the buffer move once all the same."""
    settings = {"io_control": "exclusive", "io_node_depth": "1"}
    played = ran(tmp_path, {"bb_total": 8 * GB, "bb_stripes": 2}, nodes=8, **settings)
    assert played.watch.states == {"w0!1": JobState.COMPLETED_SUCCESSFULLY}
    assert played.records["w0!1"].moved_bytes["stage_in"] == 8 * GB


def test_a_policy_that_packs_requests_refuses_stripes(tmp_path: Path) -> None:
    """It packs one request per node, onto any storage node: no stripes, and no restriction to storage of the own rack.

    A gang policy chooses nodes by its rows, whatever their racks have.
    """
    assert ran(tmp_path, {"bb_total": 8 * GB}, "window", "rigid").watch.states == {"w0!1": JobState.REJECTED}
    assert ran(tmp_path, {"bb": GB}, "window", "rigid").watch.states == {"w0!1": JobState.COMPLETED_SUCCESSFULLY}
    with pytest.raises(OptionError, match="policy Window and setting storage_order=rack cannot be combined"):
        ran(tmp_path, {}, "window", "rigid", storage_order="rack")
    with pytest.raises(OptionError, match="policy Gang and setting storage_order=rack cannot be combined"):
        ran(tmp_path, {}, "gang", "timeshared", storage_order="rack")


def test_applications_that_resize_refuse_stripes(tmp_path: Path) -> None:
    """No change of size could divide the buffer; others run as they were submitted."""
    described = {"iterations": 2, "io_every": 1, "control_every": 1, "minimum": 1, "maximum": 8, "overhead": 1.0,
                 "io_bytes": 0, "model": {"work": 4.0}}  # fmt: skip
    buffer = {"bb_total": 8 * GB}
    assert ran(tmp_path, buffer, model="malleable").watch.states == {"w0!1": JobState.COMPLETED_SUCCESSFULLY}
    resized = ran(tmp_path, buffer | {"malleable": described}, model="malleable")
    assert resized.watch.states == {"w0!1": JobState.REJECTED}

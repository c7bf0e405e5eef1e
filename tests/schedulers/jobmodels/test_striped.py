"""Striped burst buffers in the I/O-aware model: transfers by hand, turns at the I/O gate, refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from spillway.base.errors import OptionError
from spillway.protocol.messages import JobState, ResourceInfo, SimulationBegins
from spillway.schedulers.assembly import SessionSpec
from spillway.schedulers.jobmodels.base import Place, Transfer
from spillway.schedulers.jobmodels.record import JobRecord
from spillway.schedulers.jobmodels.runtime import hosts_of
from spillway.schedulers.jobmodels.sub_jobs import lower, volume
from spillway.schedulers.model.job import Allocation
from spillway.schedulers.model.machine import Machine
from tests.properties.outage_world import Played, play

GB = 10**9


def machine() -> Machine:
    """Nodes with the ids 0, 1 and 5, storage nodes 3 and 4, file system 2."""
    size = {"capacity_bytes": str(40 * GB)}
    stores = (ResourceInfo(3, "s0", properties=size), ResourceInfo(4, "s1", properties=size), ResourceInfo(2, "pfs"))
    return Machine.from_simulation_begins(
        SimulationBegins(0.0, tuple(ResourceInfo(i, f"n{i}") for i in (0, 1, 5)), stores)
    )


BUFFER = Allocation((0, 1, 2), (0, 1), 6, striped=True)


def test_staging_has_a_task_per_stripe() -> None:
    """Six bytes each way for each stripe, on any nodes."""
    transfer = Transfer(Place.PFS, Place.BURST_BUFFER, 6, "stage_in")
    lowered = lower(transfer, BUFFER.nodes, BUFFER, hosts_of(machine()))
    assert [task.hosts for task in lowered.tasks] == [(2, 3), (2, 4)]
    assert [task.storage for task in lowered.tasks] == [
        {"source": 2, "destination": 3},
        {"source": 2, "destination": 4},
    ]
    assert lowered.profile["nb_bytes"] == 6
    assert volume(transfer, 3, BUFFER) == 12


@pytest.mark.parametrize("writes", [True, False])
def test_each_node_has_an_equal_part_of_each_stripe(writes: bool) -> None:
    """Three nodes, two stripes of six bytes: two bytes for each pair, 12 in all, and nothing else moves."""
    ends = (Place.NODES, Place.BURST_BUFFER) if writes else (Place.BURST_BUFFER, Place.NODES)
    lowered = lower(Transfer(*ends, 6, "checkpoint"), BUFFER.nodes, BUFFER, hosts_of(machine()))
    [task] = lowered.tasks
    assert task.hosts == (0, 1, 3, 4, 5)
    com, size = lowered.profile["com"], len(task.hosts)
    flows = {(task.hosts[at // size], task.hosts[at % size]): amount for at, amount in enumerate(com) if amount}
    pairs = {(node, stripe) for node in (0, 1, 5) for stripe in (3, 4)}
    assert flows == dict.fromkeys(pairs if writes else {(b, a) for a, b in pairs}, 2.0)


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

"""Striped burst buffers in the I/O-aware model: transfers by hand, turns at the I/O gate, refusals."""

from pathlib import Path
from typing import Any

import pytest

from spillway.base.errors import OptionError
from spillway.protocol.messages import (
    JobState,
)
from spillway.schedulers.jobmodels.record import JobRecord
from tests.kit.specs import session_spec
from tests.properties.outage_world import Played, play

GB = 10**9


def ran(
    root: Path, buffer: dict[str, Any], policy: str = "fcfs", model: str = "io", nodes: int = 4, **settings: str
) -> Played:
    """A job of 2 phases of 10 s on ``tiny``: links of 1 GB/s to nodes, storage nodes and file system."""
    profile = {"type": "parallel_homogeneous", "cpu": 20e9, "com": 0} | buffer
    job = {"id": "1", "subtime": 0, "res": nodes, "profile": "p", "walltime": 1000}
    options = {"phase_target": 10e9} if model == "io" else {}
    spec = session_spec(policy, model=model, model_options=options, settings=settings)
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

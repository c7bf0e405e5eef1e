"""Buffers that waited too long for nodes, and persistent ones that wait for free bytes: times worked out by hand."""

from pathlib import Path
from typing import Any

import pytest

from tests.kit.specs import session_spec
from tests.properties.outage_world import Change
from tests.schedulers.lives.story import FOUR_RACKS, GB, TINY, job, play

PROFILES: dict[str, Any] = {
    "p5": {"type": "parallel_homogeneous", "cpu": 1e7, "com": 1e6},
    "p7": {"type": "parallel_homogeneous_total", "cpu": 1e7, "com": 0, "bb": 5 * GB},
    "p13": {"type": "parallel_homogeneous", "cpu": 4e10, "com": 1e6, "bb": GB},
}

JOBS = [job("13", 4, 4, "p13"), job("7", 13, 4, "p7"), job("5", 30, 4, "p5", bb=GB)]

"""All need all nodes; 7 and 5 cannot hold their buffers together on two storage nodes of 10 GB."""

OUTAGES: list[Change] = [(18.488971, False, (4,)), (40.995233, False, (2,)), (59.879532, False, (6,))]

"""Two storage nodes and a node, for ever."""


@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative", "plan", "slurm-backfill"])
@pytest.mark.parametrize("model", ["rigid", "io"])
@pytest.mark.parametrize("life", ["slurm", "standby:bound=0", "standby:bound=3", "standby:bound=5"])
def test_jobs_that_no_nodes_are_left_for(policy: str, model: str, life: str, tmp_path: Path) -> None:
    """They wait, and the simulation ends in a deadlock: they do not take their buffers from each other for ever."""
    spec = session_spec(policy, model=model, settings={"bb_life": life})
    story = play(FOUR_RACKS, spec, JOBS, PROFILES, (tmp_path / "events.txt", OUTAGES), deadlock=True)
    assert story.waiting == 2
    assert list(story.starts) == ["13"]
    assert sum(at > 60.0 for at, _ in story.evictions) <= 2  # each may have been the one that could start


def test_they_go_on_when_the_node_is_back(tmp_path: Path) -> None:
    """The node returns at 2,000 s: one after the other stages in and runs."""
    spec = session_spec("fcfs", model="io", settings={"bb_life": "standby:bound=3"})
    changes: list[Change] = [*OUTAGES, (2000.0, True, (2,))]
    story = play(FOUR_RACKS, spec, JOBS, PROFILES, (tmp_path / "events.txt", changes))
    assert 2000.0 <= min(story.starts["5"], story.starts["7"]) < 2010.0
    assert story.waiting == 0


def created(name: str, gigabytes: int) -> list[dict[str, Any]]:
    """The field that creates a buffer on two storage nodes."""
    return [{"name": name, "bytes": gigabytes * GB, "stripes": 2}]


@pytest.mark.parametrize("life", ["slurm", "standby"])
@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative", "plan", "slurm-backfill"])
@pytest.mark.parametrize("destroyed", [False, True])
def test_a_buffer_that_is_free_now_but_booked_for_later(policy: str, life: str, *, destroyed: bool) -> None:
    """Job B holds its buffer without end, so it does not get the bytes booked for a creation from 100 s on.

    It waits until that buffer is destroyed, and is rejected where no job does so.
    """
    jobs = [
        job("A", 0, 2, "a", walltime=100),
        job("make", 1, 0, "none", walltime=60, bb_create=created("ref", 16)),
        job("B", 2, 1, "b", walltime=50),
    ]
    if destroyed:
        jobs.append(job("drop", 120, 0, "none", walltime=60, bb_destroy=["ref"]))
    profiles = {
        "a": {"type": "delay", "delay": 90, "bb": 3 * GB},
        "b": {"type": "delay", "delay": 40, "bb": 3 * GB},
        "none": {"type": "delay", "delay": 1},
    }
    story = play(TINY, session_spec(policy, settings={"bb_life": life}), jobs, profiles)
    assert story.created_s == pytest.approx({"ref": 90.0}, abs=0.01)  # A ends before its walltime
    if destroyed:
        assert 120.0 <= story.holds["B"] <= story.starts["B"] < 155.0  # slurm-backfill: at its next pass
        assert not story.refused
    else:
        assert "no room for its burst buffer beside ref" in story.refused["B"]

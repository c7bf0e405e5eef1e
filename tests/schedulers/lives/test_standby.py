"""Buffers that waited too long for nodes, and persistent ones that wait for free bytes: times worked out by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from spillway.schedulers.assembly import SessionSpec
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
    spec = SessionSpec(policy, model=model, settings={"bb_life": life})
    story = play(FOUR_RACKS, spec, JOBS, PROFILES, (tmp_path / "events.txt", OUTAGES), deadlock=True)
    assert story.waiting == 2
    assert list(story.started_s) == ["13"]
    assert sum(at > 60.0 for at, _ in story.evicted_s) <= 2  # each may have been the one that could start


def test_they_go_on_when_the_node_is_back(tmp_path: Path) -> None:
    """The node returns at 2,000 s: one after the other stages in and runs."""
    spec = SessionSpec("fcfs", model="io", settings={"bb_life": "standby:bound=3"})
    changes: list[Change] = [*OUTAGES, (2000.0, True, (2,))]
    story = play(FOUR_RACKS, spec, JOBS, PROFILES, (tmp_path / "events.txt", changes))
    assert 2000.0 <= min(story.started_s["5"], story.started_s["7"]) < 2010.0
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
    story = play(TINY, SessionSpec(policy, settings={"bb_life": life}), jobs, profiles)
    assert story.created_s == pytest.approx({"ref": 90.0}, abs=0.01)  # A ends before its walltime
    if destroyed:
        assert 120.0 <= story.held_s["B"] <= story.started_s["B"] < 155.0  # slurm-backfill: at its next pass
        assert not story.reasons
    else:
        assert "no room for its burst buffer beside ref" in story.reasons["B"]


@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative", "plan"])
@pytest.mark.parametrize("holders", [1, 2])
def test_a_stage_in_that_is_late_goes_before_a_creation(policy: str, holders: int) -> None:
    """A stage-in of 6 GB at 1 GB/s ends 0.2 ms after 6 s, two of them side by side after 12 s: the job's buffer is then
    held for longer than was booked, and the creation, which was booked from there, begins later.
    """
    jobs = [job(f"A{number}", 0, 1, "a", walltime=200, bb=6 * GB) for number in range(holders)]
    jobs.append(job("B", 5, 1, "b", walltime=300, bb_create=created("c", 12)))
    profiles = {"a": {"type": "delay", "delay": 40}, "b": {"type": "delay", "delay": 20}}
    spec = SessionSpec(policy, model="io", settings={"bb_life": "two-reservations"})
    story = play(TINY, spec, jobs, profiles)
    assert [story.started_s[f"A{number}"] for number in range(holders)] == pytest.approx(
        [6 * holders] * holders, abs=0.01
    )
    assert story.created_s == pytest.approx({"c": 40 + 12 * holders}, abs=0.01)
    assert story.started_s["B"] == story.created_s["c"]


def test_a_job_that_holds_its_own_buffer_frees_nothing_while_it_waits_for_another() -> None:
    """Job own stages in while long runs; then drop, released at 50 s, has its place before it and is to destroy a.

    That waits for b, for which there is no room beside a: b's creation and drop are rejected, own runs.
    """
    jobs = [
        job("make", 0, 0, "none", walltime=60, bb_create=created("a", 12)),
        job("long", 0, 8, "long", walltime=60),
        job("drop", 1, 1, "short", walltime=60, depends="afterany:long", bb_use=["a", "b"], bb_destroy=["a"]),
        job("more", 2, 0, "none", walltime=60, bb_create=created("b", 12)),
        job("own", 3, 1, "short", walltime=60, bb=GB, bb_use=["a"]),
    ]
    profiles = {name: {"type": "delay", "delay": delay} for name, delay in (("none", 1), ("long", 50), ("short", 5))}
    story = play(TINY, SessionSpec("fcfs", settings={"bb_life": "slurm"}), jobs, profiles)
    assert story.started_s["own"] == pytest.approx(50.0, abs=0.01)
    assert "no room for the persistent buffer b beside a" in story.reasons["more"]
    assert "there is no persistent buffer b" in story.reasons["drop"]

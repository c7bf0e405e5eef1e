"""What the gang policies must keep, whatever the jobs: everything ends, time is received in full, none overtakes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedulers.policies import POLICIES
from schedulers.policies.gang import Gang
from schedulers.timesharing.sharing import SharesNodes
from schedulers.wire.messages import JobState
from tests.schedulers.jobmodels.shared_machine import NODES, job, play

NAMES = [name for name, entry in POLICIES.items() if issubclass(entry.cls, SharesNodes)]
OPTIONS = {"quantum": "7", "level": "3", "migration_cost": "2", "migration_limit": "3"}

JOBS = st.lists(
    st.tuples(
        st.integers(0, 40),
        st.integers(1, NODES + 1),
        st.integers(1, 30),
        st.integers(0, 200),
        st.integers(0, NODES - 1),
    ),
    min_size=1,
    max_size=8,
)


def described(rows: list[tuple[int, int, int, int, int]], walltime: float | None = None) -> list[dict[str, Any]]:
    """Jobs from (submission, nodes, seconds, blocks, first node of the file)."""
    extras = {} if walltime is None else {"walltime": walltime}
    return [
        job(
            str(number), nodes, float(seconds), float(submit), io_blocks=blocks,
            file_nodes=sorted((first + step) % NODES for step in range(nodes)) if nodes <= NODES else [], **extras,
        )
        for number, (submit, nodes, seconds, blocks, first) in enumerate(sorted(rows))
    ]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=6)
@given(rows=JOBS)
def test_every_job_gets_what_it_needs(name: str, rows: list[tuple[int, int, int, int, int]]) -> None:
    """Feasible jobs end well, not before their time with all blocks local, and start in order of submission; the books
    agree after every message (checked inside)."""
    shown = play(POLICIES[name].build(OPTIONS), described(rows))
    fitting = {str(n): row for n, row in enumerate(sorted(rows)) if row[1] <= NODES}
    assert shown.ends.keys() == fitting.keys()
    assert shown.refused.keys() == {str(n) for n in range(len(rows))} - fitting.keys()
    for number, (_, _, seconds, blocks, _) in fitting.items():
        end_s, state = shown.ends[number]
        assert state is JobState.COMPLETED_SUCCESSFULLY
        assert end_s - shown.starts[number] >= seconds + 0.03 * blocks - 1e-5
    starts = [shown.starts[number] for number in sorted(fitting, key=int)]
    assert starts == sorted(starts)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=3)
@given(rows=JOBS)
def test_same_jobs_same_requests(name: str, rows: list[tuple[int, int, int, int, int]]) -> None:
    """Nothing depends on anything but the messages."""
    policy = POLICIES[name].build(OPTIONS)
    assert play(policy, described(rows)).requests == play(policy, described(rows)).requests


@settings(max_examples=6)
@given(rows=JOBS)
def test_walltimes_are_received_time(rows: list[tuple[int, int, int, int, int]]) -> None:
    """With eight seconds each: a job that needs as many or more is ended, not before it can have received them."""
    plain = sorted((submit, nodes, run, 0, 0) for submit, nodes, run, _, _ in rows)
    shown = play(Gang(quantum=3.0, level=2), described(plain, walltime=8.0))
    for number, (_, nodes, seconds, _, _) in enumerate(plain):
        if nodes > NODES:
            continue
        end_s, state = shown.ends[str(number)]
        if seconds < 8:
            assert state is JobState.COMPLETED_SUCCESSFULLY
        elif state is not JobState.COMPLETED_WALLTIME_REACHED:
            assert state is JobState.COMPLETED_KILLED
            assert end_s % 3.0 == 0.0, "only the end of a slice kills a job"
        assert end_s - shown.starts[str(number)] >= min(seconds, 8) - 1e-5

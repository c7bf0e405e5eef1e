"""Queue orders, one by one and several at a time."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from spillway.schedulers.model.job import Job
from spillway.schedulers.model.machine import simple_machine
from spillway.schedulers.policykit.ordering import ORDERS, ordered, positions
from tests.schedulers.policies.scenes import view

MACHINE = simple_machine(80)

REQUESTS = st.tuples(
    st.sampled_from([1, 2, 2, 8, 80]),
    st.sampled_from([0, 0, 5, 7_000_000_000]),
    st.sampled_from([1.0, 60.0, 60.0, 3600.0, float("inf")]),
    st.sampled_from([0.0, 0.0, 10.0, 500.0]),
)


def make_jobs(requests: list[tuple[int, int, float, float]], first: int) -> list[Job]:
    """Jobs in order of submission."""
    return [
        Job(f"w0!{first + i}", first + i, submit_s, walltime_s, nodes, bb_bytes, 0)
        for i, (nodes, bb_bytes, walltime_s, submit_s) in enumerate(requests)
    ]


@given(st.lists(st.lists(REQUESTS, min_size=1, max_size=12), min_size=1, max_size=4), st.floats(500.0, 1e6))
def test_several_orders_at_a_time_are_the_orders_one_by_one(
    passes: list[list[tuple[int, int, float, float]]], now_s: float
) -> None:
    """Pass after pass with the same memory, while jobs come and go."""
    known: dict[str, tuple[float, ...]] = {}
    for number, requests in enumerate(passes):
        jobs = make_jobs(requests, 5 * number)  # some have the ids of jobs of the pass before, and other requests
        known = {job_id: keys for job_id, keys in known.items() if job_id not in {job.id for job in jobs}}
        for _ in range(2):
            found = positions(jobs, tuple(ORDERS), now_s, known)
            for name, order in zip(ORDERS, found, strict=True):
                assert [jobs[index] for index in order.tolist()] == ordered(
                    view(MACHINE, jobs, now_s=now_s), jobs, name
                ), name
        now_s += 1000.0


def test_orders_by_bandwidth() -> None:
    """The total rate of a job's nodes counts: 8 x 1, 2 x 3 and 1 x 5; 4 x 2 is as much as the first."""
    rates = ((8, 1), (2, 3), (1, 5), (4, 2))
    jobs = [Job(f"w0!{i}", i, 0.0, 60.0, nodes, 0, rate) for i, (nodes, rate) in enumerate(rates)]
    assert [job.number for job in ordered(view(MACHINE, jobs), jobs, "small-io")] == [2, 1, 0, 3]
    assert [job.number for job in ordered(view(MACHINE, jobs), jobs, "large-io")] == [0, 3, 1, 2]


def test_memory_does_not_grow_for_ever() -> None:
    """Keys of jobs that have left are dropped."""
    known: dict[str, tuple[float, ...]] = {}
    for first in range(0, 5000, 10):
        jobs = make_jobs([(1, 0, 60.0, 0.0)] * 10, first)
        assert len(list(positions(jobs, ("fcfs", "wfp3", "sjf"), 10.0, known))) == 3
        assert len(known) <= 1020
        assert all(job.id in known for job in jobs)

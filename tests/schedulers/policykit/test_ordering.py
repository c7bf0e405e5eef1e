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


def make_jobs(requests: list[tuple[int, int, float, float]]) -> list[Job]:
    """Jobs in order of submission."""
    return [
        Job(f"w0!{i}", i, submit_s, walltime_s, nodes, bb_bytes, 0)
        for i, (nodes, bb_bytes, walltime_s, submit_s) in enumerate(requests)
    ]


@given(st.lists(REQUESTS, min_size=1, max_size=12), st.floats(500.0, 1e6))
def test_several_orders_at_a_time_are_the_orders_one_by_one(
    requests: list[tuple[int, int, float, float]], now_s: float
) -> None:
    """All orders by name."""
    jobs = make_jobs(requests)
    for name, order in zip(ORDERS, positions(jobs, ORDERS, now_s), strict=True):
        assert [jobs[index] for index in order.tolist()] == ordered(view(MACHINE, jobs, now_s=now_s), jobs, name), name


def test_orders_by_bandwidth() -> None:
    """The total rate of a job's nodes counts: 8 x 1, 2 x 3 and 1 x 5; 4 x 2 is as much as the first."""
    rates = ((8, 1), (2, 3), (1, 5), (4, 2))
    jobs = [Job(f"w0!{i}", i, 0.0, 60.0, nodes, 0, rate) for i, (nodes, rate) in enumerate(rates)]
    assert [job.number for job in ordered(view(MACHINE, jobs), jobs, "small-io")] == [2, 1, 0, 3]
    assert [job.number for job in ordered(view(MACHINE, jobs), jobs, "large-io")] == [0, 3, 1, 2]

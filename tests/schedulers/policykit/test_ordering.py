"""Queue orders, one by one and several at a time."""

from spillway.schedulers.model.job import Job
from spillway.schedulers.model.machine import simple_machine
from spillway.schedulers.policykit.ordering import ordered
from tests.schedulers.policies.scenes import view

MACHINE = simple_machine(80)


def test_orders_by_bandwidth() -> None:
    """The total rate of a job's nodes counts: 8 x 1, 2 x 3 and 1 x 5; 4 x 2 is as much as the first."""
    rates = ((8, 1), (2, 3), (1, 5), (4, 2))
    jobs = [Job(f"w0!{i}", i, 0.0, 60.0, nodes, 0, rate) for i, (nodes, rate) in enumerate(rates)]
    assert [job.number for job in ordered(view(MACHINE, jobs), jobs, "small-io")] == [2, 1, 0, 3]
    assert [job.number for job in ordered(view(MACHINE, jobs), jobs, "large-io")] == [0, 3, 1, 2]

"""Tiers of partitions order the jobs of every policy with a queue."""

import pytest

from spillway.schedulers.model.site import Partition, Site, site_text
from tests.kit.specs import session_spec
from tests.schedulers.policykit.test_preemption import job, play

SITE = Site(partitions=(Partition("low", default=True), Partition("high", tier=2)))

JOBS = [job(0, 8, 20), job(1, 8, 10), job(2, 8, 10, "high"), job(3, 8, 10, "low,high")]
"""Job 1 has all nodes until 20 s; then 3 and 4, which may run in ``high``, come before job 2."""


@pytest.mark.parametrize(
    "policy",
    ["fcfs", "easy", "sjf-easy", "list", "conservative", "slurm-backfill"],
)
def test_higher_tiers_first(policy: str) -> None:
    """The order was that of submission under all but ``slurm-backfill`` and the order ``multifactor``."""
    options = {"bf_interval": 1.0, "batch_sched_delay": 0.0} if policy == "slurm-backfill" else {}
    starts = play(SITE, JOBS, policy, policy_options=options | ({"replan": True} if policy == "conservative" else {}))
    order = sorted(starts.starts, key=lambda name: starts.starts[name])
    assert order == ["1", "3", "4", "2"]


def test_a_policy_without_an_order_says_so() -> None:
    """A note before the run: its score chooses."""
    settings = {"site": site_text(SITE)}
    (note,) = session_spec("plan", {}, settings=settings).notes()
    assert note.startswith("policy plan has no option order: ")
    assert session_spec("easy", {}, settings=settings).notes() == []

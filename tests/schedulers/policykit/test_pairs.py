"""Pairs by priorities that are kept from pass to pass are those by new ones: random queues that come and go."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from spillway.core import Queue
from spillway.schedulers.core.partitions import node_sets
from spillway.schedulers.model.job import Job
from spillway.schedulers.model.machine import Machine, simple_machine
from spillway.schedulers.model.site import Partition, Site, Weights
from spillway.schedulers.policykit.ordering import ORDER_NAMES
from spillway.schedulers.policykit.slurm.pairs import Pairs
from tests.schedulers.policies.scenes import GB, view

SITES = (
    Site(weights=Weights(age=50, size=100, period_s=20.0)),
    Site(
        partitions=(Partition("a", "0-5"), Partition("b", "4-9", factor=7), Partition("c", "0-3", tier=3, factor=2)),
        weights=Weights(age=50, fairshare=40, size=100, partition=300, longest_age_s=200.0, period_s=20.0),
    ),
)
JOB = st.tuples(
    st.integers(1, 10), st.sampled_from([60.0, 600.0]), st.sampled_from("xyz"), st.integers(0, 2),
    st.sampled_from([(0,), (1,), (2,), (1, 0), (0, 2, 1)]), st.booleans(),
)  # fmt: skip
STEPS = st.lists(st.tuples(st.integers(0, 4), st.lists(st.integers(0, 12), max_size=4), st.integers(0, 30)), max_size=8)


def shown(site: Site, queue: Sequence[Job], now_s: float, notebook: dict[str, Any]) -> Any:
    """A policy's view of a queue."""
    machine: Machine = replace(simple_machine(10, 2, 10 * GB), partitions=node_sets(site, 10))
    found = view(machine, queue, now_s, notebook=notebook)
    found.site = site
    return found


def told(pairs: Pairs) -> list[tuple[Any, ...]]:
    """All data of each pair."""
    users: dict[int, int] = {}
    found = []
    for place, nodes, row, user, flags in pairs.table.tolist():
        assert pairs.waiting[place]
        found.append((pairs.jobs[place], nodes, row, users.setdefault(user, len(users)), flags))
    assert set(pairs.left()) == {one[0] for one in found}
    return [(*one, duration_s) for one, duration_s in zip(found, pairs.durations_s.tolist(), strict=True)]


@given(st.sampled_from(SITES), st.sampled_from(ORDER_NAMES), st.lists(JOB, min_size=30, max_size=30), STEPS)
def test_pairs_that_are_kept_are_those_made_anew(
    site: Site, order: str, jobs: list[tuple[Any, ...]], steps: list[tuple[int, list[int], int]]
) -> None:
    """Some jobs come, some go (the last that came and others), time passes, also over calculations of priorities."""
    coming = iter(jobs)
    line = Queue()
    number, now_s, notebook = 0, 0.0, dict[str, Any]()
    for come, go, later_s in steps:
        now_s += later_s
        for _ in range(come):
            nodes, walltime_s, user, pools, partitions, buffer = next(coming, jobs[0])
            here = partitions if site.partitions else ()
            line.add(
                Job(
                    f"w!{number}", number, now_s, walltime_s, nodes, pools=(pools,), partitions=here,
                    bb_bytes=GB * buffer, extras={"user": user},
                )
            )  # fmt: skip
            number += 1
        for job in [job for place, job in enumerate(line.waiting()) if place in go]:
            line.remove(job.id)
        queue = line.shown()
        kept = Pairs.of(shown(site, queue, now_s, notebook), order)
        anew = Pairs.of(shown(site, queue, now_s, {}), order)
        assert told(kept) == told(anew)

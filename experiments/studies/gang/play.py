"""One point: a drawn workload under one gang policy, and its results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from spillway.core import GangClock
from spillway.core import run_gang as run_between_events
from spillway.experiments.studies.points import Point, Value, Values
from spillway.schedulers.policies import POLICIES
from spillway.schedulers.policies.gang import Gang
from spillway.schedulers.timesharing.columns import mask_of
from spillway.schedulers.timesharing.sharing import MigrationStart
from spillway.workloads.models.gang import MICRO, MIXED, GangJob, GangOptions, draw_gang

GS, IOGS, ADAPTIVE, MIGRATE = "gang", "gang-io", "gang-io-adaptive", "gang-io-migrate"
"""The paper's GS, IOGS, Adaptive-IOGS and Migrate-IOGS."""

MIXED_NAME = "mixed"
"""Value of the axis ``mix``: jobs of three I/O intensities; any other is the intensity of all jobs."""

COST_S, LIMIT, NEXT_QUANTUM = 20.0, 64, MigrationStart.NEXT_QUANTUM.value
"""Cost of a migration, tasks that migrate in a slice, and their restart, as published (section 3.6)."""

SUBMISSION, START = "submission", "start"
"""Values of the axis ``response``: the begin of a response time."""


class JobResults(NamedTuple):
    """Results of the jobs, in their order.

    Attributes
    ----------
    start_us
        Time at which each job got its place in the matrix.
    end_us
        End of each job.
    local
        Whether each job ended on its file's nodes.
    migrations
        Number of moves of jobs.
    """

    start_us: list[int]
    end_us: list[int]
    local: list[bool]
    migrations: int


def play(point: Point) -> Values:
    """Play a point between scheduling events."""
    options, policy = workload_of(point), policy_of(point)
    jobs = drawn(options)
    return measures(jobs, run_gang(jobs, policy, options.nodes), policy, options.nodes)


def run_gang(jobs: Sequence[GangJob], policy: Gang, nodes: int) -> JobResults:
    """Play jobs, in order of submission, by the core's machine, which steps from one scheduling event to the next.

    By the product, quantum by quantum, 10,000 jobs would take 150 times as long, with the same results
    (``tests/experiments/studies/gang``).
    """
    slices, costs, start = policy.sharing()
    clock = GangClock(*slices, *costs, start is MigrationStart.AT_ONCE, policy.migration_limit)
    rows = [(job.submit_us, job.cpu_us, job.blocks, job.size, mask_of(job.file_nodes)) for job in jobs]
    ran = run_between_events(rows, clock, policy.rules().of_core, nodes)
    return JobResults(ran.start_us, ran.end_us, ran.local, ran.migrations)


def same(point: Point) -> Point:
    """The point with defaults on axes without effect: options of migration if nothing migrates, the response's kind."""
    policy = ADAPTIVE if point.whole("limit") == 0 else point.text("policy")
    still: Mapping[str, Value] = (
        {} if policy == MIGRATE else {"migration_start": NEXT_QUANTUM, "cost": COST_S, "limit": LIMIT}
    )
    return point.replaced(response=SUBMISSION, policy=policy, **still)


def seen(point: Point, values: Values) -> Values:
    """Slowdown and response by the point's kind of response time."""
    if point["response"] == SUBMISSION or "slowdown" not in values:
        return values
    return {
        **values,
        "slowdown": values["slowdown_from_start"],
        "response_s": values["response_s"] - values["wait_s"],
    }


def workload_of(point: Point) -> GangOptions:
    """Options from which the point's workload is drawn."""
    mix = point.text("mix")
    return GangOptions(
        jobs=point.whole("jobs"),
        seed=point.whole("seed"),
        mean_gap_s=point.number("gap"),
        mean_time_s=point.number("time"),
        intensities=MIXED if mix == MIXED_NAME else (float(mix),),
        layout=point.text("layout"),
        sizes=point.text("sizes"),
    )


def policy_of(point: Point) -> Gang:
    """The point's policy."""
    options = {
        "queue": point["queue"],
        "migration_cost": point["cost"],
        "migration_limit": point["limit"],
        "migration_start": point["migration_start"],
    }
    policy = POLICIES[point.text("policy")].build(options)
    assert isinstance(policy, Gang)
    return policy


def measures(jobs: list[GangJob], ran: JobResults, policy: Gang, nodes: int) -> Values:
    """Measured values of a run.

    ``slowdown``: mean of max(response, quantum) / max(execution time with all blocks local, quantum), the response
    from submission to end; ``slowdown_from_start``: the same as printed in the paper (section 2.3, item 4), from start
    to end. ``wait_s`` and ``response_s``: means, from submission to the place in the matrix, and to the end. ``local``:
    jobs of 10,000 that ended on their file's nodes. ``migrations``: moves to a file's nodes. ``load``: work with all
    blocks local over the capacity of the nodes until the last submission. ``last_end``: end of the last job over the
    last submission.
    """
    slices, costs, _ = policy.sharing()
    submit, start, end = (
        np.array(column, np.float64) for column in ([job.submit_us for job in jobs], ran.start_us, ran.end_us)
    )
    work = np.array([costs.length_us(job.cpu_us, job.blocks, local=True) for job in jobs], np.float64)
    size = np.array([job.size for job in jobs], np.float64)
    bound = np.maximum(work, slices.quantum_us)
    last = max(float(submit[-1]), 1.0)
    return {
        "slowdown": float((np.maximum(end - submit, slices.quantum_us) / bound).mean()),
        "slowdown_from_start": float((np.maximum(end - start, slices.quantum_us) / bound).mean()),
        "wait_s": float((start - submit).mean()) / MICRO,
        "response_s": float((end - submit).mean()) / MICRO,
        "local": 10_000 * sum(ran.local) / len(jobs),
        "migrations": float(ran.migrations),
        "load": float(size @ work) / (nodes * last),
        "last_end": float(end.max()) / last,
    }


@lru_cache(maxsize=6)
def drawn(options: GangOptions) -> list[GangJob]:
    """Draw a workload, once for all policies that a process plays on it."""
    return draw_gang(options)

"""One run: a drawn workload under one policy, and what came of it."""

from __future__ import annotations

import time
from functools import lru_cache
from pathlib import Path

import msgspec
import numpy as np

from experiments import kept, provenance
from experiments.gang.aggregate import Ran, Setting, run_gang
from experiments.kept import Found
from schedulers.options import show
from schedulers.policies import POLICIES
from schedulers.policies.gang import Gang
from schedulers.timesharing.migration import MigrationStart
from workloads.gang import MEAN_GAP_S, MICRO, MIXED, GangJob, GangOptions, draw_gang

MIXED_NAME = "mixed"

POLICY_NAMES = ("gang", "gang-io", "gang-io-adaptive", "gang-io-migrate")
"""The four policies."""

MIGRATE = "gang-io-migrate"

NEXT_QUANTUM = MigrationStart.NEXT_QUANTUM.value

LABELS = dict(zip(POLICY_NAMES, ("GS", "IOGS", "Adaptive", "Migrate"), strict=True))
"""The paper's names; it appends IOGS to the last two."""


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """What one run is.

    Attributes
    ----------
    policy
        One of :data:`POLICY_NAMES`.
    mean_time_s
        Mean execution time, all blocks local, s.
    mix
        I/O intensity of all jobs as a text, or ``mixed``.
    seed
        Of the workload.
    cost_s, limit
        Cost of a migration (s); most tasks that migrate in one slice.
    migration_start
        When migrated jobs restart: an option of :class:`schedulers.policies.gang.Gang`.
    mean_gap_s
        Mean time between submissions, s.
    layout
        How files lie: ``contiguous`` or ``scattered``.
    jobs
        Jobs of the workload.
    """

    policy: str
    mean_time_s: int
    mix: str
    seed: int = 0
    cost_s: float = 20.0
    limit: int = 64
    migration_start: str = NEXT_QUANTUM
    mean_gap_s: float = MEAN_GAP_S
    layout: str = "contiguous"
    jobs: int = 10_000

    @property
    def id(self) -> str:
        """Stable name of its file."""
        parts = [self.policy, f"t{self.mean_time_s}", f"io{self.mix}", f"gap{show(self.mean_gap_s)}", self.layout]
        if self.policy == MIGRATE:
            parts.append(self.migration_start)
        if (self.cost_s, self.limit) != (20.0, 64):
            parts.append(f"C{show(self.cost_s)}-Q{self.limit}")
        return "_".join([*parts, f"n{self.jobs}", f"s{self.seed}"])


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a run.

    Attributes
    ----------
    slowdown
        Mean of max(response, quantum) / max(all-local execution time, quantum); response from submission to end.
    slowdown_from_start
        The same with the response as the paper prints it (section 2.3, item 4): from the start to the end.
    wait_s, response_s
        Means, from submission to the place in the matrix, and to the end.
    local
        Jobs that ended on their file's nodes.
    migrations
        Moves to a file's nodes.
    load
        All-local work offered, over what the nodes can do until the last submission.
    last_end
        When the last job ended, over when the last was submitted.
    wall_s, cpu_s
        Seconds that the run took on this machine, and what of them it was computing.
    """

    slowdown: float
    slowdown_from_start: float
    wait_s: float
    response_s: float
    local: int
    migrations: int
    load: float
    last_end: float
    wall_s: float
    cpu_s: float = 0.0


def workload_options(point: Point) -> GangOptions:
    """How the point's workload is drawn."""
    return GangOptions(
        jobs=point.jobs,
        seed=point.seed,
        mean_gap_s=point.mean_gap_s,
        mean_time_s=float(point.mean_time_s),
        intensities=MIXED if point.mix == MIXED_NAME else (float(point.mix),),
        layout=point.layout,
    )


def policy_of(point: Point) -> Gang:
    """The point's policy."""
    options = {
        "migration_cost": point.cost_s,
        "migration_limit": point.limit,
        "migration_start": point.migration_start,
    }
    policy = POLICIES[point.policy].build(options)
    assert isinstance(policy, Gang)
    return policy


def setting_of(policy: Gang, nodes: int) -> Setting:
    """A gang policy for the aggregate."""
    return Setting(policy.rules(), *policy.sharing(), policy.migration_limit, nodes)


def run(point: Point) -> Summary:
    """Run a point in this process."""
    begin, computing = time.perf_counter(), time.process_time()
    options = workload_options(point)
    jobs, policy = _drawn(options), policy_of(point)
    ran = run_gang(jobs, setting_of(policy, options.nodes))
    spent = time.perf_counter() - begin, time.process_time() - computing
    return summarise(jobs, ran, policy, options.nodes, spent)


def file_of(point: Point, folder: Path) -> Path:
    """Where a point's result is kept."""
    return folder / f"{point.id}.json"


def look(point: Point, folder: Path) -> Found:
    """What is kept of a point (:mod:`experiments.kept`)."""
    return kept.look(file_of(point, folder), point, _code(point))


def run_to_file(point: Point, folder: Path) -> None:
    """Run a point and keep its result."""
    kept.keep(file_of(point, folder), point, _code(point), run(point))


def read(path: Path) -> Summary:
    """Read a kept result."""
    return kept.read(path, Summary)


def _code(point: Point) -> str:
    return provenance.code(point.policy, __name__)


def summarise(
    jobs: list[GangJob], ran: Ran, policy: Gang, nodes: int, spent_s: tuple[float, float] = (0.0, 0.0)
) -> Summary:
    """The figures of a run."""
    slices, costs, _ = policy.sharing()
    submit, start, end = (
        np.array(column, np.float64) for column in ([job.submit_us for job in jobs], ran.start_us, ran.end_us)
    )
    local = np.array([costs.length_us(job.cpu_us, job.blocks, local=True) for job in jobs], np.float64)
    size = np.array([job.size for job in jobs], np.float64)
    bound = np.maximum(local, slices.quantum_us)
    return Summary(
        slowdown=float((np.maximum(end - submit, slices.quantum_us) / bound).mean()),
        slowdown_from_start=float((np.maximum(end - start, slices.quantum_us) / bound).mean()),
        wait_s=float((start - submit).mean()) / MICRO,
        response_s=float((end - submit).mean()) / MICRO,
        local=sum(ran.local),
        migrations=ran.migrations,
        load=float(size @ local) / (nodes * max(float(submit[-1]), 1.0)),
        last_end=float(end.max()) / max(float(submit[-1]), 1.0),
        wall_s=spent_s[0],
        cpu_s=spent_s[1],
    )


@lru_cache(maxsize=2)
def _drawn(options: GangOptions) -> list[GangJob]:
    """Workloads are drawn once for the policies that a process tries on them."""
    return draw_gang(options)

"""Random worlds drawn from a seed: jobs by a table of values for each field, outages, drains, options."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from random import Random
from typing import Any

import msgspec

from spillway.base.options import OptionInfo, plain
from spillway.experiments.trials.verdict import Extent, Tell
from spillway.experiments.trials.world import MOST_JOBS, Change, Drain, TrialJob, World

HOSTS = 11
"""Hosts of ``tiny`` that can be out, by Batsim's ids: nodes, two storage nodes, the file system."""
STORAGES = (8, 9)
"""Batsim's ids of the storage nodes of ``tiny``."""

TINY: Mapping[str, Sequence[Any]] = {
    "submit_s": range(41),
    "nodes": (1, 1, 2, 3, 4, 5, 8, 8),
    "run_s": (1.0, 7.5, 20.0, 60.0),
    "gb": (0, 0, 1, 2, 3, 5),
    "io_rate_mb_s": (0, 0, 0, 40),
    "walltime_s": (12, 30, 200, 200),
}
"""Jobs on ``tiny``: some wide, some with burst buffers or I/O rates, some that exceed their walltimes."""

_GAPS_S = (0, 0, 1, 1, 2, 9)
WALLTIMES_S = (3, 7, 12, 20, 40, 100)
"""Times between submissions, and walltimes, on plain machines."""

_MOST_VALUE = 1000
"""Largest number drawn for an option: budgets of searches may have no bound."""
LEAST_S = 0.1
"""Shortest time drawn for an option that must be above 0: a slice of 1 ms is played 60,000 times a minute."""


def random_world(
    rng: Random, model: str, bandwidth: str, options: Mapping[str, Any] | None = None, *, outages: bool = False
) -> World:
    """Draw a world on ``tiny`` for a job model, with bandwidth scheduled (``aware``) or not (``ignorant``)."""
    settings = {"bandwidth": bandwidth}
    if outages:
        settings["on_outage"] = rng.choice(("continue", "kill", "requeue"))
    changes = _changes(rng) if outages else ()
    jobs = _jobs(rng, 2, TINY, lambda job: job._replace(special=rng.random() < 0.5))
    seed = rng.randrange(1000)
    drains = _drains(Random(f"drains {seed}")) if outages else ()
    return World(jobs, model, settings=settings, changes=changes, options=dict(options or {}), seed=seed, drains=drains)


def plain_world(rng: Random, buffers: bool) -> World:
    """Draw a world on a plain machine where every job fits on the empty machine, and either nodes or bytes are scarce.

    Parameters
    ----------
    buffers
        Whether it may have storage nodes.
    """
    if buffers and rng.random() < 0.6:
        nodes, widths = rng.choice((6, 8)), [1, 1, 2, 3]
        storages, gb, sizes = rng.choice(((1, 10, [0, 1, 2, 3, 5]), (1, 10, [0, 4, 6, 8]), (2, 10, [0, 3, 3, 3])))
    else:
        nodes = rng.choice((3, 4, 6, 8))
        widths, storages, gb, sizes = [1, 1, 2, 3, nodes // 2, nodes], 0, 0, [0]
    empty = World((), nodes=nodes, storages=storages, gb=gb)

    def ends(job: TrialJob) -> TrialJob:
        run_s = 0 if rng.random() < 0.6 else rng.randint(1, job.walltime_s or 1)
        job = job._replace(run_s=run_s, nodes=min(job.nodes, nodes))
        return job if empty.fits(job) else job._replace(nodes=1)

    ranges = {"submit_s": _GAPS_S, "nodes": widths, "gb": sizes, "walltime_s": WALLTIMES_S}
    jobs = _jobs(rng, 3, ranges, ends)
    times = accumulate(job.submit_s for job in jobs)
    jobs = tuple(job._replace(submit_s=1 + time_s) for job, time_s in zip(jobs, times, strict=True))
    return msgspec.structs.replace(empty, jobs=jobs)


def plain_worlds(extent: Extent, tell: Tell) -> Iterator[World]:
    """Draw worlds on plain machines, one after the other."""
    rng = Random(f"conformance {extent.seed}")
    for place in range(extent.worlds):
        tell("random worlds", place, extent.worlds)
        yield plain_world(rng, extent.buffers)


def _jobs(
    rng: Random, fewest: int, ranges: Mapping[str, Sequence[Any]], finish: Callable[[TrialJob], TrialJob]
) -> tuple[TrialJob, ...]:
    """Draw a few jobs, one after the other: each field of the table in order, then the draws of ``finish``."""
    count = rng.randint(fewest, MOST_JOBS)
    return tuple(
        finish(TrialJob(**{name: rng.choice(values) for name, values in ranges.items()})) for _ in range(count)
    )


def _changes(rng: Random) -> tuple[Change, ...]:
    """Draw outages that Batsim accepts: each host goes out at most once, and all return long after."""
    changes: list[Change] = []
    gone: set[int] = set()
    for begin_s in sorted(rng.randint(0, 80) for _ in range(rng.randint(1, 4))):
        fresh = {host for host in rng.sample(range(HOSTS), rng.randint(1, 5)) if host not in gone}
        gone |= fresh
        if fresh:
            hosts = tuple(sorted(fresh))
            back_s = begin_s + 700.0 if rng.random() < 0.5 else 1e4
            changes += [Change(float(begin_s), False, hosts), Change(back_s, True, hosts)]
    return tuple(sorted(changes, key=lambda change: change.time_s))


def _drains(rng: Random) -> tuple[Drain, ...]:
    """Draw drained parts of storage nodes, also whole ones; all bytes return long after."""
    drawn = sorted(rng.randint(0, 80) for _ in range(rng.randint(0, 4)))
    drains = [Drain(float(begin_s), rng.choice(STORAGES), rng.choice((0, 4, 8, 9, 10))) for begin_s in drawn]
    return (*drains, *(Drain(900.0, host, 0) for host in STORAGES)) if drains else ()


def other_options(infos: Sequence[OptionInfo], rng: Random, cases: int) -> Iterator[dict[str, Any]]:
    """Settings of a policy's options: each option alone at each of a few values, then several at once."""
    values = {info.name: list(_values(info)) for info in infos}
    for name, some in values.items():
        yield from ({name: value} for value in some)
    for _ in range(cases if len(values) > 1 else 0):
        yield {name: rng.choice(some) for name, some in values.items() if some and rng.random() < 0.5}


def _values(info: OptionInfo) -> Iterator[Any]:
    """A few values of an option besides its default."""
    default = info.default
    if info.choices:
        yield from (plain(choice) for choice in info.choices if choice != default)
    elif issubclass(info.type, enum.Enum):
        yield from (plain(member) for member in info.type if member is not default)
    elif info.type is bool:
        yield not default
    elif info.type in (int, float):
        low, high = info.low, info.high
        if info.unit == "s" and low is not None and low > 0:
            low = max(low, LEAST_S)
        wanted = {low, high, 1 if low is None else low + 1, None if default is None else 2 * default}
        for value in sorted(value for value in wanted if value is not None and value not in (default, math.inf)):
            if (low is None or low <= value) and (high is None or value <= high):
                yield info.type(min(value, _MOST_VALUE))

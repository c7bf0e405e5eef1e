"""Multifactor priority in plain steps: one job at a time, usage summed up anew from all earlier jobs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import NamedTuple

from spillway.schedulers.model.job import Job
from spillway.schedulers.model.site import Association, Site, Weights
from tests.reference import fair_tree


class Held(NamedTuple):
    """A job that was started: its nodes, from when to when (infinite: it runs)."""

    job: Job
    nodes: int
    start_s: float
    end_s: float


class Terms(NamedTuple):
    """Terms of a priority."""

    priority: int
    age: float
    fairshare: float
    fixed: float


def terms(site: Site, nodes: int, buffer_bytes: int, job: Job, now_s: float, known: Iterable[Job],
          held: Iterable[Held]) -> Terms:  # fmt: skip
    """The terms of a job's priority; ``known``: the jobs that came until now."""
    weights = site.weights
    time_s = now_s // weights.period_s * weights.period_s
    age = weights.age * min(max(time_s - job.submit_time_s, 0.0) / weights.longest_age_s, 1.0)
    fairshare = weights.fairshare * float(_fairshare(site, job, time_s, known, held)) if weights.fairshare else 0.0
    qos = {one.name: one.priority for one in site.qos}
    factors = {one.name: one.factor for one in site.partitions}
    partition = job.extras.get("partition") or next((one.name for one in site.partitions if one.default), "")
    priorities = {(one.account, one.user): one.priority for one in site.associations}
    size = job.nodes / nodes
    fixed = (
        weights.size * (1.0 - size if weights.favor_small else size)
        + weights.partition * _relative(factors.get(partition, 0), factors.values())
        + weights.qos * _relative(qos.get(job.qos or "normal", 0), qos.values())
        + weights.association * _relative(priorities.get(_association(site, job), 0), priorities.values())
        + weights.tres.get("bb", 0) * (job.nodes * job.bb_bytes / buffer_bytes)
        + job.extras.get("site_factor", 0)
        - job.extras.get("nice", 0)
    )
    return Terms(max(1, min(math.floor(fixed + age + fairshare), 2**32 - 1)), age, fairshare, fixed)


def tier(site: Site, job: Job) -> int:
    """The tier of a job's partition."""
    default = next((one.name for one in site.partitions if one.default), "")
    return {one.name: one.tier for one in site.partitions}.get(job.extras.get("partition") or default, 0)


def _fairshare(site: Site, job: Job, time_s: float, known: Iterable[Job], held: Iterable[Held]) -> Fraction:
    used: dict[tuple[str, str], float] = {}
    usage_factors = {one.name: one.usage_factor for one in site.qos}
    for one in held:
        if one.start_s < min(one.end_s, time_s):
            amount = one.nodes * _decayed(one.start_s, one.end_s, time_s, site.weights)
            name = _association(site, one.job)
            used[name] = used.get(name, 0.0) + usage_factors.get(one.job.qos or "normal", 1.0) * amount
    counts = {name: round(1000 * amount) for name, amount in used.items()}
    if site.associations:
        return fair_tree.factors(site.associations, counts).get(_association(site, job), Fraction(0))
    names = sorted({_association(site, one) for one in known if one.submit_time_s <= time_s})
    alike = fair_tree.factors([Association(*name) for name in names], counts)
    return alike.get(_association(site, job), Fraction(1))


def _association(site: Site, job: Job) -> tuple[str, str]:
    if not site.associations:
        return "", f"user {job.user}"
    own = [one for one in site.associations if one.user and one.user == job.user]
    first = next((one.account for one in own if one.default), own[0].account if own else "")
    return job.account or first, job.user


def _decayed(start_s: float, end_s: float, now_s: float, weights: Weights) -> float:
    """Seconds of an interval as they count at a calculation, period by period, second by second."""
    factor = 1.0 - 0.693 / weights.half_life_s if weights.half_life_s else 1.0
    counted, begin_s, period = 0.0, 0.0, math.floor(weights.period_s)
    while begin_s < now_s:
        used = sum(start_s <= second < end_s for second in range(int(begin_s), int(begin_s) + period))
        added = used * factor**used
        ended = begin_s < end_s <= begin_s + period
        counted = (counted + added) * factor**period if ended else counted * factor**period + added
        begin_s += period
    return counted


def _relative(value: int, values: Iterable[int]) -> float:
    return value / max(values, default=0) if max(values, default=0) else 0.0


def order_of(priorities: Mapping[str, int], jobs: Mapping[str, Job], site: Site) -> list[str]:
    """Ids of jobs in the order in which they are looked at."""
    return sorted(
        priorities,
        key=lambda one: (-tier(site, jobs[one]), -priorities[one], jobs[one].submit_time_s, jobs[one].number),
    )

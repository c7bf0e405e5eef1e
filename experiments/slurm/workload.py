"""Short jobs with buffers, drawn by a seed."""

from __future__ import annotations

import math
import random

import msgspec

from spillway.experiments.slurm.configuration import Settings, Submission
from spillway.experiments.slurm.site import Site

BETWEEN_S = 1.2
"""Mean time between two submissions, s: jobs come faster than they end, so that both queues build up."""
_SWING = 0.8
"""Share of its mean by which the rate of submissions rises and falls in a day."""
_RUNTIMES_S = (2, 12)
_LIMITS_MIN = (1, 3)
_WITHOUT_BUFFER = 0.3
"""Share of jobs without a buffer."""
UNITS = (0.1, 0.6)
"""Least and largest request, as shares of the pool."""
_WITH_LICENSES = 0.2
"""Share of jobs that hold licenses, where there is a site."""
_DEPENDENT = 0.15
"""Share of jobs that wait for one of the last :data:`_REACH` before them, where there is a site."""
_REACH = 10


def generated(
    settings: Settings, jobs: int, stage_s: float, seed: int, between_s: float = BETWEEN_S, day_s: float = 0.0
) -> list[Submission]:
    """Jobs for a Slurm, in the order of their submission.

    Parameters
    ----------
    settings
        Nodes and pool.
    jobs
        Number of jobs.
    stage_s
        Longest stage-in and stage-out, s; each is drawn between a sixth of it and all of it.
    seed
        The same seed gives the same jobs.
    between_s, day_s
        Mean time between two submissions; length of a day in which their rate rises and falls, 0: it does not (s).
    """
    draw = random.Random(seed)
    at_s, drawn = 0.0, []
    for _ in range(jobs):
        buffered = draw.random() >= _WITHOUT_BUFFER
        drawn.append(
            Submission(
                at_s=round(at_s, 3),
                nodes=min(settings.nodes, draw.choice((1, 1, 2, 2, 3, 4)) * max(1, settings.nodes // 8)),
                runtime_s=draw.randint(*_RUNTIMES_S),
                limit_min=draw.randint(*_LIMITS_MIN),
                units=max(1, round(settings.pool_units * draw.uniform(*UNITS))) if buffered else 0,
                stage_in_s=round(draw.uniform(stage_s / 6, stage_s), 1) if buffered else 0.0,
                stage_out_s=round(draw.uniform(stage_s / 6, stage_s), 1) if buffered else 0.0,
            )
        )
        rate = (1 + _SWING * math.sin(2 * math.pi * at_s / day_s) if day_s else 1) / between_s
        at_s += draw.expovariate(rate)
    if settings.site is None:
        return drawn
    return [_at_site(job, number, settings.site, draw) for number, job in enumerate(drawn)]


def _at_site(job: Submission, number: int, site: Site, draw: random.Random) -> Submission:
    """The same job of one of the site's users; ``number``: number of jobs before it."""
    names = [one.name for one in site.partitions]
    license, count = draw.choice(list(site.licenses.items()))
    holds, waits = draw.random() < _WITH_LICENSES, draw.random() < _DEPENDENT
    before = draw.randint(max(1, number - _REACH), max(1, number))
    return msgspec.structs.replace(
        job,
        user=draw.choice(site.users).name,
        partition=draw.choice([*names, ",".join(names)]),
        qos=draw.choice(["normal", *site.qos]),
        licenses=f"{license}:{draw.randint(1, max(1, count // 2))}" if holds else "",
        depends=f"{draw.choice(('afterok', 'afterany'))}:{before}" if waits and number else "",
    )

"""Short jobs with buffers, drawn by a seed."""

from __future__ import annotations

import random

from spillway.experiments.slurm.configuration import Settings, Submission

_MEAN_BETWEEN_S = 1.2
"""Mean time between two submissions, s: jobs come faster than they go, so that queues of both kinds stand."""
_RUNTIMES_S = (2, 12)
_LIMITS_MIN = (1, 3)
_WITHOUT_BUFFER = 0.3
"""Share of jobs without a buffer."""
UNITS = (0.1, 0.6)
"""Least and largest request, as shares of the pool."""


def generated(settings: Settings, jobs: int, stage_s: float, seed: int) -> list[Submission]:
    """Jobs for a Slurm, in the order of their submission.

    Parameters
    ----------
    settings
        Nodes and pool.
    jobs
        How many.
    stage_s
        Longest stage-in and stage-out, s; each is drawn between a sixth of it and all of it.
    seed
        The same seed gives the same jobs.
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
        at_s += draw.expovariate(1 / _MEAN_BETWEEN_S)
    return drawn

"""Distance of plans of a few jobs from the best plan of all orders: small windows solved to the optimum.

``python -m tools.benchmarks.small_plans [--jobs 6,7,8] [--pictures 100]``

Pictures are those of :mod:`tools.benchmarks.plan_load`: the thesis's machine, loaded, and a queue like it, submitted
now. All orders of the queue are planned; the best plan is the optimum among plans that place each job in turn at its
earliest start. Compared are the best of the starting orders, and the results of 180 moves from there: with the thesis's
orders, swaps and temperatures, and with ours. Scores are sums of waits to a power; with 1 their ratio is that of means.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Mapping
from math import exp, log
from statistics import mean

from msgspec.structs import replace

from spillway.core import Timeline
from spillway.schedulers.model.job import Job
from spillway.schedulers.policies.plan import ALL_ORDERS
from spillway.schedulers.policykit.objectives import Objective
from spillway.schedulers.policykit.ordering import THESIS_STARTS, positions
from spillway.schedulers.policykit.planning import Annealing, Planner
from tools.benchmarks.plan_load import MOVES, NOW_S, picture

Search = Callable[[Planner, list[Job]], float]
NOTHING = 1e-9
"""Scores that differ by less, in proportion, are equal."""


def starts_only(planner: Planner, queue: list[Job]) -> float:
    """The best of the starting orders of ``plan-square``."""
    return planner.best_of(positions(queue, ALL_ORDERS, NOW_S))[1]


def as_published(planner: Planner, queue: list[Job]) -> float:
    """The thesis's orders, swaps of any two jobs, temperatures from the spread of the starting scores."""
    best, score, worst = planner.best_of(positions(queue, THESIS_STARTS, NOW_S))
    if worst == score:
        return score
    return planner.anneal(best, score, Annealing(MOVES, worst - score, swaps_only=True, delayed_only=False), 1)[1]


def ours(planner: Planner, queue: list[Job]) -> float:
    """All orders, moves of delayed jobs, temperatures from the gap to the least score."""
    best, score, _ = planner.best_of(positions(queue, ALL_ORDERS, NOW_S))
    gap = score - planner.least
    if gap <= NOTHING * score:
        return score
    how = Annealing(MOVES, gap / len(queue), 1e-3 ** (1 / MOVES), 1, 0.0, swaps_only=False, delayed_only=True)
    return planner.anneal(best, score, how, 1)[1]


SEARCHES: Mapping[str, Search] = {"starting orders": starts_only, "as published": as_published, "ours": ours}


def over_optimum(timeline: Timeline, queue: list[Job], power: float) -> dict[str, float]:
    """Scores over the best of all orders', by search; 1 if all of them are 0."""

    def planner() -> Planner:
        return Planner(timeline, queue, lambda job: job.walltime_s, Objective(power))

    best = planner().exhaust()[1]
    found = {name: search(planner(), queue) for name, search in SEARCHES.items()}
    return {name: score / best if best > 0 else 1.0 for name, score in found.items()}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", default="6,7,8")
    parser.add_argument("--pictures", type=int, default=100)
    given = parser.parse_args()
    print(f"{'power':>5} {'jobs':>5} {'search':>16} {'over the optimum':>17} {'largest':>8} {'optimal':>8}")
    for power in (1.0, 2.0):
        for waiting in map(int, given.jobs.split(",")):
            rng = random.Random(waiting)
            drawn = [picture(rng, waiting)[1:] for _ in range(given.pictures)]
            rows = [
                over_optimum(timeline, [replace(job, submit_time_s=NOW_S) for job in queue], power)
                for timeline, queue in drawn
            ]
            for name in SEARCHES:
                ratios = [row[name] for row in rows]
                typical, optimal = exp(mean(map(log, ratios))), mean(ratio <= 1 + NOTHING for ratio in ratios)
                print(
                    f"{power:5g} {waiting:5} {name:>16} {typical:17.4f} {max(ratios):8.3f} {optimal:8.0%}", flush=True
                )


if __name__ == "__main__":
    main()

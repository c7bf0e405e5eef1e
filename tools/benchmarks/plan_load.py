"""Cost of a pass of plan-based scheduling by length of the queue, against a straightforward re-plan.

``python -m tools.benchmarks.plan_load [--jobs N ...] [--rounds N]``

Each picture is the thesis's machine (96 nodes, 12 storage nodes of 40 GB) loaded with running jobs, and a queue drawn
like them. A pass is the thesis's: nine starting orders and 180 moves. Ways to score the moves:

``incremental``   as the policies do: from the first changed position on, given up when it cannot be accepted
``whole``         the same compiled placement, every order from its first job to its last
``plain``         the timeline's own methods, job by job, as a policy without compiled scoring would do it

The second table has the CPU time of a whole pass.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable
from statistics import median

from spillway.core import Timeline
from spillway.schedulers.model.job import Job
from spillway.schedulers.model.machine import Machine, simple_machine
from spillway.schedulers.policykit.objectives import Objective
from spillway.schedulers.policykit.ordering import THESIS_STARTS, positions
from spillway.schedulers.policykit.planning import Annealing, Order, Planner
from tools.benchmarks.window_load import CAPACITY, NODES, STORAGES, draw_job

MOVES = 180
NOW_S = 500_000.0
WALLTIMES_S = (300.0, 900.0, 3600.0, 7200.0, 14_400.0, 36_000.0, 86_400.0)
PLAIN_ORDERS = 3
"""Orders that the plain way is timed on: it is slow."""


def draw(rng: random.Random, number: int, submit_s: float) -> Job:
    """A job like those of the thesis."""
    nodes, size = draw_job(rng, 1.0)
    return Job(f"w0!{number}", number, submit_s, rng.choice(WALLTIMES_S), nodes, size, 0)


def picture(rng: random.Random, waiting: int) -> tuple[Machine, Timeline, list[Job]]:
    """Draw a loaded machine and a queue."""
    machine = simple_machine(NODES, STORAGES, CAPACITY)
    timeline = Timeline(machine, NOW_S)
    for number in range(60):
        job = draw(rng, number, 0.0)
        allocation = timeline.fit_now(job, job.walltime_s)
        if allocation is not None:
            timeline.reserve(NOW_S, NOW_S + job.walltime_s * rng.random() + 1.0, allocation)
    queue = [draw(rng, 100 + number, NOW_S - rng.random() * 200_000.0) for number in range(waiting)]
    return machine, timeline, queue


def planner_of(timeline: Timeline, queue: list[Job]) -> Planner:
    """A planner with the thesis's squared waiting times."""
    return Planner(timeline, queue, lambda job: job.walltime_s, Objective(2.0))


def starting(queue: list[Job]) -> list[Order]:
    """The thesis's nine orders, as the policy makes them."""
    return list(positions(queue, THESIS_STARTS, NOW_S))


def incremental(timeline: Timeline, queue: list[Job]) -> int:
    """Score moves as the policies do; return their number."""
    planner = planner_of(timeline, queue)
    best, score, worst = planner.best_of(starting(queue))
    before = planner.evaluations
    planner.anneal(best, score, Annealing(MOVES, worst - score), 1)
    return planner.evaluations - before


def whole(timeline: Timeline, queue: list[Job]) -> int:
    """Score as many orders changed like those from their first job on; return their number."""
    planner = planner_of(timeline, queue)
    rng = random.Random(1)
    best, _, _ = planner.best_of(starting(queue))
    for _ in range(MOVES):
        order = best.copy()
        first, second = rng.randrange(len(queue)), rng.randrange(len(queue))
        order[first], order[second] = order[second], order[first]
        planner.score(order)
    return MOVES


def plain(timeline: Timeline, queue: list[Job]) -> int:
    """Plan a few of them job by job with the timeline's own methods; return their number."""
    planner = planner_of(timeline, queue)
    rng = random.Random(1)
    best, _, _ = planner.best_of(starting(queue))
    for _ in range(PLAIN_ORDERS):
        order = best.tolist()
        first, second = rng.randrange(len(queue)), rng.randrange(len(queue))
        order[first], order[second] = order[second], order[first]
        mine = timeline.copy()
        for job in (queue[index] for index in order):
            fit = mine.earliest_fit(job, job.walltime_s)
            if fit is not None:
                mine.reserve(fit.start_s, fit.start_s + job.walltime_s, fit.allocation)
    return PLAIN_ORDERS


WAYS: dict[str, Callable[[Timeline, list[Job]], int]] = {"incremental": incremental, "whole": whole, "plain": plain}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, nargs="+", default=[100, 300, 1000])
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    print(f"{'queued':>6} {'way':>12} {'evaluations/CPU s':>18} {'ratio to plain':>15}")
    passes_ms: dict[int, float] = {}
    for waiting in arguments.jobs:
        rates: dict[str, float] = {}
        for name, way in WAYS.items():
            rng = random.Random(waiting)
            found = []
            for _ in range(arguments.rounds):
                _, timeline, queue = picture(rng, waiting)
                begin = time.process_time()
                scored = way(timeline, queue)
                found.append(scored / (time.process_time() - begin))
            rates[name] = median(found)
        for name, rate in rates.items():
            print(f"{waiting:>6} {name:>12} {rate:>18,.0f} {rate / rates['plain']:>15,.0f}")
        rng = random.Random(waiting)
        passes_ms[waiting] = median(_pass_ms(*picture(rng, waiting)[1:]) for _ in range(arguments.rounds))
    print(f"\n{'queued':>6} {'moves':>6} {'pass, CPU ms':>13}")
    for waiting, spent_ms in passes_ms.items():
        print(f"{waiting:>6} {MOVES:>6} {spent_ms:>13.1f}")


def _pass_ms(timeline: Timeline, queue: list[Job]) -> float:
    """CPU milliseconds of a pass: the starting orders and the moves."""
    begin = time.process_time()
    incremental(timeline, queue)
    return 1e3 * (time.process_time() - begin)


if __name__ == "__main__":
    main()

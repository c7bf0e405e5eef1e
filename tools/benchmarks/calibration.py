"""Calibration of predictions of runtimes on a log: ``python -m tools.benchmarks.calibration LOG...``.

Jobs start when they are submitted and are known from their end on. The share of jobs that end within their
prediction should be its quantile; a predicted early end is right if the job ends within its first five minutes.
"""

from __future__ import annotations

import argparse
import heapq
import sys
from collections.abc import Callable

from spillway.schedulers.model.job import Job
from spillway.schedulers.policykit.estimates import Estimator, UserHistory, Walltimes
from spillway.schedulers.policykit.survival import Survival
from spillway.workloads.load import load_log
from spillway.workloads.swf import SwfLog

EARLY_S = 300.0
PREDICTORS: dict[str, Callable[[], Estimator]] = {
    "walltime": Walltimes,
    "history": UserHistory,
    **{f"margin {q:g}": lambda q=q: UserHistory(margin=q) for q in (0.5, 0.75, 0.9)},  # type: ignore[misc]
    **{f"survival {q:g}": lambda q=q: Survival(q) for q in (0.25, 0.5, 0.75, 0.9)},  # type: ignore[misc]
}


def jobs_of(log: SwfLog) -> list[tuple[Job, float]]:
    """Jobs with their runtimes; without a requested time it is twice the runtime, at least five minutes."""
    found = []
    for record in log.records:
        if record.run_s > 0 and max(record.requested_processors, record.processors) > 0:
            limit = float(record.requested_s) if record.requested_s > 0 else max(2.0 * record.run_s, 300.0)
            nodes = max(record.requested_processors, record.processors)
            job = Job(
                f"w!{record.number}", record.number, float(record.submit_s), limit, nodes, extras={"user": record.user}
            )
            found.append((job, min(float(record.run_s), limit)))
    return sorted(found, key=lambda one: one[0].submit_time_s)


def scored(jobs: list[tuple[Job, float]], predictor: Estimator) -> tuple[float, float, float, float]:
    """Share that ends within its prediction; mean prediction over mean runtime; hits and false alarms of early ends."""
    running: list[tuple[float, int, Job, float]] = []
    within = predicted = early = hits = alarms = 0.0
    for place, (job, runtime_s) in enumerate(jobs):
        while running and running[0][0] <= job.submit_time_s:
            _, _, ended, took_s = heapq.heappop(running)
            predictor.observe(ended, took_s)
        expected_s = predictor.estimate_s(job)
        within += runtime_s <= expected_s
        predicted += expected_s
        early += runtime_s <= EARLY_S
        hits += runtime_s <= EARLY_S and expected_s <= EARLY_S
        alarms += runtime_s > EARLY_S and expected_s <= EARLY_S
        heapq.heappush(running, (job.submit_time_s + runtime_s, place, job, runtime_s))
    runtime = sum(took_s for _, took_s in jobs)
    return within / len(jobs), predicted / runtime, hits / max(early, 1), alarms / max(len(jobs) - early, 1)


def main(arguments: list[str]) -> int:
    """Print a table for each log."""
    parser = argparse.ArgumentParser(prog="python -m tools.benchmarks.calibration", description=__doc__)
    parser.add_argument("logs", nargs="+", metavar="LOG", help="a log, a public log's name or a generator")
    for source in parser.parse_args(arguments).logs:
        jobs = jobs_of(load_log(source)[0])
        print(f"{source}: {len(jobs):,} jobs")
        print(f"{'predictor':<16}{'within':>8}{'mean / run':>12}{'early found':>13}{'false alarms':>14}")
        for name, make in PREDICTORS.items():
            within, mean, hits, alarms = scored(jobs, make())
            print(f"{name:<16}{within:>8.3f}{mean:>12.2f}{hits:>13.3f}{alarms:>14.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

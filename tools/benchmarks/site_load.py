"""A site's year or part of it under Slurm's two schedulers: cost of a run by number of jobs.

``python -m tools.benchmarks.site_load [--jobs 5000,10000,20000] [--policy NAME:OPTIONS] [--all 600000] [--load 0.95]
[--write FOLDER]``

The machine is as large as ARCHER2: 5,860 nodes, in four partitions, one of them of a higher tier. 320 users in 64
accounts below eight groups share it by Fair Tree. Jobs come in batches, more of them by day; sizes and durations are
such that ``--load`` of all node time is requested (with 2 the first few thousand jobs make a long queue), and some jobs
name two partitions. Only its sizes are those of a real machine. A row has the first jobs of ``--all``; CPU seconds are
those of the whole command (``spillway run``, engine ``fixed``, without charts and without times without contention),
``waiting`` is the mean number of jobs that waited, ``busy`` the share of node time in use, both from the first
submission to the last.
"""

from __future__ import annotations

import argparse
import csv
import math
import os
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.imports.graph import REPOSITORY
from tools.benchmarks.process_tree import measured

NODES = 5860
GROUPS, ACCOUNTS, USERS = 8, 64, 320
DAY_S = 86_400

SITE = f"""name = "large"
nodes = {NODES}

[[partition]]
name = "standard"
nodes = "0-5275"
longest_s = 86400
default = true

[[partition]]
name = "highmem"
nodes = "5276-5859"
longest_s = 86400

[[partition]]
name = "all"
longest_s = 86400

[[partition]]
name = "short"
nodes = "0-127"
longest_s = 1200
tier = 2

[priority]
age = 1000
fairshare = 10000
size = 500
partition = 100
longest_age_s = 1209600
half_life_s = 172800
"""
"""The site without its accounts and users."""


class _Kind(NamedTuple):
    """Jobs of a kind: number of 1,000, least and most nodes, median of their durations (s)."""

    share: int
    fewest: int
    most: int
    median_s: float


KINDS = (_Kind(400, 1, 1, 1200.0), _Kind(450, 2, 16, 2400.0), _Kind(135, 20, 128, 3600.0), _Kind(15, 200, 1024, 3600.0))
SPREAD = 1.2
"""Standard deviation of the logarithm of durations."""

LIMITS_S = (300, 600, 1200, 3600, 7200, 14_400, 43_200, DAY_S)
"""Walltimes that users request."""


class Job(NamedTuple):
    """A job: time of submission and run time (s), nodes, walltime (s), user, partitions."""

    submit_s: int
    run_s: int
    nodes: int
    limit_s: int
    user: int
    partition: str


def site_text() -> str:
    """The site's file."""
    groups = (f'account = "g{group}"\nshares = {1 + group % 3}' for group in range(GROUPS))
    accounts = (
        f'account = "a{account}"\nparent = "g{account % GROUPS}"\nshares = {1 + account % 5}'
        for account in range(ACCOUNTS)
    )
    users = (f'account = "a{user % ACCOUNTS}"\nuser = "u{user}"\ndefault = true' for user in range(USERS))
    return SITE + "".join(f"\n[[association]]\n{one}\n" for one in (*groups, *accounts, *users))


def jobs(number: int, load: float) -> Iterator[Job]:
    """``number`` jobs in order of submission: a user's batches of similar jobs, more of them by day and in the week."""
    rng = random.Random(1)
    shapes: list[tuple[int, int, int, int, str]] = []
    while len(shapes) < number:
        kind = rng.choices(KINDS, [kind.share for kind in KINDS])[0]
        user = min(int(rng.paretovariate(0.8)) - 1, USERS - 1)
        nodes = round(math.exp(rng.uniform(math.log(kind.fewest), math.log(kind.most))))
        partition = rng.choices(("standard", "all", "highmem", "standard,highmem", "short,standard"), (70, 8, 8, 8, 6))[
            0
        ]
        median_s, factor = kind.median_s * rng.lognormvariate(0.0, 0.8), rng.choice((1.05, 1.5, 3.0, 6.0))
        for _ in range(min(int(rng.paretovariate(1.2)), 50, number - len(shapes))):
            run_s = min(max(10, round(rng.lognormvariate(math.log(median_s), SPREAD / 2))), DAY_S)
            limit_s = next((one for one in LIMITS_S if one >= run_s * factor), DAY_S)
            where = partition
            if "highmem" in where and nodes > 584 - 1:
                where = "all"
            if "short" in where and (nodes > 128 or limit_s > 1200):
                where = "standard"
            shapes.append((run_s, nodes, limit_s, user, where))
    span_s = sum(run_s * nodes for run_s, nodes, *_ in shapes) / (NODES * load)
    times = sorted(_time(rng, span_s) for _ in range(number))
    return (Job(submit_s, *shape) for submit_s, shape in zip(times, shapes, strict=True))


def _time(rng: random.Random, span_s: float) -> int:
    """A time of submission: at 3 in the morning a quarter as likely as at 15, at the weekend half as likely."""
    while True:
        time_s = rng.uniform(0.0, span_s)
        rate = 0.625 - 0.375 * math.cos(2 * math.pi * (time_s / DAY_S - 3 / 24))
        if rng.random() < rate * (0.5 if time_s // DAY_S % 7 >= 5 else 1.0):
            return int(time_s)


def write(folder: Path, first: int, number: int, load: float) -> tuple[Path, Path]:
    """Write the site's file and the first of ``number`` jobs, in the Standard Workload Format with names."""
    site, log = folder / "site.toml", folder / "jobs.swf"
    site.write_text(site_text(), encoding="utf-8")
    with log.open("w", encoding="utf-8") as stream:
        stream.write(f"; MaxNodes: {NODES}\n; MaxProcs: {NODES}\n; UnixStartTime: 0\n")
        for place, one in zip(range(1, first + 1), jobs(number, load), strict=False):
            stream.write(
                f"{place} {one.submit_s} -1 {one.run_s} {one.nodes} -1 -1 {one.nodes} {one.limit_s} -1 1 u{one.user} "
                f"a{one.user % ACCOUNTS} -1 {one.partition} -1 -1 -1\n"
            )
    return site, log


def main() -> None:
    """Print the table, a row as soon as it is there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", default="5000,10000,20000")
    parser.add_argument("--all", type=int, default=600_000)
    parser.add_argument("--load", type=float, default=0.95)
    parser.add_argument("--policy", default="slurm-backfill:order=multifactor")
    parser.add_argument("--tree", type=Path, default=REPOSITORY, help="another checkout, to compare with")
    parser.add_argument("--write", type=Path, help="write the files of the first number there, and play nothing")
    given = parser.parse_args()
    numbers = [int(text) for text in given.jobs.split(",")]
    if given.write is not None:
        given.write.mkdir(parents=True, exist_ok=True)
        print(*write(given.write, numbers[0], given.all, given.load))
        return
    print(f"{'jobs':>8} {'days':>6} {'waiting':>8} {'busy':>5} {'CPU s':>8} {'jobs/s':>7} {'MB':>6}")
    for number in numbers:
        with tempfile.TemporaryDirectory() as name:
            site, log = write(Path(name), number, given.all, given.load)
            command = [sys.executable, "run_experiments.py", "run", str(log), "--fields", "swf", "--site", str(site)]
            command += ["--policy", given.policy, "--burst-buffer-total", "0", "--engine", "fixed"]
            command += ["--no-uncontended", "--no-plots", "--no-replay", "--force", "--out", f"{name}/out"]
            spent = measured(command, given.tree, {"PYTHONPATH": str(given.tree)}, Path(name) / "printed.txt")
            (table,) = Path(name, "out").glob("*/jobs.csv")
            days, waiting, busy = _seen(table)
        print(
            f"{number:8} {days:6.1f} {waiting:8.0f} {busy:5.2f} {spent.cpu_s:8.1f} {number / spent.cpu_s:7.0f} "
            f"{spent.peak_bytes / 1e6:6.0f}",
            flush=True,
        )
    print(f"load of the machine at the end: {', '.join(f'{value:.1f}' for value in os.getloadavg())}")


def _seen(table: Path) -> tuple[float, float, float]:
    """Days from the first to the last submission, mean number of waiting jobs and share of busy nodes meanwhile."""
    with table.open(encoding="utf-8") as stream:
        rows = [
            (
                float(row["submission_time"]),
                float(row["starting_time"]),
                float(row["finish_time"]),
                int(row["requested_number_of_resources"]),
            )
            for row in csv.DictReader(stream)
        ]
    last_s = max(row[0] for row in rows)
    waited = sum(min(start_s, last_s) - submit_s for submit_s, start_s, _, _ in rows)
    used = sum(nodes * max(0.0, min(end_s, last_s) - start_s) for _, start_s, end_s, nodes in rows)
    return last_s / DAY_S, waited / last_s, used / last_s / NODES


if __name__ == "__main__":
    main()

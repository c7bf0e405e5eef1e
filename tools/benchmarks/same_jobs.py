"""Comparison of the schedules of two trees of the repository, with their CPU time: jobs.csv, column by column.

``python -m tools.benchmarks.same_jobs BASE [--parts 1,4,9] [--jobs N] [--models rigid,io] [--policies NAME,...]
[--repeat N] [--set OPTION=VALUE]``

``BASE`` is another checkout (``git worktree add BASE COMMIT``, ``make setup`` in it). Every policy plays parts of the
KTH log as the thesis split it, under both models of the thesis, once in this tree and once in the other, alternating;
CPU seconds are those of all processes, the least of ``--repeat`` plays.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from spillway.schedulers.policies import POLICIES
from tests.imports.graph import REPOSITORY
from tools.benchmarks.process_tree import CommandCost, measured

ARCHIVE = "kth/kth-split-32-parts.tar.xz"
KINDS = {"rigid": "alloc-only", "io": "io-aware"}
ALONE = {"uncontended_s", "contention_slowdown"}
"""Columns that do not follow from the schedule alone."""

NODES_IN_TIME = "gang"
"""Beginning of the names of policies that share nodes in time, which neither of the two models plays."""


THESIS = ("--platform", "thesis")
"""The thesis's machine."""


def main() -> int:
    """Compare, print a line for each play, and return the number of differences."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", type=Path)
    parser.add_argument("--parts", default="1,4,9", help="numbers of the parts (1,4,9)")
    parser.add_argument("--jobs", type=int, default=0, help="first jobs of each part alone (0: all)")
    parser.add_argument("--models", default="rigid,io")
    parser.add_argument("--policies", default="", help="names (default: all that the models play)")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--set", action="append", default=[], help="further option of 'spillway run', as OPTION=VALUE")
    given = parser.parse_args()
    policies = given.policies.split(",") if given.policies else _policies()
    extra = [f"--{text}" for text in given.set]
    different = 0
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        for model in given.models.split(","):
            for part in given.parts.split(","):
                log = _part(work, model, part, given.jobs)
                for policy in policies:
                    different += _compare(work, given.base.resolve(), log, [policy, model, *extra], given.repeat)
    print(f"{different} differences; load {', '.join(f'{value:.1f}' for value in os.getloadavg())}")
    return min(different, 1)


def _policies() -> list[str]:
    return [name for name in POLICIES if not name.startswith(NODES_IN_TIME) and name != "replay"]


def _part(work: Path, model: str, part: str, jobs: int) -> Path:
    """The workload of a part, or of its first jobs."""
    path = work / f"{model}-{part}.json"
    if not path.exists():
        data = Path(os.environ["SPILLWAY_DATA"]) / "data" / ARCHIVE
        with tarfile.open(data) as archive:
            member = archive.extractfile(f"KTH-split/{KINDS[model]}/part-{part}.json")
            assert member is not None
            log: dict[str, Any] = json.load(member)
        if jobs:
            log["jobs"] = sorted(log["jobs"], key=lambda job: (job["subtime"], str(job["id"])))[:jobs]
        path.write_text(json.dumps(log))
    return path


def _compare(work: Path, base: Path, log: Path, what: list[str], repeat: int) -> int:
    """Play in both trees; return whether the schedules differ."""
    best: dict[Path, CommandCost] = {}
    tables: dict[Path, bytes] = {}
    for number in range(repeat):
        for tree in (base, REPOSITORY) if number % 2 == 0 else (REPOSITORY, base):
            policy, model, *extra = what
            tables[tree], spent = play(work, tree, str(log), ["--policy", policy, "--model", model, *extra])
            best[tree] = min(best.get(tree, spent), spent)
    before, after = best[base], best[REPOSITORY]
    found = differences(tables[base], tables[REPOSITORY])
    jobs = len(tables[base].splitlines()) - 1
    print(
        f"{log.stem:10} {what[0]:14} {jobs:6} jobs  base {before.cpu_s:7.1f} s  "
        f"new {after.cpu_s:7.1f} s  ratio {before.cpu_s / after.cpu_s:5.2f}  peak {before.peak_bytes / 1e6:.0f} "
        f"{after.peak_bytes / 1e6:.0f} MB  {found}",
        flush=True,
    )
    return not found.startswith("equal")


def differences(base: bytes, new: bytes) -> str:
    """Describe how two tables of jobs differ; new columns and last decimals of :data:`ALONE` count as equal.

    Times without contention are calculated, and were simulated once (:mod:`spillway.experiments.run.uncontended_jobs`).
    """
    if base == new:
        return "equal"
    before, after = (list(csv.DictReader(table.decode().splitlines())) for table in (base, new))
    if len(before) != len(after) or not before[0].keys() <= after[0].keys():
        return f"DIFFERENT: {len(before)} rows, now {len(after)}, or columns are missing"
    pairs = [(one[name], other[name], name) for one, other in zip(before, after, strict=True) for name in one]
    counts = Counter(name for one, other, name in pairs if one != other)
    if not counts:
        return f"equal but for new columns: {', '.join(sorted(after[0].keys() - before[0].keys()))}"
    rounded = all(abs(float(one) - float(other)) < 2e-6 for one, other, name in pairs if one != other and name in ALONE)
    word = "equal but for a last decimal:" if rounded and counts.keys() <= ALONE else "DIFFERENT:"
    return f"{word} {', '.join(f'{name} in {count} rows' for name, count in counts.items())}"


def play(
    work: Path, tree: Path, log: str, options: Sequence[str], machine: Sequence[str] = THESIS
) -> tuple[bytes, CommandCost]:
    """Run ``spillway run`` of a tree on a log and a machine: its table of jobs, and its cost."""
    with tempfile.TemporaryDirectory(dir=work) as out:
        command = [sys.executable, "run_experiments.py", "run", "--workload", log, *machine]
        command += [*options, *_without_pages(tree), "--out", out]
        spent = measured(command, tree, {"PYTHONPATH": str(tree)}, work / "printed.txt")
        (table,) = Path(out).glob("*/jobs.csv")
        return table.read_bytes(), spent


@cache
def _without_pages(tree: Path) -> tuple[str, ...]:
    """Options of a tree's ``run`` that leave out figures and pages: the second is newer than some trees."""
    command = [sys.executable, "run_experiments.py", "run", "--help"]
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    told = subprocess.run(command, cwd=tree, env=environment, check=True, capture_output=True, text=True).stdout
    return tuple(option for option in ("--no-plots", "--no-replay") if option in told)


if __name__ == "__main__":
    sys.exit(main())

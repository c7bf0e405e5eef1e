"""The cells of the experiment: one simulation each, its result a JSON file that is kept for the next time."""

from __future__ import annotations

import functools
import hashlib
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from experiments import kept, provenance, warm
from experiments.kept import Found
from experiments.malleable import four, machine, usecases
from experiments.pool import Failed, Finished, Pool, Report
from schedulers.options import show

RUNS: Mapping[str, Callable[..., dict[str, Any]]] = {"case": usecases.run, "four": four.run, "machine": machine.run}
"""What runs a cell, by kind."""

NONE = "none"
"""The control of a machine without malleable jobs."""

FIRST_COME = "fcfs"
"""The policy of the paper's own experiments."""


@dataclass(frozen=True)
class Cell:
    """One simulation.

    Attributes
    ----------
    kind
        Key of :data:`RUNS`.
    arguments
        Names and values, in the order of the function's.
    """

    kind: str
    arguments: tuple[tuple[str, str | int | float], ...]

    @property
    def id(self) -> str:
        """Name of its file."""
        values = (Path(value).name if isinstance(value, str) else show(value) for _, value in self.arguments)
        return "_".join((self.kind, *values)).replace(" ", "-").replace(",", "")

    def get(self, name: str) -> str | int | float:
        """An argument."""
        return dict(self.arguments)[name]


@dataclass(frozen=True)
class Scope:
    """How much is run.

    Attributes
    ----------
    seeds
        Seeds of the use cases.
    totals, four_seeds
        Scenarios of the four applications, and their seeds.
    log, jobs, shares, controls, machine_seeds, policies
        The whole machine.
    """

    seeds: int
    totals: Sequence[int]
    four_seeds: int
    log: str
    jobs: int
    shares: Sequence[float]
    controls: Sequence[str]
    machine_seeds: int
    policies: Sequence[str]


def cells_of(scope: Scope) -> Iterator[Cell]:
    """All cells, the paper's first."""
    for case, scenarios in usecases.SCENARIOS_OF.items():
        for scenario, seed in itertools.product(scenarios, range(scope.seeds)):
            yield Cell("case", (("case", case), ("scenario", scenario), ("seed", seed)))
    for total, rule, order in itertools.product(scope.totals, four.RULES, four.ORDERS):
        for seed in range(scope.four_seeds):
            yield Cell("four", (("total", total), ("rule", rule), ("order", order), ("seed", seed)))
    for seed, policy in itertools.product(range(scope.machine_seeds), scope.policies):
        for share, control in itertools.product(scope.shares, scope.controls):
            if (share == 0) != (control == NONE):  # nothing to control, or the same as without malleable jobs
                continue
            yield Cell(
                "machine",
                (
                    ("log", scope.log),
                    ("jobs", scope.jobs),
                    ("share", share),
                    ("control", control),
                    ("policy", policy),
                    ("seed", seed),
                ),
            )


@dataclass(frozen=True)
class Task:
    """A cell and where its result is kept.

    Attributes
    ----------
    cell, folder
        The cell and the folder of its file.
    asked
        Digest of the cell with the contents of its log and its machine.
    code
        Hash of the code that decides its result.
    """

    cell: Cell
    folder: Path
    asked: str
    code: str

    @property
    def path(self) -> Path:
        """The cell's file."""
        return self.folder / f"{self.cell.id}.json"


def task_of(cell: Cell, folder: Path) -> Task:
    """Make a cell's task."""
    policy, asked = FIRST_COME, {"kind": cell.kind} | dict(cell.arguments)
    if cell.kind == "machine":
        policy, log = str(cell.get("policy")), str(cell.get("log"))
        asked |= {"log": _checksum(log), "platform": provenance.platform_checksum(machine.MACHINE)}
    return Task(cell, folder, kept.digest(asked), provenance.code(policy, __name__))


@functools.cache
def _checksum(log: str) -> str:
    """Contents of a log count, not its place; a generator is its name."""
    return hashlib.sha256(Path(log).read_bytes()).hexdigest() if Path(log).is_file() else log


def execute(task: Task, report: Report = lambda _: None) -> None:
    """Run a cell and keep its result."""
    kept.keep(task.path, task.asked, task.code, RUNS[task.cell.kind](**dict(task.cell.arguments)))


def look(task: Task) -> Found:
    """What is kept of a cell (:mod:`experiments.kept`)."""
    return kept.look(task.path, task.asked, task.code)


def load(task: Task) -> dict[str, Any]:
    """Read the kept result of a cell."""
    return kept.read(task.path, dict[str, Any])


def run_all(
    cells: Sequence[Cell], folder: Path, workers: int, console: Console, *, rerun: bool = False
) -> tuple[dict[Cell, Any], list[str], list[Found]]:
    """Run what has not run yet; return the results, what failed, and what is left of other code."""
    folder.mkdir(parents=True, exist_ok=True)
    tasks = [task_of(cell, folder) for cell in cells]
    found = {task: look(task) for task in tasks}
    todo = kept.choose(found, console, rerun=rerun)
    failures: list[str] = []
    missing: set[Cell] = set()
    done = 0
    if todo:
        warm.ensure()
    for task, news in Pool(execute, workers).run(todo):
        if isinstance(news, Finished | Failed):
            done += 1
            text = f"[{done}/{len(todo)}] {task.cell.id}"
            if isinstance(news, Failed):
                failures.append(f"{task.cell.id}: {news.cause}")
                missing.add(task.cell)
                text += f" failed: {news.cause}"
            console.print(text, markup=False, highlight=False, soft_wrap=True)
    results = {task.cell: load(task) for task in tasks if task.cell not in missing}
    return results, failures, kept.left(found, todo)

"""The cells of the experiment: one simulation each, its result a JSON file that is kept for the next time."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from experiments import folders
from experiments.malleable import four, machine, usecases
from experiments.pool import Failed, Finished, Pool, Report

RUNS: Mapping[str, Callable[..., dict[str, Any]]] = {"case": usecases.run, "four": four.run, "machine": machine.run}
"""What runs a cell, by kind."""

NONE = "none"
"""The control of a machine without malleable jobs."""

FORMAT = 2
"""Raised when results of older files do not hold any more."""


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
        values = (Path(value).name if isinstance(value, str) else f"{value:g}" for _, value in self.arguments)
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
            if (share == 0) != (control == NONE):  # nobody to control, or the same as with nobody
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
    """A cell and the folder of its file."""

    cell: Cell
    folder: Path

    @property
    def path(self) -> Path:
        """The cell's file."""
        return self.folder / f"{self.cell.id}.json"


def execute(task: Task, report: Report = lambda _: None) -> None:
    """Run a cell and write its file."""
    arguments = dict(task.cell.arguments)
    result = RUNS[task.cell.kind](**arguments)
    folders.write_json(task.path, {"format": FORMAT, "arguments": arguments, "result": result})


def load(task: Task) -> dict[str, Any] | None:
    """The result of a cell, if it has run."""
    data = folders.read_json(task.path)
    if data.get("format") != FORMAT or data.get("arguments") != dict(task.cell.arguments):
        return None
    result = data.get("result")
    return result if isinstance(result, dict) else None


def run_all(cells: Sequence[Cell], folder: Path, workers: int, console: Console) -> tuple[dict[Cell, Any], list[str]]:
    """Run what has not run yet; returns the results and what failed."""
    folder.mkdir(parents=True, exist_ok=True)
    tasks = [Task(cell, folder) for cell in cells]
    todo = [task for task in tasks if load(task) is None]
    if len(todo) < len(tasks):
        console.print(f"{len(tasks) - len(todo)} of {len(tasks)} runs are kept from before", highlight=False)
    failures: list[str] = []
    done = 0
    for task, news in Pool(execute, workers).run(todo):
        if isinstance(news, Finished | Failed):
            done += 1
            text = f"[{done}/{len(todo)}] {task.cell.id}"
            if isinstance(news, Failed):
                failures.append(f"{task.cell.id}: {news.cause}")
                text += f" failed: {news.cause}"
            console.print(text, markup=False, highlight=False, soft_wrap=True)
    results = {task.cell: load(task) for task in tasks}
    return {cell: result for cell, result in results.items() if result is not None}, failures

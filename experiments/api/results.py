"""Results of a call: their folder with its tables, figures and explanations."""

from __future__ import annotations

import csv
import importlib
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

from spillway.base.errors import shown
from spillway.base.links import refuse_links
from spillway.base.near import near
from spillway.experiments.run.errors import SpecError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from spillway.analysis.measures.compare import PairedComparison
    from spillway.analysis.tables.jobs import JobTable

    Plot = Callable[["Results", Sequence[Mapping[str, Any]], Axes], Axes]


@dataclass
class Results:
    """Results of a call: a folder as the commands write it, and its tables.

    Attributes
    ----------
    folder
        Its path: a temporary folder until :meth:`save`, unless one was given.
    answer
        Sentences of a what-if question, one per setting; empty for a comparison.
    trusted
        Whether code that the folder names (``FILE.py:CLASS``) may run: in results of a call, which named it.

    Raises
    ------
    InputError
        The folder holds a link.
    SpecError
        There is no such folder; or a table, or a run, is not as it was written.
    """

    folder: Path
    answer: Sequence[str] = ()
    trusted: bool = False

    def __post_init__(self) -> None:
        """Look for the folder, links and damage; the results of a call are as it wrote them."""
        if not isinstance(self.folder, str | PathLike):
            raise SpecError(f"expected the folder of results, got {shown(self.folder)}")
        self.folder = Path(self.folder).absolute()
        if not self.folder.is_dir():
            raise SpecError(f"there is no folder of results {str(self.folder)!r}")
        refuse_links(self.folder)
        if not self.trusted:
            from spillway.experiments.campaign.folder.verify import refuse_damaged

            refuse_damaged(self.folder)

    @cached_property
    def runs(self) -> list[dict[str, Any]]:
        """One row per run: its names and its figures (seconds, bytes, counts), which are numbers."""
        with self._file("summary.csv").open(encoding="utf-8", newline="") as stream:
            return _rows(stream)

    def _file(self, name: str) -> Path:
        """A file that each folder of results has."""
        if not (path := self.folder / name).is_file():
            here = "; it is one run's: name the folder around it" if (self.folder / "run.json").is_file() else ""
            raise SpecError(f"{self.folder}: no folder of results: it has no {name}{here}")
        return path

    @cached_property
    def table(self) -> list[dict[str, Any]]:
        """The table of a what-if question, one row per setting, with bands; empty for a comparison."""
        return self._table("whatif.csv")

    @cached_property
    def left_out(self) -> list[dict[str, Any]]:
        """Jobs that a what-if question does not compare: ``job``, the ``setting`` that ends it, and its ``end``."""
        return self._table("whatif-left-out.csv")

    @cached_property
    def omissions(self) -> list[dict[str, Any]]:
        """Parts of the log that no run plays: ``name``, ``words``, ``jobs``, ``share`` of the node-hours."""
        record = json.loads((self._folder_of(self.runs[0]) / "run.json").read_text(encoding="utf-8"))
        return list(record["assumed"]["omissions"])

    def _table(self, name: str) -> list[dict[str, Any]]:
        path = self.folder / name
        if not path.exists():
            return []
        with path.open(encoding="utf-8", newline="") as stream:
            return _rows(stream)

    def run_folder(self, **chosen: Any) -> Path:
        """Folder of the one run with these values in its columns (``policy="easy"``, ``seed=1``).

        Raises
        ------
        SpecError
            No run, or more than one, has them; lists the runs.
        """
        found = self._chosen(chosen)
        if len(found) != 1:
            asked = ", ".join(f"{name}={value!r}" for name, value in chosen.items()) or "nothing"
            there = "; ".join(f"{row['policy']} on {row['workload']}, seed {row['seed']}" for row in self.runs)
            raise SpecError(f"expected values that one run has, {asked} is that of {len(found)}; there are: {there}")
        return self._folder_of(found[0])

    def _chosen(self, chosen: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Runs with these values in their columns."""
        known = list(self.runs[0]) if self.runs else [*chosen]
        for name in chosen:
            if name not in known:
                raise SpecError(f"runs have no column {name!r}{near(name, known)}; they have {', '.join(known)}")
        return [row for row in self.runs if all(row[name] == value for name, value in chosen.items())]

    def _folder_of(self, row: Mapping[str, Any]) -> Path:
        name = str(row["run"])
        if Path(name).name != name or name == "..":
            raise SpecError(f"{self.folder / 'summary.csv'}: 'run' must name a folder here, got {shown(name)}")
        return self.folder / name

    def jobs(self, **chosen: Any) -> JobTable:
        """Jobs of one run (see :meth:`run_folder`), one array per column (seconds, nodes, bytes)."""
        from spillway.analysis.tables.jobs import read_run

        return read_run(self.run_folder(**chosen))

    def compare(self, policy: str, baseline: str, metric: str = "wait_s") -> PairedComparison:
        """Compare two policies on the jobs that ran under both; ratio and difference with 95 % intervals.

        Parameters
        ----------
        policy, baseline
            Their names in the column ``policy`` of :attr:`runs`.
        metric
            ``wait_s`` or ``turnaround_s``.

        Returns
        -------
        Paired
            Its interval is over runs, or over periods of a long run; NaN where neither gives one.

        Raises
        ------
        SpecError
            A policy or the metric is unknown, or the policies have no job in common.
        """
        from spillway.analysis.measures.compare import comparable, compare_runs, in_order

        names = list(dict.fromkeys(str(row["policy"]) for row in self.runs))
        for name in (policy, baseline):
            if name not in names:
                raise SpecError(f"compare({name!r}): no such policy{near(name, names)}; there are: {', '.join(names)}")
        if metric not in ("wait_s", "turnaround_s"):
            raise SpecError(f"compare(): metric={metric!r}: expected wait_s or turnaround_s")
        tables: dict[str, dict[tuple[object, ...], JobTable]] = {policy: {}, baseline: {}}
        for row in self.runs:
            if row["policy"] in tables:
                key = tuple(row[name] for name in ("workload", "platform", "model", "seed"))
                tables[str(row["policy"])][key] = self.jobs(run=row["run"])
        pairs = [(ours, tables[baseline][key]) for key, ours in tables[policy].items() if key in tables[baseline]]
        both = [in_order(ours, theirs) for ours, theirs in pairs if comparable(ours, theirs)]
        if not both:
            raise SpecError(f"compare({policy!r}, {baseline!r}): no job ran under both")
        ours, theirs = ([getattr(pair[side], metric) for pair in both] for side in (0, 1))
        return compare_runs(ours, theirs)

    def holdings(self, **chosen: Any) -> list[dict[str, Any]]:
        """Nodes and burst buffers that the jobs of one run held, with times: the rows of ``allocations.csv``."""
        with (self.run_folder(**chosen) / "allocations.csv").open(encoding="utf-8", newline="") as stream:
            return _rows(stream)

    def to_pandas(self, what: str = "runs", **chosen: Any) -> Any:
        """A data frame of ``runs``, of ``table``, or of the ``jobs`` or ``holdings`` of one run.

        Raises
        ------
        ImportError
            pandas is not installed.
        SpecError
            There is no such table.
        """
        try:
            import pandas
        except ModuleNotFoundError as error:
            raise ImportError("to_pandas() needs pandas: pip install pandas") from error
        if what == "jobs":
            return pandas.read_csv(self.run_folder(**chosen) / "jobs.csv", dtype={"job_id": str})
        if what == "holdings":
            return pandas.read_csv(self.run_folder(**chosen) / "allocations.csv", dtype={"job_id": str})
        if what not in ("runs", "table"):
            raise SpecError(f"to_pandas({what!r}): expected runs, table, jobs or holdings")
        return pandas.DataFrame(getattr(self, what))

    @property
    def notes(self) -> list[str]:
        """Omissions and assumptions, a line each."""
        return self._file("assumptions.txt").read_text(encoding="utf-8").splitlines()

    def plot(self, figure: str = "mean_waiting_time_s", ax: Axes | None = None, **chosen: Any) -> Axes:
        """Draw a figure and return its axes.

        Parameters
        ----------
        figure
            ``distribution`` and ``trade-off`` of the waiting times of all runs; ``queue`` over time in the first log
            and seed; ``nodes``, ``buffers`` and ``utilisation`` of one run over time; or a figure of :attr:`runs`: bars
            of its means over logs and seeds.
        ax
            Axes to draw on; a new figure by default.
        **chosen
            Values that select the runs (``policy="easy"``, ``seed=1``): one run for ``nodes``, ``buffers`` and
            ``utilisation``.

        Raises
        ------
        SpecError
            There is no such figure (lists all of them), or no such run.
        """
        from matplotlib import pyplot

        from spillway.analysis.plots.style import drawing

        rows = self._chosen(chosen)
        numbers = [name for name, value in self.runs[0].items() if isinstance(value, float | int)] if self.runs else []
        if figure not in (*_PLOTS, *numbers):
            raise SpecError(f"plot({figure!r}): expected a figure: {', '.join((*_PLOTS, *numbers))}")
        if not rows:
            self.run_folder(**chosen)  # lists the runs
        with drawing():
            drawn = _PLOTS.get(figure) or _bars_of(figure)
            if figure in _ONE_RUN:
                self.run_folder(**chosen)  # lists the runs unless it is one
            return drawn(self, rows, pyplot.subplots(layout="constrained")[1] if ax is None else ax)

    def explain(self, job: str | int, *, trust: bool = False, **chosen: Any) -> list[str]:
        """Give the reasons why a job of one run waited, in lines; a run without reasons is repeated (``trust``: with
        code that the folder names).
        """
        from spillway.experiments.run.explain import explain as told

        return told(self.run_folder(**chosen), str(job), trust=trust or self.trusted)

    def save(self, folder: str | Path) -> Results:
        """Copy everything into a folder that does not exist yet; returns the results there.

        Raises
        ------
        SpecError
            The folder exists, or cannot be written.
        """
        path = Path(folder)
        if path.exists():
            raise SpecError(f"save(): {path} exists; name a new folder")
        try:
            shutil.copytree(self.folder, path)
        except OSError as error:
            raise SpecError(f"save(): {path} cannot be written: {error.strerror or error}") from None
        return Results(path, self.answer, self.trusted)

    def _repr_html_(self) -> str:
        """The table of a what-if question, or the runs, for notebooks."""
        from spillway.analysis.document.blocks import Table, Words
        from spillway.analysis.document.html import fragment

        few = ("workload", "policy", "seed", "jobs", "rejected", "mean_waiting_time_s", "mean_bounded_slowdown")
        rows = self.table or [{name: row[name] for name in few} for row in self.runs]
        return fragment(
            Table([*(rows[0] if rows else ())], [[Words(str(cell)) for cell in row.values()] for row in rows])
        )


def _by_policy(rows: Sequence[Mapping[str, Any]], value: Callable[[Mapping[str, Any]], Any]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for row in rows:
        found.setdefault(str(row["policy"]), []).append(value(row))
    return found


def _waits(results: Results, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    import numpy as np

    tables = _by_policy(rows, lambda row: results.jobs(run=row["run"]).ran().wait_s)
    return {policy: np.concatenate(found) for policy, found in tables.items()}


def _bars_of(figure: str) -> Plot:
    def draw(results: Results, rows: Sequence[Mapping[str, Any]], ax: Axes) -> Axes:
        from spillway.analysis.plots.style import policy_colours

        values = _by_policy(rows, lambda row: row[figure])
        ax.barh(list(values), [_mean(found) for found in values.values()], color=list(policy_colours(values).values()))
        ax.invert_yaxis()
        ax.set_xlabel(figure)
        return ax

    return draw


def _distribution(results: Results, rows: Sequence[Mapping[str, Any]], ax: Axes) -> Axes:
    from spillway.analysis.plots.distributions import boxen

    return boxen(_waits(results, rows), ax)


def _trade_off(results: Results, rows: Sequence[Mapping[str, Any]], ax: Axes) -> Axes:
    from spillway.analysis.plots.points import pareto

    return pareto({name: (float(w.mean()), float(w.max())) for name, w in _waits(results, rows).items() if w.size}, ax)


def _queue(results: Results, rows: Sequence[Mapping[str, Any]], ax: Axes) -> Axes:
    from spillway.analysis.plots.timelines import queue_timeline

    first = [row for row in rows if (row["workload"], row["seed"]) == (rows[0]["workload"], rows[0]["seed"])]
    return queue_timeline({str(row["policy"]): results.jobs(run=row["run"]).ran() for row in first}, ax)


def _of_one_run(module: str, function: str) -> Plot:
    def draw(results: Results, rows: Sequence[Mapping[str, Any]], ax: Axes) -> Axes:
        home = importlib.import_module(f"spillway.analysis.plots.{module}")
        return cast("Axes", getattr(home, function)(results.jobs(run=rows[0]["run"]), ax))

    return draw


_ONE_RUN = frozenset(("nodes", "buffers", "utilisation"))

_PLOTS: Mapping[str, Plot] = {
    "distribution": _distribution,
    "trade-off": _trade_off,
    "queue": _queue,
    "nodes": _of_one_run("gantt", "node_gantt"),
    "buffers": _of_one_run("gantt", "storage_gantt"),
    "utilisation": _of_one_run("timelines", "utilisation_timeline"),
}


TEXTS = frozenset(
    ("job", "job_id", "workload", "workload_name", "user", "allocated_resources", "storages", "run", "platform")
)
"""Columns that are names, also where they look like numbers."""


def _rows(stream: TextIO) -> list[dict[str, Any]]:
    """Rows of a table; fields that are numbers as such, names as texts."""
    return [
        {name: text if name in TEXTS else _number(text) for name, text in row.items()} for row in csv.DictReader(stream)
    ]


def _number(text: str) -> Any:
    """Read a field of a table as a whole number, else as a float, else as a text."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)

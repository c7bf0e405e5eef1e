"""The calls of ``import spillway``: logs, comparisons and what-if questions from a script, a notebook or a test.

Each call is a thin caller of what the commands use, so that a comparison made here writes the same folder as
``spillway run`` with the same options, and is repeated by the same command.
"""

from __future__ import annotations

import ast
import csv
import importlib
import inspect
import io
import json
import linecache
import shutil
import sys
import tempfile
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

import msgspec

from spillway.base import durable
from spillway.experiments.run.errors import RunFailed, SpecError
from spillway.experiments.run.spec import AUTO, DEFAULT_TAU_S, Campaign, Engine, ModelSpec, PlatformSpec, WorkloadSpec

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from spillway.analysis.tables import JobTable
    from spillway.experiments.campaign.pool import Executor
    from spillway.experiments.campaign.whatif import Question
    from spillway.experiments.run.single import Task
    from spillway.experiments.run.spec import PolicySpec

    Plot = Callable[["Results", Sequence[Mapping[str, Any]], Axes], Axes]

Policies = Sequence[str | type | object] | str | type | object
"""Names with their options, classes, or instances of classes (frozen dataclasses: their fields are the options)."""


@dataclass(frozen=True)
class Log:
    """Jobs to be played: a log, a Batsim workload, a generator or a public log.

    Attributes
    ----------
    source
        As the command line takes it: a file, a pattern, a member of an archive (``parts.tar.xz!part-4.json``), a
        generator (``kth-like:jobs=500``) or the name of a public log.
    reading
        Options of reading, by name (:class:`spillway.workloads.logs.reading.Reading`).
    convert
        Options of the conversion of logs, by name (:class:`spillway.workloads.convert.ConvertOptions`).
    """

    source: str
    reading: Mapping[str, Any] = field(default_factory=dict)
    convert: Mapping[str, Any] = field(default_factory=dict)

    def info(self) -> dict[str, str]:
        """What the log has: figures by name, as ``spillway workload info`` prints them.

        Raises
        ------
        WorkloadError
            The log cannot be read; the message names file and line.
        """
        from spillway.experiments.campaign.sources import expand
        from spillway.workloads.logs.info import info_rows

        (source,) = expand(self.spec())
        return {row[0]: str(row[1]) for row in info_rows(source.table(0))}

    def spec(self) -> WorkloadSpec:
        """The description that campaigns take."""
        return WorkloadSpec(source=self.source, read=dict(self.reading), convert=dict(self.convert))


def read(source: str | Path, *, convert: Mapping[str, Any] | None = None, **reading: Any) -> Log:
    """Name the jobs to be played; they are read when they are needed.

    Parameters
    ----------
    source
        See :class:`Log`.
    convert
        Options of the conversion of logs (``max_records=1000``, ``processors_per_node=4`` ...).
    **reading
        Options of reading logs (``format="sacct"``, ``where=["partition=batch"]``, ``lenient=True`` ...).

    Raises
    ------
    SpecError
        An option is unknown; lists the known ones.
    """
    from spillway.workloads.logs.reading import Reading

    known = inspect.signature(Reading).parameters
    for name in reading:
        if name not in known:
            raise SpecError(f"read(): unknown option {name!r}; known: {', '.join(known)}, convert")
    return Log(str(source), reading, convert or {})


@dataclass
class Results:
    """What was played: a folder as the commands write it, and its tables.

    Attributes
    ----------
    folder
        Where it is: a temporary folder until :meth:`save`, unless one was given.
    answer
        Sentences of a what-if question, one a setting; empty for a comparison.
    """

    folder: Path
    answer: Sequence[str] = ()

    @cached_property
    def runs(self) -> list[dict[str, Any]]:
        """One row per run: what was played, and its figures (seconds, bytes, counts); numbers are numbers."""
        with (self.folder / "summary.csv").open(encoding="utf-8", newline="") as stream:
            return _rows(stream)

    @cached_property
    def table(self) -> list[dict[str, Any]]:
        """The table of a what-if question, one row a setting, with bands; empty for a comparison."""
        return self._table("whatif.csv")

    @cached_property
    def left_out(self) -> list[dict[str, Any]]:
        """Jobs that a what-if question does not compare: ``job``, the ``setting`` that ends it, and how."""
        return self._table("whatif-left-out.csv")

    @cached_property
    def omissions(self) -> list[dict[str, Any]]:
        """What the log states and no run plays: ``name``, ``words``, ``jobs``, ``share`` of the node-hours."""
        record = json.loads((self.folder / str(self.runs[0]["run"]) / "run.json").read_text(encoding="utf-8"))
        return list(record["assumed"]["omissions"])

    def _table(self, name: str) -> list[dict[str, Any]]:
        path = self.folder / name
        if not path.exists():
            return []
        with path.open(encoding="utf-8", newline="") as stream:
            return _rows(stream)

    def run_folder(self, **chosen: Any) -> Path:
        """Folder of the one run whose columns have these values (``policy="easy"``, ``seed=1``).

        Raises
        ------
        SpecError
            No run, or more than one, has them; lists what there is.
        """
        found = [row for row in self.runs if all(row.get(name) == value for name, value in chosen.items())]
        if len(found) != 1:
            asked = ", ".join(f"{name}={value!r}" for name, value in chosen.items()) or "nothing"
            there = "; ".join(f"{row['policy']} on {row['workload']}, seed {row['seed']}" for row in self.runs)
            raise SpecError(f"expected values that one run has, {asked} is that of {len(found)}; there are: {there}")
        return self.folder / str(found[0]["run"])

    def jobs(self, **chosen: Any) -> JobTable:
        """Jobs of one run, a column an array (seconds, nodes, bytes); which run: see :meth:`run_folder`."""
        from spillway.analysis.tables import read_run

        return read_run(self.run_folder(**chosen))

    def holdings(self, **chosen: Any) -> list[dict[str, Any]]:
        """Which job of one run held which nodes and burst buffers, since when: the rows of ``allocations.csv``."""
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
        """What was left out or made up, a line each."""
        return (self.folder / "assumptions.txt").read_text(encoding="utf-8").splitlines()

    def plot(self, figure: str = "mean_waiting_time_s", ax: Axes | None = None, **chosen: Any) -> Axes:
        """Draw a figure and return its axes.

        Parameters
        ----------
        figure
            ``distribution`` and ``trade-off`` of the waiting times of all runs; ``queue`` over time in the first log
            and seed; ``nodes``, ``buffers`` and ``utilisation`` of one run over time; or a figure of :attr:`runs`: bars
            of its means over logs and seeds.
        ax
            Where to draw; a new figure by default.
        **chosen
            Which runs count (``policy="easy"``, ``seed=1``); for ``nodes``, ``buffers`` and ``utilisation`` one run.

        Raises
        ------
        SpecError
            There is no such figure (lists those that there are), or no such run.
        """
        from matplotlib import pyplot

        from spillway.analysis.plots.style import drawing

        rows = [row for row in self.runs if all(row.get(name) == value for name, value in chosen.items())]
        numbers = [name for name, value in self.runs[0].items() if isinstance(value, float | int)] if self.runs else []
        if figure not in (*_PLOTS, *numbers):
            raise SpecError(f"plot({figure!r}): expected a figure: {', '.join((*_PLOTS, *numbers))}")
        with drawing():
            drawn = _PLOTS.get(figure) or _bars_of(figure)
            if figure in ONE_RUN:
                self.run_folder(**chosen)  # says which runs there are, where it is not one
            return drawn(self, rows, pyplot.subplots(layout="constrained")[1] if ax is None else ax)

    def explain(self, job: str | int, **chosen: Any) -> list[str]:
        """Why a job of one run waited, in lines; the run is repeated where it kept no reasons."""
        from spillway.experiments.run.explain import explain as told

        return told(self.run_folder(**chosen), str(job), trust=True)  # the call named its policies

    def save(self, folder: str | Path) -> Results:
        """Copy everything into a folder that does not exist yet; returns the results there.

        Raises
        ------
        SpecError
            The folder exists.
        """
        path = Path(folder)
        if path.exists():
            raise SpecError(f"save(): {path} exists; name a new folder")
        shutil.copytree(self.folder, path)
        return Results(path, self.answer)

    def _repr_html_(self) -> str:
        """The table of a what-if question, or the runs, for notebooks."""
        few = ("workload", "policy", "seed", "jobs", "rejected", "mean_waiting_time_s", "mean_bounded_slowdown")
        rows = self.table or [{name: row[name] for name in few} for row in self.runs]
        head = "".join(f"<th>{name}</th>" for name in (rows[0] if rows else ()))
        lines = ["".join(f"<td>{escape(str(value))}</td>" for value in row.values()) for row in rows]
        return f"<table><tr>{head}</tr>" + "".join(f"<tr>{line}</tr>" for line in lines) + "</table>"


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
    from spillway.analysis.plots.boxen import boxen

    return boxen(_waits(results, rows), ax)


def _trade_off(results: Results, rows: Sequence[Mapping[str, Any]], ax: Axes) -> Axes:
    from spillway.analysis.plots.pareto import pareto

    return pareto({name: (float(w.mean()), float(w.max())) for name, w in _waits(results, rows).items() if w.size}, ax)


def _queue(results: Results, rows: Sequence[Mapping[str, Any]], ax: Axes) -> Axes:
    from spillway.analysis.plots.queue_timeline import queue_timeline

    first = [row for row in rows if (row["workload"], row["seed"]) == (rows[0]["workload"], rows[0]["seed"])]
    return queue_timeline({str(row["policy"]): results.jobs(run=row["run"]).ran() for row in first}, ax)


def _of_one_run(module: str) -> Plot:
    def draw(results: Results, rows: Sequence[Mapping[str, Any]], ax: Axes) -> Axes:
        home = importlib.import_module(f"spillway.analysis.plots.{module}")
        return cast("Axes", getattr(home, module)(results.jobs(run=rows[0]["run"]), ax))

    return draw


ONE_RUN = frozenset(("nodes", "buffers", "utilisation"))

_PLOTS: Mapping[str, Plot] = {
    "distribution": _distribution,
    "trade-off": _trade_off,
    "queue": _queue,
    "nodes": _of_one_run("node_gantt"),
    "buffers": _of_one_run("storage_gantt"),
    "utilisation": _of_one_run("utilisation_timeline"),
}


def compare(
    logs: str | Path | Log | Sequence[str | Path | Log],
    policies: Policies = (),
    *,
    machine: str = "",
    models: str | Sequence[str] = (),
    seeds: int | Sequence[int] = 1,
    engine: str = "fluid",
    settings: Mapping[str, Any] | None = None,
    events: str = "",
    tau_s: float = DEFAULT_TAU_S,
    workers: int = 0,
    dask: str = "",
    figures: bool | str = False,
    force: bool = False,
    folder: str | Path | None = None,
    progress: bool = True,
) -> Results:
    """Play policies on logs: every log with every policy, model and seed.

    Parameters
    ----------
    logs
        One or several, as :func:`read` gives them or as the command line takes them.
    policies
        Names with their options (``"easy:depth=2"``), ``FILE.py:CLASS``, or classes; default: the five of the demo.
    machine
        Built-in name, description (``.toml``), SimGrid XML, ``nodes:240,burst_buffer_total=80TB``, or
        ``auto,burst_buffer_total=80TB``; default: what the log states, and what its jobs had in use.
    models
        Job models with their options; default: what goes with the policies.
    seeds
        How many seeds from 0, or the seeds themselves.
    engine
        ``fluid`` (contention) or ``fixed`` (stated durations).
    settings
        Settings of the session by name (``bb_life="slurm"``), as ``spillway run --help`` lists them.
    events
        File of external events, or ``failures:...``.
    tau_s
        Bound of the bounded slowdown (s).
    workers
        Runs at a time; 0: one per core.
    dask
        Address of a Dask scheduler that plays the runs instead.
    figures
        Whether figures and the report are made, or the kinds of files of each figure (``"pdf,svg"``).
    force
        Whether a log is also played on a machine that cannot be its own (more than 1.5 times its nodes requested, or
        more than 2 % of the jobs rejected).
    folder
        Where results are kept, and gone on with by the next call; default: a temporary folder.
    progress
        Whether progress and notes are shown.

    Raises
    ------
    SpecError, OptionError, WorkloadError, PlatformError
        A name, option or input is wrong; nothing has run then.
    RunFailed
        Runs failed; names the first cause.
    """
    from spillway.experiments.campaign.comparison import model_of
    from spillway.experiments.run.sessions import refuse_combinations

    given = [logs] if isinstance(logs, str | Path | Log) else list(logs)
    root = _root(folder)
    specs = _policies(policies, settings or {}, root)
    modelled = tuple(model_of(text) for text in ([models] if isinstance(models, str) else models)) or (ModelSpec(),)
    refuse_combinations(specs, modelled)
    campaign = Campaign(
        name="compare",
        workloads=tuple((one if isinstance(one, Log) else read(one)).spec() for one in given),
        platforms=(_machine(machine),),
        policies=tuple(specs),
        models=modelled,
        seeds=tuple(range(seeds)) if isinstance(seeds, int) else tuple(seeds),
        engine=Engine(engine),
        tau_s=tau_s,
        plots=bool(figures),
        figures=figures if isinstance(figures, str) else Campaign.figures,
        events=events,
    )
    return _played([campaign], root, workers, dask, progress, force)


def whatif(
    log: str | Path | Log,
    *changes: str,
    machine: str = "",
    policy: str | type = "easy",
    model: str = "",
    seeds: int | None = None,
    shakes: int | None = None,
    together: bool = False,
    workers: int = 0,
    figures: bool = False,
    force: bool = False,
    folder: str | Path | None = None,
    progress: bool = True,
) -> Results:
    """Ask what would change: one change at a time against the machine, the jobs and the policy as they are.

    Parameters
    ----------
    changes
        As ``spillway whatif --set`` takes them: ``"storage.capacity=x1.2"``, ``"policy=plan"``, ``"load=x1.1"``.
    shakes
        How often each run is repeated with shaken input; default: 10 where there are fewer than five seeds, else none.
        Bands are over them; too few for the number of comparisons are refused.
    together
        Whether all of them are tried at once, too.

    The other parameters are those of :func:`compare`.

    Raises
    ------
    SpecError, OptionError, WorkloadError, RunFailed
        As :func:`compare`.
    """
    from spillway.experiments.campaign import whatif as asking

    chosen = log if isinstance(log, Log) else read(log)
    root = _root(folder)
    question = asking.question_of(
        chosen.source,
        changes,
        platform=_machine(machine),
        convert=chosen.convert,
        read=chosen.reading,
        policy=policy if isinstance(policy, str) else _in_a_file(policy, root),
        model=model,
        seeds=seeds,
        shakes=shakes,
        together=together,
        plots=figures,
    )
    return _played(question.grids, root, workers, "", progress, force, question)


def study(name: str, *options: str, folder: str | Path | None = None) -> Results:
    """Repeat a paper's evaluation (``spillway study NAME``); ``options`` as on the command line (``"--quick"``).

    Raises
    ------
    RunFailed
        It ended with another exit code than 0.
    """
    from spillway.experiments.cli import main

    root = _root(folder)
    code = main(["study", name, *options, "--out", str(root)])
    if code:
        raise RunFailed(f"spillway study {name} ended with exit code {code}; its lines say why")
    return Results(root)


# ---------------------------------------------------------------------------------------------------- steps


def _root(folder: str | Path | None) -> Path:
    return Path(tempfile.mkdtemp(prefix="spillway-")) / "results" if folder is None else Path(folder)


def _machine(text: str) -> PlatformSpec:
    return PlatformSpec(source=text or AUTO)


def _policies(given: Policies, settings: Mapping[str, Any], root: Path) -> list[PolicySpec]:
    from spillway.experiments.run import policies, sessions

    several = list(given) if isinstance(given, list | tuple) else [given]
    specs = []
    for one in several or policies.FIVE:
        cls = one if isinstance(one, type) else type(one)
        options = {} if isinstance(one, str | type) else _options_of(one)
        spec = policies.parse_policy(one if isinstance(one, str) else _in_a_file(cls, root))
        spec = policies.typed(msgspec.structs.replace(spec, options=spec.options | options))
        spec = sessions.typed(msgspec.structs.replace(spec, session=dict(settings)))
        label = policies.label(msgspec.structs.replace(spec, session={}))
        if not isinstance(one, str):
            label = cls.__name__ + label.removeprefix(spec.policy)
        specs.append(msgspec.structs.replace(spec, label=label))
    return specs


def _options_of(policy: object) -> dict[str, Any]:
    """Fields of an instance that differ from their defaults.

    Raises
    ------
    SpecError
        It is no instance of a dataclass.
    """
    if not is_dataclass(policy):
        raise SpecError(f"expected names, classes or instances of policies, got {policy!r}")
    return {one.name: getattr(policy, one.name) for one in fields(policy) if getattr(policy, one.name) != one.default}


def _in_a_file(cls: type, root: Path) -> str:
    """How a class is named for other processes: its module, or a file with its source where it is a script's own."""
    if cls.__module__ != "__main__":
        return f"{cls.__module__}:{cls.__qualname__}"
    try:
        source = _source_of(cls)
    except (OSError, TypeError, SyntaxError, AttributeError) as error:
        raise SpecError(f"policy {cls.__name__}: its source cannot be read ({error}); put it into a file") from None
    path = root.with_name("policies") / f"{cls.__name__.lower()}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    durable.write_text(path, _imports_of(source) + "\n\n" + source)
    return f"{path}:{cls.__name__}"


def _source_of(cls: type) -> str:
    """A class's source with its decorators; in a notebook, where no file has it, from the cell of its ``__call__``."""
    if hasattr(sys.modules["__main__"], "__file__"):
        return textwrap.dedent(inspect.getsource(cls))
    lines = linecache.getlines(cls.__call__.__code__.co_filename)
    for node in ast.walk(ast.parse("".join(lines))):
        if isinstance(node, ast.ClassDef) and node.name == cls.__name__:
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            return textwrap.dedent("".join(lines[first - 1 : node.end_lineno]))
    raise OSError("no cell has it")


def _imports_of(source: str) -> str:
    """Import statements for the names of a class's source that its script imported."""
    names = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
    lines = ["from __future__ import annotations"]
    for name in sorted(names):
        found = vars(sys.modules["__main__"]).get(name)
        if inspect.ismodule(found):
            lines.append(f"import {found.__name__} as {name}")
        elif found is not None and getattr(found, "__module__", "__main__") != "__main__":
            lines.append(f"from {found.__module__} import {found.__name__} as {name}")
    return "\n".join(lines)


def _played(
    campaigns: Sequence[Campaign],
    root: Path,
    workers: int,
    dask: str,
    progress: bool,
    force: bool,
    question: Question | None = None,
) -> Results:
    from rich.console import Console

    from spillway.experiments.campaign.campaign import run_grids
    from spillway.experiments.campaign.progress import NotebookConsole

    console = Console() if progress else Console(file=io.StringIO(), width=160)
    console = NotebookConsole() if console.is_jupyter else console
    executor = _executor(campaigns[0].engine, workers, dask)
    code = run_grids(
        campaigns, root, executor, console, conclude=None if question is None else question.answer, force=force
    )
    if code:
        kept = console.file.getvalue() if isinstance(console.file, io.StringIO) else ""
        said = [line for line in kept.splitlines() if line.startswith("failed")]
        raise RunFailed(said[0] if said else f"runs failed: their folders below {root} have the causes")
    text = root / "whatif.txt"
    return Results(root, tuple(text.read_text(encoding="utf-8").splitlines()) if question is not None else ())


def _executor(engine: Engine, workers: int, dask: str) -> Executor[Task]:
    from spillway.experiments.cli.arguments import available_cores

    if dask:
        from spillway.experiments.campaign.dask_pool import DaskPool

        return DaskPool.at(dask)
    from spillway.experiments.campaign.pool import Pool
    from spillway.experiments.run.single import execute

    return Pool(execute, workers or available_cores(), fluid=engine is not Engine.FIXED)


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
    """A field of a table: a whole number or another one where it is one, else the text."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)

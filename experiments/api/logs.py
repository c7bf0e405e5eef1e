"""Logs by name: options of reading, selection of jobs, figures."""

from __future__ import annotations

import dataclasses
import math
import numbers as numbers_of
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from spillway.base import durable
from spillway.base.errors import shown
from spillway.base.near import near
from spillway.experiments.run.errors import SpecError
from spillway.experiments.run.spec import WorkloadSpec


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
        Options of the conversion of logs, by name (:class:`spillway.workloads.conversion.convert.ConvertOptions`).
    """

    source: str
    reading: Mapping[str, Any] = field(default_factory=dict)
    convert: Mapping[str, Any] = field(default_factory=dict)

    def spec(self) -> WorkloadSpec:
        """The description for campaigns."""
        return WorkloadSpec(source=self.source, read=dict(self.reading), convert=dict(self.convert))


def read(source: str | Path | Log, *, convert: Mapping[str, Any] | None = None, **reading: Any) -> Log:
    """Name the jobs to be played; they are read when they are needed.

    Parameters
    ----------
    source
        See :class:`Log`; a log is returned as it is, where no option is given.
    convert
        Further options of the conversion of logs.
    **reading
        Options of reading logs (``format="sacct"``, ``where=["partition=batch"]``, ``lenient=True`` ...), and those of
        their conversion that the command line has: ``first=1000``, ``processors_per_node=4``, ``staging=...``,
        ``stripes=...``.

    Raises
    ------
    SpecError
        An option is unknown; lists the known ones.
    OptionError, WorkloadError
        The value of an option is wrong.
    """
    from spillway.base.options import build, describe
    from spillway.workloads.conversion.convert import OF_LOGS
    from spillway.workloads.logs.reading import Reading

    made = {name: reading.pop(name) for name in OF_LOGS if name in reading}
    for name, value in made.items():
        if isinstance(value, numbers_of.Integral) and not isinstance(value, bool):
            made[name] = int(value)  # NumPy's, too
    if (first := made.get("first")) is not None and (type(first) is not int or first < 1):
        raise SpecError(f"read(first={first!r}): expected a whole number >= 1")
    if convert is not None and not isinstance(convert, Mapping):
        raise SpecError(f"read(): convert: expected options by name, got {shown(convert)}")
    known = [info.name for info in describe(Reading)]
    for name in reading:
        if name not in known:
            raise SpecError(f"read(): unknown option {name!r}; known: {', '.join((*known, *OF_LOGS))}, convert")
    if not isinstance(source, str | PathLike | Log):
        raise SpecError(f"expected a log by name, file or sw.read(...), got {shown(source)}; sw.log makes one of jobs")
    log = source if isinstance(source, Log) else Log(str(source))
    build(Reading, reading)  # wrong values are refused now
    return dataclasses.replace(
        log, reading={**log.reading, **reading}, convert={**log.convert, **made, **(convert or {})}
    )


def where(
    log: str | Path | Log,
    *,
    partition: str | Sequence[str] = (),
    user: str | Sequence[str] = (),
    account: str | Sequence[str] = (),
    qos: str | Sequence[str] = (),
    cluster: str | Sequence[str] = (),
    state: str | Sequence[str] = (),
    time: str | Sequence[str] = (),
) -> Log:
    """Take the jobs of a log that meet conditions (``--where``); several values of one field are alternatives.

    Parameters
    ----------
    partition, user, account, qos, cluster, state
        Names as the log has them; ``state`` is the end of a job (completed, failed, cancelled, timeout).
    time
        Ranges of submissions, ``2024-01-01..2024-02-01`` or seconds of the log; one end may be missing.

    Raises
    ------
    SpecError
        No condition is given, or the log is filtered by that field already.
    WorkloadError
        A range is malformed.
    """
    named = {"partition": partition, "user": user, "account": account, "qos": qos, "cluster": cluster}
    asked = named | {"state": state, "time": time}
    given = {name: found for name, values in asked.items() if (found := _values(name, values))}
    if not given:
        raise SpecError(f"where(): expected a condition: {', '.join(f'{name}=' for name in asked)}")
    chosen = read(log)
    before = chosen.reading.get("where", ())
    conditions = (before,) if isinstance(before, str) else tuple(before)
    for name in given:
        if same := [text for text in conditions if text.startswith(f"{name}=")]:
            raise SpecError(f"where(): the log is filtered by {same[0]!r} already; give all values of {name} at once")
    more = (f"{name}={value}" for name, values in given.items() for value in values)
    return read(chosen, where=(*conditions, *more))


def _values(name: str, given: Any) -> list[str]:
    """Values of a condition as texts: one or several names or whole numbers."""
    several = [given] if isinstance(given, str | numbers_of.Integral) else given
    if isinstance(several, Mapping) or not isinstance(several, Iterable):
        raise SpecError(f"where(): {name}: expected names, got {shown(given)}")
    values = [value for value in several if value != ""]
    for value in values:
        if not isinstance(value, str | numbers_of.Integral) or isinstance(value, bool):
            raise SpecError(f"where(): {name}: expected names, got {shown(value)}")
    return [str(value) for value in values]


def info(log: str | Path | Log, *, nodes: int | None = None) -> dict[str, str | int | float]:
    """Figures of a log by name, as ``spillway workload info`` prints them.

    Parameters
    ----------
    nodes
        Size of the machine, where the log does not state it.

    Returns
    -------
    dict
        Numbers where the command prints one; texts of a name that it prints several times (``note``, ``left out``) are
        lines of one text.

    Raises
    ------
    WorkloadError, SpecError
        The log cannot be read (names file and line), or a pattern matches several.
    """
    from spillway.experiments.campaign.inputs.sources import the_source
    from spillway.workloads.batsim.json_file import parse_batsim
    from spillway.workloads.batsim.summary import summarise_workload
    from spillway.workloads.logs.info import info_rows

    nodes = _nodes("info", nodes)
    source = the_source(read(log).spec())
    if source.is_json:
        rows = summarise_workload(parse_batsim(source.content(), where=source.text))
    else:
        rows = [("log", source.name), *info_rows(source.table(0), nodes)]
    found: dict[str, str] = {}
    for name, text in rows:
        found[name.strip()] = f"{found[name.strip()]}\n{text}" if name.strip() in found else text
    return {name: text if name in ("log", "computer") else _number(text) for name, text in found.items()}


def _number(text: str) -> str | int | float:
    """The number that a text is, else the text."""
    plain = text.replace(",", "")
    if not re.fullmatch(r"-?\d+(\.\d+)?", plain):
        return text
    return float(plain) if "." in plain else int(plain)


_COLUMNS: Mapping[str, str] = {
    "submit_s": "submit_s",
    "wait_s": "wait_s",
    "run_s": "run_s",
    "walltime_s": "requested_s",
    "nodes": "nodes",
    "burst_buffer_bytes": "burst_buffer_bytes",
    "user": "user",
    "group": "group",
    "queue": "queue",
}
"""Columns of jobs that :func:`log` takes, and the fields of the Standard Workload Format for them."""

_LEAST = ("submit_s", "run_s", "nodes")


def log(jobs: Any, *, nodes: int | None = None) -> Log:
    """Make a log of jobs in memory: a data frame, or a list with a mapping of each job.

    Parameters
    ----------
    jobs
        Columns ``submit_s``, ``run_s``, ``nodes``, and perhaps ``walltime_s``, ``wait_s`` (at the site),
        ``burst_buffer_bytes`` (of the whole job), ``user``, ``group`` and ``queue``; others are refused. Names of
        users, groups and queues become numbers, in the order of their first job. ``None`` and NaN: not known.
    nodes
        Nodes of the machine; default: the most in use at once.

    Raises
    ------
    SpecError
        A column is unknown or missing, or a value is no number or out of range; names the job.
    """
    rows = _rows(jobs)
    nodes = _nodes("log", nodes)
    given = list(dict.fromkeys(name for row in rows for name in row))
    for name in given:
        if name not in _COLUMNS:
            raise SpecError(f"log(): unknown column {name!r}{near(name, _COLUMNS)}; known: {', '.join(_COLUMNS)}")
    if missing := [name for name in _LEAST if name not in given]:
        raise SpecError(f"log(): each job needs {', '.join(_LEAST)}; missing: {', '.join(missing)}")
    numbers: dict[str, dict[Any, int]] = {
        name: {} for name in _NAMES if any(isinstance(row.get(name), str) for row in rows)
    }
    lines = [f"; MaxNodes: {nodes}", f"; MaxProcs: {nodes}"] if nodes else []
    for place, row in enumerate(rows, start=1):
        cells = [_cell(name, row.get(name), place, numbers) for name in given]
        lines.append(" ".join([str(place), *cells]))
    folder = Path(tempfile.mkdtemp(prefix="spillway-"))
    path = folder / "jobs.swf"
    durable.write_text(path, "\n".join(lines) + "\n", sync=False)
    return read(path, format="swf", fields=",".join(["number", *(_COLUMNS[name] for name in given)]))


def _rows(jobs: Any) -> list[Mapping[str, Any]]:
    """Jobs as mappings."""
    if hasattr(jobs, "to_dict") and hasattr(jobs, "columns"):
        jobs = jobs.to_dict("records")
    rows = list(jobs) if isinstance(jobs, Iterable) and not isinstance(jobs, str | bytes | Mapping) else [jobs]
    if isinstance(jobs, Mapping) or not all(isinstance(row, Mapping) for row in rows):
        wrong = jobs if isinstance(jobs, Mapping) else next(row for row in rows if not isinstance(row, Mapping))
        raise SpecError(f"log(): expected a data frame, or a list with a mapping of each job, got {shown(wrong)}")
    return rows


def _nodes(name: str, nodes: Any) -> int | None:
    """The size of a machine, if given."""
    if nodes is None:
        return None
    if not isinstance(nodes, numbers_of.Integral) or isinstance(nodes, bool) or nodes < 1:
        raise SpecError(f"{name}(nodes={shown(nodes)}): expected a whole number >= 1")
    return int(nodes)


_NAMES = ("user", "group", "queue")

_LEAST_VALUES = {"nodes": 1, "walltime_s": 0, "burst_buffer_bytes": 0, "run_s": 0, "submit_s": 0, "wait_s": 0}
"""Least values of columns."""


def _cell(name: str, value: Any, place: int, numbers: Mapping[str, dict[Any, int]]) -> str:
    is_known = value is not None and value == value and type(value).__name__ not in ("NAType", "NaTType")
    if not is_known and name not in _LEAST:
        return "-1"
    if name in numbers:
        known = numbers[name]
        return str(known.setdefault(value, len(known) + 1))
    is_number = isinstance(value, numbers_of.Real) and not isinstance(value, bool)
    if not is_number or not math.isfinite(found := float(value)):
        raise SpecError(f"log(): job {place}: {name}: expected a finite number, got {shown(value)}")
    if found < _LEAST_VALUES.get(name, found) or (name == "nodes" and not found.is_integer()):
        whole = "a whole number" if name == "nodes" else "a number"
        raise SpecError(f"log(): job {place}: {name}: expected {whole} >= {_LEAST_VALUES[name]}, got {shown(value)}")
    return str(int(found)) if found.is_integer() else str(found)

"""Logs by name: options of reading, selection of jobs, figures."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

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
        Options of the conversion of logs, by name (:class:`spillway.workloads.convert.ConvertOptions`).
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
        Options of the conversion of logs (``first=1000``, ``processors_per_node=4`` ...).
    **reading
        Options of reading logs (``format="sacct"``, ``where=["partition=batch"]``, ``lenient=True`` ...).

    Raises
    ------
    SpecError
        An option is unknown; lists the known ones.
    OptionError, WorkloadError
        The value of an option is wrong.
    """
    from spillway.workloads.logs.reading import Reading, make_reading

    known = inspect.signature(Reading).parameters
    for name in reading:
        if name not in known:
            raise SpecError(f"read(): unknown option {name!r}; known: {', '.join(known)}, convert")
    log = source if isinstance(source, Log) else Log(str(source))
    make_reading(reading)  # wrong values are refused now
    return dataclasses.replace(log, reading={**log.reading, **reading}, convert={**log.convert, **(convert or {})})


def where(
    log: str | Path | Log,
    *,
    partition: str | Sequence[str] = (),
    user: str | Sequence[str] = (),
    account: str | Sequence[str] = (),
    state: str | Sequence[str] = (),
    time: str | Sequence[str] = (),
) -> Log:
    """Take the jobs of a log that meet conditions (``--where``); several values of one field are alternatives.

    Parameters
    ----------
    partition, user, account, state
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
    asked = {"partition": partition, "user": user, "account": account, "state": state, "time": time}
    given = {name: [values] if isinstance(values, str) else list(values) for name, values in asked.items() if values}
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


def info(log: str | Path | Log, *, nodes: int | None = None) -> dict[str, str]:
    """Figures of a log by name, as ``spillway workload info`` prints them.

    Parameters
    ----------
    nodes
        Size of the machine, where the log does not state it.

    Returns
    -------
    dict
        Texts; those of a name that the command prints several times (``note``, ``left out``) are lines of one text.

    Raises
    ------
    WorkloadError, SpecError
        The log cannot be read (names file and line), or a pattern matches several.
    """
    from spillway.experiments.campaign.sources import the_source
    from spillway.workloads.batsim_json import parse_batsim
    from spillway.workloads.logs.info import info_rows
    from spillway.workloads.summary import summarise_workload

    source = the_source(read(log).spec())
    if source.is_json:
        rows = summarise_workload(parse_batsim(source.content(), where=source.text))
    else:
        rows = [("log", source.name), *info_rows(source.table(0), nodes)]
    found: dict[str, str] = {}
    for name, text in rows:
        found[name.strip()] = f"{found[name.strip()]}\n{text}" if name.strip() in found else text
    return found

"""Workloads from files, names of public logs and names of generators."""

from __future__ import annotations

import os
from pathlib import Path

from spillway.base.near import near
from spillway.workloads.batsim.json_file import read_batsim
from spillway.workloads.batsim.workload import Workload
from spillway.workloads.conversion.convert import ConvertOptions, convert
from spillway.workloads.conversion.machine_facts import THESIS_MACHINE, MachineFacts
from spillway.workloads.errors import WorkloadError
from spillway.workloads.files import content_suffix, is_workload, plain_name
from spillway.workloads.logs.lines import LogFile, opened
from spillway.workloads.logs.reading import STRICT, Reading
from spillway.workloads.logs.table import JobTable
from spillway.workloads.logs.tables import as_swf, as_table, read_swf
from spillway.workloads.logs.where import narrowed
from spillway.workloads.models.synthetic import GENERATORS, generator
from spillway.workloads.swf import SwfLog


def load_workload(
    source: Path | str,
    machine: MachineFacts = THESIS_MACHINE,
    options: ConvertOptions | None = None,
    reading: Reading = STRICT,
) -> Workload:
    """Load a workload.

    Parameters
    ----------
    source
        A Batsim workload (``.json``, ``.json.xz``, ``.json.gz``: taken as it is); a log of any format
        (:mod:`spillway.workloads.logs.formats`; ``.xz`` and ``.gz`` too), a generator (``kth-like:jobs=500,seed=3``)
        or the name of a public log: these are converted.
    machine
        The machine that logs are converted for.
    options
        Options of the conversion of logs; the default is the thesis's Alloc-Only model.
    reading
        Options of reading logs.

    Raises
    ------
    WorkloadError
        If there is no such source, or it is malformed.
    """
    if is_workload(Path(source)):
        return read_batsim(source)
    table, name = load_table(source, reading)
    return convert(table, machine, options, name)[0]


def load_log(source: Path | str, reading: Reading = STRICT) -> tuple[SwfLog, str]:
    """Load a log in the Standard Workload Format, for callers that take no other; see :func:`load_table`."""
    if str(source).partition(":")[0] in GENERATORS:
        made = generator(str(source))()
        log = as_swf(narrowed(as_table(made), reading.where)) if reading.where else made
        return log, str(source).partition(":")[0]
    from spillway.workloads.logs.formats import SWF, read_log, recognised  # readers of all formats

    path, name = _file(source)
    file = LogFile.of(path)
    if reading == STRICT and recognised(opened(file)[0], file) == SWF:
        return read_swf(path), name
    return as_swf(read_log(file, reading)), name


def load_table(source: Path | str, reading: Reading = STRICT) -> tuple[JobTable, str]:
    """Load a log of any format from a file, a generator or the catalogue; returns its jobs with a name for it.

    Raises
    ------
    WorkloadError
        If there is no such source, or it is malformed.
    """
    if str(source).partition(":")[0] in GENERATORS:
        log, name = load_log(source)
        return narrowed(as_table(log), reading.where), name
    from spillway.workloads.logs.formats import read_log

    path, name = _file(source)
    return read_log(LogFile.of(path), reading), name


def refuse_address(text: str) -> None:
    """Raise :class:`WorkloadError` for the address of a page or file on the web: its content may change."""
    if text.partition("://")[0].lower() in ("http", "https", "ftp"):
        raise WorkloadError(
            f"{text} is an address; logs are read from files: download it first (curl -LO ADDRESS) and give the file, "
            "or name a public log, which is fetched with its checksum ('spillway workload list' shows those)"
        )


def _file(source: Path | str) -> tuple[Path, str]:
    """The file of a log, and a name for it; a public log is fetched."""
    text = str(source)
    refuse_address(text)
    path = Path(text)
    if os.path.exists(path) or content_suffix(path) == ".swf":
        if is_workload(path):
            raise WorkloadError("expected a log, got a Batsim workload (.json)", text)
        return path, plain_name(path)
    from spillway.workloads.catalogue import CATALOGUE, fetch

    if text in CATALOGUE:
        return fetch(text).path, text
    raise WorkloadError(
        f"no such workload: {text!r} is no file, no generator ({', '.join(GENERATORS)}) "
        f"and no public log ('spillway workload list' shows those)"
        f"{near(text.partition(':')[0], (*GENERATORS, *CATALOGUE))}"
    )

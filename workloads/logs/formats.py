"""All formats of logs, their recognition, and the reading of a file into a table of jobs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from spillway.workloads.errors import WorkloadError
from spillway.workloads.files import content_suffix
from spillway.workloads.logs import eagle, jobcomp, parquet, sacct, swf_log
from spillway.workloads.logs.darshan_totals import read_totals
from spillway.workloads.logs.directives import read_scripts
from spillway.workloads.logs.lines import Block, Head, LogFile, opened, shown
from spillway.workloads.logs.reading import STRICT, Reading
from spillway.workloads.logs.record import LogRecord
from spillway.workloads.logs.table import Intake, JobTable, table_of
from spillway.workloads.logs.where import narrowed


@dataclass(frozen=True)
class Format:
    """A format of logs.

    Attributes
    ----------
    what
        Description in words.
    recognises
        Whether a log's beginning is of this format.
    read
        Yields the jobs of a text; ``None``: not a text.
    """

    what: str
    recognises: Callable[[Head], bool]
    read: Callable[[Iterable[Block], Intake, Reading], Iterator[LogRecord]] | None


SWF = "swf"
FORMATS: dict[str, Format] = {
    SWF: Format("Standard Workload Format", swf_log.recognises, swf_log.read),
    "sacct": Format("output of Slurm's sacct --parsable2", sacct.recognises, sacct.read),
    "jobcomp": Format("file of Slurm's jobcomp/filetxt", jobcomp.recognises, jobcomp.read),
    "eagle": Format("CSV of NREL's Eagle", eagle.recognises, eagle.read),
    "parquet": Format("parquet file of PM100 or F-DATA", parquet.recognises, None),
}
"""All formats by their name for ``--format``."""


def read_log(log: LogFile, reading: Reading = STRICT) -> JobTable:
    """Read a log of any format.

    Raises
    ------
    WorkloadError
        It cannot be read, its format is not known, or a line is malformed: with its number.
    """
    if reading.format and reading.format not in FORMATS:
        raise WorkloadError(f"--format: unknown format {reading.format!r}; known: {', '.join(FORMATS)}")
    head, pieces = opened(log)
    name = reading.format or recognised(head, log)
    if not reading.strict and name != SWF:
        raise WorkloadError(
            f"--lenient and --fields are for the Standard Workload Format; this is the {FORMATS[name].what}", log.where
        )
    intake = Intake(log.where)
    read = FORMATS[name].read
    if read is None:
        table = table_of(parquet.read(log, intake), intake, name)
    else:
        table = table_of(read(log.blocks(pieces), intake, reading), intake, name)
    return narrowed(_with_darshan(_with_scripts(table, reading), reading), reading.where)


def recognised(head: Head, log: LogFile) -> str:
    """Name of a log's format, by its beginning; ``swf`` for an empty log, or a file ``.swf`` that fits no format.

    Raises
    ------
    WorkloadError
        It begins like no known format, or like several.
    """
    found = [name for name, form in FORMATS.items() if form.recognises(head)]
    if len(found) == 1:
        return found[0]
    if not found and (content_suffix(log.path) == ".swf" or not head.lines):
        return SWF
    known = "; ".join(f"{name} ({form.what})" for name, form in FORMATS.items())
    seen = f"it begins with {shown(head.first, 60)}"
    if found:
        raise WorkloadError(
            f"the format is ambiguous: {seen}, as {' and '.join(found)} do; state it: --format", log.where
        )
    raise WorkloadError(f"the format is not known: {seen}; known formats (--format states one): {known}", log.where)


def _with_scripts(table: JobTable, reading: Reading) -> JobTable:
    """The table with burst buffers that the job scripts of a folder request."""
    if not reading.scripts:
        return table
    scripts = read_scripts(Path(reading.scripts))
    buffers = table["burst_buffer_bytes"].copy()
    found = stage_in = stage_out = persistent = guessed = 0
    parts = table.names["part"]
    asked = table["requested_processors"]
    processors = np.where(asked > 0, asked, table["allocated_processors"])
    sizes = np.where(table["nodes"] > 0, table["nodes"], processors)
    if len(table):
        numbers = {int(text.partition("_")[0].partition("+")[0]) for text in scripts.by_job}
        for row in np.flatnonzero(np.isin(table["number"], np.array(sorted(numbers), dtype=np.int64))).tolist():
            part = parts[table["part"][row]]
            number = str(table["number"][row])
            script = scripts.by_job.get(f"{number}{part}") or scripts.by_job.get(number)
            if script is not None:
                found += 1
                buffers[row] = script.total_bytes(max(int(sizes[row]), 1))
                stage_in += bool(script.stage_in)
                stage_out += bool(script.stage_out)
                persistent += bool(script.uses or script.creates or script.destroys)
                guessed += script.per_node and table["nodes"][row] <= 0
    table.intake.notes.append(
        f"{found:,} of {len(table):,} jobs have a script in {reading.scripts} ({len(scripts.by_job):,} scripts, "
        f"{scripts.unnamed} files without a job's number)"
    )
    if stage_in or stage_out or persistent:
        table.intake.notes.append(
            f"scripts of {stage_in:,} jobs stage in, of {stage_out:,} stage out, of {persistent:,} name persistent "
            "buffers: this is not played; 'spillway workload scripts' plays it on the converted workload"
        )
    if guessed:
        table.intake.notes.append(
            f"scripts of {guessed:,} jobs request a buffer on each node, and the log states no nodes: each processor "
            "counts as one"
        )
    return table.with_column("burst_buffer_bytes", buffers)


def _with_darshan(table: JobTable, reading: Reading) -> JobTable:
    """The table with bytes that Darshan recorded."""
    if not reading.darshan:
        return table
    moved = read_totals(Path(reading.darshan))
    read, written = table["read_bytes"].copy(), table["written_bytes"].copy()
    rows = np.flatnonzero(np.isin(table["number"], np.array(sorted(moved), dtype=np.int64))).tolist()
    for row in rows:
        total = moved[int(table["number"][row])]
        read[row], written[row] = total.read_bytes, total.written_bytes
    table.intake.notes.append(f"Darshan's totals of {len(moved):,} jobs: {len(rows):,} of them are in the log")
    return table.with_column("read_bytes", read).with_column("written_bytes", written)

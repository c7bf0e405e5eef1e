"""All formats of logs, each a table of columns; their recognition, and the reading of a file into a table of jobs.

References
----------
SchedMD, manual pages *sacct(1)*, *slurm.conf(5)* (``JobCompType``) and the schema of ``sacct --json``. K. Menear, D.
Duplyakin, *Eagle Jobs: an HPC dataset*, National Renewable Energy Laboratory, 2023. F. Antici et al., *PM100: a job
power consumption dataset of a large-scale production HPC system*, SC-W 2023, doi 10.1145/3624062.3624263. F. Antici et
al., *F-DATA: a Fugaku workload dataset for job-centric predictive modelling in HPC systems*, Scientific Data 2025.
Altair, *PBS Professional Reference Guide*, accounting log. The Standard Workload Format is described in
:mod:`spillway.workloads.swf`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from spillway.workloads.errors import WorkloadError
from spillway.workloads.files import content_suffix
from spillway.workloads.logs import layouts, slurm, swf_log
from spillway.workloads.logs.columns import NO_LIMIT, Column, Faults, read_cells, records_of, settled
from spillway.workloads.logs.darshan_totals import with_darshan
from spillway.workloads.logs.directives import with_scripts
from spillway.workloads.logs.identity import once
from spillway.workloads.logs.lines import LogFile, LogHead, opened, shown
from spillway.workloads.logs.pbs import PBS, PBS_LINE, pbs_cells
from spillway.workloads.logs.reading import STRICT, Reading
from spillway.workloads.logs.table import Builder, Intake, JobTable
from spillway.workloads.logs.where import narrowed

Names = tuple[str, ...]


@dataclass(frozen=True)
class Format:
    """A format of logs.

    Attributes
    ----------
    what
        Description in words.
    columns
        Its columns that are read.
    begins
        Beginning of its first lines; "": it is recognised by the names of its columns.
    needed
        Columns that its header has, between blanks; ``A|B``: one of them.
    attempts
        Whether lines of one job are attempts at it; else they are tasks of an array, jobs of their own.
    cells
        Cells of a line, by name, or a sentence on its fault; ``None``: lines have another layout.
    advice
        A command that makes such a log.
    """

    what: str
    columns: tuple[Column, ...]
    begins: str = ""
    needed: str = ""
    attempts: bool = False
    cells: Callable[[str], Mapping[str, str] | str] | None = None
    advice: str = ""

    def lacks(self, names: Iterable[str]) -> list[str]:
        """The first alternatives of needed columns of which a header has none; [] if it has all."""
        known = set(names)
        alternatives = (some.split("|") for some in self.needed.split())
        return next((some for some in alternatives if known.isdisjoint(name.lower() for name in some)), [])


_HINTS = {
    r"\s*JobID\w*\s+\w": " (columns between blanks: sacct needs --parsable2)",
    r"[\d_+.]+\|": " (no header: sacct must not have --noheader)",
    r"\S+\x00\x00": " (a tar archive: unpack it, or name a member: ARCHIVE!PATTERN)",
}
"""Beginnings that need another form of the log, and words on it."""

_FREE = ("jobname", "submitline", "comment", "admincomment", "systemcomment", "batchscript", "workdir", "submit_line",
         "name", "job_name", "burstbuffer", "reason", "extra", "wckey")  # fmt: skip
"""Columns of free text."""

_ABOVE = 20
"""Lines in which a header is looked for: commands and their complaints may stand above it."""

SWF = "swf"
FORMATS: dict[str, Format] = {
    SWF: Format("Standard Workload Format", swf_log.COLUMNS, swf_log.BEGINS),
    "sacct": Format(
        "output of Slurm's sacct --parsable2",
        slurm.SACCT,
        needed="JobID|JobIDRaw Submit ElapsedRaw|Elapsed|End "
        "NNodes|AllocNodes|ReqNodes|AllocTRES|ReqTRES|NCPUS|AllocCPUS|ReqCPUS",
        attempts=True,
        advice=slurm.ADVICE,
    ),
    "sacct-json": Format("output of Slurm's sacct --json", slurm.SACCT, slurm.JSON_BEGINS, attempts=True),
    "jobcomp": Format(
        "file of Slurm's jobcomp/filetxt", slurm.JOBCOMP, "JobId=", attempts=True, cells=slurm.jobcomp_cells
    ),
    "eagle": Format(
        "table of NREL's Eagle", slurm.EAGLE, needed="job_id wallclock_req nodes_req submit_time start_time end_time"
    ),
    "pm100": Format(
        "table of PM100 (Marconi100, CINECA)",
        slurm.PM100,
        needed="job_id submit_time start_time end_time num_nodes_alloc time_limit",
    ),
    "fdata": Format("table of F-DATA (Fugaku, RIKEN)", slurm.FDATA, needed="jid adt sdt edt nnumr elpl"),
    "pbs": Format("accounting log of PBS", PBS, PBS_LINE, attempts=True, cells=pbs_cells),
}
"""All formats by their name for ``--format``."""


def read_log(log: LogFile, reading: Reading = STRICT) -> JobTable:
    """Read a log of any format.

    Raises
    ------
    WorkloadError
        It cannot be read, its format is not known, or more lines than the options allow cannot be read: with the first
        three of them.
    """
    if reading.format and reading.format not in FORMATS:
        raise WorkloadError(f"--format: unknown format {reading.format!r}; known: {', '.join(FORMATS)}")
    head, pieces = opened(log)
    name = reading.format or recognised(head, log)
    if reading.fields and name != SWF:
        raise WorkloadError(
            f"--fields is for the Standard Workload Format; this is the {FORMATS[name].what}", log.where
        )
    intake = Intake(log.where)
    table = table_of(_rows(name, log, head, pieces, intake, reading), intake, name, reading)
    share = 1.0 if reading.lenient else reading.unreadable
    table = with_darshan(with_scripts(table, reading.scripts, share), reading.darshan, share)
    return narrowed(table, reading.where)


def table_of(rows: Iterable[layouts.Rows], intake: Intake, name: str = SWF, reading: Reading = STRICT) -> JobTable:
    """Read rows of a format into a table of jobs, each job once.

    Raises
    ------
    WorkloadError
        More rows than the options allow cannot be read.
    """
    form, book, built = FORMATS[name], intake.book, Builder()
    intake.tasks = not form.attempts
    columns = swf_log.columns_of(reading) if name == SWF else form.columns
    for some in rows:
        faults = Faults(some.lines, reading.lenient)
        made = records_of(read_cells(columns, some.cells, faults), faults, intake)
        built.add(made, settled(made, faults, book), [] if form.attempts else some.texts)
    remedy = "; --lenient takes values that cannot be read as not known, --unreadable SHARE leaves more lines out"
    book.settle(1.0 if reading.lenient and built.count else reading.unreadable, remedy)
    if intake.unlimited:
        intake.notes.append(f"{intake.unlimited:,} {NO_LIMIT}")
    return once(built.table(intake, name), built.hashes, attempts=form.attempts)


def _rows(
    name: str, log: LogFile, head: LogHead, pieces: Iterator[bytes], intake: Intake, reading: Reading
) -> Iterator[layouts.Rows]:
    """Rows of a log: as the format's layout takes it apart."""
    form, book = FORMATS[name], intake.book
    headings = list(dict.fromkeys(heading for column in form.columns for heading in column.headings()))
    if name == SWF:
        return swf_log.rows(log.blocks(pieces), intake, reading)
    if name == "sacct-json":
        return layouts.objects(pieces, book, slurm.json_cells)
    if form.cells is not None:
        return layouts.keyed(log.blocks(pieces), book, form.cells, headings)
    if layouts.is_parquet(head):
        return layouts.parquet(log, book, headings)
    if lacking := form.lacks(_header(form, head)):
        made = f"; such a log is made by: {form.advice}" if form.advice else ""
        raise WorkloadError(
            f"the header of the {form.what} lacks {' or '.join(lacking)} (it has "
            f"{shown(', '.join(layouts.header_of(head.first)[1]), 80)}){made}",
            f"{log.where}:1",
        )
    return layouts.separated(log.blocks(pieces), book, lambda names: not form.lacks(names), _FREE)


def recognised(head: LogHead, log: LogFile) -> str:
    """Name of a log's format, by its beginning; ``swf`` for an empty log, or a file ``.swf`` that fits no format.

    Raises
    ------
    WorkloadError
        It begins like no known format, or like several.
    """
    is_parquet = layouts.is_parquet(head)
    names = layouts.parquet_columns(log) if is_parquet else layouts.header_of(head.first)[1]

    def recognises(form: Format) -> bool:
        if form.begins:
            return not is_parquet and bool(re.match(form.begins, "\n".join(head.lines)[:20_000], re.DOTALL))
        return not form.lacks(names if is_parquet else _header(form, head))

    found = [name for name, form in FORMATS.items() if recognises(form)]
    if len(found) == 1:
        return found[0]
    if not found and not is_parquet and (content_suffix(log.path) == ".swf" or not head.lines):
        return SWF
    if not found and len(names) > 1 and {"jobid", "jobidraw"} & set(names):
        return "sacct"  # its header lacks a column: the error says which
    seen = (
        f"its columns are {shown(', '.join(names), 100)}" if is_parquet else f"it begins with {shown(head.first, 60)}"
    )
    if found:
        raise WorkloadError(
            f"the format is ambiguous: {seen}, as {' and '.join(found)} do; state it: --format", log.where
        )
    hint = "" if is_parquet else next((words for pattern, words in _HINTS.items() if re.match(pattern, head.first)), "")
    if not hint and (lacking := _nearly(names)):
        raise WorkloadError(lacking, log.where)
    known = "; ".join(f"{name} ({form.what})" for name, form in FORMATS.items())
    raise WorkloadError(
        f"the format is not known{hint}: {seen}; known formats (--format states one): {known}", log.where
    )


def _nearly(names: Names) -> str:
    """Words on the needed columns that these lack, where they have most of those of a format; "": of none."""
    nearest: list[tuple[int, str, str]] = []
    for name, form in FORMATS.items():
        needed = [some.lower().split("|") for some in form.needed.split()]
        lacking = [some for some in needed if set(names).isdisjoint(some)]
        if lacking and len(lacking) * 3 <= len(needed):
            nearest.append((len(lacking), name, " and ".join(" or ".join(some) for some in lacking)))
    if not nearest:
        return ""
    _, name, missing = min(nearest)
    return (
        f"the {FORMATS[name].what} ({name}) needs the column {missing}, which is not among its columns "
        f"{shown(', '.join(names), 200)}: name it so, or take another format (--format)"
    )


def _header(form: Format, head: LogHead) -> Names:
    """The names of columns in the first line that is a header of the format; else those of the first line."""
    lines = [layouts.header_of(line.lstrip("\ufeff"))[1] for line in head.lines[:_ABOVE]]
    return next((names for names in lines if not form.lacks(names)), lines[0] if lines else ())

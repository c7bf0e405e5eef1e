"""Burst buffers that the job scripts of a folder request (:mod:`spillway.workloads.requests.directives`).

Persistent buffers belong to no job, and the files of ``stage_in`` and ``stage_out`` have no size in a script: both are
counted, not played.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np

from spillway.base.files import read_file
from spillway.base.limits import InputError, Limit
from spillway.base.units import many
from spillway.workloads.errors import WorkloadError
from spillway.workloads.logs.lines import decoded
from spillway.workloads.logs.table import JobTable
from spillway.workloads.requests.directives import Requests, directives_of, of_options

SCRIPT_BYTES = Limit("one job script", 2**22, "bytes", "", "holds more than {most} bytes; is it a job script?")

_PREFIX = re.compile(r"^#(BB_LUA|BB|DW)\b")
_FLUX = re.compile(r"#\s*flux:\s*(.*)", re.IGNORECASE | re.DOTALL)
"""A line of Flux's options; directives stand among them, alone or behind ``--setattr=dw=``, ``-S dw=``."""
_ATTRIBUTE = re.compile(r"(?:--setattr[= ]|(?<!\S)-S\s*)(?:system\.)?dw=(\"\"\"|'''|\"|')?(.*)", re.DOTALL)
_NODES = re.compile(r"(?:-N\s*|--nodes[= ]\s*)(\d{1,9})(?:-\d+)?\s*$", re.ASCII)
_OPTIONS = re.compile(r"#(?:SBATCH|\s*flux:)\s+(.*)", re.IGNORECASE)
_FILE = re.compile(r"(?<!\S)--bbf(?=[= ])")
"""Slurm's option that names a file of directives."""
_ID = re.compile(r"(?:^|\D)(\d{1,18}(?:[_+]\d{1,9})?)$", re.ASCII)


class Script(NamedTuple):
    """Requests of a job script's directives, and nodes that its options request (0: not stated)."""

    requests: Requests
    nodes: int


class Scripts(NamedTuple):
    """Job scripts of a folder.

    Attributes
    ----------
    by_job
        Requests by the job's id.
    unnamed
        Number of files whose name does not end in one.
    again
        Files of a job that has another: the last name counts.
    wrong
        Faults of scripts that cannot be read: the requests of their jobs are not known.
    """

    by_job: dict[str, Requests]
    unnamed: int
    again: list[str]
    wrong: list[str]


def read_scripts(folder: Path | str, unreadable: float = 0.0) -> Scripts:
    """Read the job scripts of a folder: ``123``, ``123.sh``, ``job-123.sbatch``, ``12_3.sh``.

    Parameters
    ----------
    unreadable
        Largest share of them that may be unreadable.

    Raises
    ------
    WorkloadError
        There is no such folder, or more scripts cannot be read, or have a malformed directive: with file and line.
    """
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if entry.is_file())
    except OSError as error:
        raise WorkloadError(f"cannot read the folder of job scripts: {error.strerror}", str(folder)) from None
    jobs = {name: job[1] for name in names if (job := _ID.search(Path(name).stem))}
    by_job: dict[str, Requests] = {}
    again, wrong = [], []
    for name, label in jobs.items():
        if label in by_job:
            again.append(name)
        try:
            by_job[label] = read_script(Path(folder) / name).requests
        except WorkloadError as error:
            wrong.append(str(error))
            if len(wrong) > unreadable * len(jobs):
                raise
    return Scripts(by_job, len(names) - len(jobs), again, wrong)


def read_script(path: Path) -> Script:
    """Read a job script down to its first line that is no comment: later lines are no directives.

    Raises
    ------
    WorkloadError
        A directive is malformed: with file and line.
    """
    try:
        text = decoded(read_file(path, SCRIPT_BYTES))
    except InputError as error:
        raise WorkloadError(str(error), str(path)) from None
    total, nodes = Requests(), 0
    lines = enumerate((line.rstrip("\r") for line in text.split("\n")), start=1)
    for number, line in lines:
        if line.strip() and not line.startswith("#"):
            break
        where = f"{path}:{number}"
        if option := _OPTIONS.match(line):
            stated = _NODES.search(option[1].partition(" #")[0])
            nodes = int(stated[1]) if stated else nodes
        if option and line.startswith("#SBATCH"):
            total += directives_of(of_options(option[1]), where)
            total += Requests(others=("--bbf (the file that it names is not read)",) * bool(_FILE.search(option[1])))
        if (flux := _FLUX.match(line)) and (nested := _nested(flux[1])).startswith("#"):
            line = nested
        while line.rstrip().endswith("\\"):
            line = f"{line.rstrip()[:-1]} {_PREFIX.sub('', next(lines, (0, ''))[1])}"
        total += directives_of((line,), where)
    return Script(total, nodes)


def _nested(text: str) -> str:
    """The text of an attribute ``dw`` in a line of Flux's options, or the line, without quotation marks."""
    if found := _ATTRIBUTE.search(text):
        text = found[2].partition(found[1])[0] if found[1] else found[2]
    return text.strip("\"' ")


def with_scripts(table: JobTable, folder: str, unreadable: float) -> JobTable:
    """The table with burst buffers that the job scripts of a folder request; "": as it is.

    ``unreadable``: the largest share of scripts that may be unreadable.
    """
    if not folder:
        return table
    scripts = read_scripts(Path(folder), unreadable)
    buffers = table["burst_buffer_bytes"].copy()
    names, nodes, asked, number, part = table.names["part"], *(
        table[name] for name in ("nodes", "requested_processors", "number", "part")
    )  # fmt: skip
    sizes = np.where(nodes > 0, nodes, np.where(asked > 0, asked, table["allocated_processors"]))
    numbers = {int(re.split("[_+]", job)[0]) for job in scripts.by_job}
    jobs: Counter[str] = Counter()
    for row in np.flatnonzero(np.isin(number, np.array(sorted(numbers), dtype=np.int64))).tolist():
        script = scripts.by_job.get(f"{number[row]}{names[part[row]]}") or scripts.by_job.get(str(number[row]))
        if script is not None:
            buffers[row] = script.total_bytes(max(int(sizes[row]), 1))
            persistent = bool(script.uses or script.creates or script.destroys)
            guessed = bool(script.per_node and nodes[row] <= 0)
            jobs.update(found=1, into=bool(script.stage_in), out=bool(script.stage_out), kept=persistent, guess=guessed)
    notes = table.intake.notes
    notes.append(
        f"{jobs['found']:,} of {len(table):,} jobs have a script in {folder} ({len(scripts.by_job):,} scripts, "
        f"{scripts.unnamed} files without a job's number)"
    )
    for files, words in (
        (scripts.wrong, "cannot be read: what their jobs request is not known"),
        (scripts.again, "are further ones of a job: the last name counts"),
    ):
        if files:
            notes.append(f"{many(len(files), 'script', 'scripts')} in {folder} {words} (such as {files[0]})")
    if jobs["into"] or jobs["out"] or jobs["kept"]:
        notes.append(
            f"scripts of {jobs['into']:,} jobs stage in, of {jobs['out']:,} stage out, of {jobs['kept']:,} name "
            "persistent buffers: this is not played; 'spillway workload scripts' plays it on the converted workload"
        )
    if jobs["guess"]:
        notes.append(
            f"scripts of {jobs['guess']:,} jobs request a buffer on each node, and the log states no nodes: each "
            "processor counts as one"
        )
    return table.with_column("burst_buffer_bytes", buffers)

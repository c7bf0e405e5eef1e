"""Burst buffers in job scripts: ``#BB``, ``#BB_LUA`` and ``#DW`` lines.

A capacity is the whole job's. Persistent buffers belong to no job, and the files of ``stage_in`` and ``stage_out`` have
no size in a script: both are counted, not played.

References
----------
SchedMD, *Slurm Burst Buffer Guide*; HPE, *DataWarp User Guide* (``#DW``); NNF software, *DataWarp directives*.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from inputs.files import read_file, text_of
from inputs.limits import InputError, Limit
from workloads.errors import WorkloadError
from workloads.logs.lines import shown
from workloads.logs.slurm_units import UnitError, capacity_of

SCRIPT_BYTES = Limit("one job script", 2**22, "bytes", "", "holds more than {most} bytes; is it a job script?")

_DIRECTIVE = re.compile(r"\s*#\s?(BB_LUA|BB|DW)\b(.*)")
_PREFIX = re.compile(r"^\s*#\s?(BB_LUA|BB|DW)\b")
_OPTION = re.compile(r"--bb[= ](\"[^\"]*\"|'[^']*'|\S+)")
_ID = re.compile(r"(?:^|\D)(\d{1,18}(?:[_+]\d{1,9})?)$", re.ASCII)


@dataclass(frozen=True)
class Directives:
    """What the directives of a job's script request.

    Attributes
    ----------
    capacity_bytes
        Burst-buffer capacity for the job, in all; 0: none.
    stage_in, stage_out
        Transfers before and after the job.
    uses_persistent, makes_persistent
        Persistent buffers that it uses, and that it creates or destroys.
    """

    capacity_bytes: int = 0
    stage_in: int = 0
    stage_out: int = 0
    uses_persistent: int = 0
    makes_persistent: int = 0

    def __add__(self, other: Directives) -> Directives:
        return Directives(
            self.capacity_bytes + other.capacity_bytes,
            self.stage_in + other.stage_in,
            self.stage_out + other.stage_out,
            self.uses_persistent + other.uses_persistent,
            self.makes_persistent + other.makes_persistent,
        )


def of_lines(text: str) -> list[str]:
    r"""The lines of a script in one field: parted by a line break, ``\n`` or ``;``; the option ``--bb=`` is one."""
    lines = re.split(r"\n|\\n|;", text)
    return lines + [
        option if option.startswith("#") else f"#BB {option}"
        for option in (match.strip("\"'") for match in _OPTION.findall(text))
    ]


def directives_of(lines: Iterable[str], where: str) -> Directives:
    """What some lines of a script request; other lines than directives are passed over.

    Raises
    ------
    WorkloadError
        A directive's capacity cannot be read.
    """
    total = Directives()
    for line in lines:
        found = _DIRECTIVE.match(line)
        if found:
            total += _directive(found[1], found[2].strip(), where)
    return total


def _directive(kind: str, text: str, where: str) -> Directives:
    try:
        words = shlex.split(text, comments=True)
    except ValueError:
        words = text.split()
    command = words[0].lower() if words and "=" not in words[0] else ""
    given = dict(word.partition("=")[::2] for word in words if "=" in word)
    if command in ("create_persistent", "destroy_persistent"):
        return Directives(makes_persistent=1)
    if command == "persistentdw":
        return Directives(uses_persistent=1)
    if command in ("stage_in", "copy_in"):
        return Directives(stage_in=1)
    if command in ("stage_out", "copy_out"):
        return Directives(stage_out=1)
    if command in ("", "jobdw") and "capacity" in given:
        try:
            return Directives(capacity_bytes=capacity_of(given["capacity"]))
        except UnitError as error:
            raise WorkloadError(
                f"#{kind}: capacity must be {error}, got {shown(given['capacity'])} in {shown(text, 80)}", where
            ) from None
    return Directives()


@dataclass(frozen=True)
class Scripts:
    """The job scripts of a folder.

    Attributes
    ----------
    by_job
        What each requests, by the job's id.
    unnamed
        Files whose name ends in no number.
    """

    by_job: dict[str, Directives]
    unnamed: int


def read_scripts(folder: Path | str) -> Scripts:
    """Read the job scripts of a folder: ``123``, ``123.sh``, ``job-123.sbatch``, ``12_3.sh``.

    Raises
    ------
    WorkloadError
        There is no such folder, a script cannot be read, or a directive is malformed: with file and line.
    """
    found: dict[str, Directives] = {}
    unnamed = 0
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if entry.is_file())
    except OSError as error:
        raise WorkloadError(f"cannot read the folder of job scripts: {error.strerror}", str(folder)) from None
    for name in names:
        job = _ID.search(Path(name).stem)
        if job is None:
            unnamed += 1
            continue
        path = Path(folder) / name
        found[job[1]] = _script(path)
    return Scripts(found, unnamed)


def _script(path: Path) -> Directives:
    try:
        text = text_of(read_file(path, SCRIPT_BYTES))
    except InputError as error:
        raise WorkloadError(str(error), str(path)) from None
    total = Directives()
    lines = text.split("\n")
    number = 0
    while number < len(lines):
        first, line = number, lines[number]
        while line.rstrip().endswith("\\") and number + 1 < len(lines):
            number += 1
            line = f"{line.rstrip()[:-1]} {_PREFIX.sub('', lines[number])}"
        total += directives_of((line,), f"{path}:{first + 1}")
        number += 1
    return total

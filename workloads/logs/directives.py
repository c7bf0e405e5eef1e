"""The job scripts of a folder, and the requests of their directives (:mod:`spillway.workloads.requests.directives`).

Persistent buffers belong to no job, and the files of ``stage_in`` and ``stage_out`` have no size in a script: both are
counted, not played.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from spillway.base.files import read_file, text_of
from spillway.base.limits import InputError, Limit
from spillway.workloads.errors import WorkloadError
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


@dataclass(frozen=True)
class Script:
    """A job script.

    Attributes
    ----------
    requests
        Requests of its directives.
    nodes
        Nodes that its options request; 0: not stated.
    """

    requests: Requests
    nodes: int


@dataclass(frozen=True)
class Scripts:
    """The job scripts of a folder.

    Attributes
    ----------
    by_job
        Requests of each script, by the job's id.
    unnamed
        Number of files without a number at the end of the name.
    """

    by_job: dict[str, Requests]
    unnamed: int


def read_scripts(folder: Path | str) -> Scripts:
    """Read the job scripts of a folder: ``123``, ``123.sh``, ``job-123.sbatch``, ``12_3.sh``.

    Raises
    ------
    WorkloadError
        There is no such folder, a script cannot be read, or a directive is malformed: with file and line.
    """
    found: dict[str, Requests] = {}
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
        found[job[1]] = read_script(path).requests
    return Scripts(found, unnamed)


def read_script(path: Path) -> Script:
    """Read a job script down to its first line that is no comment: later lines are no directives.

    Raises
    ------
    WorkloadError
        A directive is malformed: with file and line.
    """
    try:
        text = text_of(read_file(path, SCRIPT_BYTES))
    except InputError as error:
        raise WorkloadError(str(error), str(path)) from None
    total, nodes = Requests(), 0
    lines = text.split("\n")
    number = 0
    while number < len(lines) and (not lines[number].strip() or lines[number].startswith("#")):
        first, line = number, lines[number].rstrip("\r")
        if (option := _OPTIONS.match(line)) and (stated := _NODES.search(option[1].partition(" #")[0])):
            nodes = int(stated[1])
        if option and line.startswith("#SBATCH"):
            total += directives_of(of_options(option[1]), f"{path}:{first + 1}")
            total += Requests(others=("--bbf (the file that it names is not read)",) * bool(_FILE.search(option[1])))
        if (flux := _FLUX.match(line)) and (nested := _nested(flux[1])).startswith("#"):
            line = nested
        while line.rstrip().endswith("\\") and number + 1 < len(lines):
            number += 1
            line = f"{line.rstrip()[:-1]} {_PREFIX.sub('', lines[number])}"
        total += directives_of((line,), f"{path}:{first + 1}")
        number += 1
    return Script(total, nodes)


def _nested(text: str) -> str:
    """The text of an attribute ``dw`` in a line of Flux's options, or the line, without quotation marks."""
    if found := _ATTRIBUTE.search(text):
        mark, text = found[1], found[2]
        text = text.partition(mark)[0] if mark else text
    return text.strip("\"' ")

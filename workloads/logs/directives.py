"""The job scripts of a folder, and the requests of their directives (:mod:`spillway.workloads.directives`).

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
from spillway.workloads.directives import Requests, directives_of
from spillway.workloads.errors import WorkloadError

SCRIPT_BYTES = Limit("one job script", 2**22, "bytes", "", "holds more than {most} bytes; is it a job script?")

_PREFIX = re.compile(r"^\s*#\s?(BB_LUA|BB|DW)\b")
_ID = re.compile(r"(?:^|\D)(\d{1,18}(?:[_+]\d{1,9})?)$", re.ASCII)


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
        found[job[1]] = read_script(path)
    return Scripts(found, unnamed)


def read_script(path: Path) -> Requests:
    """Requests of a job script; raise :class:`WorkloadError` with file and line where a directive is malformed."""
    try:
        text = text_of(read_file(path, SCRIPT_BYTES))
    except InputError as error:
        raise WorkloadError(str(error), str(path)) from None
    total = Requests()
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

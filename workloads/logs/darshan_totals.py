"""Bytes that jobs moved, as Darshan recorded them: the totals of each job's logs.

Its input is output of ``darshan-parser --total`` (``*.txt``), or ``.darshan`` files with the extra ``darshan``. POSIX
and STDIO calls are added up; MPI-IO is made of POSIX calls and would count twice.

References
----------
Argonne National Laboratory, *Darshan-util installation and usage*, ``darshan-parser``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spillway.base.files import read_file, text_of
from spillway.base.limits import InputError
from spillway.workloads.errors import WorkloadError
from spillway.workloads.logs.lines import shown

_JOB = re.compile(r"#\s*jobid:\s*(\S+)")
_TOTAL = re.compile(r"total_(POSIX|STDIO)_BYTES_(READ|WRITTEN):\s*(\S+)")
_INCOMPLETE = re.compile(r"#.*\bmodule contains incomplete data", re.IGNORECASE)
_MODULES = ("POSIX", "STDIO")


@dataclass(frozen=True)
class MovedBytes:
    """Bytes that a job moved.

    Attributes
    ----------
    read_bytes, written_bytes
        Bytes of all its processes, in all its recorded programs.
    incomplete
        Whether a module ran out of memory for its records: the job moved at least so much.
    """

    read_bytes: int
    written_bytes: int
    incomplete: bool = False

    def __add__(self, other: MovedBytes) -> MovedBytes:
        return MovedBytes(
            self.read_bytes + other.read_bytes,
            self.written_bytes + other.written_bytes,
            self.incomplete or other.incomplete,
        )


def read_totals(path: Path | str) -> dict[int, MovedBytes]:
    """Bytes moved by job number, of a file or of all files in a folder.

    Raises
    ------
    WorkloadError
        A file cannot be read or is not from Darshan; the message states the line of a text.
    """
    moved: dict[int, MovedBytes] = {}
    for file in _files(Path(path)):
        found = _of_log(file) if file.suffix == ".darshan" else _of_text(file)
        for job, total in found:
            moved[job] = moved.get(job, MovedBytes(0, 0)) + total
    return moved


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = sorted(Path(folder) / name for folder, _, names in os.walk(path) for name in names if _is_ours(name))
    if not found:
        raise WorkloadError(
            "no file of Darshan in this folder (*.darshan, or *.txt of darshan-parser --total)", str(path)
        )
    return found


def _is_ours(name: str) -> bool:
    return name.endswith((".darshan", ".txt"))


def _of_text(path: Path) -> Iterator[tuple[int, MovedBytes]]:
    """Totals of each log in a text: several texts may follow one another."""
    try:
        text = text_of(read_file(path))
    except InputError as error:
        raise WorkloadError(str(error), str(path)) from None
    job, totals = -1, {"READ": 0, "WRITTEN": 0}
    seen = incomplete = False
    for number, line in enumerate(text.split("\n"), start=1):
        if found := _JOB.match(line):
            if seen and job >= 0:
                yield job, MovedBytes(totals["READ"], totals["WRITTEN"], incomplete)
            job, totals, seen = _whole(found[1], f"{path}:{number}"), {"READ": 0, "WRITTEN": 0}, False
            incomplete = False
        elif _INCOMPLETE.match(line):
            incomplete = True
        elif found := _TOTAL.match(line):
            if job < 0:
                raise WorkloadError("totals before a line '# jobid: NUMBER'", f"{path}:{number}")
            totals[found[2]] += _whole(found[3], f"{path}:{number}")
            seen = True
    if not seen or job < 0:
        raise WorkloadError(
            "expected output of darshan-parser --total: '# jobid: NUMBER' and total_POSIX_BYTES_READ, ..._WRITTEN",
            str(path),
        )
    yield job, MovedBytes(totals["READ"], totals["WRITTEN"], incomplete)


def _whole(text: str, where: str) -> int:
    if not (text.isascii() and text.isdecimal()) or len(text) > 18:
        raise WorkloadError(f"expected a whole number >= 0, got {shown(text)}", where)
    return int(text)


def _of_log(path: Path) -> Iterator[tuple[int, MovedBytes]]:
    """Totals of a ``.darshan`` file, read by Darshan's own library."""
    try:
        import darshan
    except ImportError:
        raise WorkloadError(
            "a .darshan file needs Darshan's library, which the extra 'darshan' installs: pip install "
            "'spillway[darshan]'; or give the output of darshan-parser --total",
            str(path),
        ) from None
    try:
        with darshan.DarshanReport(str(path), read_all=False) as report:
            total = MovedBytes(0, 0)
            for module in set(_MODULES) & report.modules.keys():
                report.mod_read_all_records(module)
                total += _of_records(report.records[module].to_df()["counters"], module)
                partial = bool(report.modules[module].get("partial_flag"))
                total += MovedBytes(0, 0, partial)
            yield int(report.metadata["job"]["jobid"]), total
    except WorkloadError:
        raise
    except Exception as error:  # the library raises exceptions of any type for a damaged file
        raise WorkloadError(f"cannot be read as a log of Darshan: {str(error)[:120]}", str(path)) from None


def _of_records(counters: Any, module: str) -> MovedBytes:
    return MovedBytes(int(counters[f"{module}_BYTES_READ"].sum()), int(counters[f"{module}_BYTES_WRITTEN"].sum()))

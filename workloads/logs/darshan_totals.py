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
from pathlib import Path
from typing import NamedTuple

import numpy as np

from spillway.base.files import read_file
from spillway.base.limits import InputError
from spillway.base.units import many
from spillway.workloads.errors import WorkloadError
from spillway.workloads.logs.lines import decoded, shown
from spillway.workloads.logs.table import JobTable

_JOB = re.compile(r"#\s*jobid:\s*(\S+)")
_TOTAL = re.compile(r"total_(?:POSIX|STDIO)_BYTES_(READ|WRITTEN):\s*(\S+)")
_INCOMPLETE = re.compile(r"#.*\bmodule contains incomplete data", re.IGNORECASE)
_EXPECTED = "expected output of darshan-parser --total: '# jobid: NUMBER' and total_POSIX_BYTES_READ, ..._WRITTEN"


class MovedBytes(NamedTuple):
    """Bytes that a job moved.

    Attributes
    ----------
    read_bytes, written_bytes
        Bytes of all its processes, in all its recorded programs.
    incomplete
        Whether a module ran out of memory for its records: the job moved at least so much.
    """

    read_bytes: int = 0
    written_bytes: int = 0
    incomplete: bool = False


def read_totals(path: Path | str, unreadable: float = 0.0, wrong: list[str] | None = None) -> dict[int, MovedBytes]:
    """Bytes moved by job number, of a file or of all files in a folder.

    Parameters
    ----------
    unreadable
        Largest share of the files that may be unreadable, or not Darshan's.
    wrong
        Takes the faults of these.

    Raises
    ------
    WorkloadError
        More files cannot be read or are not from Darshan; the message states the line of a text.
    """
    moved: dict[int, MovedBytes] = {}
    files, faults = _files(Path(path)), [] if wrong is None else wrong
    for file in files:
        try:
            totals = list(_of_log(file) if file.suffix == ".darshan" else _of_text(file))
        except WorkloadError as error:
            faults.append(str(error))
            if len(faults) > unreadable * len(files):
                raise
            continue
        for job, total in totals:
            read, written, incomplete = moved.get(job, MovedBytes())
            moved[job] = MovedBytes(read + total[0], written + total[1], incomplete or total[2])
    return moved


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    names = (Path(folder) / name for folder, _, names in os.walk(path) for name in names)
    found = sorted(name for name in names if name.suffix in (".darshan", ".txt"))
    if not found:
        raise WorkloadError(
            "no file of Darshan in this folder (*.darshan, or *.txt of darshan-parser --total)", str(path)
        )
    return found


def _of_text(path: Path) -> Iterator[tuple[int, MovedBytes]]:
    """Totals of each log in a text: several texts may follow one another."""
    try:
        text = decoded(read_file(path))
    except InputError as error:
        raise WorkloadError(str(error), str(path)) from None
    logs: list[tuple[int, dict[str, int], list[str]]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if found := _JOB.match(line):
            logs.append((_whole(found[1], f"{path}:{number}"), {}, []))
        elif found := _TOTAL.match(line):
            if not logs:
                raise WorkloadError("totals before a line '# jobid: NUMBER'", f"{path}:{number}")
            totals = logs[-1][1]
            totals[found[1]] = totals.get(found[1], 0) + _whole(found[2], f"{path}:{number}")
        elif logs and _INCOMPLETE.match(line):
            logs[-1][2].append(line)
    if not logs or not logs[-1][1]:
        raise WorkloadError(_EXPECTED, str(path))
    for job, totals, incomplete in logs:
        if totals:
            yield job, MovedBytes(totals.get("READ", 0), totals.get("WRITTEN", 0), bool(incomplete))


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
            job = int(report.metadata["job"]["jobid"])
            yield job, MovedBytes()
            for module in {"POSIX", "STDIO"} & report.modules.keys():
                report.mod_read_all_records(module)
                counters = report.records[module].to_df()["counters"]
                read, written = (int(counters[f"{module}_BYTES_{what}"].sum()) for what in ("READ", "WRITTEN"))
                yield job, MovedBytes(read, written, bool(report.modules[module].get("partial_flag")))
    except WorkloadError:
        raise
    except Exception as error:  # the library raises exceptions of any type for a damaged file
        raise WorkloadError(f"cannot be read as a log of Darshan: {str(error)[:120]}", str(path)) from None


def with_darshan(table: JobTable, source: str, unreadable: float) -> JobTable:
    """The table with bytes that Darshan recorded, of a file or folder; "": as it is.

    ``unreadable``: the largest share of files that may be unreadable.
    """
    if not source:
        return table
    wrong: list[str] = []
    moved = read_totals(Path(source), unreadable, wrong)
    if wrong:
        table.intake.notes.append(f"{many(len(wrong), 'file', 'files')} of Darshan cannot be read (such as {wrong[0]})")
    numbers, read, written = table["number"], table["read_bytes"].copy(), table["written_bytes"].copy()
    rows = np.flatnonzero(np.isin(numbers, np.array(sorted(moved), dtype=np.int64))).tolist()
    for row in rows:
        read[row], written[row], _ = moved[int(numbers[row])]
    table.intake.notes.append(f"Darshan's totals of {len(moved):,} jobs: {len(rows):,} of them are in the log")
    if incomplete := sum(moved[int(numbers[row])].incomplete for row in rows):
        table.intake.notes.append(
            f"Darshan's data of {incomplete:,} jobs are incomplete (its memory was full): they moved at least so much"
        )
    return table.with_column("read_bytes", read).with_column("written_bytes", written)

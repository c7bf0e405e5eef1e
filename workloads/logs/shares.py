"""Shares of each field of a log that are measured, requested, imputed or absent."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from spillway.workloads.logs.record import MEMORY_REQUESTED, NODES_REQUESTED, Mark
from spillway.workloads.logs.table import JobTable

Marks = npt.NDArray[np.int8]


def marks_of(table: JobTable, *, buffers: bool = False, walltimes: bool = False) -> dict[str, Marks]:
    """Kind of knowledge of each field of each job.

    Parameters
    ----------
    table
        The jobs.
    buffers, walltimes
        Whether the conversion makes up burst buffers and requested times that the log does not state.

    Returns
    -------
    Field, in words, to values of :class:`~spillway.workloads.logs.record.Mark`, one for each job.
    """
    bits = table["marks"]
    ran = table.known("start_s") | (table["run_s"] > 0)  # the size of any other job can only be its request
    absent, measured, requested = (np.int8(mark) for mark in (Mark.ABSENT, Mark.MEASURED, Mark.REQUESTED))
    got = np.where(ran, measured, requested)
    nodes = np.where(
        table.known("nodes"),
        np.where(bits & NODES_REQUESTED, requested, got),
        np.where(
            table.known("requested_processors"), requested, np.where(table.known("allocated_processors"), got, absent)
        ),
    )
    memory = np.where(bits & MEMORY_REQUESTED, requested, measured)
    made_up = Mark.IMPUTED if buffers else Mark.ABSENT
    return {
        "submission": _known(table, "submit_s", Mark.MEASURED),
        "eligible time": _known(table, "eligible_s", Mark.MEASURED),
        "start": _known(table, "start_s", Mark.MEASURED),
        "end": _known(table, "end_s", Mark.MEASURED),
        "run time": _known(table, "run_s", Mark.MEASURED),
        "requested time": _known(table, "requested_s", Mark.REQUESTED, Mark.IMPUTED if walltimes else Mark.ABSENT),
        "size": nodes,
        "burst buffer": _known(table, "burst_buffer_bytes", Mark.REQUESTED, made_up),
        "memory": np.where(table.known("memory_bytes"), memory, absent),
        "bytes read": _known(table, "read_bytes", Mark.MEASURED),
        "bytes written": _known(table, "written_bytes", Mark.MEASURED),
        "user": _known(table, "user", Mark.MEASURED),
        "queue": _known(table, "partition", Mark.REQUESTED),
        "end state": _known(table, "state", Mark.MEASURED),
        "dependency": _known(table, "dependency", Mark.REQUESTED),
    }


def shares_of(marks: Mapping[str, Marks]) -> dict[str, dict[Mark, float]]:
    """Share of the jobs by field and kind of knowledge; kinds that do not occur are left out."""
    found: dict[str, dict[Mark, float]] = {}
    for name, values in marks.items():
        counts = np.bincount(values, minlength=len(Mark))
        found[name] = {mark: int(counts[mark]) / len(values) for mark in Mark if counts[mark]}
    return found


def shares_line(table: JobTable, *, buffers: bool, walltimes: bool) -> str:
    """One line on all fields: ``measured: submission, ...; requested: size, requested time (98.0 %); ...``."""
    shares = shares_of(marks_of(table, buffers=buffers, walltimes=walltimes))
    parts = []
    for mark in (Mark.MEASURED, Mark.REQUESTED, Mark.IMPUTED, Mark.ABSENT):
        fields = [
            name if share[mark] == 1 else f"{name} ({percent(share[mark])})"
            for name, share in shares.items()
            if mark in share
        ]
        if fields:
            parts.append(f"{mark.name.lower()}: {', '.join(fields)}")
    return f"what is known of the jobs: {'; '.join(parts)}"


def percent(share: float) -> str:
    """A share in per cent; 0 or 100 only where it is exact."""
    if 0 < share < 0.001:
        return "< 0.1 %"
    if 0.999 < share < 1:
        return "> 99.9 %"
    return f"{100 * share:.1f} %"


def _known(table: JobTable, name: str, mark: Mark, otherwise: Mark = Mark.ABSENT) -> Marks:
    return np.where(table.known(name), np.int8(mark), np.int8(otherwise))

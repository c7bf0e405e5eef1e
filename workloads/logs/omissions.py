"""Properties of a log's jobs that no run plays: numbers of jobs, and their shares of the node-hours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from spillway.workloads.logs.nodes import held
from spillway.workloads.logs.shares import percent
from spillway.workloads.logs.table import Ints, JobTable

SHARED, PROCESSORS = "shared nodes", "processors"
_HOUR = 3600
_WEEK_S = 7 * 86_400
_SUNDAY_S = 3 * 86_400 + 2 * _HOUR
"""2 o'clock of the first Sunday of 1970: clocks change at such a time."""
_PAUSE_S = 60
"""Shortest pause that counts as one."""


@dataclass(frozen=True, slots=True)
class Omission:
    """A property of a log's jobs that every run leaves out.

    With an omission, a difference between the site's schedule and a policy's has more causes than the policy.

    Attributes
    ----------
    name
        One of ``shared nodes``, ``processors``, ``partitions``, ``licenses``, ``dependencies``, ``holds``, ``gpus``,
        ``components``, ``array limits``, ``overruns``, ``suspensions``, ``bytes moved``.
    words
        The stated property and its treatment in a run; follows the number of jobs in a sentence.
    jobs
        Number of jobs.
    share
        Their share of the node-seconds (nodes times run time) of all jobs played, 0 to 1.
    """

    name: str
    words: str
    jobs: int
    share: float

    @property
    def line(self) -> str:
        """``75 jobs (4.1 % of the node-hours) depend on another job: they do not wait for it here``."""
        return f"{self.jobs:,} jobs ({percent(self.share)} of the node-hours) {self.words}"


def omissions_of(
    table: JobTable,
    nodes: Ints,
    *,
    moved_is_played: bool = False,
    depends: npt.NDArray[np.object_] | None = None,
    limits_are_played: bool = False,
    tables: Sequence[str] = (),
    counted: npt.NDArray[np.bool_] | None = None,
) -> tuple[Omission, ...]:
    """Omissions of these jobs.

    Parameters
    ----------
    table
        The jobs that are played.
    nodes
        Whole nodes of each.
    moved_is_played
        Whether the workload plays the bytes that the log recorded.
    depends
        Dependencies of each job that are played, "" without one; ``None``: no job waits for others.
    limits_are_played
        Whether limits on the tasks of arrays are played.
    tables
        Tables of a site's description that are played (``partition``, ``license``).
    counted
        Jobs of which each processor counts as a node.
    """
    seconds = nodes * np.maximum(table["run_s"], 0).astype(np.float64)
    total = float(seconds.sum()) or 1.0
    played = {*tables, *(["bytes moved"] * moved_is_played), *(["array limits"] * limits_are_played)}
    return tuple(
        Omission(name, words, int(jobs.sum()), float(seconds[jobs].sum()) / total)
        for name, words, jobs in _concerned(table, played, depends, counted)
        if jobs.any()
    )


def partitions_of(table: JobTable) -> list[str]:
    """Names of the partitions (queues) that jobs are in, in order of their number of jobs."""
    names = table.names["partition"]
    counts = np.bincount(table["partition"], minlength=len(names))
    order = np.argsort(-counts, kind="stable").tolist()
    return [str(names[code]) for code in order if counts[code] and names[code] not in ("", -1)]


def _concerned(
    table: JobTable, played: Set[str], depends: npt.NDArray[np.object_] | None, counted: npt.NDArray[np.bool_] | None
) -> Iterator[tuple[str, str, npt.NDArray[np.bool_]]]:
    """Names of omissions, their words, and the jobs concerned."""
    if counted is not None and counted.any():
        both = table.known("nodes") & table.known("allocated_processors")
        most = int((-(-table["allocated_processors"][both] // table["nodes"][both])).max(initial=0))
        number = f"{most}: jobs that state both have up to so many" if most > 1 else "N"
        words = "state processors and no number of nodes: each processor counts as a node here (--processors-per-node "
        yield PROCESSORS, f"{words}{number})", counted
    if (named := held(table)) is not None:
        yield (
            SHARED,
            f"share nodes with other jobs, {percent(float(named.shared.mean()))} of all: played as whole nodes, waits "
            "will be too long; a comparison with the site's own schedule needs --force",
            named.shared,
        )
    partitions = partitions_of(table)
    if len(partitions) > 1 and "partition" not in played:
        yield (
            "partitions",
            f"are of {len(partitions)} partitions ({shortened(partitions)}), which share all nodes here: "
            f"--where partition={partitions[0]} plays one alone",
            table.known("partition"),
        )
    if "license" not in played:
        yield "licenses", "request licenses, which are not counted here", table.known("licenses")
    waiting = table.known("dependency")
    left = waiting if depends is None else waiting & (depends == "")
    yield "dependencies", "depend on another job that is not played: they do not wait for it", left
    kept = (table["eligible_s"] > table["submit_s"]) & ~waiting
    yield "holds", "were held or waited for other jobs after their submission: here they can start at once", kept
    if "gpu" not in played:
        yield "gpus", "request GPUs, which no node here has: only their nodes count", table["gpus"] > 0
    codes = [code for code, part in enumerate(table.names["part"]) if "+" in str(part)]
    components = np.isin(table["part"], codes)
    yield "components", "are components of heterogeneous jobs: here each starts on its own", components
    if "array limits" not in played:
        limited = np.isin(table["number"], np.array(sorted(table.intake.limited_arrays), dtype=np.int64))
        yield "array limits", "are tasks of arrays with a limit on running tasks: here any number may run", limited
    over = (table["requested_s"] > 0) & (table["run_s"] > table["requested_s"])
    yield "overruns", "ran beyond their limit at the site: here they are cut at it, or at their site's kill", over
    paused = "were suspended at the site: they held nodes for longer than they ran, and run without the pause here"
    yield "suspensions", paused, _paused(table)
    if "bytes moved" not in played:
        moved = "have bytes moved on record, which are not played (bytes_moved=stream does, under --model stream)"
        yield "bytes moved", moved, table.known("read_bytes") | table.known("written_bytes")


def _paused(table: JobTable) -> npt.NDArray[np.bool_]:
    start_s, end_s, run_s = table["start_s"], table["end_s"], table["run_s"]
    pause = np.where(start_s >= 0, end_s - start_s - run_s, 0)
    nights = (end_s - _SUNDAY_S) // _WEEK_S > (start_s - _SUNDAY_S) // _WEEK_S
    pause[(np.abs(pause - _HOUR) <= 1) & nights] = 0  # clocks that go forward are no pause
    return (pause > _PAUSE_S) & (run_s > 0)


def shortened(names: list[str], most: int = 4) -> str:
    """Some names, and the number of the others."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"

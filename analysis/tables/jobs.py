"""Reader of a run's results: Batsim's ``jobs.csv`` as columns of NumPy arrays.

The files are the contract: results of the real Batsim, of the embedded simulator and of any other tool with the same
columns are read alike. Data that Batsim's file lacks (burst buffers, users) come from ``allocations.csv``, the size of
the machine from ``machine.json``; both may be absent. Jobs that were pre-empted (column ``time_slices``) have their
slices in ``batsim_jobs.csv``.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path

import numpy as np
import numpy.typing as npt

from spillway.analysis.errors import AnalysisError
from spillway.analysis.tables.rows import MISSING, read_lines, read_parts
from spillway.base.files import parse_json, read_file
from spillway.base.limits import HOSTS, shown
from spillway.base.links import refuse_links

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.intp]

_KILLED_STATES = ("COMPLETED_WALLTIME_REACHED", "COMPLETED_KILLED")
"""Final states of jobs that were stopped before they had ended."""

CANCELLED = "CANCELLED"
"""State of jobs that their users cancelled while they waited; Batsim has none: to it they are rejected."""

COLUMNS = (
    "job_id",
    "workload_name",
    "submission_time",
    "requested_number_of_resources",
    "requested_time",
    "final_state",
    "starting_time",
    "execution_time",
    "finish_time",
    "allocated_resources",
)
"""Columns of ``jobs.csv`` that are read (the others follow from them)."""

PARTITION = "partition"
"""Column of ``allocations.csv``, present where the site has partitions."""

LIVES_COLUMNS = ("node_lives", "storage_lives")
"""Columns of ``allocations.csv``, present where resources were held over intervals of their own."""

_OLD_NAMES = {
    "job_id": "jobID",
    "requested_number_of_resources": "requested_number_of_processors",
    "allocated_resources": "allocated_processors",
}
"""Names of these columns before version 3 of Batsim."""


@dataclass(frozen=True)
class Host:
    """One host: Batsim's resource id, name, burst-buffer capacity in bytes (0 on a compute node), group or ""."""

    id: int
    name: str
    capacity_bytes: int = 0
    group: str = ""


@dataclass(frozen=True)
class MachineInfo:
    """The machine: compute nodes and storage nodes, each in the order of their places. Empty where unknown."""

    nodes: tuple[Host, ...] = ()
    storages: tuple[Host, ...] = ()

    @property
    def total_storage_bytes(self) -> int:
        """Burst-buffer capacity of the whole machine in bytes."""
        return sum(storage.capacity_bytes for storage in self.storages)


_SLICES_COLUMN = "time_slices"
"""Column of ``jobs.csv`` where jobs share nodes in time: number of time slices of each job."""

_SLICES_FILE = "batsim_jobs.csv"
"""Batsim's rows of these slices."""


@dataclass(frozen=True)
class Turns:
    """Intervals in which jobs were on nodes: parallel columns, one entry for each uninterrupted stay of a job.

    Attributes
    ----------
    job
        Row of the job in its table.
    start_s, finish_s
        Simulated seconds.
    allocated
        Batsim's interval sets of nodes.
    """

    job: Rows
    start_s: Floats
    finish_s: Floats
    allocated: Sequence[str]

    def take(self, rows: Rows, size: int) -> Turns:
        """The entries of the jobs in these rows of a table of ``size`` jobs, numbered by their new places."""
        place = np.full(size, -1, dtype=np.intp)
        place[rows] = np.arange(len(rows))
        kept = np.flatnonzero(place[self.job] >= 0)
        return Turns(
            place[self.job[kept]],
            self.start_s[kept],
            self.finish_s[kept],
            [self.allocated[turn] for turn in kept.tolist()],
        )


@dataclass(frozen=True)
class JobTable:
    """One run's jobs as parallel columns, in the order of the file. Times are simulated seconds.

    Attributes
    ----------
    job_id, workload
        Names.
    submit_s, start_s, execution_s, finish_s
        Submission (for a job that other jobs held or preempted, the time from which it might start:
        ``dependencies.csv``, ``preemptions.csv``), start, duration, end; NaN where the job never started. The duration
        of a job that was pre-empted is the time that it received.
    walltime_s
        Requested time; ``inf`` where no time was requested.
    nodes
        Requested nodes.
    state
        Batsim's final state, or :data:`CANCELLED`.
    allocated
        Batsim's interval sets (``0-3 7``), "" where the job never started.
    bb_bytes
        Burst-buffer bytes per request: of each node, or of each stripe (0 where unknown).
    storages
        Storage nodes of the burst buffers: ``resource id:number of requests`` separated by spaces ("" without burst
        buffers, or where unknown).
    user
        The user who submitted the job ("" where unknown).
    machine
        Size of the machine.
    turns
        Intervals in which pre-empted jobs were on nodes; ``None`` where every job ran from its start to its end.
    node_lives, storage_lives
        Resources with their intervals, where a job did not hold all from start to end
        (:mod:`spillway.analysis.tables.holdings`); no columns or "" where it did.
    partition
        Partition of the site in which each job ran; () where the site has no partitions.
    """

    job_id: Sequence[str]
    workload: Sequence[str]
    submit_s: Floats
    start_s: Floats
    execution_s: Floats
    finish_s: Floats
    walltime_s: Floats
    nodes: Ints
    state: Sequence[str]
    allocated: Sequence[str]
    bb_bytes: Floats
    storages: Sequence[str]
    user: Sequence[str]
    machine: MachineInfo = MachineInfo()
    turns: Turns | None = None
    node_lives: Sequence[str] = ()
    storage_lives: Sequence[str] = ()
    partition: Sequence[str] = ()

    def __len__(self) -> int:
        return len(self.job_id)

    @property
    def requests(self) -> Ints:
        """Requests for burst buffer of ``bb_bytes`` each: one per node, or those of a striped buffer (``storages``)."""
        if not any(self.storages):
            return self.nodes
        rows, _, counts = parse_storages(self.storages)
        stated = np.zeros(len(self), np.int64)
        np.add.at(stated, rows, counts)
        return np.where(stated > 0, stated, self.nodes)

    @property
    def executed(self) -> Mask:
        """Mask of the jobs that ran (all but rejected and cancelled ones)."""
        return np.isfinite(self.start_s)

    @property
    def cancelled(self) -> Mask:
        """Mask of the jobs that their users cancelled while they waited."""
        return np.array([state == CANCELLED for state in self.state], dtype=np.bool_)

    @property
    def killed(self) -> Mask:
        """Mask of the jobs that were stopped by their walltime or by a kill."""
        return np.array([state in _KILLED_STATES for state in self.state], dtype=np.bool_)

    @property
    def wait_s(self) -> Floats:
        """Waiting time: start minus submission (NaN for rejected jobs)."""
        return self.start_s - self.submit_s

    @property
    def turnaround_s(self) -> Floats:
        """Turnaround time: end minus submission (NaN for rejected jobs)."""
        return self.finish_s - self.submit_s

    @property
    def on_nodes(self) -> Turns:
        """Intervals in which jobs were on nodes: one from start to end for each that ran, or its time slices."""
        if self.turns is not None:
            return self.turns
        ran = np.flatnonzero(self.executed)
        return Turns(ran, self.start_s[ran], self.finish_s[ran], [self.allocated[row] for row in ran.tolist()])

    def only(self, mask: Mask) -> JobTable:
        """Return the table of the jobs that the mask chooses; this table where it chooses all."""
        return self if mask.all() else self.take(np.flatnonzero(mask))

    def take(self, rows: Rows) -> JobTable:
        """Return the table of the given rows, in that order."""

        places = np.asarray(rows).tolist()

        def pick(column: Sequence[str]) -> list[str]:
            return [column[place] for place in places]

        return JobTable(
            pick(self.job_id),
            pick(self.workload),
            self.submit_s[rows],
            self.start_s[rows],
            self.execution_s[rows],
            self.finish_s[rows],
            self.walltime_s[rows],
            self.nodes[rows],
            pick(self.state),
            pick(self.allocated),
            self.bb_bytes[rows],
            pick(self.storages),
            pick(self.user),
            self.machine,
            self.turns.take(rows, len(self)) if self.turns is not None else None,
            pick(self.node_lives) if self.node_lives else (),
            pick(self.storage_lives) if self.storage_lives else (),
            pick(self.partition) if self.partition else (),
        )

    def ran(self) -> JobTable:
        """Return the table of the jobs that ran: every metric is about these."""
        return self.only(self.executed)


def read_run(folder: Path) -> JobTable:
    """Read one run's folder: ``jobs.csv``, and ``allocations.csv`` and ``machine.json`` where they exist.

    Where jobs were pre-empted, ``batsim_jobs.csv`` must be there.

    Raises
    ------
    AnalysisError
        A file is missing or malformed.
    InputError
        The folder holds a link (:func:`spillway.base.links.refuse_links`).
    """
    refuse_links(folder)
    table = read_jobs(folder / "jobs.csv")
    if _SLICES_COLUMN in _header(folder / "jobs.csv"):
        table = replace(table, turns=_read_turns(table, folder / _SLICES_FILE))
    machine, allocations = folder / "machine.json", folder / "allocations.csv"
    if machine.exists():
        table = replace(table, machine=_read_machine(machine))
    if allocations.exists():
        table = _with_allocations(table, allocations)
    return from_eligible(table, folder)


_GOES_ON_AS = " as "
"""Text before the name under which a preempted job continues; absent where the job was killed."""


def from_eligible(table: JobTable, folder: Path) -> JobTable:
    """Table in which the submissions of held and preempted jobs are those of :func:`read_eligible`."""
    eligible_s = read_eligible(folder)
    if not eligible_s:
        return table
    submitted = zip(table.workload, table.job_id, table.submit_s.tolist(), strict=True)
    return replace(table, submit_s=np.array([eligible_s.get((run, job), time_s) for run, job, time_s in submitted]))


def read_eligible(folder: Path) -> dict[tuple[str, str], float]:
    """Times (s) from which the waits of held and preempted jobs count, by workload and id.

    A job that other jobs held might start from then on; for an attempt of a preempted job it is the end of the attempt
    before. Empty for a run without such jobs. :class:`AnalysisError` as in :func:`read_jobs`.
    """
    held = _times(folder / "dependencies.csv", "job_id", "eligible_s")
    made_room = _times(folder / "preemptions.csv", "what", "time_s")
    attempts = {(of, what.partition(_GOES_ON_AS)[2]): time_s for (of, what), time_s in made_room.items()}
    return held | {(of, name): time_s for (of, name), time_s in attempts.items() if name}


def _times(path: Path, named: str, timed: str) -> dict[tuple[str, str], float]:
    """Times of one column (s) by workload and another column; empty where the file is missing."""
    if not path.exists():
        return {}
    columns, numbers = _read_columns(path, (named, "workload_name"), (timed,))
    keys = zip(columns["workload_name"], columns[named], strict=True)
    return dict(zip(keys, numbers[timed].tolist(), strict=True))


def read_jobs(path: Path) -> JobTable:
    """Read a ``jobs.csv`` as Batsim 4 and the embedded simulator write it.

    Jobs without nodes that have ended are left out: they created or destroyed persistent buffers, and took no time.

    Raises
    ------
    AnalysisError
        The file is missing, lacks a column, or has a text in a column of numbers (named with its line).
    """
    columns, numbers = _read_columns(path, COLUMNS[:2] + COLUMNS[5:6] + COLUMNS[9:], COLUMNS[2:5] + COLUMNS[6:9])
    walltime = numbers["requested_time"]
    size = len(walltime)
    table = JobTable(
        columns["job_id"],
        columns["workload_name"],
        numbers["submission_time"],
        numbers["starting_time"],
        numbers["execution_time"],
        numbers["finish_time"],
        np.where(walltime > 0, walltime, math.inf),
        numbers["requested_number_of_resources"].astype(np.int64),
        columns["final_state"],
        columns["allocated_resources"],
        np.zeros(size),
        [""] * size,
        [""] * size,
    )
    on_nodes = (table.nodes > 0) | ~table.executed
    return table if on_nodes.all() else table.only(on_nodes)


def read_contention(path: Path) -> Floats:
    """Slowdown by contention of each job of a ``jobs.csv`` that has one: its time over its uncontended time.

    Empty where the table has no such column. :class:`AnalysisError` as in :func:`read_jobs`.
    """
    name = "contention_slowdown"
    if name not in _header(path):
        return np.zeros(0)
    values = _read_columns(path, (), (name,))[1][name]
    return values[~np.isnan(values)]


def _read_machine(path: Path) -> MachineInfo:
    """Read ``machine.json`` (members ``nodes`` and ``storages``); raise :class:`AnalysisError` when it is malformed."""
    try:
        data = parse_json(read_file(path))
        return MachineInfo(
            tuple(Host(int(item["id"]), str(item["name"])) for item in data["nodes"]),
            tuple(
                Host(int(item["id"]), str(item["name"]), int(item["capacity_bytes"]), str(item.get("group", "")))
                for item in data["storages"]
            ),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise AnalysisError(f"{path}: expected an object with 'nodes' and 'storages': {error!r}") from error


def parse_intervals(text: str, most: int | None = None) -> list[int]:
    """Expand Batsim's interval set: ``"0-2 5"`` is ``[0, 1, 2, 5]``; at most ``most`` ids (default: as hosts)."""
    ids: list[int] = []
    most = HOSTS.value if most is None else most
    for part in text.split():
        first, _, last = part.partition("-")
        try:
            begin, end = int(first), int(last or first)
        except ValueError:
            raise AnalysisError(f"the machines {shown(text)}: expected ids such as '0-3 5'") from None
        if len(ids) + end - begin >= most:
            raise AnalysisError(f"the machines {shown(text)}: {HOSTS.text()}")
        ids.extend(range(begin, end + 1))
    return ids


_STORAGES = re.compile(r"(\s*\d{1,18}:\d{1,18})*\s*", re.ASCII)


def parse_storages(texts: Sequence[str]) -> tuple[Rows, Ints, Ints]:
    """Expand texts such as ``"96:3 98:1"`` to columns: index of the text, storage node, number of requests.

    Raises
    ------
    AnalysisError
        A text has another form.
    """
    columns: list[tuple[Rows, Ints]] = [(np.zeros(0, np.intp), np.zeros((0, 2), np.int64))]
    for begin in range(0, len(texts), ROWS_AT_A_TIME):
        part = texts[begin : begin + ROWS_AT_A_TIME]
        counts = [text.count(":") for text in part]
        try:
            numbers = np.array(" ".join(part).replace(":", " ").split(), np.int64).reshape(sum(counts), 2)
        except (ValueError, OverflowError):
            odd = next((text for text in part if not _STORAGES.fullmatch(text)), part[0])
            raise AnalysisError(
                f"storage nodes: expected ids and counts such as '96:3 98:1', got {shown(odd)}"
            ) from None
        columns.append((np.repeat(np.arange(begin, begin + len(part)), counts), numbers))
    rows, pairs = (np.concatenate(column) for column in zip(*columns, strict=True))
    return rows, pairs[:, 0], pairs[:, 1]


def _read_turns(table: JobTable, path: Path) -> Turns:
    """Read the time slices of pre-empted jobs: the rows of ``w0%15`` are those of job ``15`` of ``w0``."""
    times = ("starting_time", "finish_time")
    columns, numbers = _read_columns(path, ("workload_name", "allocated_resources"), times)
    start_s, finish_s = (numbers[name] for name in times)
    row_of = {
        f"{workload}%{job}": row for row, (workload, job) in enumerate(zip(table.workload, table.job_id, strict=True))
    }
    jobs = np.array([row_of.get(name, -1) for name in columns["workload_name"]], dtype=np.intp)
    kept = np.flatnonzero((jobs >= 0) & np.isfinite(start_s))
    allocated = [columns["allocated_resources"][row] for row in kept.tolist()]
    return Turns(jobs[kept], start_s[kept], finish_s[kept], allocated)


def _with_allocations(table: JobTable, path: Path) -> JobTable:
    names, optional = ("job_id", "workload_name", "user", "storages"), (*LIVES_COLUMNS, PARTITION)
    columns, numbers = _read_columns(path, names, ("bb_bytes",), optional)
    sizes = np.append(numbers["bb_bytes"], 0.0)
    row_of = dict(zip(zip(columns["workload_name"], columns["job_id"], strict=True), itertools.count()))
    rows = list(map(row_of.get, zip(table.workload, table.job_id, strict=True), itertools.repeat(-1)))

    def of_jobs(name: str) -> list[str]:
        """The cells of a column by job: those of the added row, the last one, where a job never started."""
        cells = [*columns[name], ""]
        return [cells[row] for row in rows] if columns[name] else []

    return replace(
        table,
        bb_bytes=sizes[np.array(rows, np.intp)],
        storages=of_jobs("storages") or [""] * len(table),
        user=of_jobs("user") or [""] * len(table),
        node_lives=of_jobs("node_lives") or (),
        storage_lives=of_jobs("storage_lives") or (),
        partition=of_jobs(PARTITION) or (),
    )


ROWS_AT_A_TIME = 10_000
"""Rows that are read into columns together: few enough that the other cells take no memory."""


def _header(path: Path) -> list[str]:
    return next(read_lines(path, MISSING), (1, []))[1]


def _read_columns(
    path: Path, texts: Sequence[str], numbers: Sequence[str], optional: Sequence[str] = ()
) -> tuple[dict[str, list[str]], dict[str, Floats]]:
    """Read columns of texts and of numbers, by name; optional columns of texts that are missing are empty."""
    parts = read_parts(path, MISSING, ROWS_AT_A_TIME)
    header = [next((new for new, old in _OLD_NAMES.items() if old == name), name) for name in next(parts)[0]]
    missing = [name for name in (*texts, *numbers) if name not in header]
    if missing:
        found = shown(", ".join(header) or "nothing", 400)
        raise AnalysisError(f"{path}, line 1: no column {missing[0]!r}; found {found}")
    of_texts: dict[str, list[str]] = {name: [] for name in (*texts, *optional)}
    of_numbers: dict[str, list[Floats]] = {name: [np.zeros(0)] for name in numbers}
    present = [(name, header.index(name), dict[str, str]()) for name in of_texts if name in header]
    places = [(name, header.index(name)) for name in numbers]
    line = 2
    for part in parts:
        for name, place, known in present:
            cells = [*map(itemgetter(place), part)]
            of_texts[name] += map(known.setdefault, cells, cells)  # equal texts take memory once
            if len(known) > ROWS_AT_A_TIME:  # most are of one row
                known.clear()
        for name, place in places:
            of_numbers[name].append(_numbers(path, name, [*map(itemgetter(place), part)], line))
        line += len(part)
    return of_texts, {name: np.concatenate(found) for name, found in of_numbers.items()}


_LARGEST = 2.0**62
_MAY_BE_INFINITE = ("requested_time", "contention_slowdown")


def _numbers(path: Path, name: str, texts: Sequence[str], line: int) -> Floats:
    """Texts as numbers, NaN for empty ones; ``line``: that of the first."""
    values = None
    with contextlib.suppress(ValueError):
        values = np.fromiter(map(float, texts), np.float64, len(texts))
    if values is None:
        with contextlib.suppress(ValueError):  # some are empty
            values = np.fromiter((float(text or math.nan) for text in texts), np.float64, len(texts))
    if values is not None:
        too_large = np.flatnonzero(np.abs(values) > _LARGEST) if name not in _MAY_BE_INFINITE else ()
        for row in too_large[:1]:
            what = f"column {name!r} must hold numbers of at most 2^62, got {texts[row]!r}"
            raise AnalysisError(f"{path}, line {line + row}: {what}")
        return values
    for row, text in enumerate(texts, start=line):
        try:
            float(text or "nan")
        except ValueError:
            raise AnalysisError(f"{path}, line {row}: column {name!r} must hold numbers, got {text!r}") from None
    raise AssertionError("unreachable: one of the texts is no number")

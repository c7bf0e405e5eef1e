"""The table of jobs of a run: from the simulator's rows of sub-jobs to one row per real job, for every job model.

In the simulator's registry a job that runs in pieces is rejected, and its sub-jobs are jobs of a separate workload
(``w0%15`` for job 15 of ``w0``). The real job starts with its first sub-job and ends with its last one; if it ended
while no sub-job ran (it waited for its turn), the scheduler's time counts.
"""

from __future__ import annotations

import csv
import io
import math
import os
from array import array
from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from spillway.analysis.tables.jobs import CANCELLED
from spillway.base import durable
from spillway.base.errors import shown
from spillway.experiments.run.errors import RunFailed
from spillway.protocol.messages import JobState
from spillway.schedulers.jobmodels.base import JobModel
from spillway.schedulers.jobmodels.record import BUFFER_COLUMNS, JobRecord, columns
from spillway.schedulers.jobmodels.sub_jobs import SEPARATOR, owner_of
from spillway.simulator.outputs.jobs import Span

JOBS = "jobs.csv"
_BATSIM_JOBS = "batsim_jobs.csv"
"""The simulator's own table, with sub-jobs."""

_UNCONTENDED_COLUMNS = ("uncontended_s", "contention_slowdown")
SHORTEST_S = 1e-5
"""Batsim's substitute for a runtime of 0."""

_REJECTED = "REJECTED"
_STAGING = ("stage_in", "stage_out")

Row = dict[str, str]


def write_jobs(
    folder: Path,
    model: JobModel,
    records: Mapping[str, JobRecord],
    spans: Mapping[str, Span] | None = None,
    uncontended_s: Mapping[str, float] | None = None,
    own_places: Sequence[int] | None = None,
) -> None:
    """Write ``jobs.csv`` anew with one row per real job; the simulator's own table becomes ``batsim_jobs.csv``.

    Rows are in the order of the ends, rejected jobs at their submission. After Batsim's columns come those of the job
    model, empty for jobs that did not run or ran in one piece. If all jobs run in one piece, the table stays unchanged.

    Parameters
    ----------
    records
        Records of jobs that have ended, by full id (``w0!15``).
    spans
        Times of the sub-jobs of each job, by workload; default: as in ``jobs.csv``.
    uncontended_s
        Duration of each job without contention (s); ``None`` leaves those columns out.
    own_places
        Begins and ends, in turn, of rows in ``jobs.csv`` that are not of sub-jobs (bytes); ``None``: they are searched.

    Raises
    ------
    RunFailed
        The record of a job that ran is missing.
    """
    own = (*columns(model.stages, model.moved, model.needs.gate), *model.columns)
    if any(record.staged is not None for record in records.values()):
        own = (*own, *BUFFER_COLUMNS)
    if not own and uncontended_s is None and all(record.whole for record in records.values()):
        return
    raw = folder / _BATSIM_JOBS
    durable.rename(folder / JOBS, raw, sync=False)
    spans = _spans(raw) if spans is None else {owner_of(name): span for name, span in spans.items()}
    nodes = _allocations(folder / "allocations.csv", records)
    further = (*own, *(_UNCONTENDED_COLUMNS if uncontended_s is not None else ()))
    with raw.open("rb") as stream:
        reader = csv.reader(_own_rows(stream) if own_places is None else _rows_at(stream, own_places))
        header = next(reader)
        table = _Table(header, further)
        name, workload, submitted, state = map(
            header.index, ("job_id", "workload_name", "submission_time", "final_state")
        )
        for cells in reader:
            if owner_of(cells[workload]):
                continue
            job_id = f"{cells[workload]}!{cells[name]}"
            record = records.get(job_id)
            changed: Row = {}
            if record is not None:
                if not record.whole or record.staged is not None:
                    changed = _cells(model, record, spans.get(job_id), float(cells[submitted]), nodes[job_id])
                if uncontended_s is not None:
                    changed |= _uncontended(record, uncontended_s.get(job_id))
            elif job_id in spans and cells[state] != _REJECTED:  # rejected: its stage-in may have run
                raise RunFailed(f"job {job_id} has sub-jobs but never came to its end")
            table.add(cells, changed)
    table.write(folder / JOBS)


def mark_cancelled(folder: Path, cancelled: Container[tuple[str, str]]) -> None:
    """Write ``jobs.csv`` anew with the state of jobs that their users cancelled; to the simulator they are rejected."""
    with (folder / JOBS).open(encoding="utf-8", newline="") as stream:
        header, *rows = csv.reader(stream)
    name, workload, state = (header.index(column) for column in ("job_id", "workload_name", "final_state"))
    for row in rows:
        if row[state] == _REJECTED and (row[name], row[workload]) in cancelled:
            row[state] = CANCELLED
    with durable.open_text(folder / JOBS) as table:
        csv.writer(table, lineterminator="\n").writerows((header, *rows))


def state_limits(folder: Path, limits: Mapping[str, tuple[float, float]]) -> None:
    """Write ``jobs.csv`` anew with the time that jobs requested; to the simulator it is that of their kills.

    Parameters
    ----------
    limits
        Request of each job that states a limit, and the time from there to its kill (s), by name; the parts of a job
        that waited again (``12#2``) have its time to the kill.
    """
    with (folder / JOBS).open(encoding="utf-8", newline="") as stream:
        header, *rows = csv.reader(stream)
    name, requested = header.index("job_id"), header.index("requested_time")
    for row in rows:
        limit_s, grace_s = limits.get(row[name].split("#")[0], (0.0, 0.0))
        if limit_s:
            row[requested] = f"{float(row[requested]) - grace_s if grace_s < math.inf else limit_s:.6f}"
    with durable.open_text(folder / JOBS) as table:
        csv.writer(table, lineterminator="\n").writerows((header, *rows))


class _Table:
    """Lines of the table, sorted by the jobs' ends when it is written: a line takes a tenth of the memory of a row."""

    def __init__(self, header: Sequence[str], further: Sequence[str]) -> None:
        self._names = (*header, *further)
        self._places = {name: place for place, name in enumerate(self._names)}
        self._none = [""] * len(further)
        self._finish, self._submission = self._places["finish_time"], self._places["submission_time"]
        self._lines: list[str] = []
        self._ends_s = array("d")

    def add(self, cells: Sequence[str], changed: Row) -> None:
        """Add a job: the simulator's cells, some of which are changed or new."""
        row = [*cells, *self._none]
        for name, text in changed.items():
            if name in self._places:
                row[self._places[name]] = text
        line = ",".join(row)
        if line.count(",") >= len(row) or any(mark in line for mark in '"\n\r'):
            line = ",".join(map(_quoted, row))
        self._lines.append(line + "\n")
        self._ends_s.append(float(row[self._finish] or row[self._submission]))

    def write(self, path: Path) -> None:
        """Write the file."""
        temporary = path.with_name(path.name + durable.PARTIAL)
        with durable.open_text(temporary, path) as stream:
            stream.write(",".join(self._names) + "\n")
            stream.writelines(
                self._lines[place] for place in sorted(range(len(self._lines)), key=self._ends_s.__getitem__)
            )
        durable.rename(temporary, path, sync=False)


def _cells(model: JobModel, record: JobRecord, span: Span | None, submitted_s: float, allocated: str) -> Row:
    """Corrections of Batsim's row of a job that ran in pieces or staged in, and the model's own columns."""
    row = (
        _times(record, span, submitted_s, allocated)
        if record.staged is None
        else _staged(record, submitted_s, allocated)
    )
    if not record.whole:
        _refuse_undeclared(model, record)
        row.update(record.cells(model.stages, model.moved, model.needs.gate))
        row.update(_of_model(model, record))
    return row


def _refuse_undeclared(model: JobModel, record: JobRecord) -> None:
    """Refuse seconds of a stage without a column; staging has columns of its own (:data:`BUFFER_COLUMNS`)."""
    for stage in record.seconds.keys() - {*model.stages, *_STAGING} if model.stages else ():
        raise RunFailed(
            f"job model {type(model).__name__}: job {record.job.id} took {record.seconds[stage]:g} s for the stage "
            f"{stage!r}, which 'stages' does not declare: {shown(list(model.stages))}"
        )


def _of_model(model: JobModel, record: JobRecord) -> Row:
    """The model's own columns."""
    cells = model.cells(record)
    for name, text in cells.items():
        if name not in model.columns or not isinstance(text, str):
            wrong = f"expected a text, got {shown(text)}" if name in model.columns else "'columns' does not declare it"
            raise RunFailed(f"job model {type(model).__name__}: cells(): {name!r}: {wrong}")
    return dict(cells)


def _spans(path: Path) -> dict[str, Span]:
    """Times of the sub-jobs of each job."""
    spans: dict[str, Span] = {}
    with path.open(encoding="utf-8", newline="") as stream:
        reader = csv.reader(stream)
        header = next(reader)
        names = ("workload_name", "starting_time", "finish_time", "allocated_resources")
        workload, start, finish, place = (header.index(name) for name in names)
        for cells in reader:
            owner = owner_of(cells[workload])
            if owner and cells[start]:
                start_s, finish_s = float(cells[start]), float(cells[finish])
                spans.setdefault(owner, Span(start_s, finish_s)).add([(start_s, finish_s, cells[place])])
    return spans


def _rows_at(stream: BinaryIO, places: Sequence[int]) -> Iterator[str]:
    """The header, and the rows between these places."""
    yield stream.readline().decode()
    for begin, end in zip(places[::2], places[1::2], strict=True):
        yield os.pread(stream.fileno(), end - begin, begin).decode()


def _own_rows(stream: BinaryIO) -> Iterator[str]:
    """Lines without those of sub-jobs, which have no metadata and therefore no line break."""
    for line in io.TextIOWrapper(stream, encoding="utf-8", newline=""):
        if SEPARATOR not in line or not line.endswith('""\n') or not owner_of(line.split(",", 2)[1]):
            yield line


def _allocations(path: Path, wanted: Container[str]) -> dict[str, str]:
    """Nodes of the given jobs, by full id."""
    with path.open(encoding="utf-8", newline="") as stream:
        rows = (
            (f"{row['workload_name']}!{row['job_id']}", row["allocated_resources"]) for row in csv.DictReader(stream)
        )
        return {job_id: allocated for job_id, allocated in rows if job_id in wanted}


def _times(record: JobRecord, span: Span | None, submitted_s: float, allocated: str) -> Row:
    """Batsim's columns of a job that ran in pieces."""
    start_s = record.start_s if span is None else span.start_s
    finish_s = record.end_s if span is None else span.finish_s
    if not math.isnan(record.idle_end_s):
        finish_s = max(finish_s, record.idle_end_s)
    executed_s = finish_s - start_s
    if record.preempted:  # only the time that it received counts, on its last nodes
        executed_s, allocated = (0.0, allocated) if span is None else (span.received_s, span.nodes)
    return times(record.state, start_s, finish_s, submitted_s, executed_s) | {"allocated_resources": allocated}


def _staged(record: JobRecord, submitted_s: float, allocated: str) -> Row:
    """Batsim's columns and :data:`BUFFER_COLUMNS` of a job that staged in before it got nodes: they mark its start."""
    assert record.staged is not None
    row = times(record.state, record.start_s, record.end_s, submitted_s, record.end_s - record.start_s)
    stamps = (record.staged.given_s, record.staged.filled_s, record.staged.off_nodes_s)
    cells = ("" if math.isnan(stamp) else f"{stamp:.6f}" for stamp in stamps)
    return row | {"allocated_resources": allocated} | dict(zip(BUFFER_COLUMNS, cells, strict=True))


def times(state: JobState, start_s: float, finish_s: float, submitted_s: float, executed_s: float) -> Row:
    """Batsim's columns of times and states."""
    turnaround_s = finish_s - submitted_s
    return {
        "success": str(int(state is JobState.COMPLETED_SUCCESSFULLY)),
        "final_state": state.value,
        "starting_time": f"{start_s:.6f}",
        "execution_time": f"{executed_s:.6f}",
        "finish_time": f"{finish_s:.6f}",
        "waiting_time": f"{start_s - submitted_s:.6f}",
        "turnaround_time": f"{turnaround_s:.6f}",
        "stretch": f"{turnaround_s / max(executed_s, SHORTEST_S):.6f}",
        "consumed_energy": "-1.000000",
    }


def _uncontended(record: JobRecord, seconds: float | None) -> Row:
    if seconds is None:
        return {}
    taken_s = record.end_s - record.start_s
    if record.staged is not None and not math.isnan(record.staged.filled_s):
        taken_s += record.staged.filled_s - record.staged.given_s
    slowdown = taken_s / seconds if seconds > 0 else 1.0
    return {"uncontended_s": f"{seconds:.6f}", "contention_slowdown": f"{slowdown:.6f}"}


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if any(mark in text for mark in ',"\n\r') else text

"""What a run of the study is measured by: who held nodes and storage without using them, and how long jobs took."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from analysis.compare import Interval, mean_interval
from analysis.holdings import storage_spans
from analysis.tables import Floats, JobTable, read_run

HOUR_S = 3600.0
TB = 1e12


@dataclass(frozen=True)
class Measured:
    """One run.

    Attributes
    ----------
    idle_node_h
        Node-hours that jobs held without computing or writing checkpoints.
    computing_node_h
        Node-hours in which they did.
    idle_percent
        The former over the latter.
    wait_h
        Mean time from a job's submission to its first computation.
    turnaround_h
        Mean time from a job's submission to when its data is out.
    buffer_tb_h
        Terabyte-hours of burst buffer held.
    hot_spot
        Byte-hours held over capacity, of the storage node where that is most, over the mean of all storage nodes.
    makespan_h
        End of the last job.
    killed, rejected
        Jobs that did not come to their own end.
    """

    idle_node_h: float
    computing_node_h: float
    idle_percent: float
    wait_h: float
    turnaround_h: float
    buffer_tb_h: float
    hot_spot: float
    makespan_h: float
    killed: int
    rejected: int


NAMES = tuple(field.name for field in fields(Measured))


def measure(folder: Path) -> Measured:
    """Measure a finished run under the model ``io``, all jobs at the file system at a time (``io_control=shared``).

    By hand: a job has 4 nodes from second 100 on, stages in until 160, computes for 300 s, stages out, and ends at
    500. With its nodes it holds them for 4 x 400 s, of which it computes 4 x 300: 400 node-seconds idle, and it waited
    until second 160. Where ``nodes_finish_time`` says 400 and ``staged_time`` 100, it held them for 4 x 300 s: 0
    node-seconds idle; it waited until second 100.
    """
    with (folder / "jobs.csv").open(newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["finish_time"]]
    nodes = _column(rows, "requested_number_of_resources")
    submitted, started, ended = (_column(rows, f"{name}_time") for name in ("submission", "starting", "finish"))
    apart = [bool(row.get("buffer_start_time")) for row in rows]
    freed = np.array([float(row.get("nodes_finish_time") or row["finish_time"]) for row in rows])
    used = np.where(
        [bool(row["compute_s"]) for row in rows],  # a job that ran in one piece, without a buffer, only computed
        _column(rows, "compute_s") + _column(rows, "checkpoint_s"),
        freed - started,
    )
    computed = started + np.where(apart, 0.0, _column(rows, "stage_in_s"))
    idle_h, used_h = float(nodes @ (freed - started - used)) / HOUR_S, float(nodes @ used) / HOUR_S
    table = read_run(folder)
    by_node = _storage_hours(table)
    loads = by_node / np.array([storage.capacity_bytes for storage in table.machine.storages])
    return Measured(
        idle_node_h=idle_h,
        computing_node_h=used_h,
        idle_percent=100 * idle_h / used_h,
        wait_h=float(np.mean(computed - submitted)) / HOUR_S,
        turnaround_h=float(np.mean(ended - submitted)) / HOUR_S,
        buffer_tb_h=float(by_node.sum()),
        hot_spot=float(loads.max() / loads.mean()) if loads.any() else 1.0,
        makespan_h=float(ended.max()) / HOUR_S,
        killed=int(table.killed.sum()),
        rejected=int((~table.executed).sum()),
    )


def interval(values: Mapping[int, float]) -> Interval:
    """Mean over seeds, with its 95 % interval; none for fewer than five seeds."""
    return mean_interval([np.array([value]) for value in values.values()])


def _storage_hours(table: JobTable) -> Floats:
    """Terabyte-hours held of each storage node."""
    places = {storage.id: place for place, storage in enumerate(table.machine.storages)}
    held = np.zeros(len(places))
    for span in storage_spans(table.ran()):
        held[places[span.storage]] += span.size * (span.end_s - span.start_s) / (TB * HOUR_S)
    return held


def _column(rows: list[dict[str, str]], name: str) -> Floats:
    """A column as numbers; empty cells are 0, as of jobs that ran in one piece."""
    return np.array([float(row.get(name) or 0.0) for row in rows])

"""Measures of a run of the study: nodes and storage held without use, and waits and turnarounds of jobs."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from spillway.analysis.tables.holdings import storage_spans
from spillway.analysis.tables.jobs import Floats, JobTable, read_run

HOUR_S = 3600.0
TB = 1e12


def measure(folder: Path) -> dict[str, float]:
    """Measure a finished run under the model ``io``, with all jobs at the file system at once (``io_control=shared``).

    ``idle_node_h`` and ``computing_node_h`` are node-hours that jobs held without and with computing or writing
    checkpoints, ``idle_percent`` the former over the latter; ``wait_h`` and ``turnaround_h`` mean times from a job's
    submission to its first computation, and to the end of its stage-out; ``buffer_tb_h`` terabyte-hours of burst buffer
    held; ``hot_spot`` byte-hours held over capacity, the largest of all storage nodes over their mean; ``makespan_h``
    the end of the last job; ``killed`` and ``rejected`` the numbers of such jobs.

    By hand: a job has 4 nodes from second 100 on, stages in until 160, computes for 300 s, stages out, and ends at
    500. If it stages on its nodes, it holds them for 4 x 400 s, of which it computes 4 x 300: 400 node-seconds idle,
    and it waited until second 160. With a ``nodes_finish_time`` of 400 and a ``staged_time`` of 100, it held them for
    4 x 300 s: 0 node-seconds idle, and it waited until second 100.
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
    return {
        "idle_node_h": idle_h,
        "computing_node_h": used_h,
        "idle_percent": 100 * idle_h / used_h,
        "wait_h": float(np.mean(computed - submitted)) / HOUR_S,
        "turnaround_h": float(np.mean(ended - submitted)) / HOUR_S,
        "buffer_tb_h": float(by_node.sum()),
        "hot_spot": float(loads.max() / loads.mean()) if loads.any() else 1.0,
        "makespan_h": float(ended.max()) / HOUR_S,
        "killed": int(table.killed.sum()),
        "rejected": int((~table.executed).sum()),
    }


def _storage_hours(table: JobTable) -> Floats:
    """Terabyte-hours held on each storage node."""
    places = {storage.id: place for place, storage in enumerate(table.machine.storages)}
    held = np.zeros(len(places))
    for span in storage_spans(table.ran()):
        held[places[span.storage]] += span.size * (span.end_s - span.start_s) / (TB * HOUR_S)
    return held


def _column(rows: list[dict[str, str]], name: str) -> Floats:
    """A column as numbers; empty cells are 0, as of jobs that ran in one piece."""
    return np.array([float(row.get(name) or 0.0) for row in rows])

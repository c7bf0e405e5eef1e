"""Runs as compact data for the page: columns of numbers, compressed."""

from __future__ import annotations

import base64
import gzip
import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from spillway.analysis.answers.story import Reason, divide, reason_rows
from spillway.analysis.plots.lanes import lane_names, pieces, unbroken
from spillway.analysis.tables.holdings import node_spans
from spillway.analysis.tables.jobs import Floats, JobTable

STATES = ("COMPLETED_SUCCESSFULLY", "COMPLETED_WALLTIME_REACHED", "COMPLETED_KILLED", "COMPLETED_FAILED")
_ROLES = {"started in order": "in its turn", "backfilled": "backfilled", "planned": "planned", "reserved": "reserved"}


def pack_run(table: JobTable, folder: Path, names: dict[str, str]) -> dict[str, Any]:
    """Return a run's data for the page.

    Parameters
    ----------
    table
        The run; rejected jobs are left out.
    folder
        Its folder, for the reasons of waiting if it has them.
    names
        Label, group, folder and colour of the run.
    """
    ran = table.ran()
    rows, lanes = _node_rows(ran), _lanes(ran)
    machine, requests = ran.machine, ran.requests
    shared = requests != ran.nodes  # a buffer of the whole job
    return (
        names
        | {
            "nodes": len(machine.nodes) or 1 + max((row[2] for row in rows), default=0),
            "storages": [storage.name for storage in machine.storages],
            "laneNames": lane_names(machine),
            "end": round(float(ran.finish_s.max(initial=1.0))),
            "id": list(ran.job_id),
            "user": list(ran.user) if any(ran.user) else [],
            "submit": _whole(ran.submit_s),
            "start": _whole(ran.start_s),
            "finish": _whole(ran.finish_s),
            "size": ran.nodes.tolist(),
            "limit": [round(limit) if math.isfinite(limit) else -1 for limit in ran.walltime_s],
            "bytes": _whole(np.where(shared, ran.bb_bytes * requests / ran.nodes, ran.bb_bytes)),  # of each node
            "state": [STATES.index(state) if state in STATES else 0 for state in ran.state],
            "rows": [value for row in rows for value in row[:3]],
            "rowLives": [round(value) for row in rows for value in row[3:]] if any(ran.node_lives) else [],
            "lanes": [value for lane in lanes for value in lane[:4]],
            "laneLives": [round(value) for lane in lanes for value in lane[4:]] if any(ran.storage_lives) else [],
            "why": _why(ran, folder),
        }
    )


def compress(data: Any) -> str:
    """JSON, gzip, base64: the same data give the same text."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode(), compresslevel=9, mtime=0)).decode()


def _whole(values: Floats) -> list[int]:
    return [round(value) for value in values.tolist()]


def _node_rows(table: JobTable) -> list[tuple[int, int, int, float, float]]:
    """Job, first row, last row, start and end (s): one entry for each unbroken run of rows that a job holds."""
    row_of = {node.id: row for row, node in enumerate(table.machine.nodes)}
    return [
        (span.job, first, last, span.start_s, span.end_s)
        for span in node_spans(replace(table, turns=None))
        for first, last in unbroken(sorted(row_of.get(node, node) for node in span.nodes))
    ]


def _lanes(table: JobTable) -> list[tuple[int, int, int, int, float, float]]:
    """Job, storage node, from and to in thousandths of its capacity, start and end (s)."""
    capacity = [storage.capacity_bytes for storage in table.machine.storages]
    return [
        (
            piece.job,
            piece.storage,
            1000 * piece.low // capacity[piece.storage],
            -(-1000 * piece.high // capacity[piece.storage]),
            piece.start_s,
            piece.end_s,
        )
        for piece in pieces(table)
    ]


def _why(table: JobTable, folder: Path) -> list[str]:
    """For each job, its start and the reasons of its wait in a few words; empty where the run kept no reasons."""
    if not (folder / "reasons.csv").exists():
        return []
    reasons: dict[tuple[str, str], list[Reason]] = {}
    for row in reason_rows(folder):
        reasons.setdefault((row["workload_name"], row["job_id"]), []).append(
            Reason(row.number("time_s"), row["role"], row["binding"], math.nan, row["blocker"])
        )
    return [
        _in_words(reasons.get((workload, job), []), submit_s, start_s)
        for workload, job, submit_s, start_s in zip(
            table.workload, table.job_id, table.submit_s.tolist(), table.start_s.tolist(), strict=True
        )
    ]


def _in_words(reasons: Sequence[Reason], submit_s: float, start_s: float) -> str:
    how = _ROLES.get(reasons[-1].role, "") if reasons and not reasons[-1].binding else ""
    waited_s = start_s - submit_s
    if waited_s <= 0:
        return how
    seconds = divide(reasons, submit_s, start_s).seconds
    parts = [
        f"{name} {100 * part / waited_s:.0f} %"
        for name, part in sorted(seconds.items(), key=lambda item: -item[1])
        if part / waited_s >= 0.005
    ]
    return f"{how}|{', '.join(parts)}"

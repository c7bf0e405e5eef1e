"""Resources of jobs over time: nodes and burst buffers, each over an interval of its own where the run states it.

``allocations.csv`` may have the columns ``node_lives`` and ``storage_lives``: resources of a job with their intervals,
``RESOURCES@START-END`` separated by ``;``. Where they are empty, a job held all from its start to its end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from spillway.analysis.errors import AnalysisError
from spillway.analysis.tables.jobs import Floats, Ints, JobTable, Rows, parse_intervals, parse_storages
from spillway.base.limits import HOSTS, shown


class NodeSpan(NamedTuple):
    """Nodes (resource ids) that a job (row of the table) held over ``[start_s, end_s)``."""

    job: int
    nodes: list[int]
    start_s: float
    end_s: float


class StorageSpan(NamedTuple):
    """Bytes that a job (row of the table) held on a storage node (resource id) over ``[start_s, end_s)``."""

    job: int
    storage: int
    size: int
    start_s: float
    end_s: float


def _parse_lives(text: str) -> list[tuple[str, float, float]]:
    """Expand ``"96:3@100.0-900.0;98:1@100.0-500.0"`` to held resources, start (s) and end (s)."""
    found = []
    for part in filter(None, text.split(";")):
        what, _, interval = part.partition("@")
        start, _, end = interval.partition("-")
        try:
            found.append((what, float(start), float(end)))
        except ValueError:
            raise AnalysisError(f"the interval {shown(part)}: expected such as '96:3@100.0-900.0'") from None
    return found


def node_spans(table: JobTable) -> list[NodeSpan]:
    """Nodes held by the jobs of a table (which must have run), job by job."""
    if table.turns is not None:
        turns = table.turns
        return [
            NodeSpan(job, parse_intervals(text), start_s, finish_s)
            for job, start_s, finish_s, text in zip(
                turns.job.tolist(), turns.start_s.tolist(), turns.finish_s.tolist(), turns.allocated, strict=True
            )
        ]
    most = HOSTS.value
    jobs, texts, start_s, end_s = _held(table, np.arange(len(table)), table.node_lives, table.allocated)
    rows = zip(jobs.tolist(), texts, start_s.tolist(), end_s.tolist(), strict=True)
    return [NodeSpan(job, parse_intervals(what, most), begin_s, finish_s) for job, what, begin_s, finish_s in rows]


def storage_spans(table: JobTable) -> Iterator[StorageSpan]:
    """Bytes held by the jobs of a table (which must have run), in the order of the jobs' starts."""
    job, storage, size, start_s, end_s = _storage_columns(table)
    columns = job.tolist(), storage.tolist(), map(int, size.tolist()), start_s.tolist(), end_s.tolist()
    return map(StorageSpan._make, zip(*columns, strict=True))


def _storage_columns(table: JobTable) -> tuple[Rows, Ints, Floats, Floats, Floats]:
    """Columns of :class:`StorageSpan`; sizes are whole numbers."""
    order = table.start_s.argsort(kind="stable")
    jobs, texts, start_s, end_s = _held(table, order, table.storage_lives, table.storages)
    place, storage, count = parse_storages(texts)
    job = jobs[place]
    return job, storage, np.trunc(count * table.bb_bytes[job]), start_s[place], end_s[place]


def node_seconds(table: JobTable) -> float:
    """Node-seconds that jobs held."""
    begin, end, nodes = held_nodes(table)
    return float(np.sum(np.nan_to_num(end - begin) * nodes))


def byte_seconds(table: JobTable) -> float:
    """Byte-seconds of burst buffer that jobs held."""
    if not any(table.storage_lives):  # in this order of multiplication: published figures depend on its rounding
        return float(np.sum(np.nan_to_num(table.finish_s - table.start_s) * table.requests * table.bb_bytes))
    begin, end, size = held_bytes(table)
    return float(np.sum(np.nan_to_num(end - begin) * size))


def byte_seconds_by_storage(table: JobTable) -> Floats:
    """Byte-seconds that jobs held on each storage node, in the order of the machine's storage nodes."""
    place = {storage.id: index for index, storage in enumerate(table.machine.storages)}
    held = np.zeros(len(place))
    _, storage, size, start_s, end_s = _storage_columns(table.ran())
    places = np.array([place.get(storage_id, -1) for storage_id in storage.tolist()], np.intp)
    known = places >= 0
    np.add.at(held, places[known], (size * (end_s - start_s))[known])  # in this order: the sums are published
    return held


def held_nodes(table: JobTable) -> tuple[Floats, Floats, Floats]:
    """Starts, ends and numbers of nodes of all intervals over which jobs held nodes."""
    if not any(table.node_lives):
        turns = table.on_nodes
        return turns.start_s, turns.finish_s, table.nodes[turns.job].astype(np.float64)
    spans = node_spans(table.ran())
    return _columns([(span.start_s, span.end_s, len(span.nodes)) for span in spans])


def held_bytes(table: JobTable) -> tuple[Floats, Floats, Floats]:
    """Starts, ends and bytes of all intervals over which jobs held burst buffers."""
    if not any(table.storage_lives):
        return table.start_s, table.finish_s, table.requests * table.bb_bytes
    spans = storage_spans(table.ran())
    return _columns([(span.start_s, span.end_s, span.size) for span in spans])


def _held(
    table: JobTable, jobs: Rows, lives: Sequence[str], whole: Sequence[str]
) -> tuple[Rows, list[str], Floats, Floats]:
    """Resources of jobs with their intervals, by a column of lives; from start to end where that is empty.

    Columns: row of the job, resources, start and end of the interval (s).
    """
    if not any(lives):
        return jobs, [whole[job] for job in jobs.tolist()], table.start_s[jobs], table.finish_s[jobs]
    found: list[tuple[int, str, float, float]] = []
    for job in jobs.tolist():
        stays = _parse_lives(lives[job]) or [(whole[job], float(table.start_s[job]), float(table.finish_s[job]))]
        found += [(job, *stay) for stay in stays]
    rows, texts, starts_s, ends_s = zip(*found, strict=True)
    return np.array(rows, np.intp), list(texts), np.array(starts_s), np.array(ends_s)


def _columns(rows: list[tuple[float, float, int]]) -> tuple[Floats, Floats, Floats]:
    values = np.array(rows, np.float64).reshape(len(rows), 3)
    return values[:, 0], values[:, 1], values[:, 2]

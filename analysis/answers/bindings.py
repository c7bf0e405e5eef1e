"""Waiting of a run's jobs divided by the resource that bound them, and the jobs and groups that waited most."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from spillway.analysis.answers.story import reason_rows
from spillway.analysis.measures.classes import split
from spillway.analysis.tables.jobs import Floats, JobTable, Mask

HOUR_S = 3600.0

LEAST_S = 1.0
"""Shortest wait of a job that is listed (s)."""

NODES, BUFFERS, POOLS, LIMIT, POLICY, OTHER = KINDS = (
    "nodes",
    "burst buffers",
    "licences and limits",
    "limits of users",
    "policy",
    "other",
)
"""Kinds of bindings."""

MEANING: Mapping[str, str] = {
    NODES: "too few nodes were free",
    BUFFERS: "too few bytes of burst buffers were free",
    POOLS: "licences, hierarchical resources or limits were used up",
    LIMIT: "the user's jobs held as many burst buffers as a user may",
    POLICY: "it would have fitted: others came first, or a reservation would have been delayed",
    OTHER: "bandwidth, staging, persistent buffers or the end of other jobs",
}
"""State of a job that waits, in each kind."""

_KIND: Mapping[str, str] = {
    "nodes": NODES,
    "burst buffers": BUFFERS,
    "no burst buffer yet": BUFFERS,
    "licenses or limits": POOLS,
    "its user's limit of burst buffers": LIMIT,
    "policy order": POLICY,
    "reservation": POLICY,
}
"""Kinds by the binding of a note; all others are :data:`OTHER`."""


@dataclass(frozen=True)
class WaitsByResource:
    """Waiting times of the jobs that ran (s), one row per job and one column per kind of :data:`KINDS`."""

    table: JobTable
    seconds: Floats

    @property
    def node_hours(self) -> dict[str, float]:
        """Waiting node-hours by kind, the largest first; only kinds that occur."""
        sums = (self.seconds * self.table.nodes[:, None]).sum(axis=0) / HOUR_S
        found = {kind: float(value) for kind, value in zip(KINDS, sums.tolist(), strict=True) if value > 0}
        return dict(sorted(found.items(), key=lambda item: -item[1]))

    def kind_of(self, row: int) -> str:
        """The kind in which a job waited longest; "" where it did not wait."""
        place = int(self.seconds[row].argmax())
        return KINDS[place] if self.seconds[row, place] > 0 else ""


def bound(folder: Path, table: JobTable) -> WaitsByResource:
    """Divide the waiting times of a run's jobs by its ``reasons.csv``.

    Parameters
    ----------
    table
        The jobs of the run that ran.

    Raises
    ------
    AnalysisError
        The run kept no reasons.
    """
    place = {key: row for row, key in enumerate(zip(table.workload, table.job_id, strict=True))}
    submit_s, start_s = table.submit_s.tolist(), table.start_s.tolist()
    seconds = np.zeros((len(table), len(KINDS)))
    since: dict[int, tuple[float, str]] = {row: (submit, "policy order") for row, submit in enumerate(submit_s)}
    for note in reason_rows(folder):
        row = place.get((note["workload_name"], note["job_id"]))
        if row is None:
            continue
        begin_s, binding = since[row]
        end_s = min(max(note.number("time_s"), begin_s), start_s[row])
        seconds[row, _column(binding)] += max(end_s - begin_s, 0.0)
        since[row] = max(end_s, begin_s), note["binding"]
    for row, (begin_s, binding) in since.items():
        if binding:
            seconds[row, _column(binding)] += max(start_s[row] - begin_s, 0.0)
    return WaitsByResource(table, seconds)


def _column(binding: str) -> int:
    return KINDS.index(_KIND.get(binding, OTHER))


@dataclass(frozen=True)
class Group:
    """Some jobs of a run: their kind and name, number, mean wait (s) and waiting node-hours."""

    kind: str
    name: str
    jobs: int
    wait_s: float
    node_hours: float


def groups(table: JobTable) -> list[Group]:
    """The jobs that ran by partition, users, size and request, and burst buffer; kinds with one group are left out."""
    found: list[Group] = []
    for kind, masks in _masks(table):
        present = {name: mask for name, mask in masks.items() if mask.any()}
        if len(present) > 1:
            found += [_group(kind, name, table, mask) for name, mask in present.items()]
    return found


def _group(kind: str, name: str, table: JobTable, mask: Mask) -> Group:
    wait_s = table.wait_s[mask]
    hours = float((wait_s * table.nodes[mask]).sum()) / HOUR_S
    return Group(kind, name, int(mask.sum()), float(wait_s.mean()) if wait_s.size else math.nan, hours)


def _masks(table: JobTable) -> Iterator[tuple[str, dict[str, Mask]]]:
    if table.partition:
        names = np.array(table.partition)
        yield "partition", {name: names == name for name in sorted(set(table.partition))}
    if any(table.user):
        heavy = _heavy_users(table)
        few = np.array([user in heavy for user in table.user])
        yield "users", {f"the {len(heavy)} that use half of the node-hours": few, "the others": ~few}
    yield "size and request", split(table)
    has = table.bb_bytes > 0
    yield "burst buffer", {"with one": has, "without": ~has}


def _heavy_users(table: JobTable) -> set[str]:
    """The fewest users with half of the node-hours."""
    used: dict[str, float] = {}
    hours = np.nan_to_num(table.execution_s) * table.nodes
    for user, value in zip(table.user, hours.tolist(), strict=True):
        used[user] = used.get(user, 0.0) + value
    left, found = sum(used.values()) / 2, set[str]()
    for user in sorted(used, key=lambda one: -used[one]):
        if left <= 0:
            break
        found.add(user)
        left -= used[user]
    return found


def worst(table: JobTable, count: int = 20) -> list[int]:
    """Rows of the jobs that waited longest, the longest first; only jobs that waited."""
    order = np.argsort(-table.wait_s, kind="stable")
    return order[table.wait_s[order] >= LEAST_S][:count].tolist()  # type: ignore[no-any-return]  # a list of int

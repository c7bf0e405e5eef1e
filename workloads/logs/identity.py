"""Identity of jobs: cluster, number, part and submission, or an earlier state of a requeue."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from spillway.base.units import many
from spillway.workloads.logs.book import Fate
from spillway.workloads.logs.record import FAILED, PENDING, PIECE, REQUEUED, RESIZING, RUNNING
from spillway.workloads.logs.table import Ints, JobTable, coded

ATTEMPT = "earlier attempt of a requeued job (its last one is used)"
SNAPSHOT = "earlier state of a job (its last one is used)"
TWICE = "line that is there twice"
SIZE = "earlier size of a job (it is played as large as when it began, for its whole time)"
STEP = "step of a job (its job's line is used)"
ZERO = ".0"
"""Part of ``12.0``: step 0 of a job, or its number where a program wrote all numbers with a fraction."""


def once(table: JobTable, hashes: npt.NDArray[np.int32], *, attempts: bool) -> JobTable:
    """The table with each job once, each with an id of its own.

    Parameters
    ----------
    hashes
        A number of each line, equal where lines are; empty where equal fields make equal lines.
    attempts
        Whether lines of the same job and submission are states of one job; else tasks of an array, unless equal.
    """
    table, hashes = _without_sizes(*_without_steps(table, hashes))
    number, submit = table["number"], table["submit_s"]
    if not len(table) or (not table.clusters and bool((number[1:] > number[:-1]).all())):
        return _named(table, np.zeros(1, dtype=np.int64))
    pieces = table["state"] == table.code("state", PIECE)
    unfinished = np.isin(table["state"], [table.code("state", state) for state in (RUNNING, PENDING)])
    superseded = unfinished | (table["state"] == table.code("state", REQUEUED))
    last = (np.arange(len(table)), hashes) if len(hashes) else (np.arange(len(table)),)
    keys = (*last, table["end_s"], ~unfinished, submit, table["part"], table["cluster"], number)
    order = np.lexsort(keys)
    same = np.append(_equal(table, order, "number", "part", "cluster"), False) & ~pieces[order]
    again = same & np.append(_equal(table, order, "submit_s"), False)
    fate = np.zeros(len(table), dtype=np.int8)
    fate[order[again if attempts else again & unfinished[order]]] = 2
    if not attempts:
        fate[order[_copies(same, again & _twice(table, order, hashes))]] = 3
    fate[order[same & superseded[order] & (fate[order] == 0)]] = 2
    if attempts:
        fate[order[again & _twice(table, order, hashes[:0])]] = 3
    started = (table["run_s"] > 0) & (fate == 2) & ~unfinished
    size = np.where(table["nodes"] > 0, table["nodes"], np.maximum(table["allocated_processors"], 0))
    node_s = float((size.astype(np.float64) * np.maximum(table["run_s"], 0))[started].sum())
    _leave_out(table, ATTEMPT, started, node_s)
    _leave_out(table, SNAPSHOT, (fate == 2) & ~started)
    _leave_out(table, TWICE, fate == 3)
    kept = table.chosen(fate == 0)
    return _named(kept, _nth(kept))


def _leave_out(table: JobTable, reason: str, rows: npt.NDArray[np.bool_], node_s: float = 0.0) -> None:
    """Count rows that were read and are no jobs of their own."""
    if lines := int(rows.sum()):
        table.intake.book.add(Fate.LEFT_OUT, reason, lines, 0, node_s)
        table.intake.book.add(Fate.READ, "as written", -lines, -lines)


def _without_steps(table: JobTable, hashes: npt.NDArray[np.int32]) -> tuple[JobTable, npt.NDArray[np.int32]]:
    """The table without steps 0 of its jobs; where all numbers end in ``.0``, they are numbers of jobs."""
    names = table.names["part"]
    if ZERO not in names:
        return table, hashes
    steps = table["part"] == names.index(ZERO)
    if steps.all():
        return replace(table, names=table.names | {"part": [""]}), hashes
    _leave_out(table, STEP, steps)
    return table.chosen(~steps), hashes[~steps] if len(hashes) else hashes


def _without_sizes(table: JobTable, hashes: npt.NDArray[np.int32]) -> tuple[JobTable, npt.NDArray[np.int32]]:
    """The table with one line for each job that changed its size: submission, start and size of its first line."""
    if (resizing := table.code("state", RESIZING)) < 0:
        return table, hashes
    order = np.lexsort((table["start_s"], table["part"], table["cluster"], table["number"]))
    follows = _equal(table, order, "number", "part", "cluster")
    first = ("submit_s", "start_s", "nodes", "requested_processors", "allocated_processors", "node_list")
    columns = {name: table[name].copy() for name in (*first, "run_s", "state")}
    left = np.zeros(len(table), dtype=bool)
    for place in np.flatnonzero(columns["state"][order] == resizing).tolist():
        row = order[place]
        if place + 1 == len(order) or not follows[place]:
            columns["state"][row] = table.names["state"].index(RUNNING) if table.code("state", RUNNING) >= 0 else -1
            continue
        for name in first:
            columns[name][order[place + 1]] = columns[name][row]
        columns["run_s"][order[place + 1]] += max(columns["run_s"][row], 0)
        left[row] = True
    names = table.names["state"]
    if (columns["state"] == -1).any():
        columns["state"][columns["state"] == -1] = len(names)
        names = [*names, RUNNING]
    for name, values in columns.items():
        table = table.with_column(name, values, names if name == "state" else None)
    _leave_out(table, SIZE, left)
    return table.chosen(~left), hashes[~left] if len(hashes) else hashes


def _equal(table: JobTable, order: Ints, *names: str) -> npt.NDArray[np.bool_]:
    """Whether each row in an order has the same values as the next."""
    found = np.ones(max(len(order) - 1, 0), dtype=bool)
    for name in names:
        column = table[name]
        if column.strides != (0,):
            found &= np.diff(column[order]) == 0
    return found


def _twice(table: JobTable, order: Ints, hashes: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
    """Whether each row in an order equals the next in every column."""
    found = np.append(_equal(table, order, *table.columns), False)
    return found & np.append(np.diff(hashes[order]) == 0, False) if len(hashes) else found


def _copies(same: npt.NDArray[np.bool_], twice: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Rows that are there once more, of jobs whose lines all occur equally often: else they are tasks that look alike.

    Parameters
    ----------
    same, twice
        Whether each row is of the same job as the next, and equal to it.
    """
    if not twice.any():
        return twice
    runs = np.flatnonzero(~np.concatenate(([False], twice[:-1])))
    lengths = np.diff(np.append(runs, len(twice)))
    begins = ~np.concatenate(([False], same[:-1]))
    firsts = np.flatnonzero(begins[runs])
    often = np.minimum.reduceat(lengths, firsts) == np.maximum.reduceat(lengths, firsts)
    return np.asarray(twice & often[np.cumsum(begins) - 1])


def _nth(table: JobTable) -> Ints:
    """Number of earlier rows with the number and part of each row."""
    order = np.lexsort((np.arange(len(table)), table["submit_s"], table["part"], table["cluster"], table["number"]))
    order = order[table["state"][order] != table.code("state", PIECE)]
    nth = np.zeros(len(table), dtype=np.int64)
    if len(order):
        starts = np.flatnonzero(~np.concatenate(([False], _equal(table, order, "number", "part", "cluster"))))
        nth[order] = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
    return nth


def _named(table: JobTable, nth: Ints) -> JobTable:
    """The table with a part of their own for jobs whose number was used before."""
    others = np.zeros(1, dtype=bool)
    if (attempt := table.code("state", REQUEUED)) >= 0:
        failed = table.code("state", FAILED)
        names = table.names["state"] if failed >= 0 else [*table.names["state"], FAILED]
        state = np.where(table["state"] == attempt, names.index(FAILED), table["state"]).astype(np.int32)
        table = table.with_column("state", state, names)
    if table.clusters:
        others = table["cluster"] != table.code("cluster", table.clusters[0])
        table.intake.notes.append(
            f"jobs of {len(table.clusters)} clusters ({', '.join(table.clusters[:4])}), played on one machine: "
            f"--where cluster={table.clusters[0]} plays one alone"
        )
    if not nth.any() and not others.any():
        return table
    first = "_" if table.intake.tasks else "-"
    if nth.any():
        table.intake.notes.append(
            f"{many(int((nth > 0).sum()), 'line repeats', 'lines repeat')} a job's number: jobs of their own"
        )
    known = table.names["part"]
    parts = [known[code] for code in table["part"].tolist()]
    clusters = table["cluster"]
    for row in np.flatnonzero(others).tolist():
        parts[row] += f"@{table.names['cluster'][clusters[row]]}"
    for row in np.flatnonzero(nth).tolist():
        parts[row] += f"{first}{nth[row] + (first == '-')}"
    return table.with_column("part", *coded(parts))

"""Proofs by Z3 about small timelines: what is free over all times, and that no earlier start exists.

The statements are about rows of a table, summed per column; neither the step function nor its instants, nor any rule of
choice is used. A claim is proven when its contrary has no model.

References
----------
de Moura, Bjørner, *Z3: an efficient SMT solver*, TACAS 2008.
"""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import z3

from tests.reference.specification import BYTES, NODES, POOLS, RATES, Job, Machine, Row, Table


def _number(value: float) -> Any:
    return z3.RealVal(str(Fraction(value)))


def _covers(row: Row, time: Any) -> Any:
    """Whether a row holds its amount at a time."""
    ends = [] if row.end_s == math.inf else [time < _number(row.end_s)]
    return z3.And(time >= _number(row.start_s), *ends)


def _taken(rows: Iterable[Row], kind: str, column: int, time: Any) -> Any:
    """Amount of a column that rows hold at a time."""
    own = [row for row in rows if (row.kind, row.column) == (kind, column)]
    return z3.Sum([z3.If(_covers(row, time), row.amount, 0) for row in own]) if own else z3.IntVal(0)


def _columns(machine: Machine) -> list[tuple[str, int, int]]:
    """Kind, index and capacity of every column."""
    found = [(NODES, at, 1) for at in range(machine.nodes)]
    found += [(BYTES, at, size) for at, size in enumerate(machine.storages)]
    found += [(RATES, at, rate) for at, (rate, _) in enumerate(machine.links)]
    return found + [(POOLS, at, count) for at, count in enumerate(machine.pools)]


def _impossible(claims: Iterable[Any]) -> bool:
    solver = z3.Solver()
    solver.add(*claims)
    answer = solver.check()
    assert answer != z3.unknown, "Z3 gave up"
    return bool(answer == z3.unsat)


def all_free(table: Table, rows: Sequence[Row]) -> bool:
    """Whether rows never take more than is free: there is no time with too much of a column."""
    time = z3.Real("time")
    too_much = [
        capacity < _taken(table.rows, kind, at, time) + _taken(rows, kind, at, time)
        for kind, at, capacity in _columns(table.machine)
        if any((row.kind, row.column, row.amount > 0) == (kind, at, True) for row in rows)
    ]
    return _impossible([time >= _number(table.now_s), z3.Or(*too_much)])


def equal_tables(first: Table, second: Table) -> bool:
    """Whether two tables take the same amounts at all times: there is no time at which a column differs."""
    time = z3.Real("time")
    differ = [
        _taken(first.rows, kind, at, time) != _taken(second.rows, kind, at, time)
        for kind, at, _ in _columns(first.machine)
    ]
    return _impossible([time >= _number(first.now_s), z3.Or(*differ)])


def no_start_between(table: Table, rows: Sequence[Row], after_s: float, before_s: float) -> bool:
    """Whether rows, moved later as a whole, would never be free if moved by more than 0 and less than until a time.

    ``after_s``: the start that is not free; ``before_s``: the start claimed to be the first that is.
    """
    by = z3.Real("by")
    until = [] if before_s == math.inf else [by < _number(before_s) - _number(after_s)]
    return _impossible([by >= 0, *until, *_moved_are_free(table, rows, by)])


def _moved_are_free(table: Table, rows: Sequence[Row], by: Any) -> list[Any]:
    """What holds if rows moved by ``by`` take no more than is free: it suffices to look where something begins."""
    claims = []
    for kind, at, capacity in _columns(table.machine):
        own = [row for row in rows if (row.kind, row.column) == (kind, at) and row.amount and row.start_s < row.end_s]
        moments = [_number(row.start_s) + by for row in own]
        moments += [_number(row.start_s) for row in table.rows if (row.kind, row.column) == (kind, at)]
        for time in moments if own else ():
            here = [z3.If(_inside(row, time, by), row.amount, 0) for row in own]
            fits = _taken(table.rows, kind, at, time) + z3.Sum(here) <= capacity
            claims.append(z3.Implies(z3.Or(*(_inside(row, time, by) for row in own)), fits))
    return claims


def _inside(row: Row, time: Any, by: Any) -> Any:
    ends = [] if row.end_s == math.inf else [time < _number(row.end_s) + by]
    return z3.And(time >= _number(row.start_s) + by, *ends)


def no_start_before(table: Table, job: Job, before_s: float, covering: frozenset[str]) -> bool:
    """Whether a job can start at no real time before this one, on no nodes and storage nodes whatever."""
    machine, start = table.machine, z3.Real("start")
    node = [z3.Int(f"node{at}") for at in range(machine.nodes)]
    on = [z3.Int(f"on{at}") for at in range(len(machine.storages))]
    requests = (job.stripes or job.nodes) if job.bb_bytes and BYTES in covering else 0
    allowed = [machine.partitions[partition] for partition in job.partitions] or [frozenset(range(machine.nodes))]
    claims = [
        start >= _number(table.now_s),
        *(z3.And(column >= 0, column <= 1) for column in node),
        z3.Sum(node) == job.nodes,
    ]
    claims += [
        z3.Or(
            *(
                z3.And(*(node[at] == 0 for at in range(machine.nodes) if at not in nodes_allowed))
                for nodes_allowed in allowed
            )
        )
    ]
    claims += [z3.And(storage >= 0, storage <= (1 if job.stripes else requests)) for storage in on]
    claims += [z3.Sum(on) == requests] if on or requests else []
    claims += [] if before_s == math.inf else [start < _number(before_s)]
    lead, tail, rate_tail = map(_number, job.lives)
    begin = start + lead
    end = None if job.duration_s == math.inf else begin + _number(job.duration_s)
    spans = dict.fromkeys((NODES, POOLS), (begin, end))
    spans[BYTES] = (start, None if end is None else end + tail)
    spans[RATES] = (begin, None if end is None else end + rate_tail)
    wants: dict[str, list[Any]] = {
        NODES: [*node],
        BYTES: [storage * job.bb_bytes for storage in on],
        RATES: [
            job.io_rate * z3.Sum([z3.IntVal(0), *(one for at, one in enumerate(node) if link in machine.above(at))])
            for link in range(len(machine.links))
        ],
        POOLS: [z3.IntVal(amount) for amount in job.pools] + [z3.IntVal(0)] * (len(machine.pools) - len(job.pools)),
    }
    for kind, at, capacity in _columns(machine):
        if kind in covering:
            moments = [spans[kind][0]]
            moments += [_number(row.start_s) for row in table.rows if (row.kind, row.column) == (kind, at)]
            for time in moments:
                first, last = spans[kind]
                within = z3.Or(time == first, z3.And(time >= first, *([] if last is None else [time < last])))
                left = capacity - _taken(table.rows, kind, at, time)
                claims.append(z3.Implies(z3.And(within, wants[kind][at] > 0), wants[kind][at] <= left))
    return _impossible(claims)

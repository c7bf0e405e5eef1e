"""Small timelines of the product beside tables with the same rows, and what is proven of jobs and bookings there."""

import math
from collections.abc import Sequence
from random import Random
from typing import Any, NamedTuple

import numpy as np

from spillway.core import NodeOrder, Placement, Resource, StorageOrder, Timeline, replaced
from spillway.schedulers.model.decisions import Start
from spillway.schedulers.model.job import Allocation, Job, Lives
from spillway.schedulers.model.machine import CountedPool, Link, Machine, Node, NodeSet, Storage, nearest_first
from spillway.schedulers.policies import POLICIES
from spillway.schedulers.policykit.view import View
from tests.reference import specification as spec
from tests.reference.comparison import POLICY_RULES, given_of, job_of, machine_of, table_of
from tests.reference.proofs import all_free, equal_tables, no_start_before, no_start_between

EVERY_PLACEMENT = [Placement(nodes, storages) for nodes in NodeOrder for storages in StorageOrder]
PLACEMENTS = [placement for placement in EVERY_PLACEMENT if placement.storage_order is not StorageOrder.RACK]
"""Rules of placement that do not change whether a job fits."""

KINDS = {
    Resource.ALL: spec.ALL,
    Resource.NODES: frozenset({spec.NODES}),
    Resource.NODES | Resource.BURST_BUFFERS: frozenset({spec.NODES, spec.BYTES}),
    Resource.BURST_BUFFERS: frozenset({spec.BYTES}),
}
"""Kinds of resources that a search may cover."""


class Small(NamedTuple):
    """A timeline and a table with the same rows."""

    timeline: Timeline
    table: spec.Table


def machine(rng: Random, *, wide: bool = False) -> Machine:
    """A machine of up to four nodes, three storage nodes, three links in a forest, a pool and two partitions.

    ``wide``: now and then more nodes than a word has bits.
    """
    nodes = rng.choice((64, 65, 130)) if wide and rng.random() < 0.1 else rng.randint(1, 4)
    storages = rng.choice((0, 1, 2, 2, 3))
    levels = range(rng.choice((0, 0, 1, 2, 3)))
    links = tuple(Link(f"l{at}", rng.randint(0, 12), rng.randint(-1, at - 1)) for at in levels)
    racked = rng.random() < 0.5
    places = [("g", f"r{rng.randint(0, 1)}") if racked else () for _ in range(nodes + storages)]
    hosts = tuple(Node(at, f"n{at}", places[at]) for at in range(nodes))
    buffers = tuple(Storage(nodes + at, f"s{at}", places[nodes + at], rng.randint(1, 6)) for at in range(storages))
    drawn = np.array([rng.sample(range(storages), storages) for _ in range(nodes)], np.int32).reshape(nodes, storages)
    return Machine(
        nodes=hosts,
        storages=buffers,
        links=links,
        node_link=np.array([rng.randint(-1, len(links) - 1) for _ in range(nodes)], np.int32),
        nearest_storages=nearest_first(hosts, buffers) if racked else drawn,
        partitions=tuple(
            NodeSet(f"p{at}", frozenset(rng.sample(range(nodes), rng.randint(1, nodes)))) for at in range(2)
        ),
        pools=tuple(CountedPool(f"pool{at}", rng.randint(0, 3)) for at in range(rng.choice((0, 1)))),
    )


def job(rng: Random, on: Machine) -> Job:
    """A job that may fit; its parts have lives of their own every third time."""
    nodes, size = rng.randint(1, len(on.nodes)), rng.choice((0, 0, 1, 2, 4))
    wide = [at for at, one in enumerate(on.partitions) if len(one.nodes) >= nodes]
    lives = Lives(rng.choice((0.0, 0.5, 2.0)), rng.choice((0.0, -1.0, 1.5)), rng.choice((0.0, -2.0, 1.0)))
    return Job(
        "w0!1", 1, 0.0, math.inf, nodes, size, rng.choice((0, 0, 1, 4)),
        lives=lives if rng.random() < 0.35 else None,
        stripes=rng.choice((0, 0, 1, 2)) if size else 0,
        partitions=tuple(rng.sample(wide, rng.randint(0, len(wide)))),
        pools=tuple(rng.randint(0, 2) for _ in on.pools),
    )  # fmt: skip


def duration_s(rng: Random) -> float:
    """A duration of a job (s)."""
    return rng.choice((0.0, 0.5, 1.0, 2.0, 3.0, 5.0, math.inf))


def small(rng: Random, placements: Sequence[Placement] = PLACEMENTS, *, wide: bool = False) -> Small:
    """A machine on which up to seven jobs are booked."""
    on, placement = machine(rng, wide=wide), rng.choice(placements)
    timeline, table = Timeline(on, 0.0, placement), spec.Table(machine_of(on, placement), 0.0)
    for _ in range(rng.randint(0, 7)):
        length_s = duration_s(rng) if rng.random() < 0.3 else rng.choice((1.0, 2.0, 3.5))
        found = timeline.earliest_fit(job(rng, on), length_s, rng.choice((0.0, 0.0, 1.0, 2.5)))
        if found is not None:
            timeline.reserve(found.start_s, found.start_s + length_s, found.allocation)
            table.add(table.rows_of(given_of(found.allocation), found.start_s, found.start_s + length_s))
    timeline.check()
    return Small(timeline, table)


def booking(rng: Random, on: Machine) -> Allocation:
    """An allocation of the right form, free or not."""
    asked = job(rng, on)
    requests = asked.requests if asked.bb_bytes and on.storages else 0
    if asked.stripes:
        requests = min(requests, len(on.storages))
    every = range(len(on.storages))
    storages = rng.sample(every, requests) if asked.stripes else [rng.choice(every) for _ in range(requests)]
    room = sum(storage.capacity_bytes for storage in on.storages)
    nodes, size = tuple(sorted(rng.sample(range(len(on.nodes)), asked.nodes))), asked.bb_bytes if storages else 0
    size = min(size, room // max(requests, 1))
    striped = asked.stripes > 0 and bool(storages)
    return Allocation(nodes, tuple(storages), size, asked.io_rate, asked.lives, striped, asked.pools)


def compare_fit(number: int) -> bool:
    """Compare a search, under any rules of placement, also where parts are out, drained or taken; whether it finds."""
    rng = Random(f"search {number}")
    timeline, table = small(rng, EVERY_PLACEMENT, wide=True)
    _withhold(rng, timeline, table)
    asked, length_s, covering = job(rng, timeline.machine), duration_s(rng), rng.choice([*KINDS, Resource.ALL])
    from_s, latest_s = rng.choice((0.0, 0.0, 0.5, 2.0)), rng.choice((0.0, 1.0, 3.0, math.inf, math.inf))
    fit = timeline.earliest_fit(asked, length_s, from_s, covering, latest_s)
    found = None if fit is None else (fit.start_s, given_of(fit.allocation))
    expected = spec.earliest_fit(table, job_of(asked, length_s), KINDS[covering], from_s, latest_s)
    assert found == expected, f"search {number}: expected {expected}, got {found}"
    return found is not None


def compare_pass(number: int) -> int:
    """Compare a pass over a few jobs of any kind in such a timeline; its number of starts."""
    rng = Random(f"pass {number}")
    timeline, table = small(rng, EVERY_PLACEMENT, wide=True)
    _withhold(rng, timeline, table)
    apart = rng.random() < 0.3
    queue = [
        replaced(asked, id=f"w0!{at}", number=at, walltime_s=rng.choice((0.5, 1.0, 2.0, 5.0)),
                 lives=asked.lives if apart else None)
        for at, asked in enumerate(job(rng, timeline.machine) for _ in range(rng.randint(1, 5)))
    ]  # fmt: skip
    view = View(timeline.now_s, timeline.machine, queue, [], timeline.copy, Random(0), {})
    view.stages_first = apart
    policy: Any = POLICIES[rng.choice(("fcfs", "filler", "easy", "easy-no-bb", "sjf-easy", "conservative"))].build({})
    judge = POLICY_RULES[type(policy)](
        policy, view, table, [job_of(each_job, each_job.walltime_s) for each_job in queue]
    )
    starts = [(start.job.id, given_of(start.allocation)) for start in policy(view) if type(start) is Start]
    try:
        judge(starts, view)
    except AssertionError as error:
        raise AssertionError(f"pass {number}, {type(policy).__name__}: {error}") from error
    return len(starts)


def _withhold(rng: Random, timeline: Timeline, table: spec.Table) -> None:
    """Take nodes over an interval, or drain or close a storage node and close a node."""
    on, now_s = table.machine, table.now_s
    if rng.random() < 0.3:
        taken, start_s = rng.sample(range(on.nodes), rng.randint(1, on.nodes)), rng.choice((0.0, 1.0))
        timeline.take(start_s, start_s + 2.0, taken)
        table.add(spec.Row(spec.NODES, node, 1, start_s, start_s + 2.0) for node in taken)
    if on.storages and rng.random() < 0.4:
        storage = rng.randrange(len(on.storages))
        drained = rng.randint(0, on.storages[storage])
        timeline.drain(storage, drained)
        table.add([spec.Row(spec.BYTES, storage, drained, now_s, math.inf)])
    elif rng.random() < 0.3:
        storages = [*range(len(on.storages))][:1]
        timeline.close({0}, set(storages))
        table.add([spec.Row(spec.NODES, 0, 1, now_s, math.inf)])
        table.add(spec.Row(spec.BYTES, storage, on.storages[storage], now_s, math.inf) for storage in storages)
    timeline.check()


def prove_fit(number: int) -> bool:
    """Prove that a fit is free over its whole interval, and that no start is earlier; whether there is a fit."""
    rng = Random(f"fit {number}")
    timeline, table = small(rng)
    asked, length_s, covering = job(rng, timeline.machine), duration_s(rng), rng.choice([*KINDS, Resource.ALL])
    fit, kinds = timeline.earliest_fit(asked, length_s, covering=covering), KINDS[covering]
    if fit is not None:
        rows = table.rows_of(given_of(fit.allocation), fit.start_s, fit.start_s + length_s, kinds)
        assert all_free(table, rows), f"fit {number}: not free"
    first_s = math.inf if fit is None else fit.start_s
    assert no_start_before(table, job_of(asked, length_s), first_s, kinds), f"fit {number}: there is an earlier start"
    return fit is not None


def prove_booking(number: int) -> bool:
    """Prove that a booking is made exactly if it is free, and takes just that; whether it is made.

    The first later start that :meth:`Timeline.reserve_from` books is proven to be free, and the first that is. Drained
    bytes can be booked, but are not free.
    """
    rng = Random(f"reserve {number}")
    timeline, table = small(rng)
    allocation, start_s = booking(rng, timeline.machine), rng.choice((0.0, 0.0, 1.0, 2.5))
    end_s = start_s + duration_s(rng)
    rows = table.rows_of(given_of(allocation), start_s, end_s)
    drains = {at: rng.randint(1, size) for at, size in enumerate(table.machine.storages) if rng.random() < 0.2}
    for storage, drained in drains.items():
        timeline.drain(storage, drained)
    later, made, empty = timeline.copy(), True, timeline.snapshot()
    try:
        timeline.reserve(start_s, end_s, allocation)
    except ValueError:
        made = False
    assert made == all_free(table, rows), f"booking {number}: {'made' if made else 'refused'}"
    after = spec.Table(table.machine, 0.0, [*table.rows, *rows * made])
    gone = [spec.Row(spec.BYTES, storage, drained, 0.0, math.inf) for storage, drained in drains.items()]
    assert _alike(timeline, after, gone), f"booking {number}: something else was taken"
    first_s = later.reserve_from(start_s, end_s - start_s, allocation)
    assert no_start_between(table, rows, start_s, first_s), f"booking {number}: an earlier start is free"
    if made:
        assert first_s == start_s, f"booking {number}: made later than possible"
        both = timeline.copy()
        timeline.release(start_s, end_s, allocation)
        assert _alike(timeline, table, gone), f"booking {number}: something else was given back"
        both.restore(empty)
        assert both.segments() == timeline.segments(), f"booking {number}: another state came back"
    elif first_s < math.inf:
        rows = table.rows_of(given_of(allocation), first_s, first_s + (end_s - start_s))
        assert all_free(table, rows), f"booking {number}: not free where it was made"
    return made


def _alike(timeline: Timeline, table: spec.Table, drains: Sequence[spec.Row]) -> bool:
    """Whether a timeline has free at all times what a table leaves; where bytes are drained, not below nothing."""
    timeline.check()
    read = table_of(timeline)
    if not drains:
        return equal_tables(read, table)
    left = spec.Table(table.machine, table.now_s, [*table.rows, *drains])
    times = {*read.times, *left.times}
    return all(read.least(kind, at, at) == left.least(kind, at, at) for kind in spec.ALL for at in times)

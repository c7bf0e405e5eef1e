"""Small timelines of the product beside tables with the same rows, jobs and bookings for them: input of proofs."""

from __future__ import annotations

import math
from random import Random
from typing import NamedTuple

import numpy as np

from spillway.schedulers.model.job import Allocation, Job, Lives
from spillway.schedulers.model.machine import CountedPool, Link, Machine, Node, NodeSet, Storage
from spillway.schedulers.timeline import NodeOrder, Placement, StorageOrder, Timeline
from tests.reference import specification as spec
from tests.reference.comparison import given_of, machine_of

PLACEMENTS = [
    Placement(nodes, storages) for nodes in NodeOrder for storages in StorageOrder if storages is not StorageOrder.RACK
]
"""Rules of placement that do not change whether a job fits."""


class Small(NamedTuple):
    """A timeline and a table with the same rows."""

    timeline: Timeline
    table: spec.Table


def machine(rng: Random) -> Machine:
    """A machine of up to four nodes, three storage nodes, three links in a forest, a pool and two partitions."""
    nodes, storages = rng.randint(1, 4), rng.choice((0, 1, 2, 2, 3))
    levels = range(rng.choice((0, 0, 1, 2, 3)))
    links = tuple(Link(f"l{at}", rng.randint(0, 12), rng.randint(-1, at - 1)) for at in levels)
    return Machine(
        nodes=tuple(Node(at, f"n{at}", ()) for at in range(nodes)),
        storages=tuple(Storage(nodes + at, f"s{at}", (), rng.randint(1, 6)) for at in range(storages)),
        links=links,
        node_link=np.array([rng.randint(-1, len(links) - 1) for _ in range(nodes)], np.int32),
        nearest_storages=np.array([rng.sample(range(storages), storages) for _ in range(nodes)], np.int32).reshape(
            nodes, storages
        ),
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


def small(rng: Random) -> Small:
    """A machine on which up to seven jobs are booked."""
    on, placement = machine(rng), rng.choice(PLACEMENTS)
    timeline, table = Timeline(on, 0.0, placement), spec.Table(machine_of(on, placement), 0.0)
    for _ in range(rng.randint(0, 7)):
        length_s = duration_s(rng) if rng.random() < 0.3 else rng.choice((1.0, 2.0, 3.5))
        found = timeline.earliest_fit(job(rng, on), length_s, rng.choice((0.0, 0.0, 1.0, 2.5)))
        if found is not None:
            timeline.reserve(found.start_s, found.start_s + length_s, found.allocation)
            table.add(table.rows_of(given_of(found.allocation), found.start_s, found.start_s + length_s))
    return Small(timeline, table)


def booking(rng: Random, on: Machine) -> Allocation:
    """An allocation of the right form, free or not."""
    asked = job(rng, on)
    requests = asked.requests if asked.bb_bytes and on.storages else 0
    if asked.stripes:
        requests = min(requests, len(on.storages))
    every = range(len(on.storages))
    storages = rng.sample(every, requests) if asked.stripes else [rng.choice(every) for _ in range(requests)]
    room = sum(one.capacity_bytes for one in on.storages)
    nodes, size = tuple(sorted(rng.sample(range(len(on.nodes)), asked.nodes))), asked.bb_bytes if storages else 0
    size = min(size, room // max(requests, 1))
    striped = asked.stripes > 0 and bool(storages)
    return Allocation(nodes, tuple(storages), size, asked.io_rate, asked.lives, striped, asked.pools)

"""Random machines and jobs for the tests of timeline, placement and cluster."""

import math
from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from spillway.core import NodeOrder, Placement, StorageOrder
from spillway.schedulers.model.job import Job, Lives, replaced
from spillway.schedulers.model.machine import (
    CountedPool,
    Link,
    Machine,
    Node,
    NodeSet,
    PoolLayer,
    Storage,
    nearest_first,
)


def job(
    nodes: int,
    bb_bytes: int = 0,
    io_rate: int = 0,
    lives: Lives | None = None,
    stripes: int = 0,
    partitions: tuple[int, ...] = (),
) -> Job:
    """A job with only the request given."""
    return Job(
        "w!1",
        number=0,
        submit_time_s=0.0,
        walltime_s=math.inf,
        nodes=nodes,
        bb_bytes=bb_bytes,
        io_rate=io_rate,
        lives=lives,
        stripes=stripes,
        partitions=partitions,
    )


@st.composite
def machines(draw: st.DrawFn) -> Machine:
    """Machines of all shapes: any order of storages per node, any forest of links, nodes with and without link."""
    count = draw(st.sampled_from([1, 2, 3, 5, 8, 63, 64, 65, 130]))
    capacities = draw(st.lists(st.integers(1, 40), max_size=4))
    nearest = [draw(st.permutations(range(len(capacities)))) for _ in range(min(count, 5))]
    links = [
        Link(f"l{index}", draw(st.integers(0, 60)), draw(st.integers(-1, index - 1)))
        for index in range(draw(st.integers(0, 5)))
    ]
    pattern = draw(st.lists(st.integers(-1, len(links) - 1), min_size=1, max_size=7))
    sets = st.builds(range, st.integers(0, count - 1), st.integers(0, count), st.integers(1, 3)).filter(len)
    found = draw(st.lists(sets, max_size=3)) if count > 1 else []
    partitions = tuple(NodeSet(f"p{place}", frozenset(one)) for place, one in enumerate(found))
    pools = tuple(CountedPool(f"pool{place}", draw(st.integers(0, 9))) for place in range(draw(st.integers(0, 2))))
    pools = (*pools, *(pool for mode in draw(st.sets(st.integers(0, 3))) for pool in draw(layers(count, mode))))
    if draw(st.booleans()):
        return replace(_racked(count, capacities, links, pattern), partitions=partitions, pools=pools)
    nodes = tuple(Node(i, f"n{i}", ()) for i in range(count))
    return Machine(
        nodes=nodes,
        storages=tuple(Storage(count + i, f"s{i}", (), size) for i, size in enumerate(capacities)),
        links=tuple(links),
        node_link=np.array([pattern[i % len(pattern)] for i in range(count)], np.int32),
        nearest_storages=np.array([nearest[i % len(nearest)] for i in range(count)], np.int32).reshape(count, -1),
        partitions=partitions,
        pools=pools,
    )


@st.composite
def layers(draw: st.DrawFn, count: int, mode: int) -> list[CountedPool]:
    """Layers of a resource: some of all nodes, halves and quarters, in mode 3 all of them to a depth."""
    depth = draw(st.integers(0, 2))
    spans = [(0, count)]
    for level in range(1, depth + 1):
        spans += [(count * part >> level, count * (part + 1) >> level) for part in range(1 << level)]
    if mode < 3:
        spans = [span for span in spans if draw(st.booleans())]
    sizes = st.sampled_from([0, 1, 3, 3, 9, 30])
    return [
        CountedPool(
            f"r{mode} {first}-{last}", draw(sizes), layer=PoolLayer(f"r{mode}", mode, frozenset(range(first, last)))
        )
        for first, last in spans
    ]


def _racked(count: int, capacities: list[int], links: list[Link], pattern: list[int]) -> Machine:
    """As many racks as the pattern is long, each of neighbours under one link; storages in the first racks."""
    racks = [("g", f"r{rack}") for rack in range(len(pattern))]
    rack_of = [node * len(pattern) // count for node in range(count)]
    nodes = tuple(Node(i, f"n{i}", (*racks[rack_of[i]], f"b{i % 2}")) for i in range(count))
    storages = tuple(
        Storage(count + i, f"s{i}", racks[i * len(pattern) // (len(capacities) + 1)], size)
        for i, size in enumerate(capacities)
    )
    return Machine(
        nodes=nodes,
        storages=storages,
        links=tuple(links),
        node_link=np.array([pattern[rack] for rack in rack_of], np.int32),
        nearest_storages=nearest_first(nodes, storages),
    )


placements = st.builds(Placement, st.sampled_from(NodeOrder), st.sampled_from(StorageOrder))


@st.composite
def jobs(draw: st.DrawFn, machine: Machine) -> Job:
    """Jobs that fit sometimes."""
    most = len(machine.nodes)
    nodes = draw(st.one_of(st.integers(1, min(most + 1, 4)), st.integers(1, most + 1)))
    bb_bytes, stripes = draw(st.sampled_from([0, 0, 1, 3, 7, 20, 50])), draw(st.sampled_from([0, 0, 1, 2, 4, 5]))
    io_rate = draw(st.sampled_from([0, 0, 1, 5, 9, 70]))
    wide = [place for place, one in enumerate(machine.partitions) if len(one.nodes) >= nodes]
    partitions = tuple(draw(st.lists(st.sampled_from(wide), unique=True))) if wide else ()
    names = [pool.name if pool.layer is None else pool.layer.resource for pool in machine.pools]
    requested = {name: draw(st.sampled_from([0, 0, 1, 3, 9])) for name in sorted(set(names))}
    amounts = tuple(requested[name] for name in names)
    by_node = requested.get("r3", 0) > 0  # its layers may cross the links
    plain = job(nodes, bb_bytes, 0 if by_node else io_rate, stripes=stripes if bb_bytes else 0, partitions=partitions)
    return replaced(plain, pools=amounts if any(amounts) else ())


lives = st.builds(
    Lives,
    storage_lead_s=st.sampled_from([0.0, 0.5, 2.0, 5.0]),
    storage_tail_s=st.sampled_from([0.0, -1.0, 0.25, 3.0]),
    bandwidth_tail_s=st.sampled_from([0.0, -2.0, 1.5]),
)
"""Holdings with intervals of their own, in numbers that add up without rounding."""

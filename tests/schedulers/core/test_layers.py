"""Hierarchical resources: the three modes with the numbers of Slurm's page, refusals, and requests that never fit."""

import numpy as np
import pytest

from spillway.base.errors import OptionError
from spillway.core import Placement
from spillway.platforms.catalogue import platform_from
from spillway.schedulers.core.counted_pools import CountedPools
from spillway.schedulers.core.layers import Layers, fault, growable, layer_pools
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.model.machine import Link, Machine, simple_machine
from spillway.schedulers.model.site import Site, faults, site_text
from spillway.schedulers.model.site_parts import Layer, Resource
from tests.kit.specs import session_spec
from tests.kit.workloads import delays
from tests.properties.test_passes import play

NATURAL = Resource("natural", 1, (Layer("top", "0-31", 50), Layer("low1", "0-15", 100), Layer("low2", "16-31", 100)))
FLAT = Resource(
    "flat",
    2,
    (
        Layer("top", "0-31", 24),
        *(Layer(f"mid{number}", f"{16 * number}-{16 * number + 15}", 16) for number in range(2)),
        *(Layer(f"low{number}", f"{8 * number}-{8 * number + 7}", 12) for number in range(4)),
    ),
)
POWER = Resource(
    "power",
    3,
    (
        Layer("rack1", "0-7", 40_000, "row1", base=5000),
        Layer("rack2", "8-15", 40_000, "row1"),
        Layer("rack3", "16-23", 40_000, "row2"),
        Layer("rack4", "24-31", 40_000, "row2"),
        Layer("row1", "", 60_000, "hall", base=3000),
        Layer("row2", "", 80_000, "hall", base=2000),
        Layer("hall", "", 130_000, base=18_000),
    ),
)
"""The examples of Slurm's page, on nodes 0 to 31 in place of 1 to 32."""

_LEVELS = [
    {"name": "switch", "count": 4, "bandwidth": "2GBps"},
    {"name": "node", "count": 8, "bandwidth": "1GBps", "duplex": True},
]
PLATFORM = platform_from(
    "tiny", {"cluster": [{"name": "wide", "uplink": {"name": "core", "bandwidth": "2GBps"}, "levels": _LEVELS}]}
)
"""Four switches of eight nodes."""

SITE = Site(resources=(NATURAL, FLAT, POWER))


def machine(site: Site = SITE, nodes: int = 32) -> Machine:
    """A machine with a site's layers."""
    bare = simple_machine(nodes)
    return Machine(
        bare.nodes, node_link=bare.node_link, nearest_storages=bare.nearest_storages, node_index=bare.node_index,
        pools=layer_pools(site, nodes),
    )  # fmt: skip


def requesting(licenses: str, nodes: int = 1, site: Site = SITE) -> Job:
    """A job with its amounts."""
    job = Job("w!1", 0, 0.0, 9.0, nodes, extras={"licenses": licenses})
    return CountedPools(site, layer_pools(site, 32)).assign(job)[0]


def started(licenses: str, jobs: int, nodes: int = 1, policy: str = "easy") -> list[Allocation]:
    """Allocations of those of equal jobs that start at once on 32 nodes."""
    data = delays(32, [{}] * jobs, res=nodes, walltime=11, seconds=10, licenses=licenses)
    lines = play(session_spec(policy, settings={"site": site_text(SITE)}), data, check=True, platform=PLATFORM)[0]
    assert sum(what == "started" for _, what, *_ in lines) == jobs
    return [found[0] for now_s, what, _, *found in lines if what == "started" and now_s < 1]


def nodes_of(allocations: list[Allocation]) -> list[int]:
    """All their nodes, ascending."""
    return sorted(node for allocation in allocations for node in allocation.nodes)


@pytest.mark.parametrize("policy", ["easy", "conservative", "filler", "fcfs", "plan"])
def test_mode_1_adds_up(policy: str) -> None:
    """One node and ten of ``natural`` each: 25 of 32 jobs start, ten in each half and five out of all: 250.

    The layer with fewer nodes pays first: each half has 100, the whole 50 more.
    """
    found = started("natural:10", 32, policy=policy)
    assert len(found) == 25
    totals = np.array([allocation.pools for allocation in found]).sum(axis=0)
    assert totals[:3].tolist() == [50, 100, 100]
    assert sum(totals) == 250


def test_mode_2_takes_of_all_levels() -> None:
    """One node and two of ``flat`` each: 12 of 32 jobs start, never more than 24 together.

    Nodes 0 to 5 take all 12 of the first eighth; of the first half's 16 four are left, for nodes 8 and 9; of the 24 of
    all eight, for nodes 16 to 19.
    """
    found = started("flat:2", 32)
    assert nodes_of(found) == [*range(6), 8, 9, *range(16, 20)]
    assert np.array([allocation.pools for allocation in found]).sum(axis=0)[3:10].tolist() == [24, 16, 8, 12, 4, 8, 0]


def test_mode_2_counts_once_for_all_nodes() -> None:
    """A job on 12 nodes takes 10 of each level that it touches: the whole, a half, two of its eighths.

    So a second one has 6 left in that half and 14 of the whole: it starts in the other half. A third finds 4 of 24.
    """
    found = started("flat:10", 3, nodes=12)
    assert nodes_of(found) == [*range(12), *range(16, 28)]
    assert found[0].pools[3:10] == (10, 10, 0, 10, 10, 0, 0)


def test_mode_3_takes_by_the_node() -> None:
    """16 nodes with 1000 of ``power`` each: 8000 of two racks, 16,000 of their row and of the hall."""
    (found,) = started("power:1000", 1, nodes=16)
    assert found.pools[10:] == (8000, 8000, 0, 0, 16_000, 0, 16_000)


def test_mode_3_base_loads_are_taken_off() -> None:
    """With 5000 for a node 20 start: the hall has 130,000 - 18,000 - 5000 - 3000 - 2000 = 102,000 for jobs.

    Rack 1 has 35,000, for seven nodes; row 1 has 52,000, for ten: three in rack 2. Ten more in row 2: eight in rack 3.
    """
    pools = {pool.name: pool.count for pool in layer_pools(SITE, 32)}
    assert pools["power of layer hall"] == 102_000
    assert pools["power of layer row1"] == 52_000
    assert nodes_of(started("power:5000", 32)) == [*range(7), 8, 9, 10, *range(16, 26)]


@pytest.mark.parametrize(("mode", "reason"), [
    (1, None),
    (2, "no 5 nodes together have 1 of r, even when all are free"),
])  # fmt: skip
def test_a_count_of_zero(mode: int, reason: str | None) -> None:
    """It blocks its nodes in mode 2 and does nothing in mode 1: of eight nodes the first four have a count of zero."""
    site = Site(resources=(Resource("r", mode, (Layer("all", "0-7", 9), Layer("none", "0-3", 0))),))
    layers = Layers(machine(site, 8), Placement())
    assert layers.assign(requesting("r:1", 4, site))[1] is None
    assert layers.assign(requesting("r:1", 5, site))[1] == reason


@pytest.mark.parametrize("mode", [1, 2])
def test_a_count_without_end(mode: int) -> None:
    """It never holds a job back."""
    site = Site(resources=(Resource("r", mode, (Layer("all", "0-7", -1),)),))
    assert Layers(machine(site, 8), Placement()).assign(requesting("r:9999999999", 8, site))[1] is None


@pytest.mark.parametrize(("licenses", "nodes", "reason"), [
    ("natural:101", 1, "no 1 nodes together have 101 of natural, even when all are free"),
    ("natural:100", 32, None),
    ("flat:13", 1, "no 1 nodes together have 13 of flat, even when all are free"),
    ("flat:12", 32, None),
    ("power:5000", 21, "no 21 nodes together have 5000 of power, even when all are free"),
    ("power:5000,flat:12", 20, None),
])  # fmt: skip
def test_what_can_never_be_had(licenses: str, nodes: int, reason: str | None) -> None:
    """By placing the job on the empty machine; a request wider than the layer that pays takes other nodes, too."""
    assert Layers(machine(), Placement()).assign(requesting(licenses, nodes))[1] == reason


def test_sets_that_cross() -> None:
    """Racks of power over the halves of two links: nodes chosen one by one need not be the most possible."""
    site = Site(resources=(Resource("power", 3, (Layer("a", "0-2", 9, "all"), Layer("b", "3-7", 9, "all"),
                                                 Layer("all", "", 99))),))  # fmt: skip
    bare = simple_machine(8, links=(Link("left", 9, -1), Link("right", 9, -1)), node_link=(0,) * 4 + (1,) * 4)
    crossed = Machine(
        bare.nodes, links=bare.links, node_link=bare.node_link, nearest_storages=bare.nearest_storages,
        pools=layer_pools(site, 8),
    )  # fmt: skip
    layers, job = Layers(crossed, Placement()), requesting("power:1", 1, site)
    assert layers.assign(job)[1] is None
    with_rate = Job("w!1", 0, 0.0, 9.0, 1, io_rate=1, pools=job.pools)
    assert layers.assign(with_rate)[1] == (
        "power of layer b and link left share some of their nodes only: a job cannot request both"
    )


@pytest.mark.parametrize(("licenses", "nodes", "pools", "reason"), [
    ("natural:5", (0, 17), {1: 5}, None),
    ("natural:5", (0, 17), {0: 5}, None),
    ("natural:5", (0, 1), {2: 5}, "one layer of natural that has a node of the allocation must pay, got 1"),
    ("natural:5", (0, 1), {0: 5, 1: 5}, "one layer of natural that has a node of the allocation must pay, got 2"),
    ("natural:5", (0, 1), {1: 4}, "it holds 5 of natural of layer low1, the allocation has 4"),
    ("flat:2", (0, 17), {3: 2, 4: 2, 5: 2, 6: 2, 8: 2}, None),
    ("flat:2", (0, 17), {3: 2, 4: 2, 6: 2}, "it holds 2 of flat of layer mid1, the allocation has 0"),
    ("power:3", (0, 1, 17), {10: 6, 12: 3, 14: 6, 15: 3, 16: 9}, None),
    ("power:3", (0, 1, 17), {10: 3, 12: 3, 14: 6, 15: 3, 16: 9},
     "it holds 6 of power of layer rack1, the allocation has 3"),
])  # fmt: skip
def test_the_guard_counts(licenses: str, nodes: tuple[int, ...], pools: dict[int, int], reason: str | None) -> None:
    """An allocation's amount of each layer follows exactly from its nodes, in mode 1 from the chosen layer."""
    held = tuple(pools.get(place, 0) for place in range(17))
    assert fault(machine(), requesting(licenses, len(nodes)), nodes, held) == reason


def test_nodes_without_a_layer() -> None:
    """They do not serve."""
    site = Site(resources=(Resource("r", 2, (Layer("some", "4-7", 3),)),))
    here = machine(site, 8)
    job = requesting("r:1", 2, site)
    assert fault(here, job, (3, 4), (1,)) == "node n3 belongs to no layer of r"
    assert Layers(here, Placement()).assign(requesting("r:1", 5, site))[1] is not None


@pytest.mark.parametrize(("licenses", "pools", "nodes"), [
    ("natural:5", (0, 5, 0), list(range(32))),
    ("flat:2", (0, 0, 0, 2, 2, 0, 2), list(range(8))),
    ("power:3", (), []),
])  # fmt: skip
def test_where_a_job_may_grow(licenses: str, pools: tuple[int, ...], nodes: list[int]) -> None:
    """A job may grow where no layer is charged more: in mode 2 below the layers that it holds entirely, in mode 3
    nowhere."""
    assert growable(machine(), requesting(licenses), pools, range(32)) == nodes


def test_a_layer_outside_of_the_machine() -> None:
    """The site's file is for another platform."""
    with pytest.raises(OptionError, match="resource 'natural', layer 'top' has node 31, the platform's are 0 to 15"):
        layer_pools(SITE, 16)


def test_base_loads_above_the_count() -> None:
    """A row of 60 with 50 of its own and 20 in a rack."""
    rows = (Layer("row", "", 60, base=50), Layer("rack", "0-3", 90, "row", base=20))
    site = Site(resources=(Resource("power", 3, rows),))
    assert [*faults(site)] == ["resource 'power', layer 'row': its count 60 is below its base load 70"]

"""GPUs: counts per node restrict a job to nodes with enough; limits count them."""

from typing import Any

import pytest

from spillway.core import Placement
from spillway.schedulers.core.counted_pools import CountedPools
from spillway.schedulers.core.layers import Layers, fault, layer_pools
from spillway.schedulers.core.partitions import node_sets
from spillway.schedulers.model.job import Job, replaced
from spillway.schedulers.model.machine import Machine, simple_machine
from spillway.schedulers.model.site import Partition, Qos, Site
from spillway.schedulers.model.site_parts import Gpus, Limits

SITE = Site(
    gpus=(Gpus(2, "2-5"), Gpus(4, "4-5")),
    partitions=(Partition("all", default=True), Partition("gpu", "2-5")),
    qos=(Qos("normal", limits=Limits(user_tres={"gres/gpu": 6}, job_tres={"gres/gpu": 8})),),
)
"""Nodes 2 and 3 have two GPUs, 4 and 5 four; six of a user at a time, eight of a job."""


def counted(site: Site = SITE) -> CountedPools:
    """On eight nodes."""
    return CountedPools(site, layer_pools(site, 8), node_sets(site, 8))


def machine() -> Machine:
    """Eight nodes with the site's partitions and pools."""
    bare = simple_machine(8)
    return Machine(
        bare.nodes, node_link=bare.node_link, nearest_storages=bare.nearest_storages, node_index=bare.node_index,
        partitions=node_sets(SITE, 8), pools=counted().pools,
    )  # fmt: skip


def needing(gpus: Any, nodes: int = 1, partitions: tuple[int, ...] = (0,)) -> Job:
    """A job with so many GPUs on each node."""
    return Job("w!1", 0, 0.0, 9.0, nodes, extras={"gpus": gpus, "user": "ann"}, partitions=partitions)


@pytest.mark.parametrize(("gpus", "nodes", "partitions", "pools"), [
    (0, 1, (0,), ()),
    (1, 1, (0,), (1,)),
    (3, 1, (0,), (0, 1)),
    (2, 1, (1,), ()),
    (3, 1, (1,), (0, 1)),
])  # fmt: skip
def test_nodes_with_enough(gpus: int, nodes: int, partitions: tuple[int, ...], pools: tuple[int, ...]) -> None:
    """Nodes with two or more, or with four; nothing where all nodes of the partition have as many."""
    job, reason = counted().assign(needing(gpus, nodes, partitions))
    assert reason is None
    assert job.pools[:2] == ((*pools, 0, 0) if job.pools else ())[:2]


@pytest.mark.parametrize(("gpus", "nodes", "reason"), [
    (5, 1, "5 GPUs on each node > 4, the most that a node has"),
    ("two", 1, "its field 'gpus' must be a whole number of at least 0, got 'two'"),
    (4, 3, "12 GPUs > 8, the most of a job of QOS normal"),
    (2, 4, "8 > 6 of GPUs of a user of QOS normal"),
])  # fmt: skip
def test_what_can_never_be_had(gpus: Any, nodes: int, reason: str) -> None:
    """More on a node than there are, and more than the limits let a job or a user have."""
    assert counted().assign(needing(gpus, nodes))[1] == reason


def test_too_few_nodes() -> None:
    """Two nodes have four GPUs, three are requested."""
    site = Site(gpus=SITE.gpus)
    job = counted(site).assign(needing(4, 3, ()))[0]
    assert Layers(machine(), Placement()).assign(job)[1] == "no 3 nodes together have 4 GPUs, even when all are free"


def test_the_guard_looks_at_nodes() -> None:
    """A job that needs three GPUs on each node is not started on one with two; its nodes are all that follows."""
    job = replaced(needing(3), pools=(0, 1))
    assert fault(machine(), job, (3,), ()) == "node n3 has fewer than 3 GPUs"
    assert fault(machine(), job, (4,), (0, 0)) is None
    assert fault(machine(), job, (4,), (0, 1)) == "it holds 0 of gpus 4, the allocation has 1"


def test_partitions_that_cannot_serve() -> None:
    """Of three partitions only one has three nodes with two GPUs: the job is left with that one."""
    site = Site(gpus=SITE.gpus, partitions=(Partition("a", "0-3"), Partition("b"), Partition("c", "4-7")))
    bare = simple_machine(8)
    here = Machine(
        bare.nodes, node_link=bare.node_link, nearest_storages=bare.nearest_storages, node_index=bare.node_index,
        partitions=node_sets(site, 8), pools=counted(site).pools,
    )  # fmt: skip
    job = counted(site).assign(needing(2, 3, (0, 1, 2)))[0]
    assert Layers(here, Placement()).assign(job)[0].partitions == (1,)

"""Sites for random worlds: with and without associations, of several tiers, with short periods."""

from random import Random
from typing import Any

from spillway.schedulers.model.site import Association, Partition, Qos, Site, Weights
from spillway.schedulers.model.site_parts import Gpus, Layer, Resource
from tests.properties.small_world import NODES

WEIGHTS = Weights(
    age=1000, fairshare=700, size=300, partition=200, qos=500, association=150, tres={"bb": 250}, longest_age_s=60.0,
    half_life_s=50.0, period_s=7.0,
)  # fmt: skip
_COMMON = {
    "partitions": (Partition("batch", default=True), Partition("wide", factor=3), Partition("debug", "4-7", tier=4)),
    "qos": (Qos("normal", 1), Qos("high", 4, 0.5)),
}
_ACCOUNTS = (
    *(Association("a", shares=2), Association("b"), Association("c", parent="a")),
    *(Association("a", "0", priority=2), Association("c", "1"), Association("b", "1", default=True)),
    *(Association("b", "2", shares=3, priority=5), Association("c", "3")),
)

SITES = {
    "alike": Site(weights=WEIGHTS, **_COMMON),
    "accounts": Site(weights=WEIGHTS, associations=_ACCOUNTS, **_COMMON),
    "shares": Site(
        weights=Weights(fairshare=100, half_life_s=0.0, period_s=1.0), associations=_ACCOUNTS, qos=_COMMON["qos"]
    ),
    "small": Site(weights=Weights(size=100, favor_small=True, age=100, longest_age_s=30.0, period_s=10.0)),
}
"""Sites by name. Users are ``0`` to ``3``; others are in no account."""


RESOURCES = (
    Resource("one", 1, (Layer("all", "0-7", 2), Layer("left", "0-3", 3), Layer("right", "4-7", 1))),
    Resource("each", 2, (Layer("all", "0-7", 5), Layer("left", "0-3", 3), Layer("right", "4-6", 4))),
    Resource("node", 3, (Layer("all", "", 7), Layer("left", "0-3", 4, "all"), Layer("right", "4-7", 5, "all", 1))),
)
"""A resource of each mode; the second has no layer at node 7, and one unit of the third is always in use."""

GPUS = (Gpus(1, "1-7"), Gpus(4, "3-5"))
"""One on each node but the first, four on each of three."""


def nodes_of(partition: Partition) -> set[int]:
    """Its nodes, by a reading of its text of our own."""
    if not partition.nodes:
        return set(range(NODES))
    ends = [part.split("-") for part in partition.nodes.split()]
    return {node for part in ends for node in range(int(part[0]), int(part[-1]) + 1)}


def fields_of(rng: Random) -> dict[str, Any]:
    """Random fields of a job of these sites."""
    stated = {
        "user": rng.choice(("0", "1", "2", "3", "4")),
        "qos": rng.choice(("", "normal", "high")),
        "partition": rng.choice(("", "batch", "wide", "debug")),
        "nice": rng.choice((0, 0, 0, 50, -50, 10_000)),
        "account": rng.choice(("", "", "", "a", "b", "c")),
    }
    return {name: value for name, value in stated.items() if value}

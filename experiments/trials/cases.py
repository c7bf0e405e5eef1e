"""The cases made by hand: each world is small enough to follow, and aims at one mistake."""

from __future__ import annotations

import json
from dataclasses import dataclass

from spillway.experiments.trials.world import PLAIN, World, world_from

LIFKA = "Lifka 1995 (JSSPP)"
EASY = "Mu'alem & Feitelson 2001, section 2.2"
BUFFERS = "Kopanski 2020, section 3, Algorithms 3 and 4"
WHOLE = "Kopanski 2020, section 2.4"
BATSIM = "Batsim 4, protocol"

ALL = ("any", "fcfs", "easy", "easy-counted", "conservative")
BACKFILLING = ("easy", "easy-counted", "conservative")
EASIES = ("easy", "easy-counted")


@dataclass(frozen=True)
class Case:
    """One case.

    Attributes
    ----------
    name, aims
        What it is called, and the mistake that it finds.
    source
        Where the requirement comes from.
    disciplines
        For which it means something; for others it is not applicable.
    world
        What is played.
    also
        Requirements of this case beside those of the discipline.
    """

    name: str
    aims: str
    source: str
    disciplines: tuple[str, ...]
    world: World
    also: tuple[str, ...] = ()

    @property
    def buffers(self) -> bool:
        """Whether it needs storage nodes."""
        return self.world.storages > 0


def _world(nodes: int, *rows: tuple[int, ...], storages: int = 0, gb: int = 0) -> World:
    """A world on a plain machine; rows as in its text."""
    members = {"nodes": nodes, "jobs": rows, "storages": storages, "gb": gb}
    return world_from(json.dumps(members), PLAIN)


CASES = (
    Case(
        "one-machine", "nodes over-committed", BATSIM, ALL,
        _world(4, (1, 3, 20), (1, 2, 20), (1, 2, 20), (2, 4, 10), (3, 1, 30)),
    ),
    Case(
        "early-ends", "ends that come before the walltime are overlooked", BATSIM, ALL,
        _world(4, (1, 4, 100, 0, 10), (2, 4, 100, 0, 10), (3, 2, 50)),
    ),
    Case(
        "too-large", "what can never run is not rejected", BATSIM, ALL,
        _world(4, (1, 5, 10), (2, 2, 10), (3, 4, 10)),
    ),
    Case(
        "too-large-buffer", "what can never have its bytes is not rejected", BUFFERS, ALL,
        _world(4, (1, 2, 10), (2, 2, 10, 6), (3, 1, 10, 8), storages=1, gb=10),
    ),
    Case(
        "full-buffer", "bytes over-committed", BUFFERS, ALL,
        _world(4, (1, 1, 20, 6), (2, 1, 20, 6), (3, 1, 20, 4), storages=1, gb=10),
    ),
    Case(
        "whole-requests", "free bytes are added up over storage nodes", WHOLE, ALL,
        _world(4, (1, 1, 20, 6), (2, 1, 20, 6), (3, 1, 20, 6), storages=2, gb=10),
    ),
    Case(
        "one-after-another", "a job overtakes", "first come, first served", ("fcfs",),
        _world(4, (1, 2, 50), (2, 3, 10), (3, 1, 10), (4, 2, 5)),
    ),
    Case(
        "overtaken-for-bytes", "a job overtakes one that waits for bytes", "first come, first served", ("fcfs",),
        _world(4, (1, 1, 50, 8), (2, 1, 10, 4), (3, 1, 10), storages=1, gb=10),
    ),
    Case(
        "starved", "small jobs keep a wide one waiting: nodes are not reserved", LIFKA, BACKFILLING,
        _world(4, (1, 2, 20), (2, 4, 10), (3, 2, 40), (15, 2, 40), (25, 2, 40)),
    ),
    Case(
        "second-resource", "nodes are reserved, bytes are not", BUFFERS, BACKFILLING,
        _world(4, (1, 1, 20, 6), (2, 1, 10, 8), (3, 1, 90, 4), (4, 1, 90, 4), storages=1, gb=10),
    ),
    Case(
        "second-resource-whole", "the same with two storage nodes", BUFFERS, BACKFILLING,
        _world(6, (1, 1, 20, 6), (1, 1, 40, 6), (2, 2, 10, 6), (25, 1, 90, 6), storages=2, gb=10),
    ),
    Case(
        "shadow-of-bytes", "the shadow time is taken of nodes alone: idle nodes stay idle", BUFFERS, BACKFILLING,
        _world(4, (1, 2, 10), (1, 1, 60, 8), (2, 3, 10, 2), (12, 1, 30), storages=1, gb=10),
        ("backfill",),
    ),
    Case(
        "shadow-of-nodes", "the shadow time is taken of bytes alone", BUFFERS, BACKFILLING,
        _world(4, (1, 1, 10, 8), (1, 2, 60), (2, 3, 10, 4), (12, 1, 30, 2), storages=1, gb=10),
        ("backfill",),
    ),
    Case(
        "gap", "no backfilling: a job that ends before the first one can start waits", EASY, BACKFILLING,
        _world(4, (1, 3, 50), (2, 2, 10), (3, 1, 20)),
        ("backfill",),
    ),
    Case(
        "spare-nodes", "nodes that the first job leaves stay idle", EASY, EASIES,
        _world(8, (1, 6, 50), (2, 6, 10), (3, 2, 500)),
        ("spare",),
    ),
    Case(
        "spare-bytes", "bytes that the first job leaves stay idle", BUFFERS, EASIES,
        _world(4, (1, 1, 50, 6), (2, 1, 10, 6), (3, 1, 500, 4), storages=1, gb=10),
        ("spare",),
    ),
    Case(
        "spare-nodes-no-bytes", "a long job on spare nodes takes bytes that are reserved", BUFFERS, EASIES,
        _world(4, (1, 1, 50, 6), (2, 1, 10, 8), (3, 1, 500, 4), storages=1, gb=10),
    ),
    Case(
        "spare-by-number", "the reservation names idle nodes where busy ones will do", EASY, ("easy-counted",),
        _world(8, (1, 4, 10), (1, 4, 100), (2, 5, 50), (12, 3, 500)),
    ),
    Case(
        "next-in-line", "the job that is first next is overlooked when the first one starts", EASY, EASIES,
        _world(4, (1, 3, 20), (2, 2, 40), (3, 3, 10), (4, 1, 60), (5, 2, 60)),
    ),
    Case(
        "end-before-time", "the first job keeps its old start although nodes are free earlier", EASY, EASIES,
        _world(4, (1, 3, 100, 0, 10), (2, 4, 10), (3, 1, 50), (4, 1, 9)),
    ),
    Case(
        "scattered", "nodes must lie side by side: free ones between others stay idle", EASY, ("fcfs", *EASIES),
        _world(4, (1, 1, 10), (1, 1, 50), (2, 3, 10)),
    ),
    Case(
        "third-in-line", "a job behind the first is delayed", EASY, ("conservative",),
        _world(4, (1, 2, 20), (2, 3, 20), (3, 4, 20), (4, 1, 45)),
    ),
    Case(
        "third-in-line-bytes", "a job behind the first is delayed in its bytes", EASY, ("conservative",),
        _world(4, (1, 1, 20, 4), (2, 1, 20, 8), (3, 1, 20, 10), (4, 1, 70, 2), storages=1, gb=10),
    ),
)  # fmt: skip
"""All of them; the order is that of the report."""

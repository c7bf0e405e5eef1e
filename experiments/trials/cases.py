"""Cases made by hand: each world is small enough to follow, and aims at one mistake."""

from __future__ import annotations

from dataclasses import dataclass

from spillway.experiments.trials.world import PLAIN, World

_LIFKA = "Lifka 1995 (JSSPP)"
EASY = "Mu'alem & Feitelson 2001, section 2.2"
BUFFERS = "Kopanski 2020, section 3, Algorithms 3 and 4"
WHOLE = "Kopanski 2020, section 2.4"
BATSIM = "Batsim 4, protocol"

ALL = ("any", "fcfs", "easy", "easy-counted", "conservative")
BACKFILLING = ("easy", "easy-counted", "conservative")
_EASIES = ("easy", "easy-counted")


@dataclass(frozen=True)
class Case:
    """One case.

    Attributes
    ----------
    name, aims
        Its name, and the mistake that it finds.
    source
        Source of the requirement.
    disciplines
        Disciplines to which it applies.
    world
        The machine and its jobs.
    also
        Requirements of this case besides those of the discipline.
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


def _case(
    name: str, aims: str, source: str, disciplines: tuple[str, ...], machine: tuple[int, int, int],
    rows: tuple[tuple[int, ...], ...], also: tuple[str, ...] = (),
) -> Case:  # fmt: skip
    """A case on a machine of nodes, storage nodes and GB for each of these; jobs are rows as in a world's text."""
    nodes, storages, gb = machine
    jobs = tuple(map(PLAIN.job, rows))
    return Case(name, aims, source, disciplines, World(jobs, nodes=nodes, storages=storages, gb=gb), also)


CASES = tuple(_case(*row) for row in (
    ("one-machine", "nodes over-committed", BATSIM, ALL,
     (4, 0, 0), ((1, 3, 20), (1, 2, 20), (1, 2, 20), (2, 4, 10), (3, 1, 30))),
    ("early-ends", "ends before the walltime are overlooked", BATSIM, ALL,
     (4, 0, 0), ((1, 4, 100, 0, 10), (2, 4, 100, 0, 10), (3, 2, 50))),
    ("too-large", "a job that can never run is not rejected", BATSIM, ALL,
     (4, 0, 0), ((1, 5, 10), (2, 2, 10), (3, 4, 10))),
    ("too-large-buffer", "a job that can never get its bytes is not rejected", BUFFERS, ALL,
     (4, 1, 10), ((1, 2, 10), (2, 2, 10, 6), (3, 1, 10, 8))),
    ("full-buffer", "bytes over-committed", BUFFERS, ALL,
     (4, 1, 10), ((1, 1, 20, 6), (2, 1, 20, 6), (3, 1, 20, 4))),
    ("whole-requests", "free bytes are added up over storage nodes", WHOLE, ALL,
     (4, 2, 10), ((1, 1, 20, 6), (2, 1, 20, 6), (3, 1, 20, 6))),
    ("one-after-another", "a job overtakes", "first come, first served", ("fcfs",),
     (4, 0, 0), ((1, 2, 50), (2, 3, 10), (3, 1, 10), (4, 2, 5))),
    ("overtaken-for-bytes", "a job overtakes one that waits for bytes", "first come, first served", ("fcfs",),
     (4, 1, 10), ((1, 1, 50, 8), (2, 1, 10, 4), (3, 1, 10))),
    ("starved", "small jobs keep a wide one waiting: nodes are not reserved", _LIFKA, BACKFILLING,
     (4, 0, 0), ((1, 2, 20), (2, 4, 10), (3, 2, 40), (15, 2, 40), (25, 2, 40))),
    ("second-resource", "nodes are reserved, bytes are not", BUFFERS, BACKFILLING,
     (4, 1, 10), ((1, 1, 20, 6), (2, 1, 10, 8), (3, 1, 90, 4), (4, 1, 90, 4))),
    ("second-resource-whole", "the same with two storage nodes", BUFFERS, BACKFILLING,
     (6, 2, 10), ((1, 1, 20, 6), (1, 1, 40, 6), (2, 2, 10, 6), (25, 1, 90, 6))),
    ("shadow-of-bytes", "the shadow time covers nodes only: idle nodes stay idle", BUFFERS, BACKFILLING,
     (4, 1, 10), ((1, 2, 10), (1, 1, 60, 8), (2, 3, 10, 2), (12, 1, 30)), ("backfill",)),
    ("shadow-of-nodes", "the shadow time covers bytes only", BUFFERS, BACKFILLING,
     (4, 1, 10), ((1, 1, 10, 8), (1, 2, 60), (2, 3, 10, 4), (12, 1, 30, 2)), ("backfill",)),
    ("gap", "no backfilling: a job that ends before the first one can start waits", EASY, BACKFILLING,
     (4, 0, 0), ((1, 3, 50), (2, 2, 10), (3, 1, 20)), ("backfill",)),
    ("spare-nodes", "nodes that the first job leaves stay idle", EASY, _EASIES,
     (8, 0, 0), ((1, 6, 50), (2, 6, 10), (3, 2, 500)), ("spare",)),
    ("spare-bytes", "bytes that the first job leaves stay idle", BUFFERS, _EASIES,
     (4, 1, 10), ((1, 1, 50, 6), (2, 1, 10, 6), (3, 1, 500, 4)), ("spare",)),
    ("spare-nodes-no-bytes", "a long job on spare nodes takes bytes that are reserved", BUFFERS, _EASIES,
     (4, 1, 10), ((1, 1, 50, 6), (2, 1, 10, 8), (3, 1, 500, 4))),
    ("spare-by-number", "the reservation names idle nodes although busy ones suffice", EASY, ("easy-counted",),
     (8, 0, 0), ((1, 4, 10), (1, 4, 100), (2, 5, 50), (12, 3, 500))),
    ("next-in-line", "the next first job is overlooked when the first one starts", EASY, _EASIES,
     (4, 0, 0), ((1, 3, 20), (2, 2, 40), (3, 3, 10), (4, 1, 60), (5, 2, 60))),
    ("end-before-time", "the first job keeps its old start although nodes are free earlier", EASY, _EASIES,
     (4, 0, 0), ((1, 3, 100, 0, 10), (2, 4, 10), (3, 1, 50), (4, 1, 9))),
    ("scattered", "nodes must be consecutive: free ones between others stay idle", EASY, ("fcfs", *_EASIES),
     (4, 0, 0), ((1, 1, 10), (1, 1, 50), (2, 3, 10))),
    ("third-in-line", "a job behind the first is delayed", EASY, ("conservative",),
     (4, 0, 0), ((1, 2, 20), (2, 3, 20), (3, 4, 20), (4, 1, 45))),
    ("third-in-line-bytes", "a job behind the first is delayed in its bytes", EASY, ("conservative",),
     (4, 1, 10), ((1, 1, 20, 4), (2, 1, 20, 8), (3, 1, 20, 10), (4, 1, 70, 2))),
))  # fmt: skip
"""All cases, in the order of the report."""

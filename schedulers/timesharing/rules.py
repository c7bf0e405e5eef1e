"""Rules by which the matrix of gang scheduling is recomputed: the differences between the four policies."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from spillway.core import GangRules


class PlacementColumns(enum.Enum):
    """Columns on which a waiting job may be placed."""

    ANYWHERE = "anywhere"
    """On the columns that are free in most rows: plain gang scheduling."""
    FILES = "files"
    """On its file's nodes, or it waits: I/O-aware gang scheduling."""
    FILES_FIRST = "files-first"
    """On its file's nodes if they are free in some row, else anywhere: adaptive. Jobs on their file's nodes are
    replicated before the others (section 3.5)."""

    @property
    def code(self) -> int:
        """Number of the choice in the core."""
        return list(PlacementColumns).index(self)


class Queue(enum.Enum):
    """Treatment of the jobs behind a waiting job that does not fit."""

    STOP = "stop"
    """They wait, too (sections 3.2 and 3.3: no job after the first that cannot be placed)."""
    SCAN = "scan"
    """They are tried in their order (section 3.1: as long as any job fits)."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Differences between the four policies.

    Attributes
    ----------
    where
        Columns on which a waiting job may be placed.
    migrate
        Whether remote jobs are moved to their files' nodes.
    queue
        Whether waiting jobs behind one that does not fit are tried.
    """

    where: PlacementColumns = PlacementColumns.ANYWHERE
    migrate: bool = False
    queue: Queue = Queue.STOP

    @property
    def of_core(self) -> GangRules:
        """The same for :class:`spillway.core.GangMatrix`."""
        return GangRules(self.where.code, self.migrate, self.queue is Queue.SCAN)

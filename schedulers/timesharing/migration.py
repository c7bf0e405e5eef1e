"""Times at which migrated jobs restart (Zhang et al. 2003, section 3.6)."""

from __future__ import annotations

import enum

from spillway.schedulers.timesharing.slices import Slices


class MigrationStart(enum.Enum):
    """Times at which a job that was moved to other nodes begins to restart there."""

    NEXT_QUANTUM = "next-quantum"
    """At the beginning of the next time slice, as published. In the rest of the running slice the job continues on its
    old nodes, unless another job received them in this slice."""
    AT_ONCE = "at-once"
    """At the decision, inside the running slice."""

    def begins_us(self, now_us: int, slices: Slices) -> int:
        """Instant from which a job that is moved now belongs to its new nodes (microseconds).

        A decision at the very beginning of a slice is in time for that slice.
        """
        return now_us if self is MigrationStart.AT_ONCE else slices.begin_us(now_us)

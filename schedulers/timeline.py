"""What is free later: a step function over time of the whole resource vector. (Plain version; the kernels follow.)"""

from __future__ import annotations

from schedulers.placement import NodeOrder, Placement, Resource, StorageOrder
from schedulers.timeline_reference import Fit, ReferenceTimeline

__all__ = ["Fit", "NodeOrder", "Placement", "Resource", "StorageOrder", "Timeline"]


class Timeline(ReferenceTimeline):
    """Placeholder with the final interface: correct, slow."""

    def copy(self) -> Timeline:
        """An independent copy."""
        other = Timeline(self.machine, self.now_s, self.placement)
        other.bookings = list(self.bookings)
        return other

    def check(self) -> None:
        """Prove that nothing is over-committed."""
        for time_s in self.breakpoints():
            assert self._possible(self.free_at(time_s)), time_s

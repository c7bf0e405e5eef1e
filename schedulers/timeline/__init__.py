"""Free resources over time: the timeline (compiled, in :mod:`spillway.core`), the rules of placement."""

from spillway.core import (
    Fit,
    NodeOrder,
    Overbooked,
    Placement,
    PublishedTimeline,
    Resource,
    Snapshot,
    StorageOrder,
    Timeline,
)
from spillway.schedulers.timeline.placement import choose_storages

__all__ = [
    "Fit",
    "NodeOrder",
    "Overbooked",
    "Placement",
    "PublishedTimeline",
    "Resource",
    "Snapshot",
    "StorageOrder",
    "Timeline",
    "choose_storages",
]

"""What is free later: the timeline (this package's public face), its kernels, and the rules of placement."""

from spillway.schedulers.timeline.placement import choose_storages
from spillway.schedulers.timeline.timeline import Fit, NodeOrder, Placement, Resource, Snapshot, StorageOrder, Timeline

__all__ = ["Fit", "NodeOrder", "Placement", "Resource", "Snapshot", "StorageOrder", "Timeline", "choose_storages"]

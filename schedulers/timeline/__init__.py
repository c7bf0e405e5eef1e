"""Free resources over time: the timeline (the public interface of the package), its kernels, the rules of placement."""

from spillway.schedulers.timeline.placement import choose_storages
from spillway.schedulers.timeline.timeline import Fit, NodeOrder, Placement, Resource, Snapshot, StorageOrder, Timeline

__all__ = ["Fit", "NodeOrder", "Placement", "Resource", "Snapshot", "StorageOrder", "Timeline", "choose_storages"]

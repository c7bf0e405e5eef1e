"""``io_stream``: computation with a constant stream to a storage host beside it. Batsim has no such type.

The real Batsim gets the same as a ``parallel_homogeneous`` job with an ``additional_io_job``
(:mod:`spillway.schedulers.jobmodels.streamed`); this type avoids the n x n matrices of that job.
"""

from __future__ import annotations

import numpy as np

from spillway.simulator.engines.base import TaskSpec
from spillway.simulator.jobs.profiles.base import Placement
from spillway.simulator.jobs.profiles.storage import StorageAccess


class IoStream(StorageAccess):
    """``cpu`` flops per executor, and ``write`` bytes from each executor to one storage host, at one pace."""

    __slots__ = ("cpu",)

    def __init__(self, cpu: float, write: float, label: str) -> None:
        super().__init__(0.0, write, label)
        self.cpu = cpu

    def task(self, place: Placement) -> TaskSpec:
        """The executors and, as last host, the storage host, which computes nothing."""
        streams = super().task(place)
        flops = np.full(len(streams.hosts), self.cpu)
        flops[-1] = 0.0
        return TaskSpec(streams.hosts, flops, streams.comm)

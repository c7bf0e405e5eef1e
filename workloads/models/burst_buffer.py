"""Size of the burst buffer that a job requests: the thesis's model, parametrised by the machine.

No public log records burst-buffer requests. The model assumes that they are as large as requests for main memory, draws
them from a log-normal distribution fitted to a log with such requests (``spillway.workloads.models.fit`` fits another),
and clamps them to requests that the machine can serve.

References
----------
J. Kopanski, *Optimisation of job scheduling for supercomputers with burst buffers*, 2020, arXiv 2111.10200, sections
2.4 and 2.5. The floor, the second clamp and the rule for short jobs are those of its published workloads, which differ
from its text: there, a job counts as short by its *requested* time, not by its runtime.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from spillway.workloads.conversion.machine_facts import MachineFacts
from spillway.workloads.draws import Draws, exp
from spillway.workloads.errors import WorkloadError

_STREAM = "burst buffer"


@dataclass(frozen=True, slots=True, kw_only=True)
class BurstBufferModel:
    """Request per compute node, in bytes: shifted log-normal distribution with a floor, a cap and a clamp.

    Attributes
    ----------
    sigma
        Shape of the log-normal distribution, > 0.
    location_kib
        Its shift in KiB per processor.
    scale_kib
        Its scale (median without the shift) in KiB per processor, > 0.
    unit_bytes
        Bytes per unit of the distribution: 1024, for the archive's kilobytes of memory are KiB.
    floor_bytes
        Least request of a job that is not short.
    short_bytes
        Request of every short job: it would otherwise spend its time staging data and be killed.
    short_walltime_s
        A job is short if its requested time is at most this.
    """

    sigma: float = 1.0972516604048774
    location_kib: float = -150361.59523836235
    scale_kib: float = 2714115.5724594607
    unit_bytes: int = 1024
    floor_bytes: int = 100_000_000
    short_bytes: int = 10_000_000
    short_walltime_s: float = 120.0

    def __post_init__(self) -> None:
        for name in ("sigma", "scale_kib", "unit_bytes"):
            if not getattr(self, name) > 0:
                raise WorkloadError(f"burst-buffer option {name!r} must be > 0, got {getattr(self, name)!r}")
        for name in ("floor_bytes", "short_bytes", "short_walltime_s"):
            if not getattr(self, name) >= 0:
                raise WorkloadError(f"burst-buffer option {name!r} must be >= 0, got {getattr(self, name)!r}")

    def draw(
        self,
        nodes: npt.ArrayLike,
        walltime_s: npt.ArrayLike,
        machine: MachineFacts,
        seed: int,
        processors_per_node: int = 1,
    ) -> npt.NDArray[np.int64]:
        """Draw the request per node of each job.

        Parameters
        ----------
        nodes
            Compute nodes of each job, >= 1.
        walltime_s
            Requested time of each job.
        machine
            Storage nodes and their capacity.
        seed
            The same seed gives the same request to the job at the same place in the list.
        processors_per_node
            The distribution is per processor: a node requests this many times as much.

        Returns
        -------
        int64 array
            Bytes per node: 0 without storage; else as drawn, but at least the floor, at most one storage node's
            capacity, and small enough for an empty machine to place the job's requests whole.
        """
        wanted = np.asarray(nodes, dtype=np.int64)
        normal = Draws(seed, _STREAM).normal(len(wanted))
        drawn = (self.location_kib + self.scale_kib * exp(self.sigma * normal)) * (
            self.unit_bytes * processors_per_node
        )
        if machine.storage_nodes == 0 or machine.storage_bytes == 0:
            return np.zeros(len(wanted), dtype=np.int64)
        capped = np.minimum(drawn, float(machine.storage_bytes))  # before rounding: a draw may be huge
        size = np.maximum(np.rint(capped).astype(np.int64), self.floor_bytes)
        size[np.asarray(walltime_s, dtype=np.float64) <= self.short_walltime_s] = self.short_bytes
        return clamp_to_machine(size, wanted, machine)


def clamp_to_machine(
    size: npt.NDArray[np.int64], nodes: npt.NDArray[np.int64], machine: MachineFacts
) -> npt.NDArray[np.int64]:
    """Reduce requests that an empty machine could not place.

    Each node's request is served whole by one storage node, so one storage node serves floor(capacity / request)
    nodes. Where all storage nodes together serve too few, the request becomes an equal share of the busiest storage
    node, with the job's nodes spread evenly over the storage nodes.
    """
    size = np.minimum(size, machine.storage_bytes)
    served = machine.storage_nodes * (machine.storage_bytes // np.maximum(size, 1))
    share = machine.storage_bytes // -(-nodes // machine.storage_nodes)
    return np.where((size > 0) & (nodes > served), share, size)


THESIS_MODEL = BurstBufferModel()
"""The published parameters, fitted to METACENTRUM-2013-3 (thesis, table 2.3, here to full precision)."""

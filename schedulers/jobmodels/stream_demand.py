"""The bandwidth that a job needs under a job model that moves its bytes: a constant rate per node, to be booked.

A job that states ``io_rate`` gives its own rate. For the others the rate follows from what the model moves: all bytes
between a job and the file system, spread over its expected duration. A rate is fixed when the job is submitted. It is
an average: transfers that run faster than it can still meet on a link. Booking ensures that no link is promised more
than it carries.

References
----------
Herbein et al., HPDC 2016 (DOI 10.1145/2907294.2907316), section 3.1: burst buffers turn bursts into a constant stream.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Protocol

from schedulers.core.job import IO_RATE_FIELD, Job
from schedulers.jobmodels.compute import flops_per_node
from schedulers.jobmodels.phased import PhasedOptions
from schedulers.jobmodels.streamed import IO_BYTES_FIELD


class StreamDemand(Protocol):
    """What the session asks for the rate of each submitted job."""

    @property
    def from_storages(self) -> bool:
        """Whether the bytes leave from storage nodes; then only links that all traffic crosses are booked
        (:meth:`schedulers.core.machine.Machine.trunk`)."""
        ...

    def __call__(self, job: Job, expected_s: float, most: float) -> int:
        """Bytes per second per node that a job is to have; 0 for none.

        Parameters
        ----------
        job
            As it was submitted.
        expected_s
            Its expected duration in seconds, infinity where there is none.
        most
            Bytes per second per node that the links carry for the job, were it the only one; only known for bytes that
            leave from storage nodes, else infinity.

        Raises
        ------
        ValueError
            The rate cannot be known (says why): the job must be rejected.
        """
        ...


@dataclass(frozen=True, slots=True)
class DeclaredStream:
    """Jobs of the model ``stream``: ``io_bytes`` per node over the whole job, unless they state ``io_rate``."""

    from_storages: ClassVar[bool] = False

    def __call__(self, job: Job, expected_s: float, most: float) -> int:
        """See :class:`StreamDemand`."""
        amount = job.extras.get(IO_BYTES_FIELD, 0)
        if job.io_rate or not isinstance(amount, int | float) or not amount > 0:
            return job.io_rate
        return stream_rate(amount, expected_s)


@dataclass(frozen=True, slots=True)
class StageStream:
    """Jobs of the IO-Aware model: what they stage in, drain and stage out.

    Attributes
    ----------
    options
        Numbers of the model.
    factor
        How many times the average rate is booked, at least 1, up to what the links carry for the job. Transfers are
        bursts, faster than their average: the more is booked, the less they meet, and the longer jobs wait.
    """

    from_storages: ClassVar[bool] = True

    options: PhasedOptions
    factor: float = 1.0

    def __call__(self, job: Job, expected_s: float, most: float) -> int:
        """See :class:`StreamDemand`; a job cannot state a rate of its own besides."""
        if job.io_rate:
            raise ValueError(
                f"it states {IO_RATE_FIELD!r}, while its stages are booked as its stream: leave out one of the two"
            )
        size = staged_bytes(job, self.options)
        average = stream_rate(size, expected_s) if size else 0
        return max(average, int(min(self.factor * average, most)))


def staged_bytes(job: Job, options: PhasedOptions) -> int:
    """Bytes per node that an IO-Aware job moves from and to the file system.

    The burst buffer once in and once out, and the drain of a checkpoint after every compute phase but the last.
    Checkpoints themselves go to storage nodes only.
    """
    if not job.bb_bytes:
        return 0
    drains = options.phases(flops_per_node(job.profile)) - 1
    return 2 * job.bb_bytes + drains * int(options.checkpoint_fraction * job.bb_bytes)


def stream_rate(size: float, expected_s: float) -> int:
    """Bytes per second that move ``size`` bytes within an expected duration (s), rounded up.

    Raises
    ------
    ValueError
        The duration is unknown, or nothing could move in it.
    """
    if not 0 < expected_s < math.inf:
        raise ValueError(
            f"the rate of its {size:.10g} bytes per node cannot be known: its expected duration is {expected_s} s"
        )
    return math.ceil(size / expected_s)

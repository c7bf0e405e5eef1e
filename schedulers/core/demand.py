"""The bandwidth of jobs whose bytes the job model moves: a constant rate over a job's life, to be booked on links.

The rate is fixed when the job is submitted. It is an average: transfers that run faster than it can still meet on a
link. Booking ensures that no more is assigned to a link than it carries.

References
----------
Herbein et al., HPDC 2016 (DOI 10.1145/2907294.2907316), section 3.1: burst buffers turn bursts into a constant stream.
"""

from __future__ import annotations

import math
from typing import Protocol

from spillway.schedulers.model.job import Job


class Demand(Protocol):
    """The bandwidth that jobs need under a job model that moves their bytes: a constant rate per node, to be booked."""

    @property
    def from_storages(self) -> bool:
        """Whether the bytes leave from storage nodes.

        If so, only links that all traffic crosses are booked (:meth:`spillway.schedulers.model.machine.Machine.trunk`).
        """
        ...

    def __call__(self, job: Job, expected_s: float, most: float) -> int:
        """Bytes per second per node that a job needs; 0 for no bandwidth.

        Parameters
        ----------
        job
            As it was submitted.
        expected_s
            Its expected duration in seconds, infinity if unknown.
        most
            Bytes per second per node that the links carry for the job without contention; only known for bytes that
            leave from storage nodes, else infinity.

        Raises
        ------
        ValueError
            The rate cannot be derived (the message gives the reason): the job must be rejected.
        """
        ...


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

"""The constant rate of bytes that a job moves over its life, to be booked on links.

The rate is fixed when the job is submitted. It is an average: transfers that run faster than it can still meet on a
link. Booking ensures that no more is assigned to a link than it carries.

References
----------
Herbein et al., HPDC 2016 (DOI 10.1145/2907294.2907316), section 3.1: burst buffers turn bursts into a constant stream.
"""

from __future__ import annotations

import math


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

"""Limits of messages, workloads and event files, in one place, so that both sides refuse the same input."""

from __future__ import annotations

LATEST_S = 2.0**33
"""Latest time and longest duration, in seconds (272 years).

Up to here a double resolves every microsecond, the unit in which Batsim prints times. Beyond it, wake-ups and bookings
shortly after now coincide with now (from 2e13 s on even ``now + 1e-3 == now``), and nothing would ever end.
"""

TIME_LIMIT_FIELD = "time_limit_s"
"""Field of a job with the time that its scheduler plans with, where its walltime is the later one of its kill."""

LONGEST_NAME = 255
"""Characters of the longest name of a job, a profile, a workload or a host."""

MOST_LEVELS = 64
"""Bandwidth levels between a host and the file system."""

DEEPEST_PROFILE = 50
"""Most levels of composed profiles; their progress must fit into a JSON text that every reader takes."""

MOST_TASKS = 10_000_000
"""Most tasks, repetitions counted, that one composed profile may unfold to."""

MOST_IDLE_CALLS = 100_000
"""Most consecutive calls that a scheduler may request while no job runs and no job is to come.

The real Batsim would continue for ever; the embedded simulator treats this as a mistake.
"""


MAX_MESSAGE_BYTES = 256 << 20
"""Largest message that either side reads unless an option says otherwise (bytes).

SIMULATION_BEGINS carries the profiles of all jobs: those of two million jobs fit, at 130 bytes each.
"""


def time_fault(value_s: float) -> str | None:
    """Fault of a time or a duration in seconds; ``None`` if it is within :data:`LATEST_S`."""
    if abs(value_s) <= LATEST_S:
        return None
    return (
        f"must be a finite number of at most {LATEST_S:.0f} s (272 years), got {value_s:.10g} s; are the times of this "
        "log in microseconds?"
    )

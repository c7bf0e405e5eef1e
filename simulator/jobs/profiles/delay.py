"""``delay``: a fixed duration, whatever the hosts."""

from __future__ import annotations

from spillway.simulator.jobs.profiles.base import DelayWork, Fields, Origin, Parsed


def parse(fields: Fields, _origin: Origin) -> Parsed:
    """Read ``delay`` (s, above 0)."""
    return Parsed(DelayWork(fields.duration("delay")))

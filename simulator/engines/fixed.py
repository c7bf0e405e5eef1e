"""Given durations: a task takes as long as its slowest host needs, without contention. For teaching and for tests.

Transfers and latencies take no time; hosts, links and memory are never contended. Such schedules show the decisions of
a scheduler without the machine's influence.
"""

from __future__ import annotations

from typing import ClassVar

import spillway.core as core
from spillway.platforms.model import Platform
from spillway.simulator.engines.native import NativeEngine


class FixedEngine(NativeEngine):
    """A task lasts max(flops / speed) over its hosts.

    Parameters
    ----------
    platform
        Only the speeds of its hosts count.
    """

    ends_at_once: ClassVar[bool] = True

    def __init__(self, platform: Platform) -> None:
        super().__init__(platform, core.FixedEngine(platform.speeds.tolist()))

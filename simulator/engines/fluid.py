"""The fluid engine: SimGrid's ``ptask_L07``, compiled; any number of engines in a process."""

from __future__ import annotations

from typing import ClassVar

import spillway.core as core
from spillway.platforms.model import Platform
from spillway.simulator.engines.native import NativeEngine


class FluidEngine(NativeEngine):
    """See :class:`spillway.simulator.engines.base.Engine`.

    Results equal SimGrid 3.32's, for the same tasks at the same instants, except for the rounding of instants at which
    ``advance`` stops without a completion. ``next_completion`` costs a copy of the engine's state.

    Parameters
    ----------
    platform
        Hosts, links and routes.
    network
        The same for the core, with the routes that it knows already, shared by engines on the same platform; by default
        the engine has its own.
    """

    ends_at_once: ClassVar[bool] = False
    _native: core.FluidEngine

    def __init__(self, platform: Platform, network: core.Network | None = None) -> None:
        super().__init__(platform, core.FluidEngine(network or network_of(platform)))

    def rate(self, handle: int) -> float:
        """Share of its work per second at which a task ran just before the clock, also one that has just ended."""
        return self._native.rate(handle)

    def check(self) -> None:
        """Check the engine's own invariants; for tests."""
        fault = self._native.check()
        assert fault is None, fault


def network_of(platform: Platform) -> core.Network:
    """The machine as the core takes it; routes are looked up when they are needed."""
    return core.Network(
        platform.speeds.tolist(),
        platform.cores.tolist(),
        platform.bandwidths.tolist(),
        platform.fatpipe.tolist(),
        platform.route,
        platform.finder.find,
        platform.alike,
    )

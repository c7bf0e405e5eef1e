"""Engines of the compiled core on a platform."""

from __future__ import annotations

import spillway.core as core
from spillway.platforms.model import Platform
from spillway.simulator.engines.io_links import io_tree


class FluidEngine(core.FluidEngine):
    """SimGrid's ``ptask_L07``; any number of engines in a process.

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

    def __init__(self, platform: Platform, network: core.Network | None = None) -> None:
        super().__init__(network or network_of(platform))


class FixedEngine(core.FixedEngine):
    """Given durations, for teaching and for tests: a task lasts max(flops / speed) over its hosts.

    Transfers and latencies take no time; hosts, links and memory are never contended. Such schedules show the decisions
    of a scheduler without the machine's influence.

    Parameters
    ----------
    platform
        Only the speeds of its hosts count.
    """

    def __init__(self, platform: Platform) -> None:
        super().__init__(platform.speeds.tolist())


class WaterfillEngine(core.WaterfillEngine):
    """Constant I/O streams beside computation, under the contention model of Herbein et al. (HPDC 2016, section 4.4).

    A task computes for ``max(flops / speed)`` over its hosts, and its transfer between a compute host and a storage
    host is a stream of constant rate over that time. If the requests of links exceed their bandwidth, it is shared by
    water-filling from the file system down, a task gets the share of its worst host, and computes at that share of its
    speed (interference factor). Transfers between compute hosts, and latencies, take no time. Streams keep their rates
    when the speed of a host changes.

    Parameters
    ----------
    platform
        Its hosts must state the links above them (``io_path``).
    whole_units
        The authors' arithmetic: bandwidth in whole MB/s.
    """

    def __init__(self, platform: Platform, whole_units: bool = False) -> None:
        stores = [host.properties.get("role") == "storage" for host in platform.hosts]
        super().__init__(platform.speeds.tolist(), stores, io_tree(platform, whole_units))


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

"""A platform as simulations use it: hosts, links, and the route between any two hosts. Never changes.

Indices used everywhere else are positions in :attr:`Platform.hosts` and :attr:`Platform.links`; both are in the order
in which the platform file creates them.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from spillway.platforms.errors import PlatformError

MEMO_LIMIT = 2_000_000
"""Most routes kept; beyond, the memo starts anew (a bound on memory, about 400 bytes each)."""

_NOTHING: Mapping[str, str] = MappingProxyType({})


class Sharing(enum.Enum):
    """Sharing policy of a link.

    A split-duplex link of the file is two links here (``_UP``, ``_DOWN``), each of them shared.
    """

    SHARED = "SHARED"
    """All users together get the bandwidth."""
    FATPIPE = "FATPIPE"
    """Each user can get the whole bandwidth, independently of the others."""


@dataclass(frozen=True, slots=True)
class Host:
    """A machine.

    Attributes
    ----------
    name
        Unique in the platform.
    speeds
        flop/s of one core, per power state; 0 is allowed (storage and master hosts).
    cores
        Number of cores, at least 1.
    properties
        The host's own properties.
    zone_properties
        Properties of the zones around it; the innermost zone takes precedence.
    pstate
        Power state at the start: position in ``speeds``.
    """

    name: str
    speeds: tuple[float, ...]
    cores: int = 1
    properties: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    zone_properties: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    pstate: int = 0

    @property
    def speed(self) -> float:
        """flop/s of one core in the initial power state."""
        return self.speeds[self.pstate]

    @property
    def role(self) -> str:
        """Batsim's role as the platform states it; ``""`` is a compute node."""
        return self.properties.get("role", "")


@dataclass(frozen=True, slots=True)
class LinkInfo:
    """A link in one direction, or in both if the file's link is not split-duplex.

    Attributes
    ----------
    name
        Unique in the platform.
    bandwidth
        bytes/s, greater than 0.
    latency
        Seconds, at least 0.
    policy
        Sharing policy.
    """

    name: str
    bandwidth: float
    latency: float
    policy: Sharing = Sharing.SHARED


@dataclass(frozen=True, slots=True)
class Route:
    """The way from one host to another: link indices in order of travel, and the sum of their latencies in s."""

    links: tuple[int, ...]
    latency: float


class RouteFinder(Protocol):
    """Finds routes that are not in the memo."""

    def find(self, src: int, dst: int) -> Route:
        """Route between two host indices; :class:`PlatformError` if the platform has no such route."""

    def alike(self) -> list[list[int]]:
        """Groups of host indices that routing is known to treat alike; a host may be in no group."""


@dataclass(frozen=True, eq=False)
class Platform:
    """All hosts and links of a machine, and its routes, found on demand and kept.

    Parameters
    ----------
    hosts, links
        Names are unique.
    finder
        Source of the routes.
    source
        File the platform was read from, for messages.

    Attributes
    ----------
    host_index, link_index
        Index by name.
    speeds, cores
        ``float64[hosts]`` flop/s per core in the initial power state, ``int64[hosts]``.
    bandwidths, latencies, fatpipe
        ``float64[links]`` bytes/s, ``float64[links]`` seconds, ``bool[links]``. All arrays are read-only.
    """

    hosts: tuple[Host, ...]
    links: tuple[LinkInfo, ...]
    finder: RouteFinder = field(repr=False)
    source: str = ""
    host_index: Mapping[str, int] = field(init=False, repr=False)
    link_index: Mapping[str, int] = field(init=False, repr=False)
    speeds: npt.NDArray[np.float64] = field(init=False, repr=False)
    cores: npt.NDArray[np.int64] = field(init=False, repr=False)
    bandwidths: npt.NDArray[np.float64] = field(init=False, repr=False)
    latencies: npt.NDArray[np.float64] = field(init=False, repr=False)
    fatpipe: npt.NDArray[np.bool_] = field(init=False, repr=False)
    _memo: dict[int, Route] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        derived: dict[str, object] = {
            "host_index": {host.name: index for index, host in enumerate(self.hosts)},
            "link_index": {link.name: index for index, link in enumerate(self.links)},
            "speeds": _frozen(np.array([host.speed for host in self.hosts], np.float64)),
            "cores": _frozen(np.array([host.cores for host in self.hosts], np.int64)),
            "bandwidths": _frozen(np.array([link.bandwidth for link in self.links], np.float64)),
            "latencies": _frozen(np.array([link.latency for link in self.links], np.float64)),
            "fatpipe": _frozen(np.array([link.policy is Sharing.FATPIPE for link in self.links], np.bool_)),
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    def route(self, src: int, dst: int) -> Route:
        """Route from host ``src`` to host ``dst`` (indices), as SimGrid 3.32 computes it.

        An empty route (no links, latency 0) is legal if the file states no route, as in SimGrid.
        """
        key = src * len(self.hosts) + dst
        found = self._memo.get(key)
        if found is None:
            if not (0 <= src < len(self.hosts) and 0 <= dst < len(self.hosts)):
                raise IndexError(f"host indices must lie in 0..{len(self.hosts) - 1}, got {src} and {dst}")
            if len(self._memo) >= MEMO_LIMIT:
                self._memo.clear()
            found = self._memo[key] = self.finder.find(src, dst)
        return found

    def alike(self) -> list[list[int]]:
        """Groups of hosts (indices) that routing treats alike by construction.

        Apart from the first link of a route from such a host and the last link of a route to it, its routes and
        latencies are those of the others of its group.
        """
        return self.finder.alike()

    def host(self, name: str) -> Host:
        """The host of that name; for an unknown name, :class:`PlatformError` lists the first five hosts."""
        index = self.host_index.get(name)
        if index is None:
            some = ", ".join(list(self.host_index)[:5])
            raise PlatformError(f"no host {name!r}; the {len(self.hosts)} hosts begin with {some}", self.source)
        return self.hosts[index]


def _frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    array.setflags(write=False)
    return array

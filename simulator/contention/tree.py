"""The links between compute hosts and the parallel file system, and what each host gets through them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from platforms.io_paths import path_of
from platforms.model import Platform
from schedulers.errors import shown
from simulator.contention.sharing import water_fill
from simulator.errors import SimulatorInputError

UNIT_BYTES_PER_S = 1_000_000
"""1 MB/s: the unit of the authors' emulator."""


@dataclass(frozen=True, slots=True)
class IoLink:
    """One level instance; ``parent`` is its position in the tree, -1 at a root."""

    name: str
    bytes_per_s: int
    parent: int


@dataclass(slots=True)
class IoTree:
    """A tree (or several) of links above the hosts of a platform.

    Attributes
    ----------
    links
        Every link after its parent.
    above
        For each host the innermost link above it, -1 for none.
    whole_units
        Whether shares are cut to whole MB/s (:func:`simulator.contention.sharing.water_fill`).
    """

    links: tuple[IoLink, ...]
    above: tuple[int, ...]
    whole_units: bool = False
    _requested: list[int] = field(init=False)
    _over: set[int] = field(init=False, default_factory=set)
    _inner: list[list[int]] = field(init=False)
    _hosts: list[list[int]] = field(init=False)

    def __post_init__(self) -> None:
        self._requested = [0] * len(self.links)
        self._inner = [[] for _ in self.links]
        self._hosts = [[] for _ in self.links]
        for index, link in enumerate(self.links):
            if link.parent >= 0:
                self._inner[link.parent].append(index)
        for host, link_index in enumerate(self.above):
            if link_index >= 0:
                self._hosts[link_index].append(host)

    @classmethod
    def from_platform(cls, platform: Platform, whole_units: bool = False) -> IoTree:
        """Read the tree from the property ``io_path`` of hosts or zones (``pfs=7e10/pool=4.32e11/edge3=2.16e11``), or
        ``io_levels`` of zones (:func:`platforms.io_paths.path_of`).

        Raises
        ------
        SimulatorInputError
            No host has such a property, or one is malformed.
        """
        links: list[IoLink] = []
        index: dict[tuple[str, ...], int] = {}
        above = []
        for host in platform.hosts:
            text = path_of(host)
            path: tuple[str, ...] = ()
            parent = -1
            for part in filter(None, text.split("/")):
                name, _, value = part.partition("=")
                path += (name,)
                if path not in index:
                    index[path] = len(links)
                    links.append(IoLink(name, _bandwidth(host.name, name, value), parent))
                parent = index[path]
            above.append(parent)
        if not links:
            raise SimulatorInputError(
                "the engine 'waterfill' needs a platform whose hosts state the links above them (property 'io_path'); "
                "this one has none: use a description with a [pfs] link, or the engine 'fluid'"
            )
        return cls(tuple(links), tuple(above), whole_units)

    def change_demand(self, host: int, bytes_per_s: int) -> None:
        """Add to (or, below 0, take from) the bandwidth that a host requests of the links above it."""
        link = self.above[host]
        requested, links = self._requested, self.links
        while link >= 0:
            requested[link] += bytes_per_s
            if requested[link] > links[link].bytes_per_s:
                self._over.add(link)
            else:
                self._over.discard(link)
            link = links[link].parent

    @property
    def contended(self) -> bool:
        """Whether more is requested of any link than it has."""
        return bool(self._over)

    def grants(self, requests: dict[int, int]) -> dict[int, float]:
        """Bandwidth (bytes/s) that each host gets, from the roots down.

        Parameters
        ----------
        requests
            Request of each host; the same as given to :meth:`change_demand`.

        Notes
        -----
        A link shares the smaller of its own bandwidth and what its parent gave it. Children request the sum of what
        the hosts below them request, also where that is more than they can carry: the authors' emulator does so.
        """
        unit = UNIT_BYTES_PER_S if self.whole_units else 1
        granted: dict[int, float] = {host: demand for host, demand in requests.items() if self.above[host] < 0}
        given: list[float] = [0.0] * len(self.links)
        for index, link in enumerate(self.links):
            if not self._requested[index]:
                continue
            if link.parent < 0:
                given[index] = self._requested[index]
            peak = min(given[index], link.bytes_per_s)
            inner = [child for child in self._inner[index] if self._requested[child]]
            hosts = [host for host in self._hosts[index] if host in requests]
            if self._requested[index] <= peak:
                for child in inner:
                    given[child] = self._requested[child]
                for host in hosts:
                    granted[host] = requests[host]
                continue
            requested: list[float] = [self._requested[child] / unit for child in inner]
            requested += [requests[host] / unit for host in hosts]
            shares = water_fill(requested, peak / unit, self.whole_units)
            for child, share in zip(inner, shares, strict=False):
                given[child] = share * unit
            for host, share in zip(hosts, shares[len(inner) :], strict=True):
                granted[host] = share * unit
        return granted


def job_bandwidth(grants: Sequence[float]) -> float:
    """Bandwidth per node of a synchronous job: the least that one of its nodes gets (sections 3.3 and 4.4)."""
    return min(grants)


def interference_factor(actual: float, requested: float) -> float:
    """Share of the time that a job computes: 1 where it gets what it requests, else ``actual / requested``."""
    return 1.0 if actual >= requested else actual / requested


def _bandwidth(host: str, level: str, text: str) -> int:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < 2**62:
        raise SimulatorInputError(
            f"host {shown(host)}: property 'io_path': level {shown(level)} must state bytes per second "
            f"above 0, got {shown(text)}"
        )
    return int(value)

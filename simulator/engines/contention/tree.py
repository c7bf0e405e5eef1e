"""The links between compute hosts and the parallel file system, and each host's share of their bandwidth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from spillway.base.errors import shown
from spillway.platforms.io_paths import path_of
from spillway.platforms.model import Platform
from spillway.simulator.engines.contention.sharing import water_fill
from spillway.simulator.errors import SimulatorInputError

_UNIT_BYTES_PER_S = 1_000_000
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
        The innermost link above each host, or -1.
    whole_units
        Whether shares are cut to whole MB/s (:func:`spillway.simulator.engines.contention.sharing.water_fill`).
    """

    links: tuple[IoLink, ...]
    above: tuple[int, ...]
    whole_units: bool = False
    _requested: list[int] = field(init=False)
    _over: set[int] = field(init=False, default_factory=set)
    _inner: list[list[int]] = field(init=False)
    _below: list[dict[int, int]] = field(init=False)  # requests of the hosts right below each link
    _rates: list[dict[int, int]] = field(init=False)  # number of these hosts by request

    def __post_init__(self) -> None:
        self._requested = [0] * len(self.links)
        self._inner = [[] for _ in self.links]
        self._below = [{} for _ in self.links]
        self._rates = [{} for _ in self.links]
        for index, link in enumerate(self.links):
            if link.parent >= 0:
                self._inner[link.parent].append(index)

    @classmethod
    def from_platform(cls, platform: Platform, whole_units: bool = False) -> IoTree:
        """Read the tree from properties of hosts or zones (:func:`spillway.platforms.io_paths.path_of`).

        The property is ``io_path`` (``pfs=7e10/pool=4.32e11/edge3=2.16e11``), or ``io_levels`` of zones.

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
                "the engine 'waterfill' needs hosts that state the links above them (property 'io_path'); no host of "
                "this platform does: use a description with a [pfs] link, or the engine 'fluid'"
            )
        return cls(tuple(links), tuple(above), whole_units)

    def change_demand(self, rates: Mapping[int, int], sign: int = 1) -> None:
        """Add to (``sign`` -1: take from) the bandwidth that hosts request of the links above them, bytes/s by host."""
        changes: dict[int, int] = {}
        for host, rate in rates.items():
            link = self.above[host]
            if link >= 0:
                self._request(link, host, sign * rate)
                changes[link] = changes.get(link, 0) + sign * rate
        requested, links = self._requested, self.links
        for innermost, change in changes.items():
            link = innermost
            while link >= 0:
                requested[link] += change
                if requested[link] > links[link].bytes_per_s:
                    self._over.add(link)
                else:
                    self._over.discard(link)
                link = links[link].parent

    def _request(self, link: int, host: int, change: int) -> None:
        below, rates = self._below[link], self._rates[link]
        old = below.get(host, 0)
        new = below[host] = old + change
        if old:
            rates[old] -= 1
            if not rates[old]:
                del rates[old]
        if new:
            rates[new] = rates.get(new, 0) + 1
        else:
            del below[host]

    @property
    def contended(self) -> bool:
        """Whether the requests of any link exceed its bandwidth."""
        return bool(self._over)

    def factors(self) -> list[float | dict[int, float]]:
        """Interference factors of the hosts right below each link: a number if all have the same, else by host.

        Notes
        -----
        From the roots down, a link shares the smaller of its own bandwidth and its parent's share. Children request
        the sum of the requests of the hosts below them, even beyond their own bandwidth, as in the authors' emulator.
        """
        unit = _UNIT_BYTES_PER_S if self.whole_units else 1
        found: list[float | dict[int, float]] = [1.0] * len(self.links)
        given: list[float] = [0.0] * len(self.links)
        for index, link in enumerate(self.links):
            if not self._requested[index]:
                continue
            if link.parent < 0:
                given[index] = self._requested[index]
            peak = min(given[index], link.bytes_per_s)
            inner = [child for child in self._inner[index] if self._requested[child]]
            if self._requested[index] <= peak:
                for child in inner:
                    given[child] = self._requested[child]
                continue
            if not inner and not self.whole_units and len(self._rates[index]) == 1:
                rate = next(iter(self._rates[index]))  # equal requests get equal shares, without a list of them
                found[index] = interference_factor(peak / len(self._below[index]), rate)
                continue
            below = self._below[index]
            hosts = sorted(below)
            requested = [self._requested[child] / unit for child in inner] + [below[host] / unit for host in hosts]
            shares = water_fill(requested, peak / unit, self.whole_units)
            for child, share in zip(inner, shares, strict=False):
                given[child] = share * unit
            rest = zip(hosts, shares[len(inner) :], strict=True)
            found[index] = {host: interference_factor(share * unit, below[host]) for host, share in rest}
        return found


def interference_factor(actual: float, requested: float) -> float:
    """Share of the time that a job computes: 1 if it gets its request, else ``actual / requested``."""
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

"""Hosts that routing treats alike, found from the routes themselves.

Two hosts are alike when, apart from the links that only lead to and from the host itself, the routes between either of
them and any third host are the same: the hosts of one router of a Dragonfly, all hosts of a star (not those of a
fat-tree's leaf: its routes choose ports by the very host that they lead to). A route between hosts of groups ``g`` and
``h`` then is: links up from the source, the core from ``g`` to ``h``, links down to the destination; an all-to-all can
be counted by groups instead of by pairs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, chain
from typing import NamedTuple, Protocol

import numpy as np

from spillway.platforms.model import Platform
from spillway.simulator.engines.fluid_state import Array

MOST_HOSTS = 512
"""Most hosts to compare all routes of; beyond, only groups by construction are used (:class:`KnownGroups`)."""
_MOST_GROUPS = 2048
"""Most groups by construction; beyond, no groups are used, because there is a core for each pair of them."""
_LEAST_GAIN = 1.5
"""Fewest hosts per group; below, pairs are counted."""


class _Route(Protocol):
    @property
    def links(self) -> tuple[int, ...]: ...

    @property
    def latency(self) -> float: ...


class RouteGroups(NamedTuple):
    """Groups as arrays for kernels.

    Attributes
    ----------
    group
        ``int64[hosts]``, -1 for hosts that were not examined.
    begins, links
        Parts of routes one behind the other, and the begin of each: the way up of each host, then the way down to each
        host, then the core of each pair of groups (row: source).
    latencies
        Seconds of the whole route, by pair of groups.
    """

    group: Array
    begins: Array
    links: Array
    latencies: Array


def no_groups(hosts: int) -> RouteGroups:
    """Arrays without any known group."""
    return RouteGroups(np.full(hosts, -1), np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0))


def find_groups(route: Callable[[int, int], _Route], members: Sequence[int], hosts: int) -> RouteGroups | None:
    """Group some hosts of a platform; ``None`` if that gains nothing.

    Parameters
    ----------
    route
        Route between two host indices.
    members
        The hosts to examine.
    hosts
        Number of all hosts.
    """
    n = len(members)
    if not 2 < n <= MOST_HOSTS:
        return None
    routes = [[route(src, dst) for dst in members] for src in members]
    links = [[found.links for found in row] for row in routes]
    ends = _ends(links, sys.maxsize) or _ends(links, 1)
    if ends is None:
        return None
    ups, downs = ends
    numbers: dict[tuple[tuple[int, ...], float], int] = {}
    core = np.full((n, n), -1)
    for i in range(n):
        for j in range(n):
            if i != j:
                middle = links[i][j][ups[i] : len(links[i][j]) - downs[j]]
                core[i, j] = numbers.setdefault((middle, routes[i][j].latency), len(numbers))
    groups = _alike(core)
    if n < _LEAST_GAIN * len(groups):
        return None
    known = list(numbers)
    parts: list[tuple[int, ...]] = [()] * (2 * hosts)
    group = np.full(hosts, -1)
    for number, alike in enumerate(groups):
        for i in alike:
            other = 0 if i else 1
            group[members[i]] = number
            parts[members[i]] = links[i][other][: ups[i]]
            parts[hosts + members[i]] = links[other][i][len(links[other][i]) - downs[i] :]
    latencies = np.zeros(len(groups) ** 2)
    for place, (g, h) in enumerate((g, h) for g in groups for h in groups):
        pair = core[g[0], h[0] if g is not h else h[-1]]
        middle, latencies[place] = known[pair] if pair >= 0 else ((), 0.0)
        parts.append(middle)
    begins = np.fromiter(accumulate(map(len, parts), initial=0), np.int64, len(parts) + 1)
    return RouteGroups(group, begins, np.array([link for part in parts for link in part], np.int32), latencies)


class KnownGroups:
    """Groups of a large machine by the construction of its routes, only for the hosts in use.

    Each host's way up and way down are the first and the last link of its routes; that these and the core between two
    groups make up a route is checked once for each host and direction, inside and outside of its group.

    Parameters
    ----------
    platform
        Hosts and routes.
    """

    def __init__(self, platform: Platform) -> None:
        self._find = platform.finder.find  # each pair is looked up once: nothing is gained by keeping the routes
        self._hosts = len(platform.hosts)
        self._groups = sorted(platform.alike(), key=len, reverse=True)  # single hosts last
        self._group_of = {host: number for number, alike in enumerate(self._groups) for host in alike}
        self._used: list[list[int]] = []
        self._cores: dict[tuple[int, int], _Route] = {}
        self._parts: list[tuple[int, ...]] = [()] * (2 * self._hosts)
        self._group = np.full(self._hosts, -1)

    def include(self, members: Iterable[int]) -> RouteGroups | None:
        """The groups in use, these hosts' included; ``None`` if one of them has no group, or nothing is gained."""
        found = sorted({self._group_of.get(host, -1) for host in members})
        new = [number for number in found if number >= 0 and self._group[self._groups[number][0]] < 0]
        if not new or found[0] < 0 or len(self._used) + len(new) > _MOST_GROUPS:
            return None
        if not self._used and len(self._groups[new[0]]) == 1:
            return None
        if not all(self._add(self._groups[number]) for number in new):
            self._group_of.clear()
            return None
        count = len(self._used)
        cores = [self._cores[g, h] for g in range(count) for h in range(count)]
        parts = [*self._parts, *(core.links[1:-1] for core in cores)]
        begins = np.fromiter(accumulate(map(len, parts), initial=0), np.int64, len(parts) + 1)
        links = np.fromiter(chain.from_iterable(parts), np.int32, int(begins[-1]))
        return RouteGroups(self._group.copy(), begins, links, np.array([core.latency for core in cores]))

    def _add(self, alike: list[int]) -> bool:
        """Add a group; return false if its routes contradict the platform's construction."""
        number, find = len(self._used), self._find
        self._used.append(alike)
        second = alike[1] if len(alike) > 1 else self._used[0][0]
        self._cores[number, number] = find(alike[0], second)  # unused for a single host
        for other, group in enumerate(self._used[:-1]):
            self._cores[number, other], self._cores[other, number] = find(alike[0], group[0]), find(group[0], alike[0])
        for host in alike:
            near = alike[0] if host != alike[0] else second
            up, down = find(host, near).links[:1], find(near, host).links[-1:]
            self._group[host], self._parts[host], self._parts[self._hosts + host] = number, up, down
            ends = [(near, number)] * (len(alike) > 1) + [(self._used[0][0], 0)] * (number > 0)
            if not all(self._fits(host, number, other, group, up, down) for other, group in ends):
                return False
        return True

    def _fits(self, host: int, number: int, other: int, group: int, up: tuple[int, ...], down: tuple[int, ...]) -> bool:
        there, back = self._find(host, other), self._find(other, host)
        core, core_back = self._cores[number, group], self._cores[group, number]
        return (
            min(len(core.links), len(core_back.links)) > 1
            and there.links[:-1] == up + core.links[1:-1]
            and back.links[1:] == core_back.links[1:-1] + down
            and (there.latency, back.latency) == (core.latency, core_back.latency)
        )


def _ends(links: list[list[tuple[int, ...]]], longest: int) -> tuple[list[int], list[int]] | None:
    """Numbers of first links that all routes from a host share, and of last links to it; ``None`` if they overlap."""
    n = len(links)
    ups = [min(longest, _common([links[i][j] for j in range(n) if j != i])) for i in range(n)]
    downs = [min(longest, _common([links[i][j][::-1] for i in range(n) if i != j])) for j in range(n)]
    fits = all(ups[i] + downs[j] <= len(links[i][j]) for i in range(n) for j in range(n) if i != j)
    return (ups, downs) if fits else None


def _common(sequences: list[tuple[int, ...]]) -> int:
    """Length of the common beginning of all sequences."""
    first, last = min(sequences), max(sequences)
    length = 0
    while length < min(len(first), len(last)) and first[length] == last[length]:
        length += 1
    return length


def _alike(core: Array) -> list[list[int]]:
    """Partition hosts so that the core of a route depends on the groups of its ends only."""
    groups: list[list[int]] = []
    for host in range(len(core)):
        for group in groups:
            first = group[0]
            alone = len(group) == 1
            if _interchangeable(core, first, host) and (alone or core[first, host] == core[first, group[1]]):
                group.append(host)
                break
        else:
            groups.append([host])
    return groups


def _interchangeable(core: Array, one: int, other: int) -> bool:
    third = np.ones(len(core), bool)
    third[[one, other]] = False
    return bool(
        core[one, other] == core[other, one]
        and (core[one, third] == core[other, third]).all()
        and (core[third, one] == core[third, other]).all()
    )

"""Hosts that routing treats alike, found from the routes themselves.

Two hosts are alike when, apart from the links that only lead to and from the host itself, the routes between either of
them and any third host are the same: the hosts of one router of a Dragonfly, all hosts of a star (not those of a
fat-tree's leaf: its routes choose ports by the very host that they lead to). A route between hosts of groups ``g`` and
``h`` then is: links up from the source, the core from ``g`` to ``h``, links down to the destination; an all-to-all can
be counted by groups instead of by pairs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import NamedTuple, Protocol

import numpy as np

from simulator.engines.fluid_state import Array

MOST_HOSTS = 512
"""Hosts beyond which groups are not looked for: all routes between them are compared."""
LEAST_GAIN = 1.5
"""Hosts per group below which counting pairs is kept."""


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
        ``int64[hosts]``, -1 for hosts that were not looked at.
    begins, links
        Parts of routes one behind the other, and where each begins: the way up of each host, then the way down to each
        host, then the core of each pair of groups (row: source).
    latencies
        Seconds of the whole route, by pair of groups.
    """

    group: Array
    begins: Array
    links: Array
    latencies: Array


def no_groups(hosts: int) -> RouteGroups:
    """Nothing known."""
    return RouteGroups(np.full(hosts, -1), np.zeros(1, np.int64), np.zeros(0, np.int32), np.zeros(0))


def find_groups(route: Callable[[int, int], _Route], members: Sequence[int], hosts: int) -> RouteGroups | None:
    """Group some hosts of a platform; None where that gains nothing.

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
    if n < LEAST_GAIN * len(groups):
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


def _ends(links: list[list[tuple[int, ...]]], longest: int) -> tuple[list[int], list[int]] | None:
    """How many links all routes from each host begin with, and all to it end with; None if they overlap."""
    n = len(links)
    ups = [min(longest, _common([links[i][j] for j in range(n) if j != i])) for i in range(n)]
    downs = [min(longest, _common([links[i][j][::-1] for i in range(n) if i != j])) for j in range(n)]
    fits = all(ups[i] + downs[j] <= len(links[i][j]) for i in range(n) for j in range(n) if i != j)
    return (ups, downs) if fits else None


def _common(sequences: list[tuple[int, ...]]) -> int:
    """How many items all sequences begin with."""
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

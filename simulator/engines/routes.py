"""The routes of a platform as arrays for kernels, filled on demand.

Every ordered host pair has a key, ``source * hosts + destination``; a hash table leads from keys to routes, so that
memory follows the pairs in use and not the square of the machine. Groups of hosts that routing treats alike
(:mod:`spillway.simulator.engines.route_groups`) are kept, too; they are searched for once all-to-alls have visited so
many pairs that the search is cheap in comparison.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numba as nb
import numpy as np

from spillway.platforms.model import Platform, Route
from spillway.simulator.engines.fluid_state import Array, kernel
from spillway.simulator.engines.route_groups import MOST_HOSTS, KnownGroups, find_groups, no_groups

MANY = 1000
"""Fewest routes missing at once for which a machine too large for a search uses its known groups."""
_VISITS_BEFORE_SEARCH = 20
"""Mean number of visits of each pair of hosts before groups are searched for."""
_F1, _I1, _S1 = nb.float64[::1], nb.int64[::1], nb.int32[::1]
ROUTES = nb.types.Tuple((_I1, _S1, _I1, _S1, _F1, _I1, _I1, _S1, _F1, _I1))
"""Hash keys, route ids; begin of each route in the links, links, latencies in s; groups, as in ``RouteGroups``; notes:
pairs visited by all-to-alls, then 1 for every host that took part in one."""
_MIX = 0x9E3779B97F4A7C15  # 2**64 / golden ratio: spreads neighbouring keys
_SHIFT = 40


@kernel(nb.int64(nb.int64[::1], nb.int64))
def place_of(keys: Any, key: int) -> int:
    """Place of a key in the hash table, or the empty place for it; the table is never full."""
    mask = len(keys) - 1
    place = int((np.uint64(key) * np.uint64(_MIX)) >> np.uint64(_SHIFT)) & mask
    while keys[place] != key and keys[place] >= 0:
        place = (place + 1) & mask
    return place


@kernel(nb.void(nb.int64[::1], nb.int32[::1], nb.int64[::1], nb.int64))
def _enter(keys: Any, ids: Any, stored: Any, first: int) -> None:
    """Enter keys from a position on into a hash table that has those before; the id of each is its position."""
    for position in range(first, len(stored)):
        place = place_of(keys, stored[position])
        keys[place] = stored[position]
        ids[place] = position


class RouteTable:
    """Routes of one platform; engines on the same platform may share it.

    Parameters
    ----------
    platform
        Source of the routes.

    Attributes
    ----------
    arrays
        Arguments of kernels (:data:`ROUTES`).
    """

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._hosts = len(platform.hosts)
        self._stored = np.zeros(64, np.int64)
        self._begins = np.zeros(65, np.int64)
        self._latencies = np.zeros(64)
        self._links = np.zeros(256, np.int32)
        self._count = 0
        self._keys = np.full(256, -1, np.int64)
        self._ids = np.zeros(256, np.int32)
        self._notes = np.zeros(1 + self._hosts, np.int64)
        self._next_search = 0
        self._known: KnownGroups | None = None
        self._groups = no_groups(self._hosts)
        self._pack()

    def _pack(self) -> None:
        own = (self._keys, self._ids, self._begins, self._links, self._latencies)
        self.arrays = (*own, *self._groups, self._notes)

    def look_for_groups(self) -> None:
        """Search for groups among the hosts that took part in all-to-alls, if enough of their pairs were visited."""
        if self._notes[0] < self._next_search:
            return
        members = np.flatnonzero(self._notes[1:]).tolist()
        price = _VISITS_BEFORE_SEARCH * len(members) ** 2
        if self._notes[0] >= price:
            self.group(members)
            price *= 2  # only new hosts can justify the next search
            self._notes[0] = 0
        self._next_search = price

    def group(self, members: Sequence[int]) -> None:
        """Count all-to-alls among these hosts by groups from now on, if routing treats some of them alike."""
        groups = find_groups(self._platform.route, members, self._hosts)
        if groups is not None:
            self._groups = groups
            self._pack()

    def add(self, keys: Sequence[int]) -> None:
        """Store the platform's routes of pairs that are not stored yet; many routes of a large machine by groups."""
        if self._hosts > MOST_HOSTS and len(keys) >= MANY:
            self._known = self._known or KnownGroups(self._platform)
            known = self._known.include({host for key in keys for host in divmod(key, self._hosts)})
            if known is not None:
                self._groups = known
                self._pack()
                return
        new = [key for key in dict.fromkeys(keys) if self._keys[place_of(self._keys, key)] < 0]
        self._append(new, [self._platform.route(*divmod(key, self._hosts)) for key in new])
        self._pack()

    def _append(self, keys: list[int], routes: list[Route]) -> None:
        first, count = self._count, self._count + len(keys)
        links = list(itertools.chain.from_iterable(route.links for route in routes))
        begin = int(self._begins[first])
        self._stored = _long_enough(self._stored, count)
        self._latencies = _long_enough(self._latencies, count)
        self._begins = _long_enough(self._begins, count + 1)
        self._links = _long_enough(self._links, begin + len(links))
        self._stored[first:count] = keys
        self._latencies[first:count] = [route.latency for route in routes]
        self._links[begin : begin + len(links)] = links
        self._begins[first + 1 : count + 1] = begin + np.cumsum([len(route.links) for route in routes], dtype=np.int64)
        self._count = count
        places = len(self._keys)
        while 2 * count > places:
            places *= 4
        if places > len(self._keys):
            self._keys, self._ids, first = np.full(places, -1, np.int64), np.zeros(places, np.int32), 0
        _enter(self._keys, self._ids, self._stored[:count], first)


def _long_enough(array: Array, size: int) -> Array:
    """The array, or a longer copy with zeros behind, of at least ``size`` elements."""
    if size <= len(array):
        return array
    longer: Array = np.zeros(max(size, 2 * len(array)), array.dtype)
    longer[: len(array)] = array
    return longer

"""Paths of bytes to the parallel file system: the shared links of every host's route, as levels of a tree.

Schedulers book bandwidth at levels that form a tree: the streams of two hosts share all levels above the place where
they meet. A level is a link of the platform that can bind. Left out are

* fat pipes, because their users do not share;
* links of a single host (a node's own cable), unless they are requested;
* links that bind later than another one: all their users also cross a link that is no wider. The link next to the file
  system that all hosts cross is kept in any case, because the traffic of others is subtracted from it.

The remaining levels must be nested: of two levels with a common user one has all users of the other. Other routes (such
as those of hosts on one switch that choose between two spines) share bandwidth in a way that no tree can state.

References
----------
Herbein et al., HPDC 2016, section 3.3 (DOI 10.1145/2907294.2907316): the levels that are scheduled.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from spillway.platforms.errors import PlatformError
from spillway.platforms.model import Host, Platform, Sharing

IO_PATH = "io_path"
"""Property with a host's levels, outermost first: ``name=bytes_per_s`` separated by ``/``."""

IO_LEVELS = "io_levels"
"""Property of a zone with the levels of all its hosts, outer ones first, separated by ``;``: ``name=bytes_per_s``, then
``:0-3,7`` if only the hosts with these numbers in their names are below the level."""


@dataclass(frozen=True, slots=True)
class IoLevel:
    """A link that schedulers count.

    Attributes
    ----------
    name
        Name of the link; ``/`` and ``=`` are replaced by ``_``.
    bytes_per_s
        Its bandwidth, whole bytes per second.
    """

    name: str
    bytes_per_s: int


def io_path(levels: Iterable[IoLevel]) -> str:
    """Text of the property :data:`IO_PATH`."""
    return "/".join(f"{level.name}={level.bytes_per_s}" for level in levels)


def path_of(host: Host) -> str:
    """Levels that a host or its zone states, in the form of :data:`IO_PATH`; ``""`` if it states no level.

    Raises
    ------
    PlatformError
        The zone's statement is malformed.
    """
    stated = {**host.zone_properties, **host.properties}
    if IO_PATH in stated or IO_LEVELS not in stated:
        return stated.get(IO_PATH, "")
    number = number_of(host.name)
    levels = [part.partition(":") for part in stated[IO_LEVELS].split(";")]
    try:
        return "/".join(level for level, _, numbers in levels if not numbers or _contains(numbers, number))
    except ValueError:
        raise PlatformError(
            f"host {host.name!r}: property {IO_LEVELS!r}: expected name=bytes_per_s:numbers, got {stated[IO_LEVELS]!r}"
        ) from None


def number_of(name: str) -> int:
    """The last number in a host's name, or -1."""
    digits = re.search(r"(\d+)\D*$", name)
    return int(digits[1]) if digits else -1


def io_levels_text(paths: Mapping[int, Sequence[str]]) -> str:
    """Text of the property :data:`IO_LEVELS`.

    Parameters
    ----------
    paths
        Levels by the number of the host (``name=bytes_per_s``), outermost first.
    """
    below: dict[str, list[int]] = {}
    for number in sorted(paths):
        for level in paths[number]:
            below.setdefault(level, []).append(number)
    levels = sorted(below, key=lambda level: -len(below[level]))  # an outer level has more hosts; else as met
    return ";".join(
        level if len(below[level]) == len(paths) else f"{level}:{_ranges(below[level])}" for level in levels
    )


def _ranges(numbers: Sequence[int]) -> str:
    """Ascending numbers as ``0-3,7``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(f"{first}-{last}" if last > first else str(first) for first, last in runs)


def _contains(ranges: str, number: int) -> bool:
    for part in ranges.split(","):
        first, _, last = part.partition("-")
        if int(first) <= number <= int(last or first):
            return True
    return False


def _file_system_of(platform: Platform, name: str = "") -> int:
    """Index of the file system's host.

    Parameters
    ----------
    name
        Name of the host; default: the first storage host with ``storage_kind`` ``pfs``, or without a kind and with a
        name that begins with ``pfs`` (the rule of the scheduler).

    Raises
    ------
    PlatformError
        There is no such host.
    """
    if name:
        platform.host(name)
        return platform.host_index[name]
    for index, host in enumerate(platform.hosts):
        if _is_file_system(host):
            return index
    raise PlatformError(
        "no host is a parallel file system (role storage, and storage_kind pfs or a name that begins with pfs)",
        platform.source,
    )


def has_file_system(platform: Platform) -> bool:
    """Whether a host is the parallel file system by :func:`_file_system_of`'s rule."""
    return any(_is_file_system(host) for host in platform.hosts)


def io_levels(platform: Platform, file_system: str = "", *, own_links: bool = False) -> Mapping[int, Sequence[IoLevel]]:
    """Levels between each compute or storage host and the file system, outermost first, by host index.

    Parameters
    ----------
    file_system
        See :func:`_file_system_of`.
    own_links
        Whether links of a single host are levels, too.

    Raises
    ------
    PlatformError
        There is no file system, a host has no route to it, no shared link is on the way, or the routes form no tree.
    """
    target = _file_system_of(platform, file_system)
    hosts = [
        index
        for index, host in enumerate(platform.hosts)
        if index != target and host.role in ("", "compute_node", "storage") and not _is_file_system(host)
    ]
    if not hosts:
        raise PlatformError("no host besides the file system computes or stores", platform.source)
    ways = _Routes(platform, hosts, [_shared_links(platform, host, target) for host in hosts])
    kept = {link for link in ways.users if ways.binds(link) and (own_links or ways.is_shared(link))}
    names = _names(platform, kept)
    return {
        host: [IoLevel(names[link], int(platform.links[link].bandwidth)) for link in ways.nested(rank, kept)]
        for rank, host in enumerate(hosts)
    }


class _Routes:
    """Routes to the file system, and the users of each link.

    Parameters
    ----------
    hosts
        Index of each route's host.
    links
        Links of each route, the file system's first.

    Attributes
    ----------
    users
        Routes that cross each link, as bits by their rank.
    """

    def __init__(self, platform: Platform, hosts: Sequence[int], links: Sequence[Sequence[int]]) -> None:
        self._platform = platform
        self._hosts = hosts
        self._links = links
        members: dict[int, bytearray] = {}
        for rank, way in enumerate(links):
            for link in way:
                bits = members.setdefault(link, bytearray(-(-len(links) // 8)))
                bits[rank >> 3] |= 1 << (rank & 7)
        self.users: dict[int, int] = {link: int.from_bytes(bits, "little") for link, bits in members.items()}

    def is_shared(self, link: int) -> bool:
        """Whether more than one host uses the link, or there is only one host."""
        return self.users[link].bit_count() > 1 or len(self._hosts) == 1

    def binds(self, link: int) -> bool:
        """Whether no other link that all its users cross binds first, or it is the file system's own."""
        mine, width = self.users[link], self._platform.links[link].bandwidth
        way = self._links[_lowest(mine)]
        place = way.index(link)
        if place == 0 and mine.bit_count() == len(self._hosts):
            return True
        for position, other in enumerate(way):
            if other == link or mine & ~self.users[other]:
                continue
            other_width = self._platform.links[other].bandwidth
            if other_width < width or (other_width == width and (mine != self.users[other] or position < place)):
                return False
        return True

    def nested(self, rank: int, kept: Collection[int]) -> list[int]:
        """The kept links of a route from the outside in; :class:`PlatformError` if they do not nest."""
        chain = [link for link in self._links[rank] if link in kept]
        chain.sort(key=lambda link: -self.users[link].bit_count())  # stable: equals stay from the outside in
        name = self._platform.hosts[self._hosts[rank]].name
        if not chain:
            raise PlatformError(f"no shared link lies between {name!r} and the file system", self._platform.source)
        for outer, inner in pairwise(chain):
            astray = self.users[inner] & ~self.users[outer]
            if astray:
                other = self._platform.hosts[self._hosts[_lowest(astray)]].name
                first, second = (self._platform.links[link].name for link in (outer, inner))
                raise PlatformError(
                    f"the routes to the file system form no tree: {name!r} crosses the links {first!r} and {second!r}, "
                    f"{other!r} only the second; such bandwidth cannot be scheduled by levels",
                    self._platform.source,
                )
        return chain


def _is_file_system(host: Host) -> bool:
    kind = host.properties.get("storage_kind") or ("pfs" if host.name.startswith("pfs") else "")
    return host.role == "storage" and kind == "pfs"


def _shared_links(platform: Platform, host: int, target: int) -> list[int]:
    """Links of the route except fat pipes, the file system's first; each one once."""
    route = platform.route(host, target).links
    if not route:
        ends = f"{platform.hosts[host].name!r} to {platform.hosts[target].name!r}"
        raise PlatformError(f"there is no way from {ends}: the route has no links", platform.source)
    return list(dict.fromkeys(link for link in reversed(route) if platform.links[link].policy is not Sharing.FATPIPE))


def _lowest(bits: int) -> int:
    """Rank of the lowest bit."""
    return (bits & -bits).bit_length() - 1


def _names(platform: Platform, links: Iterable[int]) -> dict[int, str]:
    """A unique name for every link, without the separators of a path."""
    names: dict[int, str] = {}
    taken: set[str] = set()
    for link in sorted(links):
        base = name = re.sub(r"[/=]", "_", platform.links[link].name)
        number = 1
        while name in taken:
            number += 1
            name = f"{base}~{number}"
        taken.add(name)
        names[link] = name
    return names

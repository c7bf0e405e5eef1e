"""A machine in a few lines of TOML: its tables and keys, with units, ranges and defaults.

A description has a ``topology`` and the table that goes with it (``dragonfly``, or ``cluster`` for a tree), and
tables common to all. ``base = "NAME"`` starts from another description, key by key. Quantities are texts with
SimGrid's units (``"1250MBps"``, ``"50us"``, ``"1Gf"``, ``"40GB"``) or numbers in bytes/s, s, flop/s, bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spillway.base.errors import OptionError
from spillway.base.files import parse_toml
from spillway.base.limits import HOSTS, InputError
from spillway.base.options import Form, option, required
from spillway.base.tables import read_table
from spillway.platforms.description.forms import BANDWIDTH, BYTES, HOST_NAMES, LATENCY, NAME, SPEED, WATTS
from spillway.platforms.errors import PlatformError

_MOST = 1_000_000
"""Largest value of every count."""


def _written(form: Form, default: str, *, help: str) -> Any:
    """An option that is written in a form, like its default."""
    return option(form.read(default), form=form, help=help)


@dataclass(frozen=True, slots=True)
class Nodes:
    """Compute nodes (table ``node``)."""

    prefix: str = _written(NAME, "node_", help="names of nodes are prefix and number")
    speed: float = _written(SPEED, "1Gf", help="speed of a core")
    cores: int = option(1, low=1, high=100_000, help="cores of a node")
    loopback: float = _written(
        BANDWIDTH,
        "1000MBps",
        help="bandwidth of a node's link to itself (fat pipe, no latency). In a tree only the servers have one; a "
        "node sends to itself through its switch",
    )


@dataclass(frozen=True, slots=True)
class Dragonfly:
    """Groups of chassis of routers of nodes (table ``dragonfly``)."""

    groups: int = required(low=1, high=_MOST, help="groups of the machine")
    chassis: int = required(low=1, high=_MOST, help="chassis of a group")
    routers: int = required(
        low=1,
        high=_MOST,
        help="routers of a chassis. Router ``g`` of a group's first chassis holds the link to group ``g``, so there "
        "must be as many routers in a chassis as groups, unless there is one group",
    )
    nodes: int = required(low=1, high=_MOST, help="nodes of a router, storage nodes among them")
    bandwidth: float = _written(BANDWIDTH, "1250MBps", help="bandwidth of every cable, in each direction")
    latency: float = _written(LATENCY, "50us", help="latency of every cable")
    green: int = option(
        1,
        low=1,
        high=1000,
        help="parallel cables between two routers of a chassis: one link of as many times the bandwidth",
    )
    black: int = option(1, low=1, high=1000, help="parallel cables between two chassis of a group, likewise")
    blue: int = option(1, low=1, high=1000, help="parallel cables between two groups, likewise")

    def __post_init__(self) -> None:
        if self.groups > 1 and self.routers < self.groups:
            raise ValueError(f"{self.groups} groups need at least as many routers in a chassis, got {self.routers}")
        count = self.groups * self.chassis * self.routers * self.nodes
        if count > 2000:
            # A Dragonfly is written with every route, which grows with the square of this.
            raise ValueError(f"a Dragonfly may have 2000 nodes at most, got {count}")


@dataclass(frozen=True, slots=True)
class Level:
    """A level of a tree, below the one before it in the list; the last one is the nodes (tables ``cluster.levels``)."""

    name: str = required(form=NAME, help="name of an instance; numbered from 0 if there are several")
    count: int = option(1, low=1, high=_MOST, help="instances in each one of the level above")
    bandwidth: float | None = option(
        None,
        form=BANDWIDTH,
        help="bandwidth of the link from an instance upwards; absent: the level is a place, without a link",
    )
    latency: float = _written(LATENCY, "1us", help="latency of that link")
    duplex: bool = option(
        False,
        help="whether that link has two directions that do not share; else both share the bandwidth",
    )
    scheduled: bool | None = option(
        None,
        help="whether schedulers count this link (host property ``io_path``). Absent: yes, except for the nodes' own "
        "links",
    )

    def __post_init__(self) -> None:
        if self.scheduled and self.bandwidth is None:
            raise ValueError(f"level {self.name!r} is 'scheduled' but has no 'bandwidth'")


@dataclass(frozen=True, slots=True)
class Rack:
    """One rack by name, for a machine of unequal racks (tables ``cluster.rack``)."""

    nodes: tuple[str, ...] = _written(
        HOST_NAMES,
        "",
        help="names of its compute nodes, such as ``node[1-16,18]``; absent: it has no compute nodes",
    )
    storage: str | None = option(None, form=NAME, help="name of its storage node; absent: it has no storage node")
    capacity: int | None = option(
        None,
        form=BYTES,
        help="capacity of its storage node; absent: that of table ``storage``",
    )

    def __post_init__(self) -> None:
        if not self.nodes and self.storage is None:
            raise ValueError("a rack needs 'nodes' or a 'storage' node")
        if self.capacity is not None and self.storage is None:
            raise ValueError("a rack with a 'capacity' needs the name of its 'storage' node")


@dataclass(frozen=True, slots=True)
class TreeCluster:
    """One cluster, a tree (tables ``cluster``); several share the PFS."""

    name: str = required(form=NAME, help="name of the cluster, unique in the machine")
    uplink: Level = required(help="the link between the cluster and everything outside, the PFS included")
    levels: tuple[Level, ...] = required(help="levels from the outside in; the last one is the nodes")
    rack: tuple[Rack, ...] = option(
        (),
        help="racks by name, with their nodes and storage nodes; then there are two levels, racks and nodes, without "
        "a ``count``. Absent: the levels' counts give the numbers of racks and nodes",
    )

    def __post_init__(self) -> None:
        if self.rack and (len(self.levels) != 2 or any(level.count != 1 for level in self.levels)):
            raise ValueError(f"cluster {self.name!r}: with 'rack' its levels are two, racks and nodes, without 'count'")
        if self.uplink.bandwidth is None or self.uplink.count != 1:
            raise ValueError(f"cluster {self.name!r}: its 'uplink' needs a 'bandwidth', and no 'count'")
        if self.levels[-1].bandwidth is None:
            raise ValueError(f"cluster {self.name!r}: its last level, the nodes, needs a 'bandwidth'")
        if self.host_count > HOSTS.value:
            raise ValueError(f"cluster {self.name!r} {HOSTS.text()}: {self.host_count}")
        names = [self.uplink.name, *(level.name for level in self.levels)]
        if len(set(names)) < len(names):
            raise ValueError(f"cluster {self.name!r}: its levels must have different names, got {', '.join(names)}")

    @property
    def host_count(self) -> int:
        """Compute nodes."""
        if self.rack:
            return sum(len(rack.nodes) for rack in self.rack)
        count = 1
        for level in self.levels:
            count *= level.count
        return count


@dataclass(frozen=True, slots=True)
class Storage:
    """Burst buffers on storage nodes (table ``storage``)."""

    per: str = required(
        form=NAME,
        help="places of the storage nodes. Dragonfly: the first node of each ``router``, ``chassis`` or ``group``. "
        "Tree: the name of a level; each of its instances has one storage node beside its nodes",
    )
    capacity: int = required(form=BYTES, help="capacity of each storage node")
    granule: int = option(
        1,
        form=BYTES,
        help="each request for burst buffer is rounded up to whole granules of this size",
    )
    prefix: str = _written(
        NAME,
        "bb",
        help="tree only: names are prefix and number; a Dragonfly's storage nodes are numbered with the others. Racks "
        "name their own",
    )
    bandwidth: float = _written(
        BANDWIDTH,
        "1250MBps",
        help="tree only: bandwidth of its own link; a Dragonfly's storage node has a node's",
    )
    latency: float = _written(LATENCY, "1us", help="tree only: latency of that link")
    duplex: bool = option(True, help="tree only: whether that link has two directions that do not share")
    read_bandwidth: float | None = option(
        None,
        form=BANDWIDTH,
        help="tree only: bandwidth at which its devices are read, all readers together; absent: as the link. With "
        "this key or ``write_bandwidth`` the two directions never share",
    )
    write_bandwidth: float | None = option(
        None,
        form=BANDWIDTH,
        help="tree only: bandwidth at which its devices are written, likewise",
    )

    @property
    def has_devices(self) -> bool:
        """Whether its devices have a bandwidth of their own."""
        return self.read_bandwidth is not None or self.write_bandwidth is not None

    def bandwidth_of(self, device: float | None) -> float:
        """bytes/s of the link and its devices in one direction: the slower of the two."""
        return self.bandwidth if device is None else min(self.bandwidth, device)


@dataclass(frozen=True, slots=True)
class FileSystem:
    """The parallel file system (table ``pfs``): a storage host behind one link that both directions share."""

    bandwidth: float = required(
        form=BANDWIDTH,
        help="bandwidth of its link, for the reads and writes of all jobs together",
    )
    name: str = _written(NAME, "pfs", help="name of its host")
    latency: float = _written(LATENCY, "100us", help="latency of its link")
    scheduled: bool = option(True, help="whether schedulers count this link (host property ``io_path``)")


@dataclass(frozen=True, slots=True)
class Master:
    """The host on which the resource manager runs (table ``master``), behind a fat pipe."""

    name: str = _written(NAME, "master", help="name of the host")
    bandwidth: float = _written(BANDWIDTH, "1250MBps", help="bandwidth of its link")
    latency: float = _written(LATENCY, "100us", help="latency of its link: it delays the message of a job's end")
    loopback: float | None = option(
        None,
        form=BANDWIDTH,
        help="bandwidth of its link to itself, over which Batsim's parts send each other one byte at a time; the "
        "transfer delays the start of a job. Absent: as a node's",
    )


@dataclass(frozen=True, slots=True)
class Power:
    """Watts of the hosts (table ``power``), which ``-E`` needs: ``"IDLE:EPSILON:ALLCORES"`` or ``"IDLE:ALLCORES"``.

    No built-in machine states its power, because its source does not. ``"0:0"`` leaves a host out of the sum.
    """

    node: str = required(form=WATTS, help="power of a compute node")
    master: str = required(form=WATTS, help="power of the resource manager's host")
    storage: str | None = option(
        None,
        form=WATTS,
        help="power of a storage node; needed if the machine has storage nodes",
    )
    pfs: str | None = option(
        None,
        form=WATTS,
        help="power of the file system's host; needed if the machine has a file system",
    )


@dataclass(frozen=True, slots=True)
class Description:
    """A machine."""

    name: str = required(form=NAME, help="name of the machine, for display")
    topology: str = required(
        choices=("dragonfly", "tree"),
        help="network between the nodes; the table ``dragonfly`` or the tables ``cluster`` go with it",
    )
    summary: str = option("", help="a line about it, for display")
    node: Nodes = option(Nodes(), help="the compute nodes")
    dragonfly: Dragonfly | None = option(None, help="sizes and cables of a Dragonfly")
    cluster: tuple[TreeCluster, ...] = option((), help="the clusters of a tree")
    storage: Storage | None = option(None, help="burst buffers; absent: the machine has no burst buffers")
    pfs: FileSystem | None = option(
        None,
        help="the parallel file system; absent: the machine has no parallel file system",
    )
    master: Master = option(Master(), help="the resource manager's host")
    power: Power | None = option(None, help="watts; absent: the power is unknown, and energy cannot be measured")

    @property
    def server_loopback(self) -> float:
        """bytes/s of the links of master and file system to themselves."""
        return self.master.loopback or self.node.loopback

    def __post_init__(self) -> None:
        tables = {"dragonfly": self.dragonfly is not None, "tree": bool(self.cluster)}
        for topology, given in tables.items():
            table = "cluster" if topology == "tree" else topology
            if given is not (topology == self.topology):
                verb = "needs" if topology == self.topology else "takes no"
                raise ValueError(f"topology {self.topology!r} {verb} table '{table}'")
        _check_names(self)
        for name in ("storage", "pfs"):
            if self.power is not None and getattr(self, name) is not None and getattr(self.power, name) is None:
                raise ValueError(f"power.{name}: this key is missing: the machine has a table '{name}'")
        if self.storage is not None:
            places = _storage_places(self)
            if self.storage.per not in places:
                raise ValueError(f"storage.per: must be one of {', '.join(places)}, got {self.storage.per!r}")
            if self.dragonfly is not None and self.storage.has_devices:
                raise ValueError("storage: 'read_bandwidth' and 'write_bandwidth' go with topology 'tree'")


def read_description(
    toml: str | Mapping[str, Any],
    source: str = "",
    bases: Mapping[str, Path] | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> Description:
    """Read a description from TOML text or from a table.

    Parameters
    ----------
    source
        Names it in messages.
    bases
        Descriptions that ``base`` may name.
    overrides
        Values that replace or add to those of the text, by dotted key (``pfs.bandwidth``).

    Raises
    ------
    PlatformError
        The description is invalid.
    """
    try:
        table = _with_base(toml, bases or {}, ())
        for key, value in (overrides or {}).items():
            table = _merge(table, _nested(key, value))
        description = read_table(Description, table, "")
    except (OptionError, PlatformError) as error:
        raise PlatformError(str(error), source) from None
    assert isinstance(description, Description)
    return description


def _with_base(toml: str | Mapping[str, Any], bases: Mapping[str, Path], seen: tuple[str, ...]) -> dict[str, Any]:
    try:
        table = dict(parse_toml(toml) if isinstance(toml, str) else toml)
    except InputError as error:
        raise PlatformError(str(error)) from None
    base = table.pop("base", None)
    if base is None:
        return table
    if not isinstance(base, str) or base not in bases or base in seen:
        problem = "leads in a circle" if base in seen else "is not known"
        raise PlatformError(f"base: {base!r} {problem}; known: {', '.join(sorted(bases))}")
    return _merge(_with_base(bases[base].read_text(encoding="utf-8"), bases, (*seen, base)), table)


def _merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Tables are merged key by key; everything else, lists too, is replaced."""
    merged = dict(below)
    for key, value in above.items():
        both = isinstance(value, Mapping) and isinstance(below.get(key), Mapping)
        merged[key] = _merge(below[key], value) if both else value
    return merged


def _nested(key: str, value: Any) -> dict[str, Any]:
    head, dot, rest = key.partition(".")
    return {head: _nested(rest, value) if dot else value}


def _check_names(description: Description) -> None:
    names = [description.master.name]
    if description.pfs is not None:
        names.append(description.pfs.name)
    clusters = [cluster.name for cluster in description.cluster]
    for cluster in description.cluster:
        for rack in cluster.rack:
            names += rack.nodes if rack.storage is None else (*rack.nodes, rack.storage)
            if rack.storage is not None and description.storage is None:
                raise ValueError(f"the rack with storage node {rack.storage!r} needs a table 'storage'")
    for group in (names, clusters):
        for item, count in Counter(group).items():
            if count > 1:
                raise ValueError(f"the name {item!r} is used twice")


def _storage_places(description: Description) -> tuple[str, ...]:
    if description.topology == "dragonfly":
        return ("group", "chassis", "router")
    levels = [[level.name for level in cluster.levels[:-1]] for cluster in description.cluster]
    return tuple(name for name in levels[0] if all(name in others for others in levels))

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


def _written(form: Form, default: str) -> Any:
    """An option that is written in a form, like its default."""
    return option(form.read(default), form=form)


@dataclass(frozen=True, slots=True)
class Nodes:
    """Compute nodes (table ``node``).

    Attributes
    ----------
    prefix
        Names of nodes are prefix and number.
    speed
        Speed of a core.
    cores
        Cores of a node.
    loopback
        Bandwidth of a node's link to itself (fat pipe, no latency). In a tree only the servers have one; a node sends
        to itself through its switch.
    """

    prefix: str = _written(NAME, "node_")
    speed: float = _written(SPEED, "1Gf")
    cores: int = option(1, low=1, high=100_000)
    loopback: float = _written(BANDWIDTH, "1000MBps")


@dataclass(frozen=True, slots=True)
class Dragonfly:
    """Groups of chassis of routers of nodes (table ``dragonfly``).

    Attributes
    ----------
    groups
        Groups of the machine.
    chassis
        Chassis of a group.
    routers
        Routers of a chassis. Router ``g`` of a group's first chassis holds the link to group ``g``, so there must be
        as many routers in a chassis as groups, unless there is one group.
    nodes
        Nodes of a router, storage nodes among them.
    bandwidth
        Bandwidth of every cable, in each direction.
    latency
        Latency of every cable.
    green
        Parallel cables between two routers of a chassis: one link of as many times the bandwidth.
    black
        Parallel cables between two chassis of a group, likewise.
    blue
        Parallel cables between two groups, likewise.
    """

    groups: int = required(low=1, high=_MOST)
    chassis: int = required(low=1, high=_MOST)
    routers: int = required(low=1, high=_MOST)
    nodes: int = required(low=1, high=_MOST)
    bandwidth: float = _written(BANDWIDTH, "1250MBps")
    latency: float = _written(LATENCY, "50us")
    green: int = option(1, low=1, high=1000)
    black: int = option(1, low=1, high=1000)
    blue: int = option(1, low=1, high=1000)

    def __post_init__(self) -> None:
        if self.groups > 1 and self.routers < self.groups:
            raise ValueError(f"{self.groups} groups need at least as many routers in a chassis, got {self.routers}")
        count = self.groups * self.chassis * self.routers * self.nodes
        if count > 2000:
            # A Dragonfly is written with every route, which grows with the square of this.
            raise ValueError(f"a Dragonfly may have 2000 nodes at most, got {count}")


@dataclass(frozen=True, slots=True)
class Level:
    """A level of a tree, below the one before it in the list; the last level is the nodes (tables ``cluster.levels``).

    Attributes
    ----------
    name
        Name of an instance; numbered from 0 if there are several.
    count
        Instances in each one of the level above.
    bandwidth
        Bandwidth of the link from an instance upwards; absent: the level is a place, without a link.
    latency
        Latency of that link.
    duplex
        Whether that link has two directions that do not share; else both share the bandwidth.
    scheduled
        Whether schedulers count this link (host property ``io_path``). Absent: yes, except for the nodes' own links.
    """

    name: str = required(form=NAME)
    count: int = option(1, low=1, high=_MOST)
    bandwidth: float | None = option(None, form=BANDWIDTH)
    latency: float = _written(LATENCY, "1us")
    duplex: bool = option(False)
    scheduled: bool | None = option(None)

    def __post_init__(self) -> None:
        if self.scheduled and self.bandwidth is None:
            raise ValueError(f"level {self.name!r} is 'scheduled' but has no 'bandwidth'")


@dataclass(frozen=True, slots=True)
class Rack:
    """One rack by name, for a machine of unequal racks (tables ``cluster.rack``).

    Attributes
    ----------
    nodes
        Names of its compute nodes, such as ``node[1-16,18]``; absent: it has no compute nodes.
    storage
        Name of its storage node; absent: it has no storage node.
    capacity
        Capacity of its storage node; absent: that of table ``storage``.
    """

    nodes: tuple[str, ...] = _written(HOST_NAMES, "")
    storage: str | None = option(None, form=NAME)
    capacity: int | None = option(None, form=BYTES)

    def __post_init__(self) -> None:
        if not self.nodes and self.storage is None:
            raise ValueError("a rack needs 'nodes' or a 'storage' node")
        if self.capacity is not None and self.storage is None:
            raise ValueError("a rack with a 'capacity' needs the name of its 'storage' node")


@dataclass(frozen=True, slots=True)
class TreeCluster:
    """One cluster, a tree (tables ``cluster``); several share the PFS.

    Attributes
    ----------
    name
        Name of the cluster, unique in the machine.
    uplink
        The link between the cluster and everything outside, the PFS included.
    levels
        Levels from the outside in; the last one is the nodes.
    rack
        Racks by name, with their nodes and storage nodes; then there are two levels, racks and nodes, without a
        ``count``. Absent: the levels' counts give the numbers of racks and nodes.
    """

    name: str = required(form=NAME)
    uplink: Level = required()
    levels: tuple[Level, ...] = required()
    rack: tuple[Rack, ...] = option(())

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
    """Burst buffers on storage nodes (table ``storage``).

    Attributes
    ----------
    per
        Places of the storage nodes. Dragonfly: the first node of each ``router``, ``chassis`` or ``group``. Tree: the
        name of a level; each of its instances has one storage node beside its nodes.
    capacity
        Capacity of each storage node.
    granule
        Each request for burst buffer is rounded up to whole granules of this size.
    prefix
        Tree only: names are prefix and number; a Dragonfly's storage nodes are numbered with the others. Racks name
        their own.
    bandwidth
        Tree only: bandwidth of its own link; a Dragonfly's storage node has a node's.
    latency
        Tree only: latency of that link.
    duplex
        Tree only: whether that link has two directions that do not share.
    read_bandwidth
        Tree only: bandwidth at which its devices are read, all readers together; absent: as the link. With this key or
        ``write_bandwidth`` the two directions never share.
    write_bandwidth
        Tree only: bandwidth at which its devices are written, likewise.
    """

    per: str = required(form=NAME)
    capacity: int = required(form=BYTES)
    granule: int = option(1, form=BYTES)
    prefix: str = _written(NAME, "bb")
    bandwidth: float = _written(BANDWIDTH, "1250MBps")
    latency: float = _written(LATENCY, "1us")
    duplex: bool = option(True)
    read_bandwidth: float | None = option(None, form=BANDWIDTH)
    write_bandwidth: float | None = option(None, form=BANDWIDTH)

    @property
    def has_devices(self) -> bool:
        """Whether its devices have a bandwidth of their own."""
        return self.read_bandwidth is not None or self.write_bandwidth is not None

    def bandwidth_of(self, device: float | None) -> float:
        """bytes/s of the link and its devices in one direction: the slower of the two."""
        return self.bandwidth if device is None else min(self.bandwidth, device)


@dataclass(frozen=True, slots=True)
class FileSystem:
    """The parallel file system (table ``pfs``): a storage host behind one link that both directions share.

    Attributes
    ----------
    name
        Name of its host.
    bandwidth
        Bandwidth of its link, for the reads and writes of all jobs together.
    latency
        Latency of its link.
    scheduled
        Whether schedulers count this link (host property ``io_path``).
    """

    bandwidth: float = required(form=BANDWIDTH)
    name: str = _written(NAME, "pfs")
    latency: float = _written(LATENCY, "100us")
    scheduled: bool = option(True)


@dataclass(frozen=True, slots=True)
class Master:
    """The host on which the resource manager runs (table ``master``), behind a fat pipe.

    Attributes
    ----------
    name
        Name of the host.
    bandwidth
        Bandwidth of its link.
    latency
        Latency of its link: it delays the message of a job's end.
    loopback
        Bandwidth of its link to itself, over which Batsim's parts send each other one byte at a time; the transfer
        delays the start of a job. Absent: as a node's.
    """

    name: str = _written(NAME, "master")
    bandwidth: float = _written(BANDWIDTH, "1250MBps")
    latency: float = _written(LATENCY, "100us")
    loopback: float | None = option(None, form=BANDWIDTH)


@dataclass(frozen=True, slots=True)
class Power:
    """Watts of the hosts (table ``power``), which ``-E`` needs: ``"IDLE:EPSILON:ALLCORES"`` or ``"IDLE:ALLCORES"``.

    No built-in machine states its power, because its source does not. ``"0:0"`` leaves a host out of the sum.

    Attributes
    ----------
    node
        Power of a compute node.
    master
        Power of the resource manager's host.
    storage
        Power of a storage node; needed if the machine has storage nodes.
    pfs
        Power of the file system's host; needed if the machine has a file system.
    """

    node: str = required(form=WATTS)
    master: str = required(form=WATTS)
    storage: str | None = option(None, form=WATTS)
    pfs: str | None = option(None, form=WATTS)


@dataclass(frozen=True, slots=True)
class Description:
    """A machine.

    Attributes
    ----------
    name
        Name of the machine, for display.
    summary
        A line about it, for display.
    topology
        Network between the nodes; the table ``dragonfly`` or the tables ``cluster`` go with it.
    node
        The compute nodes.
    dragonfly
        Sizes and cables of a Dragonfly.
    cluster
        The clusters of a tree.
    storage
        Burst buffers; absent: the machine has no burst buffers.
    pfs
        The parallel file system; absent: the machine has no parallel file system.
    master
        The resource manager's host.
    power
        Watts; absent: the power is unknown, and energy cannot be measured.
    """

    name: str = required(form=NAME)
    topology: str = required(choices=("dragonfly", "tree"))
    summary: str = option("")
    node: Nodes = option(Nodes())
    dragonfly: Dragonfly | None = option(None)
    cluster: tuple[TreeCluster, ...] = option(())
    storage: Storage | None = option(None)
    pfs: FileSystem | None = option(None)
    master: Master = option(Master())
    power: Power | None = option(None)

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

"""Files of machines: a description to be edited, a site's own files made one, resource graphs, lines to be read."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spillway.base import durable, units
from spillway.base.files import parse_json, read_file
from spillway.base.hostlist import compressed
from spillway.base.limits import InputError
from spillway.experiments.campaign.inputs import machines
from spillway.experiments.campaign.inputs.input_files import sizes_and_machine
from spillway.experiments.campaign.inputs.sources import expand
from spillway.experiments.run.errors import SpecError
from spillway.experiments.run.spec import PlatformSpec, WorkloadSpec
from spillway.platforms.catalogue import describe, platform_from
from spillway.platforms.description.commented_toml import commented
from spillway.platforms.description.fields import table_of
from spillway.platforms.description.machine import Description, read_description
from spillway.platforms.errors import PlatformError
from spillway.platforms.model import Host, Platform
from spillway.platforms.simgrid.xml_reader import parse_platform
from spillway.platforms.sites.graph import graph_in, read_graph, written
from spillway.platforms.sites.inventory import Inventory, inventory_of, merged
from spillway.platforms.sites.rabbit_map import is_map, read_map

_NODE_LINK = "1250MBps"
ASSUMED = "ASSUMED: as on the thesis machine, in proportion; edit it."
_STATED = "As stated."


@dataclass(frozen=True)
class StatedFigures:
    """Stated figures of a machine; ``None``: not stated.

    Attributes
    ----------
    nodes
        Compute nodes.
    nodes_per_storage
        Compute nodes for each storage node.
    burst_buffer
        Capacity of each storage node, with its unit; "0": no storage nodes.
    node_bandwidth, pfs_bandwidth
        Bandwidth of a node's link, and of the file system, with their units.
    """

    nodes: int
    nodes_per_storage: int | None = None
    burst_buffer: str | None = None
    node_bandwidth: str | None = None
    pfs_bandwidth: str | None = None


def nodes_of_log(log: str, processors_per_node: int | None) -> int:
    """Compute nodes that a log states in its header, or the most in use at once where its format has no header.

    Raises
    ------
    SpecError
        It states neither.
    """
    convert = {} if processors_per_node is None else {"processors_per_node": processors_per_node}
    found = expand(WorkloadSpec(source=log, convert=convert))
    _, stated = sizes_and_machine(found[0], 0)
    nodes = stated.nodes or (stated.needs.nodes if stated.needs else 0)
    if not nodes:
        raise SpecError(
            f"{log}: neither a header (MaxProcs, MaxNodes) nor its jobs' starts say how large the machine is; state "
            "its size with --nodes"
        )
    return nodes


def write(path: Path, stated: StatedFigures) -> None:
    """Write the description of a machine, commented.

    Raises
    ------
    SpecError
        There is such a file: it may have been edited.
    PlatformError
        A value is wrong.
    """
    _refuse_existing(path)
    durable.write_text(path, text_of(path.stem, stated))


def _refuse_existing(path: Path) -> None:
    if path.suffix != ".toml":
        raise SpecError(f"{path}: a description is a file ending in .toml")
    if path.exists():
        raise SpecError(f"{path} is there already, and may have been edited: name another file, or delete it")


def text_of(name: str, stated: StatedFigures) -> str:
    """The description's text: the stated figures, and the rest as on the thesis machine in proportion."""
    per = stated.nodes_per_storage or machines.NODES_PER_STORAGE
    link = stated.node_bandwidth or _NODE_LINK
    nodes = f"{stated.nodes} nodes"
    table: dict[str, Any] = {
        "name": _plain(name),
        "summary": nodes,
        "topology": "tree",
        "cluster": machines.clusters("main", stated.nodes, per, _bandwidth(link, "--node-bandwidth")),
        "pfs": {"bandwidth": stated.pfs_bandwidth or machines.file_system(stated.nodes)},
    }
    if stated.burst_buffer != "0":
        capacity = stated.burst_buffer or machines.CAPACITY
        table["storage"] = {"per": "switch", "capacity": capacity, "bandwidth": link, "latency": "50us"}
        table["summary"] = f"{nodes}, {-(-stated.nodes // per)} storage nodes of {capacity}"
    return commented(read_description(table, name), _remarks(stated))


def _remarks(stated: StatedFigures) -> dict[str, str]:
    def word(value: object) -> str:
        return ASSUMED if value is None else _STATED

    return {
        "cluster.levels.count": f"{word(stated.nodes_per_storage)} One switch has one storage node.",
        "cluster.levels.bandwidth": word(stated.node_bandwidth),
        "cluster.uplink.bandwidth": ASSUMED,
        "storage.capacity": word(stated.burst_buffer),
        "storage.bandwidth": word(stated.node_bandwidth),
        "pfs.bandwidth": word(stated.pfs_bandwidth),
    }


def _bandwidth(text: str, option: str) -> float:
    try:
        return units.BANDWIDTH.read(text)
    except ValueError as error:
        raise SpecError(f"{option}: {error}") from None


# ---------------------------------------------------------------- show


def show(source: str) -> Iterator[str]:
    """Lines on a machine: nodes, storage, links, file system, the ways to it, and assumptions."""
    machine = machines.load(PlatformSpec(source=source))
    platform = parse_platform(machine.xml, source)
    computing = [host for host in platform.hosts if not host.role]
    yield f"machine: {machine.name}"
    speed = units.SPEED.write(machine.facts.node_speed_flops)
    cores = Counter(host.cores for host in computing)
    of_cores = f", {', '.join(f'{count} cores' for count in sorted(cores))} each" if set(cores) != {1} else ""
    yield f"compute nodes: {len(computing):,} ({_range(computing)}), {speed} a core{of_cores}"
    yield from _storage(platform)
    yield f"link of a compute node: {units.BANDWIDTH.write(machine.facts.network_bytes_per_s)}"
    yield from _file_system(computing, platform)
    for note in machine.notes:
        yield f"assumed: {note}"


def _storage(platform: Platform) -> Iterator[str]:
    holding = [host for host in platform.hosts if int(host.properties.get("capacity_bytes", "0"))]
    if not holding:
        yield "storage nodes: none (jobs that request burst buffers are rejected)"
        return
    sizes = Counter(int(host.properties["capacity_bytes"]) for host in holding)
    kinds = " + ".join(f"{count:,} x {units.SIZE.write(float(size))}" for size, count in sorted(sizes.items()))
    total = sum(size * count for size, count in sizes.items())
    yield f"storage nodes: {kinds} = {units.SIZE.write(float(total))} ({_range(holding)})"


def _file_system(computing: list[Host], platform: Platform) -> Iterator[str]:
    """The file system, and each level of links that schedulers count on the way to it."""
    if not any(host.properties.get("storage_kind") == "pfs" for host in platform.hosts):
        yield "file system: none"
        return
    paths = [host.properties["io_path"].split("/") for host in computing if host.properties.get("io_path")]
    if not paths:
        yield "file system: there is one; the ways to it are not stated, so its bandwidth cannot be scheduled"
        return
    levels = max(map(len, paths))
    for level in range(levels):
        links = {path[level] for path in paths if level < len(path)}
        bandwidths = sorted({float(link.rpartition("=")[2]) for link in links})
        shown = " or ".join(units.BANDWIDTH.write(value) for value in bandwidths)
        name = sorted(link.rpartition("=")[0] for link in links)[0]
        what = "file system" if level == 0 else f"on the way to it, level {level}"
        more = f"{len(links):,} links such as {name}" if len(links) > 1 else name
        yield f"{what}: {more}, {shown}{' each' if len(links) > 1 else ''}"


def _range(hosts: list[Host]) -> str:
    return hosts[0].name if len(hosts) == 1 else f"{hosts[0].name} ... {hosts[-1].name}"


# ---------------------------------------------------------------- import and export


NOT_IN_FILES = "ASSUMED: not stated in the files; as on the thesis machine, in proportion; edit it."


def imported(files: Sequence[Path], out: Path, name: str | None) -> Iterator[str]:
    """Write the description of the machine that some files are about; yield lines on the result.

    Raises
    ------
    SpecError
        The file to write exists, or is not a ``.toml``.
    PlatformError
        A file is of another kind, is wrong, or contradicts another (the error names the place).
    """
    _refuse_existing(out)
    inventory = merged([(str(path), inventory_in(path)) for path in files])
    description = described(inventory, name or inventory.name or _plain(files[0].stem))
    durable.write_text(out, commented(description, {} if inventory.stated else _REMARKS))
    yield from _lines(inventory)
    known = "all that it states" if inventory.stated else "bandwidths and latencies are ASSUMED in it: edit them"
    yield f"{out}: {description.name}; {known}"


def inventory_in(path: Path) -> Inventory:
    """The parts of a machine in one file; raise :class:`PlatformError` where it is neither map nor graph."""
    try:
        data = parse_json(read_file(path))
    except InputError as error:
        raise PlatformError(str(error), str(path)) from None
    if is_map(data):
        return read_map(data, str(path))
    if graph_in(data) is not None:
        return read_graph(data, str(path))
    raise PlatformError(
        "expected a compute-to-rabbit map ('computes', 'rabbits') or a resource graph ('graph' or 'scheduling')",
        str(path),
    )


def described(inventory: Inventory, name: str) -> Description:
    """The description of a machine with known racks; the rest is as stated with them, else assumed.

    Raises
    ------
    PlatformError
        A name in it is not allowed, or the stated part is not a description.
    """
    racks = [
        {
            **({"nodes": compressed(rack.nodes)} if rack.nodes else {}),
            **({"storage": rack.storage, "capacity": rack.capacity} if rack.storage else {}),
        }
        for rack in inventory.racks
    ]
    table = dict(inventory.stated) or _assumed(inventory)
    clusters = table.get("cluster")
    if not isinstance(clusters, list) or len(clusters) != 1 or not isinstance(clusters[0], Mapping):
        raise PlatformError("the graph's description: expected one table 'cluster'", name)
    table |= {"name": name, "cluster": [{**clusters[0], "rack": racks}]}
    return _without_repetition(read_description(table, name))


def _without_repetition(description: Description) -> Description:
    """Drop the capacity of racks where it is that of table ``storage``."""
    table, storage = table_of(description), description.storage
    for own, rack in zip(description.cluster[0].rack, table["cluster"][0]["rack"], strict=True):
        if storage is not None and own.capacity == storage.capacity:
            del rack["capacity"]
    return read_description(table, description.name)


def _assumed(inventory: Inventory) -> dict[str, Any]:
    nodes, link = [len(rack.nodes) for rack in inventory.racks], machines.NODE_LINK_BYTES_PER_S
    capacities = [rack.capacity for rack in inventory.racks if rack.storage]

    def bandwidth(times: int) -> str:
        return units.BANDWIDTH.write(max(times, 1) * link)

    table: dict[str, Any] = {
        "summary": f"{sum(nodes)} nodes in {len(nodes)} racks, {len(capacities)} storage nodes",
        "topology": "tree",
        "node": {"cores": max(inventory.cores, 1)},
        "pfs": {"bandwidth": machines.file_system(max(sum(nodes), 1))},
        "cluster": [
            {
                "name": "main",
                "uplink": {"name": "core", "bandwidth": bandwidth(sum(nodes))},
                "levels": [
                    {"name": inventory.rack_word, "bandwidth": bandwidth(max(nodes)), "duplex": True},
                    {"name": "node", "bandwidth": bandwidth(1), "duplex": True},
                ],
            }
        ],
    }
    if capacities:
        usual = max(sorted(set(capacities)), key=capacities.count)
        table["storage"] = {"per": inventory.rack_word, "capacity": usual, "bandwidth": bandwidth(1)}
    return table


_REMARKS = {
    "node.speed": NOT_IN_FILES,
    "cluster.uplink.bandwidth": NOT_IN_FILES,
    "cluster.levels.bandwidth": NOT_IN_FILES,
    "storage.bandwidth": NOT_IN_FILES,
    "pfs.bandwidth": NOT_IN_FILES,
}


def _lines(inventory: Inventory) -> Iterator[str]:
    nodes = sum(len(rack.nodes) for rack in inventory.racks)
    storages = [rack.capacity for rack in inventory.racks if rack.storage]
    cores = f" of {inventory.cores} cores" if inventory.cores else ""
    yield f"{nodes:,} nodes{cores} in {len(inventory.racks)} racks"
    yield f"{len(storages)} storage nodes, {sum(storages):,} bytes"
    yield from (f"note: {note}" for note in inventory.notes)


def exported(source: str, out: Path) -> Iterator[str]:
    """Write a platform as a graph; yield lines on its contents.

    A description with racks by name is written whole. For any other machine the graph has the nodes, the storage nodes
    and their assignment: its network is not a tree of racks.

    Raises
    ------
    PlatformError
        The platform cannot be read, or has two storage nodes at one place.
    """
    inventory = machine_inventory(source)
    durable.write_text(out, json.dumps(written(inventory), separators=(",", ":")) + "\n")
    yield from _lines(inventory)
    left = "with all that the description states" if inventory.stated else "without its network, not a tree of racks"
    yield f"{out}: {source}, {left}"


def machine_inventory(source: str) -> Inventory:
    """The racks of a platform; with its whole description if that states its racks by name."""
    xml = Path(source).suffix in (".xml", ".xz")
    inventory = inventory_of(platform_from(source), _plain(Path(source).stem) if xml else describe(source).name)
    if xml:
        return inventory
    description = describe(source)
    if len(description.cluster) != 1 or not description.cluster[0].rack:
        return inventory
    table = table_of(description)
    del table["cluster"][0]["rack"]
    word = description.cluster[0].levels[0].name
    return Inventory(inventory.name, inventory.racks, inventory.cores, word, table)


def _plain(text: str) -> str:
    return "".join(char if char.isalnum() or char in "_-." else "-" for char in text) or "machine"

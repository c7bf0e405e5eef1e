"""A description of an own machine, to be edited; and the parts of a machine, in lines to be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spillway.base import durable, units
from spillway.experiments.campaign.inputs import machines
from spillway.experiments.campaign.inputs.input_files import sizes_and_machine
from spillway.experiments.campaign.inputs.sources import expand
from spillway.experiments.run.errors import SpecError
from spillway.experiments.run.spec import PlatformSpec, WorkloadSpec
from spillway.platforms.description.commented_toml import commented
from spillway.platforms.description.machine import Description, read_description
from spillway.platforms.model import Host, Platform
from spillway.platforms.simgrid.xml_reader import parse_platform

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
    if path.suffix != ".toml":
        raise SpecError(f"{path}: a description is a file ending in .toml")
    if path.exists():
        raise SpecError(f"{path} is there already, and may have been edited: name another file, or delete it")
    durable.write_text(path, text_of(path.stem, stated))


def text_of(name: str, stated: StatedFigures) -> str:
    """The description's text: the stated figures, and the rest as on the thesis machine in proportion."""
    per = stated.nodes_per_storage or machines.NODES_PER_STORAGE
    link = stated.node_bandwidth or _NODE_LINK
    nodes = f"{stated.nodes} nodes"
    table: dict[str, Any] = {
        "name": "".join(char if char.isalnum() or char in "_-." else "-" for char in name),
        "summary": nodes,
        "topology": "tree",
        "cluster": _clusters(*divmod(stated.nodes, per), per, _bandwidth(link, "--node-bandwidth")),
        "pfs": {"bandwidth": stated.pfs_bandwidth or machines.file_system(stated.nodes)},
    }
    if stated.burst_buffer != "0":
        capacity = stated.burst_buffer or machines.CAPACITY
        table["storage"] = {"per": "switch", "capacity": capacity, "bandwidth": link, "latency": "50us"}
        table["summary"] = f"{nodes}, {-(-stated.nodes // per)} storage nodes of {capacity}"
    return commented(_read(table, name), _remarks(stated))


def _read(table: Mapping[str, Any], name: str) -> Description:
    return read_description(table, name)


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


def _clusters(switches: int, rest: int, per: int, link: float) -> list[dict[str, Any]]:
    """Switches with ``per`` nodes each, and a smaller one with the remaining nodes."""
    found = [_cluster("main", switches, per, link)] if switches else []
    return found + ([_cluster("rest" if switches else "main", 1, rest, link)] if rest else [])


def _cluster(name: str, switches: int, nodes: int, link: float) -> dict[str, Any]:
    def bandwidth(times: int) -> str:
        return units.BANDWIDTH.write(times * link)

    return {
        "name": name,
        "uplink": {"name": "core", "bandwidth": bandwidth(switches)},
        "levels": [
            {"name": "switch", "count": switches, "bandwidth": bandwidth(4), "latency": "50us", "duplex": True},
            {"name": "node", "count": nodes, "bandwidth": bandwidth(1), "latency": "50us", "duplex": True},
        ],
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

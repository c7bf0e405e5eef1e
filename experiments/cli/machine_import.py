"""A site's own files into a description of ours, and a description into a resource graph."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from spillway.base import durable, units
from spillway.base.files import parse_json, read_file
from spillway.base.hostlist import compressed
from spillway.base.limits import InputError
from spillway.experiments.campaign.inputs import machines
from spillway.experiments.run.errors import SpecError
from spillway.platforms.catalogue import describe, platform_from
from spillway.platforms.description.commented_toml import commented
from spillway.platforms.description.fields import table_of
from spillway.platforms.description.machine import Description, read_description
from spillway.platforms.errors import PlatformError
from spillway.platforms.sites.graph import graph_in, read_graph, written
from spillway.platforms.sites.inventory import Inventory, inventory_of, merged
from spillway.platforms.sites.rabbit_map import is_map, read_map

_NODE_LINK_BYTES_PER_S = 1250e6
ASSUMED = "ASSUMED: not stated in the files; as on the thesis machine, in proportion; edit it."


def imported(files: Sequence[Path], out: Path, name: str | None) -> Iterator[str]:
    """Write the description of the machine that some files are about; yield lines on the result.

    Raises
    ------
    SpecError
        The file to write exists, or is not a ``.toml``.
    PlatformError
        A file is of another kind, is wrong, or contradicts another (the error names the place).
    """
    if out.suffix != ".toml":
        raise SpecError(f"{out}: a description is a file ending in .toml")
    if out.exists():
        raise SpecError(f"{out} is there already, and may have been edited: name another file, or delete it")
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
    nodes, link = [len(rack.nodes) for rack in inventory.racks], _NODE_LINK_BYTES_PER_S
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
    "node.speed": ASSUMED,
    "cluster.uplink.bandwidth": ASSUMED,
    "cluster.levels.bandwidth": ASSUMED,
    "storage.bandwidth": ASSUMED,
    "pfs.bandwidth": ASSUMED,
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

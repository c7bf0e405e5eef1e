"""The machine of a campaign: a named or described one, or one that fits a workload."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from spillway.base import units
from spillway.base.files import read_file, text_of
from spillway.base.limits import InputError
from spillway.experiments.campaign.inputs import machine_changes
from spillway.experiments.run.errors import SpecError
from spillway.experiments.run.spec import AUTO, PlatformSpec
from spillway.platforms.catalogue import builtin_files, describe, resolve_platform
from spillway.platforms.description.generate import generate, generate_and_build
from spillway.platforms.description.machine import Description, read_description
from spillway.platforms.errors import PlatformError
from spillway.platforms.io_paths import has_file_system
from spillway.platforms.model import Platform
from spillway.platforms.simgrid.annotate import annotate, states_paths
from spillway.platforms.simgrid.xml_reader import parse_platform
from spillway.simulator.errors import SimulatorInputError
from spillway.simulator.world.machines import Machines
from spillway.workloads.conversion.machine_facts import THESIS_MACHINE, MachineFacts
from spillway.workloads.conversion.needs import Needs, StatedSize, fitting_nodes, rounded_up
from spillway.workloads.logs.omissions import shortened

_FIT = "fit:"
"""Beginning of the source of a machine on which a job fits: at least this many compute nodes (``fit:1152``)."""

_OF_SITE = f"{AUTO}:"
"""Beginning of the source of a site's machine: its nodes, and the burst buffers that a workload needs (``auto:16``)."""

_SIZED = "nodes:"
"""Beginning of the source of a machine with exactly this many (``nodes:240``, ``nodes:240,burst_buffer=80GB``)."""

EACH, TOTAL = "burst_buffer", "burst_buffer_total"
"""Keys that may follow: capacity of each storage node (one for every eight nodes), or of one pool for all."""

CAPACITY = "40GB"
"""Burst-buffer capacity of a storage node of the thesis machine."""

NODES_PER_STORAGE = 8
"""Compute nodes per storage node of the thesis machine."""

NODE_LINK_BYTES_PER_S = 1250e6
"""Bandwidth of a node's link of the thesis machine."""

_LARGEST_DRAGONFLY = 192
"""Most nodes of a fitting Dragonfly: its file has every route, and their number grows with the square of the nodes."""

_THESIS_NODES = THESIS_MACHINE.nodes

_NODES_PER_CHASSIS_ROW = 24
"""Compute nodes of one chassis in each of the thesis machine's three groups."""

MOST_NODES = 1_000_000


@dataclass(frozen=True)
class Machine:
    """A loaded machine.

    Attributes
    ----------
    name
        Name in the results.
    xml
        SimGrid platform file.
    facts
        Figures for converters of logs.
    notes
        Notes for the user.
    spec
        The description that it was loaded from.
    """

    name: str
    xml: str = field(repr=False)
    facts: MachineFacts
    spec: PlatformSpec
    notes: tuple[str, ...] = ()


def stated(
    platform: str,
    nodes: int | None,
    burst_buffer: str | None,
    burst_buffer_total: str | None,
    called: Callable[[str], str],
) -> PlatformSpec:
    """The named machine, or that of the log with the stated sizes.

    Parameters
    ----------
    platform
        Its name or file, or :data:`~spillway.experiments.run.spec.AUTO`.
    nodes, burst_buffer, burst_buffer_total
        Stated sizes; ``None``: not stated.
    called
        Spelling of one of these parameters in errors (``--nodes``).

    Raises
    ------
    SpecError
        Two of them state the same, or a size is malformed.
    """
    given = [
        (key, text.replace(" ", ""))
        for key, text in ((EACH, burst_buffer), (TOTAL, burst_buffer_total))
        if text is not None
    ]
    if platform != AUTO:
        if nodes is not None or given:
            one = called("nodes" if nodes is not None else given[0][0])
            raise SpecError(f"{one} and {called('platform')} exclude each other: each states the machine")
        return PlatformSpec(source=platform)
    if len(given) > 1:
        raise SpecError(f"{called(EACH)} and {called(TOTAL)} exclude each other: each states all burst buffers")
    for key, text in given:
        try:
            units.SIZE.read(text)
        except ValueError as error:
            raise SpecError(f"{called(key)}: {error}") from None
    size = AUTO if nodes is None else f"{_SIZED}{nodes}"
    return PlatformSpec(source=",".join([size, *(f"{key}={text}" for key, text in given)]))


def load(spec: PlatformSpec) -> Machine:
    """Load a machine.

    Raises
    ------
    PlatformError
        There is no such machine, or its description is wrong.
    SpecError
        It has no compute node, or not one host with the role master.
    """
    if spec.changes:
        return _changed(spec)
    if spec.source.endswith((".xml", ".xml.xz")):
        xml, notes = _with_paths(_text(spec.source), spec.source)
        platform = parse_platform(xml, spec.source)
        try:
            Machines(platform, {})
        except SimulatorInputError as error:
            raise SpecError(str(error)) from None
    else:
        xml, platform = generate_and_build(_description_of(spec.source))
        notes = _assumed(spec.source)
    return Machine(spec.name or _name(spec.source), xml, facts_of(platform, spec.source), spec, notes)


def of_site(spec: PlatformSpec, nodes: int) -> PlatformSpec:
    """The machine of a site with this many nodes, unless another one is named.

    Its burst buffers are as stated, else as the workload needs them.
    """
    source, comma, given = spec.source.partition(",")
    if source != AUTO or not nodes:
        return spec
    return dataclasses.replace(spec, source=f"{_OF_SITE}{nodes}{comma}{given}")


def is_chosen(spec: PlatformSpec) -> bool:
    """Whether the machine is chosen for a workload (:func:`for_workload`), not named."""
    source = spec.source.partition(",")[0]
    return source == AUTO or (source.startswith(_OF_SITE) and source.removeprefix(_OF_SITE).isdecimal())


def _assumed(source: str) -> tuple[str, ...]:
    """Notes for the user on a machine that is given by its number of nodes; empty for a described one."""
    if source.startswith(_FIT):
        return (f"made for this workload: at least {source.removeprefix(_FIT)} compute nodes",)
    if not source.startswith(_SIZED):
        return ()
    nodes, capacity, pool = _sized(source)
    storage = f"one storage node of {capacity} for every {NODES_PER_STORAGE} of them, "
    return (
        f"{nodes} compute nodes; assumed are {'' if pool else storage}links of 1.25 GB/s and a file system of "
        f"{file_system(nodes)} (a description of your machine as --platform FILE.toml states them)",
    )


def _changed(spec: PlatformSpec) -> Machine:
    """The machine with the changes to its description."""
    nodes = _nodes_stated(spec.source)
    pool = spec.source.startswith(_SIZED) and _sized(spec.source).pool
    resized = None if nodes is None else lambda number: (nodes, sized(number, pool=pool))
    made, notes = machine_changes.changed(spec.source, _description_of(spec.source), spec.changes, resized)
    name = spec.name or f"{_name(spec.source)} {machine_changes.text_of(spec.changes)}"
    xml = generate(made)
    return Machine(name, xml, facts_of(parse_platform(xml, spec.source), spec.source), spec, notes)


def _nodes_stated(source: str) -> int | None:
    """Compute nodes of a machine given by their number, of a fitting or the thesis machine; ``None`` for any other."""
    if source.startswith(_SIZED):
        return _sized(source).nodes
    if source.startswith(_FIT):
        least = max(int(source.removeprefix(_FIT)), _THESIS_NODES)
        step = _NODES_PER_CHASSIS_ROW if least <= _LARGEST_DRAGONFLY else NODES_PER_STORAGE
        return -(-least // step) * step
    return _THESIS_NODES if source == "thesis" else None


def _description_of(source: str) -> Description:
    """The description of a machine; raise :class:`PlatformError` for SimGrid XML, which lacks one."""
    if source.startswith(_FIT):
        return _fitting(int(source.removeprefix(_FIT)))
    if source.startswith(_SIZED):
        size = _sized(source)
        return sized(size.nodes, size.capacity, pool=size.pool)
    return describe(source)


def _text(source: str) -> str:
    if not source.endswith(".xz"):
        return resolve_platform(source)
    try:
        return text_of(read_file(source))
    except InputError as error:
        raise PlatformError(f"the platform file {error}", source) from None


def _with_paths(xml: str, source: str) -> tuple[str, tuple[str, ...]]:
    """A user's own XML with the levels on the way to its file system, and notes on them for the user."""
    platform = parse_platform(xml, source)
    if states_paths(platform) or not has_file_system(platform):
        return xml, ()
    try:
        return annotate(xml, source), ()
    except PlatformError as error:
        return xml, (f"WARNING: jobs with an I/O rate will be rejected unless bandwidth is ignored: {error}",)


def facts_of(platform: Platform, source: str) -> MachineFacts:
    """Read the facts for converters of logs; raise a :class:`SpecError` that names the platform."""
    try:
        return MachineFacts.from_platform(platform)
    except ValueError as error:
        raise SpecError(f"platform {source!r}: {error}") from None


def fitting(sizes: list[int], name: str = "", few: int = 0) -> PlatformSpec:
    """Choose a machine for jobs of these sizes (in compute nodes).

    The thesis machine is taken when at most a few jobs are too wide for it (they will be rejected, as in the thesis);
    else a machine on which the widest job fits.
    """
    nodes = fitting_nodes(sizes, few)
    return PlatformSpec(source="thesis" if nodes == _THESIS_NODES else f"{_FIT}{nodes}", name=name)


def for_workload(sizes: list[int], stated: StatedSize, spec: PlatformSpec) -> tuple[PlatformSpec, str]:
    """Choose the machine of a workload; also return a sentence on the origin of its size.

    Its nodes are those that the workload states, else the most that were in use at once; if a log states neither, the
    widest job decides (:func:`fitting`). A log of a site gets burst buffers in one pool, as large as the largest
    request and as all requests that were held at once; any other workload gets the thesis's machine in proportion.

    Parameters
    ----------
    sizes
        Compute nodes that each job requests.
    stated
        Size of the machine according to the workload.
    spec
        :data:`~spillway.experiments.run.spec.AUTO`, perhaps with burst buffers that the user states
        (``auto,burst_buffer_total=80TB``) or a site's nodes (:func:`of_site`), and the machine's name in the results.
    """
    source, comma, given = spec.source.partition(",")
    needs = stated.needs or Needs(0, max(sizes, default=0))
    if of_site := source.startswith(_OF_SITE):
        nodes, why = int(source.removeprefix(_OF_SITE)), "those of the site"
    else:
        nodes, why = stated.nodes_and_why(needs)
    if not nodes:
        few = 0 if stated.needs else len(sizes) // 100
        return _guessed(sizes, few, spec.name, comma + given), f"machine: a guess, {why}; --nodes N states the real one"
    each = f" of {stated.processors} processor{'s' * (stated.processors > 1)} each" if stated.processors else ""
    others = "--nodes N and --processors-per-node N state" if each else "--nodes N states"
    words = f"machine: {nodes} nodes{each} ({why}{'' if of_site else f'; {others} others'})"
    if comma:
        source = f"{_SIZED}{nodes},{given}"
        words = f"{words}, {_given(_sized(source))}"
    elif (needs.nodes or of_site) and needs.all_buffers:
        capacity = units.SIZE.write(rounded_up(needs.all_buffers))
        source, words = f"{_SIZED}{nodes},{TOTAL}={capacity}", f"{words}, {_buffers(needs, capacity)}"
    else:
        source = "thesis" if nodes == _THESIS_NODES else f"{_SIZED}{nodes}"
    return PlatformSpec(source=source, name=spec.name), f"{words}{'' if of_site else _partitions(needs)}"


def _guessed(sizes: list[int], few: int, name: str, buffers: str) -> PlatformSpec:
    """A machine on which all but a few jobs fit; ``buffers``: burst buffers that the user states, after a comma."""
    found = fitting(sizes, name, few)
    if not buffers:
        return found
    nodes = found.source.removeprefix(_FIT) if found.source.startswith(_FIT) else _THESIS_NODES
    return PlatformSpec(source=f"{_SIZED}{nodes}{buffers}", name=name)


def _given(size: _Size) -> str:
    """Burst buffers that the user states."""
    if not units.SIZE.read(size.capacity):
        return "no burst buffers, as stated"
    return f"{size.capacity} of burst buffers {'in one pool' if size.pool else 'on each storage node'}, as stated"


def _buffers(needs: Needs, capacity: str) -> str:
    drawn = ", drawn because the log states no requests" if needs.drawn else ""
    largest, held = (units.SIZE.write(rounded_up(size)) for size in (needs.largest_buffer, needs.buffers))
    return (
        f"{capacity} of burst buffers in one pool (requests of {needs.buffer_jobs:,} jobs{drawn}: up to {largest} by "
        f"one and {held} at once; --burst-buffer-total SIZE states another)"
    )


def _partitions(needs: Needs) -> str:
    if not needs.partitions:
        return ""
    peaks = shortened([f"{name} {peak}" for name, peak in needs.partitions.items()])
    return f", shared by all partitions (most nodes in use at once: {peaks}; --where partition=NAME plays one alone)"


def _fitting(nodes: int) -> Description:
    """A machine like the thesis's with at least this many compute nodes.

    Up to 192 nodes it is the thesis's Dragonfly with more chassis; above, a tree of switches with eight nodes and one
    storage node of 40 GB each. The file system's bandwidth grows with the nodes.
    """
    chassis = max(4, -(-nodes // _NODES_PER_CHASSIS_ROW))
    if nodes <= _LARGEST_DRAGONFLY:
        return _dragonfly(chassis, file_system(max(nodes, _THESIS_NODES)), CAPACITY)
    return _tree(-(-nodes // NODES_PER_STORAGE) * NODES_PER_STORAGE, file_system(nodes), CAPACITY)


def sized(nodes: int, capacity: str = CAPACITY, *, pool: bool = False) -> Description:
    """Describe a machine with exactly this many compute nodes, >= 1; ``capacity`` of each storage node.

    Equal to a fitting machine where a Dragonfly of that size exists; else a tree of switches with eight nodes and one
    storage node each, and the remaining nodes at a last, smaller switch. With ``pool`` all nodes are at one switch with
    a single storage node; its link is as fast as those of one storage node for every eight nodes together.
    """
    if pool:
        return _pooled(nodes, capacity)
    chassis, rest = divmod(nodes, _NODES_PER_CHASSIS_ROW)
    if nodes <= _LARGEST_DRAGONFLY and not rest:
        return _dragonfly(chassis, file_system(nodes), capacity)
    return _tree(nodes, file_system(nodes), capacity)


class _Size(NamedTuple):
    """Nodes, burst buffers with their unit, and whether those are one pool."""

    nodes: int
    capacity: str
    pool: bool


def _sized(source: str) -> _Size:
    """Read a source such as ``nodes:240,burst_buffer=80GB`` or ``nodes:240,burst_buffer_total=80TB``."""
    number, _, given = source.removeprefix(_SIZED).partition(",")
    key, equals, capacity = given.partition("=")
    in_range = number.isdecimal() and 1 <= int(number) <= MOST_NODES
    if not in_range or (given and (key not in (EACH, TOTAL) or not equals)):
        raise SpecError(
            f"platform {source!r}: expected nodes:N, nodes:N,{EACH}=SIZE or nodes:N,{TOTAL}=SIZE with 1 <= N <= "
            f"{MOST_NODES}, such as nodes:240,{EACH}=80GB"
        )
    try:
        units.SIZE.read(capacity or CAPACITY)
    except ValueError as error:
        raise SpecError(f"platform {source!r}: {key}: {error}") from None
    return _Size(int(number), capacity or CAPACITY, key == TOTAL)


def file_system(nodes: int) -> str:
    """The file system's bandwidth: the thesis's 5 GB/s for its 96 nodes, and in proportion."""
    return f"{5000 * nodes / _THESIS_NODES:.0f}MBps"


def _dragonfly(chassis: int, file_system: str, capacity: str) -> Description:
    changes = {"dragonfly.chassis": chassis, "pfs.bandwidth": file_system, "storage.capacity": capacity}
    return describe("thesis", changes)


def _pooled(nodes: int, capacity: str) -> Description:
    """All nodes at one switch, with one storage node for all burst buffers unless their capacity is 0."""
    bandwidth = -(-nodes // NODES_PER_STORAGE) * NODE_LINK_BYTES_PER_S
    level = {"name": "node", "count": nodes, "bandwidth": NODE_LINK_BYTES_PER_S, "latency": "50us", "duplex": True}
    cluster = {
        "name": "pooled",
        "uplink": {"name": "core", "bandwidth": bandwidth},
        "levels": [{"name": "pool", "count": 1}, level],
    }
    storage = {"per": "pool", "capacity": capacity, "bandwidth": bandwidth, "latency": "50us"}
    return _of_log("pooled", [cluster], storage if units.SIZE.read(capacity) else None, file_system(nodes))


def _tree(nodes: int, file_system: str, capacity: str) -> Description:
    """Switches with eight nodes each, and one with the remaining nodes."""
    storage = {"per": "switch", "capacity": capacity, "bandwidth": NODE_LINK_BYTES_PER_S, "latency": "50us"}
    return _of_log("fitting", clusters("fitting", nodes, NODES_PER_STORAGE), storage, file_system)


def _of_log(name: str, clusters: list[dict[str, Any]], storage: dict[str, Any] | None, file_system: str) -> Description:
    table = {"name": name, "topology": "tree", "cluster": clusters, "pfs": {"bandwidth": file_system}}
    return read_description(table | ({"storage": storage} if storage else {}), "machine of a log")


def clusters(name: str, nodes: int, per: int, link: float = NODE_LINK_BYTES_PER_S) -> list[dict[str, Any]]:
    """Switches with ``per`` nodes each, and a smaller one with the remaining nodes, as tables of a description."""
    switches, rest = divmod(nodes, per)
    found = [_cluster(name, switches, per, link)] if switches else []
    return found + ([_cluster("rest" if switches else name, 1, rest, link)] if rest else [])


def _cluster(name: str, switches: int, nodes: int, link: float) -> dict[str, Any]:
    def level(name: str, count: int, links: int) -> dict[str, Any]:
        return {"name": name, "count": count, "bandwidth": links * link, "latency": "50us", "duplex": True}

    uplink = {"name": "core", "bandwidth": switches * link}
    return {"name": name, "uplink": uplink, "levels": [level("switch", switches, 4), level("node", nodes, 1)]}


def _name(source: str) -> str:
    if source in builtin_files():
        return source
    path = Path(source.replace(":", "-"))
    return path.name.removesuffix(".xz").removesuffix(".xml").removesuffix(".toml")

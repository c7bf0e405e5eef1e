"""The machine of a campaign: a named or described one, or one that fits a workload."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from spillway.base import units
from spillway.base.files import read_file, text_of
from spillway.base.limits import InputError
from spillway.experiments.campaign import machine_changes
from spillway.experiments.run.errors import SpecError
from spillway.experiments.run.spec import PlatformSpec
from spillway.platforms.annotate import annotate, states_paths
from spillway.platforms.catalogue import builtin_files, describe, resolve_platform
from spillway.platforms.description import Description, read_description
from spillway.platforms.errors import PlatformError
from spillway.platforms.generate import generate, generate_and_build
from spillway.platforms.io_paths import has_file_system
from spillway.platforms.model import Platform
from spillway.platforms.xml_reader import parse_platform
from spillway.workloads.machine_facts import MachineFacts

FIT = "fit:"
"""Beginning of the source of a machine on which a job fits: at least so many compute nodes (``fit:1152``)."""

SIZED = "nodes:"
"""Beginning of the source of a machine with exactly so many (``nodes:240``, ``nodes:240,burst_buffer=80GB``)."""

CAPACITY = "40GB"
"""Burst-buffer capacity of a storage node of the thesis machine."""

NODES_PER_STORAGE = 8
"""Compute nodes per storage node of the thesis machine."""

LARGEST_DRAGONFLY = 192
"""Up to here a fitting machine is a Dragonfly; its file has every route, which grows with the square of the nodes."""

THESIS_NODES = 96

NODES_PER_CHASSIS_ROW = 24
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
        What converters of logs need.
    notes
        Notes for the user.
    """

    name: str
    xml: str
    facts: MachineFacts
    notes: tuple[str, ...] = ()


def load(spec: PlatformSpec) -> Machine:
    """Load a machine.

    Raises
    ------
    PlatformError
        There is no such machine, or its description is wrong.
    SpecError
        It has no compute node.
    """
    if spec.changes:
        return _changed(spec)
    if spec.source.endswith((".xml", ".xml.xz")):
        xml, notes = _with_paths(_text(spec.source), spec.source)
        platform = parse_platform(xml, spec.source)
    else:
        xml, platform = generate_and_build(description_of(spec.source))
        notes = _assumed(spec.source)
    return Machine(spec.name or _name(spec.source), xml, facts_of(platform, spec.source), notes)


def _assumed(source: str) -> tuple[str, ...]:
    """Notes for the user on a machine that is given by its number of nodes; none on one that is described."""
    if source.startswith(FIT):
        return (f"made for this workload: at least {source.removeprefix(FIT)} compute nodes",)
    if not source.startswith(SIZED):
        return ()
    nodes, capacity = _sized(source)
    return (
        f"{nodes} compute nodes; assumed are one storage node of {capacity} for every {NODES_PER_STORAGE} of them, "
        f"links of 1.25 GB/s and a file system of {file_system(nodes)} (a description of your machine as "
        "--platform FILE.toml states them)",
    )


def _changed(spec: PlatformSpec) -> Machine:
    """A machine with what differs from its description."""
    nodes = _nodes_stated(spec.source)
    resized = None if nodes is None else lambda number: (nodes, sized(number))
    made, notes = machine_changes.changed(spec.source, description_of(spec.source), spec.changes, resized)
    name = spec.name or f"{_name(spec.source)} {machine_changes.text_of(spec.changes)}"
    xml = generate(made)
    return Machine(name, xml, facts_of(parse_platform(xml, spec.source), spec.source), notes)


def _nodes_stated(source: str) -> int | None:
    """Compute nodes of a machine that is given by them; ``None`` for one that is described."""
    if source.startswith(SIZED):
        return _sized(source)[0]
    return THESIS_NODES if source == "thesis" else None


def description_of(source: str) -> Description:
    """The description of a machine; raise :class:`PlatformError` for SimGrid XML, which has none."""
    if source.startswith(FIT):
        return _fitting(int(source.removeprefix(FIT)))
    if source.startswith(SIZED):
        return sized(*_sized(source))
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
        return xml, (f"jobs with an I/O rate will be rejected unless bandwidth is ignored: {error}",)


def facts_of(platform: Platform, source: str) -> MachineFacts:
    """Read what converters need; raise :class:`SpecError` that names the platform."""
    try:
        return MachineFacts.from_platform(platform)
    except ValueError as error:
        raise SpecError(f"platform {source!r}: {error}") from None


def fitting(sizes: list[int], name: str = "") -> PlatformSpec:
    """Choose a machine for jobs of these sizes (in compute nodes).

    The thesis machine is taken when at most one job in a hundred is too wide for it (they will be rejected, as in the
    thesis); else a machine on which the widest job fits.
    """
    too_wide = sum(size > THESIS_NODES for size in sizes)
    if 100 * too_wide <= len(sizes):
        return PlatformSpec(source="thesis", name=name)
    return PlatformSpec(source=f"{FIT}{max(sizes)}", name=name)


@dataclass(frozen=True)
class Stated:
    """What a workload says about its machine.

    Attributes
    ----------
    nodes
        Compute nodes that it states; 0: none.
    in_use
        Most compute nodes that were in use at once by the log's own times; 0: not known.
    """

    nodes: int = 0
    in_use: int = 0


def for_workload(sizes: list[int], stated: Stated, name: str = "") -> tuple[PlatformSpec, str]:
    """The machine of a log, and the sentence that says where it comes from.

    Parameters
    ----------
    sizes
        Compute nodes that each job requests.
    stated
        What the log says: its machine's nodes; else the most that were in use at once, a lower bound; where it says
        neither, the widest job decides (:func:`fitting`).
    name
        Name in the results; "": its own.
    """
    stated_nodes = stated.nodes
    if not stated_nodes and stated.in_use:
        least = max(stated.in_use, max(sizes, default=1))
        return (
            PlatformSpec(source=f"{SIZED}{least}", name=name),
            f"the workload states no size of its machine; by its own times {stated.in_use} nodes were in use at once, "
            f"and its widest job requests {max(sizes, default=1)}: the machine has {least} nodes, a guess from below; "
            "--nodes N states the real one",
        )
    if not stated_nodes:
        return fitting(sizes, name), (
            f"the workload states no size of its machine, and its widest job requests {max(sizes, default=0)} nodes: "
            "the machine is a guess; --nodes N states the real one"
        )
    if stated_nodes == THESIS_NODES:
        return PlatformSpec(source="thesis", name=name), f"the workload states a machine of {stated_nodes} nodes"
    return (
        PlatformSpec(source=f"{SIZED}{stated_nodes}", name=name),
        f"the workload states a machine of {stated_nodes} nodes; --nodes N overrides it",
    )


def _fitting(nodes: int) -> Description:
    """A machine like the thesis's with at least so many compute nodes.

    Up to 192 nodes it is the thesis's Dragonfly with more chassis; above, a tree of switches with eight nodes and one
    storage node of 40 GB each. The file system's bandwidth grows with the nodes.
    """
    chassis = max(4, -(-nodes // NODES_PER_CHASSIS_ROW))
    if nodes <= LARGEST_DRAGONFLY:
        return _dragonfly(chassis, file_system(max(nodes, THESIS_NODES)), CAPACITY)
    return _tree(-(-nodes // NODES_PER_STORAGE), 0, file_system(nodes), CAPACITY)


def sized(nodes: int, capacity: str = CAPACITY) -> Description:
    """Describe a machine with exactly so many compute nodes, >= 1; ``capacity`` of each storage node.

    As a fitting machine where a Dragonfly of that size exists; else a tree of switches with eight nodes and
    one storage node each, and what is left over at a last, smaller switch.
    """
    chassis, rest = divmod(nodes, NODES_PER_CHASSIS_ROW)
    if nodes <= LARGEST_DRAGONFLY and not rest:
        return _dragonfly(chassis, file_system(nodes), capacity)
    return _tree(*divmod(nodes, NODES_PER_STORAGE), file_system(nodes), capacity)


def _sized(source: str) -> tuple[int, str]:
    """Number of nodes and capacity of a source such as ``nodes:240,burst_buffer=80GB``."""
    number, _, given = source.removeprefix(SIZED).partition(",")
    key, equals, capacity = given.partition("=")
    in_range = number.isdecimal() and 1 <= int(number) <= MOST_NODES
    if not in_range or (given and (key, equals) != ("burst_buffer", "=")):
        raise SpecError(
            f"platform {source!r}: expected nodes:N or nodes:N,burst_buffer=SIZE with 1 <= N <= {MOST_NODES}, such as "
            "nodes:240,burst_buffer=80GB"
        )
    try:
        units.SIZE.read(capacity or CAPACITY)
    except ValueError as error:
        raise SpecError(f"platform {source!r}: burst_buffer: {error}") from None
    return int(number), capacity or CAPACITY


def file_system(nodes: int) -> str:
    """The file system's bandwidth: the thesis's 5 GB/s for its 96 nodes, and in proportion."""
    return f"{5000 * nodes / THESIS_NODES:.0f}MBps"


def _dragonfly(chassis: int, file_system: str, capacity: str) -> Description:
    changes = {"dragonfly.chassis": chassis, "pfs.bandwidth": file_system, "storage.capacity": capacity}
    return describe("thesis", changes)


def _tree(switches: int, rest: int, file_system: str, capacity: str) -> Description:
    """Switches with eight nodes each, and one with what is left over."""
    clusters = [_cluster("fitting", switches, NODES_PER_STORAGE)] if switches else []
    clusters += [_cluster("rest" if switches else "fitting", 1, rest)] if rest else []
    text = f"""
name = "fitting"
topology = "tree"
{"".join(clusters)}
[storage]
per = "switch"
capacity = "{capacity}"
bandwidth = "1250MBps"
latency = "50us"
[pfs]
bandwidth = "{file_system}"
"""
    return read_description(text, "fitting machine", builtin_files())


def _cluster(name: str, switches: int, nodes: int) -> str:
    return f"""
[[cluster]]
name = "{name}"
uplink = {{ name = "core", bandwidth = "{1250 * switches}MBps" }}
levels = [
  {{ name = "switch", count = {switches}, bandwidth = "5000MBps", latency = "50us", duplex = true }},
  {{ name = "node", count = {nodes}, bandwidth = "1250MBps", latency = "50us", duplex = true }},
]
"""


def _name(source: str) -> str:
    if source in builtin_files():
        return source
    path = Path(source.replace(":", "-"))
    return path.name.removesuffix(".xz").removesuffix(".xml").removesuffix(".toml")

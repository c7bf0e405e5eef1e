"""The machine of a campaign: a named or described one, or one that fits a workload."""

from __future__ import annotations

import lzma
from dataclasses import dataclass
from pathlib import Path

from experiments.errors import SpecError
from experiments.spec import PlatformSpec
from platforms.annotate import annotate, states_paths
from platforms.catalogue import builtin_files, describe, resolve_platform
from platforms.description import read_description
from platforms.errors import PlatformError
from platforms.generate import generate
from platforms.io_paths import has_file_system
from platforms.model import Platform
from platforms.xml_reader import parse_platform
from workloads.machine_facts import MachineFacts

AUTO = "auto"
"""Stands for the machine of the thesis where a workload fits on it, else for one of its kind that is large enough."""

FIT = "fit:"
"""Beginning of the source of a machine that was made to fit (``fit:1152``)."""

NODES_PER_STORAGE = 8
"""Compute nodes per storage node of the thesis machine."""

LARGEST_DRAGONFLY = 192
"""Up to here a fitting machine is a Dragonfly; its file has every route, which grows with the square of the nodes."""

THESIS_NODES = 96


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
    notes: tuple[str, ...] = ()
    if spec.source.startswith(FIT):
        nodes = int(spec.source.removeprefix(FIT))
        xml, notes = fitting_xml(nodes), (f"made for this workload: at least {nodes} compute nodes",)
    elif spec.source.endswith((".xml", ".xml.xz")):
        xml, notes = _with_paths(_text(spec.source), spec.source)
    else:
        xml = resolve_platform(spec.source)
    platform = parse_platform(xml, spec.source)
    return Machine(spec.name or _name(spec.source), xml, facts_of(platform, spec.source), notes)


def _text(source: str) -> str:
    if source.endswith(".xz"):
        return lzma.decompress(Path(source).read_bytes()).decode()
    return resolve_platform(source)


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


def fitting_xml(nodes: int) -> str:
    """Platform file of a machine like the thesis's with at least so many compute nodes.

    Up to 192 nodes it is the thesis's Dragonfly with more chassis; above, a tree of switches with eight nodes and one
    storage node of 40 GB each. The file system's bandwidth grows with the nodes.
    """
    file_system = f"{5000 * max(nodes, THESIS_NODES) / THESIS_NODES:.0f}MBps"
    if nodes <= LARGEST_DRAGONFLY:
        chassis = max(4, -(-nodes // 24))
        return generate(describe("thesis", {"dragonfly.chassis": chassis, "pfs.bandwidth": file_system}))
    return generate(read_description(_tree(nodes, file_system), "fitting machine", builtin_files()))


def _tree(nodes: int, file_system: str) -> str:
    switches = -(-nodes // NODES_PER_STORAGE)
    return f"""
name = "fitting"
topology = "tree"
[[cluster]]
name = "fitting"
uplink = {{ name = "core", bandwidth = "{1250 * switches}MBps" }}
levels = [
  {{ name = "switch", count = {switches}, bandwidth = "5000MBps", latency = "50us", duplex = true }},
  {{ name = "node", count = {NODES_PER_STORAGE}, bandwidth = "1250MBps", latency = "50us", duplex = true }},
]
[storage]
per = "switch"
capacity = "40GB"
bandwidth = "1250MBps"
latency = "50us"
[pfs]
bandwidth = "{file_system}"
"""


def _name(source: str) -> str:
    if source in builtin_files():
        return source
    path = Path(source.replace(":", "-"))
    return path.name.removesuffix(".xz").removesuffix(".xml").removesuffix(".toml")

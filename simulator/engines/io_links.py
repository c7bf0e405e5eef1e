"""The links between compute hosts and the parallel file system, as the hosts of a platform state them."""

from __future__ import annotations

import spillway.core as core
from spillway.base.errors import shown
from spillway.platforms.io_paths import path_of
from spillway.platforms.model import Platform
from spillway.simulator.errors import SimulatorInputError


def io_tree(platform: Platform, whole_units: bool = False) -> core.IoTree:
    """Read the tree from properties of hosts or zones (:func:`spillway.platforms.io_paths.path_of`).

    The property is ``io_path`` (``pfs=7e10/pool=4.32e11/edge3=2.16e11``), or ``io_levels`` of zones.

    Raises
    ------
    SimulatorInputError
        No host has such a property, or one is malformed.
    """
    bytes_per_s: list[float] = []
    parents: list[int] = []
    index: dict[tuple[str, ...], int] = {}
    above = []
    for host in platform.hosts:
        path: tuple[str, ...] = ()
        parent = -1
        for part in filter(None, path_of(host).split("/")):
            name, _, value = part.partition("=")
            path += (name,)
            if path not in index:
                index[path] = len(parents)
                bytes_per_s.append(_bandwidth(host.name, name, value))
                parents.append(parent)
            parent = index[path]
        above.append(parent)
    if not parents:
        raise SimulatorInputError(
            "the engine 'waterfill' needs hosts that state the links above them (property 'io_path'); no host of "
            "this platform does: use a description with a [pfs] link, or the engine 'fluid'"
        )
    return core.IoTree(bytes_per_s, parents, above, whole_units)


def _bandwidth(host: str, level: str, text: str) -> int:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < 2**62:
        raise SimulatorInputError(
            f"host {shown(host)}: property 'io_path': level {shown(level)} must state bytes per second "
            f"above 0, got {shown(text)}"
        )
    return int(value)

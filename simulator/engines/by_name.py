"""The engines by name. Each is imported when it is made, because each has other dependencies."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from spillway.platforms.model import Platform
from spillway.simulator.engines.base import Engine


def _fluid(platform: Platform, path: Path) -> Engine:
    from spillway.simulator.engines.fluid import FluidEngine

    return FluidEngine(platform)


def _simgrid(platform: Platform, path: Path) -> Engine:
    from spillway.simulator.engines.simgrid import SimgridEngine

    return SimgridEngine(path)


def _fixed(platform: Platform, path: Path) -> Engine:
    from spillway.simulator.engines.fixed import FixedEngine

    return FixedEngine(platform)


def _waterfill(platform: Platform, path: Path) -> Engine:
    from spillway.simulator.engines.waterfill import WaterfillEngine

    return WaterfillEngine(platform)


ENGINES: Mapping[str, Callable[[Platform, Path], Engine]] = {
    "fluid": _fluid,
    "simgrid": _simgrid,
    "fixed": _fixed,
    "waterfill": _waterfill,
}
"""Maker of each engine, in this process or a child process, from a platform and the file that it was read from."""

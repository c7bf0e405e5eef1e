"""The engines by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from spillway.platforms.model import Platform
from spillway.simulator.engines.base import Engine
from spillway.simulator.engines.native import FixedEngine, FluidEngine, WaterfillEngine


def _simgrid(platform: Platform, path: Path) -> Engine:
    from spillway.simulator.engines.simgrid import SimgridEngine

    return SimgridEngine(path)


ENGINES: Mapping[str, Callable[[Platform, Path], Engine]] = {
    "fluid": lambda platform, path: FluidEngine(platform),
    "simgrid": _simgrid,
    "fixed": lambda platform, path: FixedEngine(platform),
    "waterfill": lambda platform, path: WaterfillEngine(platform),
}
"""Maker of each engine, in this process or a child process, from a platform and the file that it was read from."""

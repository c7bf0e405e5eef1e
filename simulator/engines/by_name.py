"""The engines by name: parallel tasks over the hosts of a platform, and a clock.

An engine has no jobs, profiles or schedulers. A caller starts tasks at the present clock and moves the clock; the
engine returns which tasks ended. ``advance`` is enough: no call for the next end need precede it, and the ``simgrid``
engine cannot look ahead.

The model of a parallel task is SimGrid's ``ptask_L07``: one progress from 0 to 1, at which all computation of all hosts
and all transfers of all host pairs advance together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import spillway.core as core
from spillway.platforms.model import Platform
from spillway.simulator.engines.native import FixedEngine, FluidEngine, WaterfillEngine

if TYPE_CHECKING:
    from spillway.simulator.engines.simgrid import SimgridEngine

Engine: TypeAlias = "core.Engine | SimgridEngine"
"""An engine of the core, or SimGrid's with the same methods."""


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

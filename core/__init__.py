"""The compiled core: everything that happens in simulated time, in C++ (see the folders beside this file).

Other packages import its names from here. ``_native.pyi`` has their documentation.
"""

from __future__ import annotations

from spillway.core._native import (
    SOURCE_DIGEST,
    Allocation,
    Batch,
    Engine,
    FixedEngine,
    FluidEngine,
    GangClock,
    GangMatrix,
    GangOutcome,
    GangPlace,
    GangRules,
    GangRun,
    Job,
    Lives,
    Network,
    Packer,
    SubsetChoice,
    branch_and_bound,
    replaced,
    run_gang,
    set_leak_warnings,
)

__all__ = [
    "SOURCE_DIGEST",
    "Allocation",
    "Batch",
    "Engine",
    "FixedEngine",
    "FluidEngine",
    "GangClock",
    "GangMatrix",
    "GangOutcome",
    "GangPlace",
    "GangRules",
    "GangRun",
    "Job",
    "Lives",
    "Network",
    "Packer",
    "SubsetChoice",
    "branch_and_bound",
    "replaced",
    "run_gang",
    "set_leak_warnings",
]

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
    GangClock,
    GangMatrix,
    GangOutcome,
    GangPlace,
    GangRules,
    GangRun,
    Job,
    Lives,
    Packer,
    SubsetChoice,
    branch_and_bound,
    replaced,
    run_gang,
)
from spillway.core.refusals import Overbooked
from spillway.core.resources import Resource

__all__ = [
    "SOURCE_DIGEST",
    "Allocation",
    "Batch",
    "Engine",
    "FixedEngine",
    "GangClock",
    "GangMatrix",
    "GangOutcome",
    "GangPlace",
    "GangRules",
    "GangRun",
    "Job",
    "Lives",
    "Overbooked",
    "Packer",
    "Resource",
    "SubsetChoice",
    "branch_and_bound",
    "replaced",
    "run_gang",
]

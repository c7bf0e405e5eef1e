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
    Job,
    Lives,
    Packer,
    SubsetChoice,
    branch_and_bound,
    replaced,
)
from spillway.core.refusals import Overbooked
from spillway.core.resources import Resource

__all__ = [
    "SOURCE_DIGEST",
    "Allocation",
    "Batch",
    "Engine",
    "FixedEngine",
    "Job",
    "Lives",
    "Overbooked",
    "Packer",
    "Resource",
    "SubsetChoice",
    "branch_and_bound",
    "replaced",
]

"""The compiled core: everything that happens in simulated time, in C++ (see the folders beside this file).

Other packages import its names from here. ``_native.pyi`` has their documentation.
"""

from __future__ import annotations

from spillway.core._native import (
    SOURCE_DIGEST,
    Batch,
    Engine,
    FixedEngine,
    Packer,
    SubsetChoice,
    branch_and_bound,
)

__all__ = ["SOURCE_DIGEST", "Batch", "Engine", "FixedEngine", "Packer", "SubsetChoice", "branch_and_bound"]

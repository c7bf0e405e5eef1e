"""Schedulers for supercomputers with shared burst buffers, a simulator that plays Batsim's part, and experiments.

>>> import spillway as sw
>>> results = sw.compare("kth-like:jobs=500", ["fcfs", "easy"], seeds=2)  # doctest: +SKIP
>>> results.to_pandas()  # doctest: +SKIP

The names listed here are the public interface; each is imported when it is first used. The folders of the repository
are packages below this one (``spillway.schedulers``, ``spillway.workloads`` ...).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spillway.base.errors import SpillwayError
    from spillway.experiments.api.calls import compare, explain, study, whatif
    from spillway.experiments.api.logs import Log, info, log, read, where
    from spillway.experiments.api.machine import machine
    from spillway.experiments.api.policies import policy
    from spillway.experiments.api.results import Results
    from spillway.experiments.api.stepping import Simulation
    from spillway.experiments.run.version import version

__all__ = [
    "Log",
    "Results",
    "Simulation",
    "SpillwayError",
    "compare",
    "explain",
    "info",
    "log",
    "machine",
    "policy",
    "read",
    "study",
    "version",
    "whatif",
    "where",
]

_HOMES = {
    "spillway.experiments.api.calls": ("compare", "explain", "study", "whatif"),
    "spillway.experiments.api.logs": ("Log", "info", "log", "read", "where"),
    "spillway.experiments.api.machine": ("machine",),
    "spillway.experiments.api.policies": ("policy",),
    "spillway.experiments.api.results": ("Results",),
    "spillway.experiments.api.stepping": ("Simulation",),
    "spillway.base.errors": ("SpillwayError",),
    "spillway.experiments.run.version": ("version",),
}


def __getattr__(name: str) -> Any:
    """A public name, imported at its first use."""
    home = next((module for module, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module 'spillway' has no attribute {name!r}; it has {', '.join(__all__)}")
    found = getattr(importlib.import_module(home), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """The public names."""
    return sorted({*globals(), *__all__})

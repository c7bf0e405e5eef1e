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
    from spillway.analysis.tables import read_run
    from spillway.experiments.api import Log, Results, compare, read, study, whatif
    from spillway.experiments.cli import main
    from spillway.experiments.run.version import version
    from spillway.schedulers.policies import POLICIES
    from spillway.workloads import load_workload

__all__ = [
    "POLICIES",
    "Log",
    "Results",
    "compare",
    "load_workload",
    "main",
    "read",
    "read_run",
    "study",
    "version",
    "whatif",
]

_HOMES = {
    "POLICIES": "spillway.schedulers.policies",
    "load_workload": "spillway.workloads",
    "main": "spillway.experiments.cli",
    "read_run": "spillway.analysis.tables",
    "version": "spillway.experiments.run.version",
}


def __getattr__(name: str) -> Any:
    """A public name, imported at its first use."""
    if name not in __all__:
        raise AttributeError(f"module 'spillway' has no attribute {name!r}; it has {', '.join(__all__)}")
    found = getattr(importlib.import_module(_HOMES.get(name, "spillway.experiments.api")), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """The public names."""
    return sorted({*globals(), *__all__})

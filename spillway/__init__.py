"""Schedulers for supercomputers with shared burst buffers, a simulator that plays Batsim's part, and experiments.

The folders of the repository are packages below this one (``spillway.schedulers``, ``spillway.workloads``, ...). The
names listed here are the public interface; each is imported when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spillway.analysis.tables import read_run
    from spillway.experiments.cli import main
    from spillway.experiments.run.version import version
    from spillway.schedulers.policies import POLICIES, find_policy
    from spillway.workloads import load_workload

__all__ = [
    "POLICIES",
    "find_policy",
    "load_workload",
    "main",
    "read_run",
    "version",
]

_HOMES = {
    "find_policy": "spillway.schedulers.policies",
    "POLICIES": "spillway.schedulers.policies",
    "load_workload": "spillway.workloads",
    "main": "spillway.experiments.cli",
    "read_run": "spillway.analysis.tables",
    "version": "spillway.experiments.run.version",
}


def __getattr__(name: str) -> Any:
    """A public name, imported at its first use."""
    if name not in _HOMES:
        raise AttributeError(f"module 'spillway' has no attribute {name!r}; it has {', '.join(__all__)}")
    found = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """The public names."""
    return sorted({*globals(), *__all__})

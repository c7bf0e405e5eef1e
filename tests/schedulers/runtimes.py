"""Runtimes for tests of what lies above them."""

from __future__ import annotations

from spillway.schedulers.jobmodels.rigid import Rigid
from spillway.schedulers.jobmodels.runtime import ProgramRuntime


def rigid() -> ProgramRuntime:
    """A fresh runtime whose jobs run as they were submitted."""
    return ProgramRuntime(Rigid())

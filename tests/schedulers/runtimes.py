"""Runtimes for tests of the layers above them."""

from spillway.schedulers.jobmodels.rigid import Rigid
from spillway.schedulers.jobmodels.runtime import ProgramRuntime


def rigid() -> ProgramRuntime:
    """A fresh runtime that runs jobs as they were submitted."""
    return ProgramRuntime(Rigid())

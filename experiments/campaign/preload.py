"""Modules that the fork server of :mod:`spillway.experiments.campaign.pool` loads before it forks, for all runs.

Kernels that only some policies need are loaded by their runs.
"""

from __future__ import annotations

import numpy.ma  # noqa: F401  # Numba imports it when a compiled function gets its first array

from spillway.base.lazy_modules import load
from spillway.experiments.run import provenance, single
from spillway.schedulers.kernels import FIRST
from spillway.simulator.engines import fluid

__all__ = ["fluid", "single"]

load(FIRST)
provenance.versions()
provenance.metrics_code()

"""What the fork server of :mod:`experiments.pool` loads before it forks: what every run needs, so that none loads it.

Kernels that only some policies compute with are loaded by the runs that do.
"""

from __future__ import annotations

import numpy.ma  # noqa: F401  # Numba imports it when a compiled function gets its first array

from experiments import provenance, single
from schedulers.kernels import FIRST
from schedulers.late import load

__all__ = ["single"]

load(FIRST)
provenance.versions()
provenance.metrics_code()

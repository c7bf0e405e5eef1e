"""What the fork server of :mod:`experiments.pool` loads before it forks: what every run needs, so that none loads it.

Kernels that only some policies compute with are loaded by the runs that do.
"""

from __future__ import annotations

from experiments import single
from schedulers.late import load

__all__ = ["single"]

load("schedulers.timeline.fit_kernels")

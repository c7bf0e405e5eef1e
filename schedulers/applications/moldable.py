"""Moldable starts: the fewest nodes on which a malleable job may start."""

from __future__ import annotations

import numpy as np

from spillway.schedulers.applications.application import FIELD, Application, read_application
from spillway.schedulers.model.job import Job


def run_s(application: Application) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Modelled seconds of a whole run, modelled I/O included, by size from the minimum on."""
    phases = application.iterations // application.io_every if application.io_every else 0
    return application.iterations * application.model.iterations_s + phases * application.model.io_s


class Moldable:
    """Fewest nodes that a job may start on: down to its application's minimum, but no fewer than its walltime allows.

    A job starts on fewer nodes than it requests only where the model's whole run ends within the walltime, for this and
    every larger size up to the request.
    """

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def __call__(self, job: Job) -> int:
        """Fewest nodes; all for a job that describes no application, or a wrong one (which its start refuses)."""
        if job.id not in self._known:
            self._known[job.id] = _fewest(job)
        return self._known[job.id]


def _fewest(job: Job) -> int:
    description = job.profile.get(FIELD, job.extras.get(FIELD))
    if description is None:
        return job.nodes
    try:
        application = read_application(description, job.nodes)
    except ValueError:
        return job.nodes
    smaller = run_s(application)[: job.nodes - application.minimum]
    late = np.flatnonzero(smaller > job.walltime_s)
    return application.minimum + (int(late[-1]) + 1 if len(late) else 0)

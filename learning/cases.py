"""The workload of an episode: all jobs of a source, or a drawn window of consecutive ones."""

from __future__ import annotations

import numpy as np

from spillway.simulator.reading.registry import Workload as Simulated
from spillway.simulator.reading.workload import workload_from_object
from spillway.workloads.split import part_of
from spillway.workloads.workload import Workload

_FIRST_SUBMIT_S = 1
"""Submission of the first job of a window (s)."""


class Cases:
    """Workloads for episodes.

    Parameters
    ----------
    workload
        Source of the jobs.
    jobs
        Jobs of an episode; ``None``: all, as they are.
    """

    def __init__(self, workload: Workload, jobs: int | None) -> None:
        self._workload, self._jobs = workload, jobs
        self._order = sorted(range(len(workload.jobs)), key=lambda index: workload.jobs[index].subtime)

    def __len__(self) -> int:
        """Jobs of an episode."""
        return self._jobs if self._jobs is not None else len(self._order)

    def draw(self, rng: np.random.Generator) -> Simulated:
        """Make the next episode's workload; draw its first job unless all jobs are taken."""
        chosen = self._workload
        if self._jobs is not None:
            first = int(rng.integers(len(self._order) - self._jobs + 1))
            chosen = part_of(chosen, first, self._order[first : first + self._jobs], _FIRST_SUBMIT_S)
        jobs = [job.to_object() for job in chosen.jobs]
        return workload_from_object({"nb_res": chosen.nb_res, "jobs": jobs, "profiles": chosen.profiles})

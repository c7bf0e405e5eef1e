"""The rigid model: a job is one job of the simulator, on its nodes from start to end (Alloc-Only, thesis 2.4.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from spillway.schedulers.jobmodels.base import Granted, JobModel, Needs, Program, Submitted
from spillway.schedulers.model.job import Job
from spillway.schedulers.model.machine import Machine

_WHOLE = Submitted()


@dataclass(frozen=True)
class Rigid(JobModel):
    """A job computes from start to end, and only holds its burst buffer."""

    source: ClassVar[str] = "Kopanski 2020, section 2.4.1 (Alloc-Only)"
    needs: ClassVar[Needs] = Needs(dynamic_jobs=False, profile_reuse=False)
    stages: ClassVar[tuple[str, ...]] = ()
    cut: ClassVar[bool] = True

    def program(self, job: Job, granted: Granted, machine: Machine) -> Program:
        """Run the job in one piece."""
        yield _WHOLE

    def alone(self) -> Rigid:
        """Return the same model; only jobs that move bytes beside their computation are played (:meth:`moves`)."""
        return self

    def moves(self, job: Job) -> bool:
        """Whether the profile is a constant stream to a storage host; transfers of other profiles are not known."""
        return job.profile.get("type") == "io_stream"

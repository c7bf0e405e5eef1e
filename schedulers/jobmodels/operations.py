"""The operations model: a job's compute and I/O operations one after another, I/O through the gate.

A job states its operations in its profile (:mod:`spillway.schedulers.model.operations`): computing is a ``delay`` on
all nodes, I/O a collective transfer to the parallel file system. Jobs without operations run as they were submitted.

References
----------
Jeannot, Pallez, Vidal, IJHPCA 2023 (DOI 10.1177/10943420231175854), sections "Machine Model" and "Job Model".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from spillway.schedulers.jobmodels.base import (
    Compute,
    FileSystem,
    Granted,
    JobModel,
    Needs,
    Place,
    Program,
    Submitted,
    Transfer,
)
from spillway.schedulers.model.job import Job
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.model.operations import OPERATIONS_FIELD, PERIODS_FIELD, operations_of


@dataclass(frozen=True)
class OperationSequence(JobModel):
    """Jobs with operations in their profile run them one after another; others run as they were submitted."""

    source: ClassVar[str] = "Jeannot, Pallez, Vidal 2023, section Job Model"
    needs: ClassVar[Needs] = Needs(file_system=FileSystem.YES, gate=True)
    fields: ClassVar[tuple[str, ...]] = (PERIODS_FIELD, OPERATIONS_FIELD)
    only_with_fields: ClassVar[bool] = True
    stages: ClassVar[tuple[str, ...]] = ("compute", "transfer")
    moved: ClassVar[tuple[str, ...]] = ("transfer",)

    def program(self, job: Job, granted: Granted, machine: Machine) -> Program:
        """Run equation (1) of the paper, operation by operation."""
        operations = operations_of(job.profile)
        if operations is None:
            yield Submitted()
            return
        for _ in range(operations.count):
            for operation in operations.pattern:
                if operation.io_bytes:
                    yield Transfer(Place.NODES, Place.PFS, operation.io_bytes / job.nodes, "transfer")
                else:
                    yield Compute({"type": "delay", "delay": operation.compute_s, "ret": 0})

    def alone(self) -> OperationSequence:
        """Return the same model; without other jobs there is nothing else to wait for."""
        return self

    def refuses(self, job: Job) -> str | None:
        """Refuse nothing; RemoteProtocolError for a sequence that is stated wrongly."""
        operations_of(job.profile)
        return None

"""The time-shared model: jobs run in slices, and blocks of files cost time by their place (gang scheduling).

It has no program: the rows of a matrix determine which job runs in which slice, for all jobs together, so a runtime of
its own plays it (:mod:`spillway.schedulers.jobmodels.time_sharing_runtime`). Under a policy that shares no nodes in
time there is one row: jobs run in one piece each, and only the cost of blocks remains.

References
----------
Zhang et al., JSSPP 2003, sections 2 and 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from spillway.schedulers.jobmodels.base import JobModel, Needs
from spillway.schedulers.jobmodels.record import JobRecord
from spillway.schedulers.model.rules import NODES_CHANGE, Rules
from spillway.schedulers.timesharing.files import BLOCKS_FIELD, NODES_FIELD


@dataclass(frozen=True)
class TimeSharing(JobModel):
    """Jobs take turns on nodes as a gang policy lays them out; blocks of files cost by their place."""

    source: ClassVar[str] = "Zhang et al. 2003, sections 2 and 3"
    needs: ClassVar[Needs] = Needs(profile_reuse=False)
    job_fields: ClassVar[tuple[str, ...]] = (BLOCKS_FIELD, NODES_FIELD)
    stages: ClassVar[tuple[str, ...]] = ()
    shares_nodes: ClassVar[bool] = True
    columns: ClassVar[tuple[str, ...]] = ("time_slices",)

    def rules(self) -> Rules:
        """Jobs hold their burst buffers with their nodes."""
        return Rules(lacks=NODES_CHANGE)

    def cells(self, record: JobRecord) -> Mapping[str, str]:
        """Number of pieces, of one or more slices each, in which a job ran."""
        return {"time_slices": str(record.sub_jobs)}

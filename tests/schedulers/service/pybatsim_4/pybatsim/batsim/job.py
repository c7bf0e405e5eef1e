"""A job as pybatsim keeps it."""

from dataclasses import dataclass
from enum import Enum
from typing import Any

FinalState = Enum(
    "FinalState",
    {
        name: name
        for name in ("COMPLETED_SUCCESSFULLY", "COMPLETED_FAILED", "COMPLETED_WALLTIME_REACHED", "COMPLETED_KILLED")
    },
)


@dataclass(eq=False)
class Job:
    """One job; the last two are known once it was submitted."""

    job_id: str
    resource_request: int
    walltime: float | None
    profile_id: str
    extra_data: str | None = None
    submission_time: float | None = None
    profile_dict: Any = None

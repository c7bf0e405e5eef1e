"""Events that come (named as on the wire, made by :func:`received`) and events that go."""

from types import SimpleNamespace
from typing import Any

from pybatsim.batsim.job import FinalState, Job


class TxEvent:
    """An event that goes."""

    def __init__(self, timestamp: float) -> None:
        self.timestamp = timestamp

    def members(self) -> dict[str, Any]:
        """Members of the event."""
        return {}

    def to_protocol_dict(self) -> dict[str, Any]:
        """The event as JSON object."""
        return {"timestamp": self.timestamp, "event_type": type(self).__name__, "event": self.members()}


class EDCHelloEvent(TxEvent):
    """The hello."""

    def __init__(self, timestamp: float, simulation_metadata: Any, name: str, version: str, commit: str) -> None:
        super().__init__(timestamp)
        self.metadata, self.name = simulation_metadata, name

    def members(self) -> dict[str, Any]:
        """With each feature."""
        wanted = self.metadata.requested_features
        return {
            "batprotocol_version": "undefined",
            "requested_simulation_features": {it.name.lower(): it in wanted for it in type(wanted)},
            "decision_component_name": self.name,
            "decision_component_version": "",
            "decision_component_commit": "",
        }


class RejectJobEvent(TxEvent):
    """Refuse a job."""

    def __init__(self, timestamp: float, job: Job) -> None:
        super().__init__(timestamp)
        self.job = job

    def members(self) -> dict[str, Any]:
        """Its id."""
        return {"job_id": self.job.job_id}


class KillJobsEvent(TxEvent):
    """Kill jobs."""

    def __init__(self, timestamp: float, jobs: list[Job]) -> None:
        super().__init__(timestamp)
        self.jobs = jobs

    def members(self) -> dict[str, Any]:
        """Their ids."""
        return {"job_ids": [job.job_id for job in self.jobs]}


class RegisterJobEvent(RejectJobEvent):
    """Add a job."""

    def members(self) -> dict[str, Any]:
        """The job."""
        job = {name: getattr(self.job, name) for name in ("resource_request", "walltime", "profile_id", "extra_data")}
        return {"job_id": self.job.job_id, "job": job}


def received(wire: dict[str, Any], alive: dict[str, Job], dying: dict[str, Job]) -> Any:
    """An event of its type's name with pybatsim's attributes; keeps account of jobs as pybatsim does."""
    given, kind = wire["event"], wire["event_type"]
    found: dict[str, Any] = {}
    if kind == "SimulationBeginsEvent":
        found["_payload"] = given
    elif kind == "JobSubmittedEvent":
        found["job"] = job = Job(given["job_id"], **given["job"])
        job.submission_time, job.profile_dict = given["submission_time"], given.get("profile")
        alive.setdefault(job.job_id, job)
    elif kind == "JobCompletedEvent":
        found = {"job": alive.pop(given["job_id"]), "state": FinalState(given["state"])}
        found["return_code"] = given["return_code"]
    elif kind == "JobsKilledEvent":
        found["jobs"] = [dying.pop(job_id) for job_id in given["job_ids"]]
        found["progresses"] = {item["job_id"]: item["wrapper"] for item in given["progresses"]}
    elif kind == "RequestedCallEvent":
        found = {"call_id": given["call_me_later_id"], "is_last_call": given["last_periodic_call"]}
    return type(kind, (SimpleNamespace,), {})(timestamp=wire["timestamp"], **found)

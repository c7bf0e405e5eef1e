"""Batsim's rules for requests, for scripted simulators: written apart from those of the product."""

from collections.abc import Iterable, Mapping
from typing import Any

from spillway.base.errors import DecisionRefused
from spillway.protocol import messages as m


class WireRules:
    """The jobs that a simulator knows, and the requests that it takes.

    Parameters
    ----------
    config
        The simulator's settings: jobs are registered only where it states that they may be.
    profiles
        Profiles of the static workloads, by workload.
    """

    def __init__(self, config: m.BatsimConfig, profiles: Mapping[str, Mapping[str, Any]]) -> None:
        self._dynamic = config.dynamic_jobs_enabled
        self._profiles = {workload: set(names) for workload, names in profiles.items()}
        self._submitted: set[str] = set()
        self._running: set[str] = set()

    def submitted(self, job_id: str) -> None:
        """A job of a workload waits in the simulator."""
        self._submitted.add(job_id)

    def completed(self, job_ids: Iterable[str]) -> None:
        """Jobs have ended."""
        for job_id in job_ids:
            self._running.remove(job_id)

    def check(self, requests: Iterable[m.Request]) -> None:
        """Carry requests out; DecisionRefused for one at which Batsim aborts."""
        for request in requests:
            fault = self._fault(request)
            if fault:
                raise DecisionRefused("", f"{request}: {fault}")

    def _fault(self, request: m.Request) -> str:
        if isinstance(request, m.ExecuteJob):
            given = (request.mapping, request.storage_mapping, request.additional_io_job)
            if request.job_id not in self._submitted:
                return "was not submitted"
            self._submitted.remove(request.job_id)
            self._running.add(request.job_id)
            return "" if request.alloc and given.count(None) >= 2 else "no hosts, or two options"
        if isinstance(request, m.RejectJob):
            known = request.job_id in self._submitted
            self._submitted.discard(request.job_id)
            return "" if known else "was not submitted"
        if isinstance(request, m.KillJob):
            return "" if request.job_ids and self._running.issuperset(request.job_ids) else "does not run"
        if isinstance(request, m.CallMeLater):
            return "" if request.at >= request.timestamp + 1e-6 else "a call in the past"
        if isinstance(request, m.SetJobMetadata):
            alive = request.job_id in self._submitted or request.job_id in self._running
            return "" if alive and '"' not in request.metadata else "metadata of no job, or with a quote"
        if not self._dynamic:
            return "jobs cannot be registered"
        if isinstance(request, m.RegisterProfile):
            names = self._profiles.setdefault(request.workload_name, set())
            fault = "a second time" if request.profile_name in names else ""
            names.add(request.profile_name)
            return fault
        if isinstance(request, m.RegisterJob):
            return self._registered(request)
        return "" if isinstance(request, m.NotifyRegistration) else "no request of a runtime"

    def _registered(self, request: m.RegisterJob) -> str:
        workload, _, name = request.job_id.partition("!")
        self._submitted.add(request.job_id)
        if not name or "!" in name or not {"id", "subtime", "res", "profile"} <= request.job.keys():
            return "no id, or fields that lack"
        if request.job["profile"] not in self._profiles.get(workload, ()):
            return "an unknown profile"
        walltime_s = request.job.get("walltime", -1)
        return "" if walltime_s > 0 or walltime_s == -1 else "a walltime of 0"

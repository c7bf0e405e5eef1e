"""Batsim's own rules: requests that would make a simulator abort are refused before they are sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from typing import Any, ClassVar

from spillway.base.errors import DecisionRefused, shown
from spillway.protocol.messages import (
    AnswerEstimate,
    BatsimConfig,
    CallMeLater,
    ChangeJobState,
    ExecuteJob,
    JobState,
    KillJob,
    NotifyRegistration,
    QueryEnergy,
    RegisterJob,
    RegisterProfile,
    RejectJob,
    Request,
    SetJobMetadata,
    SetResourceState,
    ToJobMsg,
)
from spillway.schedulers.core.arrivals import OWN_MARK
from spillway.schedulers.core.guard import check_wake


class WireGuard:
    """Mirrors Batsim's records of jobs and profiles, and refuses each request that would make Batsim abort.

    Parameters
    ----------
    config
        The simulator's settings (dynamic jobs, profile reuse).
    profiles
        Names of the static profiles per workload.
    """

    def __init__(self, config: BatsimConfig, profiles: dict[str, dict[str, Any]]) -> None:
        self._dynamic = config.dynamic_jobs_enabled
        self._remedy = config.dynamic_jobs_remedy
        self._registration_open = config.dynamic_jobs_enabled
        self._profiles: dict[str, set[str]] = {workload: set(names) for workload, names in profiles.items()}
        self._submitted: set[str] = set()
        self._running: dict[str, tuple[int, ...]] = {}
        self._unsent: set[str] = set()
        self._dying: set[str] = set()
        self._closed: set[int] = set()

    def submitted(self, job_id: str, profile: str = "") -> None:
        """Record a job in Batsim's queue; its profile exists."""
        self._submitted.add(job_id)
        if profile:
            self._profiles.setdefault(job_id.partition("!")[0], set()).add(profile)

    def completed(self, job_ids: Iterable[str]) -> bool:
        """Remove jobs that Batsim has reported as ended; return ``False`` if one did not run."""
        running, unsent = self._running, self._unsent
        for job_id in job_ids:
            if job_id not in running or job_id in unsent:
                return False
            del running[job_id]
        return True

    def ended(self, job_id: str) -> None:
        """Remove the sub-job profiles of a user's job that has ended for good: no request will name them again."""
        self._profiles.pop(job_id.replace("!", OWN_MARK), None)

    def sent(self) -> None:
        """Record that Batsim has the requests of the last message: jobs that they start can end from now on."""
        self._unsent.clear()

    def killed(self, job_id: str) -> bool:
        """Record a kill confirmed by Batsim; return ``False`` if it was not requested, or confirmed before."""
        if job_id not in self._dying:
            return False
        self._dying.discard(job_id)
        return True

    @property
    def closed(self) -> Set[int]:
        """Hosts that are unavailable in Batsim: an execution there makes it abort."""
        return self._closed

    def close(self, hosts: Iterable[int]) -> set[int]:
        """Record hosts as unavailable; return those that were available."""
        fresh = set(hosts) - self._closed
        self._closed |= fresh
        return fresh

    def open(self, hosts: Iterable[int]) -> set[int]:
        """Record hosts as available; return those that were out. Busy ones are computing again in Batsim 4."""
        back = self._closed.intersection(hosts)
        self._closed -= back
        return back

    @property
    def registration_open(self) -> bool:
        """Whether dynamic jobs are enabled and their registration has not been finished."""
        return self._registration_open

    @property
    def registration_finished(self) -> bool:
        """Whether dynamic jobs are enabled, and their registration has been finished: all jobs had ended."""
        return self._dynamic and not self._registration_open

    def check(self, requests: Iterable[Request]) -> None:
        """Check requests in order; each counts as carried out."""
        for request in requests:
            self._CHECKS[type(request)](self, request)

    def _execute(self, request: ExecuteJob) -> None:
        job_id = request.job_id
        if job_id not in self._submitted:
            raise DecisionRefused(job_id, "EXECUTE_JOB needs a submitted job that was not started or rejected yet")
        if not request.alloc:
            raise DecisionRefused(job_id, "EXECUTE_JOB needs at least one host")
        options = (request.mapping, request.storage_mapping, request.additional_io_job)
        if options.count(None) < len(options) - 1:
            raise DecisionRefused(
                job_id, "EXECUTE_JOB takes at most one of mapping, storage_mapping, additional_io_job"
            )
        self._check_open(job_id, request.alloc)
        self._submitted.discard(job_id)
        self._running[job_id] = request.alloc
        self._unsent.add(job_id)

    def _check_open(self, job_id: str, hosts: tuple[int, ...]) -> None:
        if self._closed and not self._closed.isdisjoint(hosts):
            raise DecisionRefused(job_id, f"EXECUTE_JOB on host {min(self._closed.intersection(hosts))}, which is out")

    def _reject(self, request: RejectJob) -> None:
        if request.job_id not in self._submitted:
            raise DecisionRefused(
                request.job_id, "REJECT_JOB needs a submitted job that was not started or rejected yet"
            )
        self._submitted.discard(request.job_id)

    def _kill(self, request: KillJob) -> None:
        if not request.job_ids:
            raise DecisionRefused("", "KILL_JOB needs at least one job")
        for job_id in request.job_ids:
            if job_id not in self._running:
                raise DecisionRefused(job_id, "KILL_JOB needs a running job")
            self._dying.add(job_id)

    def _call(self, request: CallMeLater) -> None:
        check_wake(request.at, request.timestamp)

    def _register_profile(self, request: RegisterProfile) -> None:
        self._need_registration("REGISTER_PROFILE", request.profile_name)
        names = self._profiles.setdefault(request.workload_name, set())
        if request.profile_name in names:
            raise DecisionRefused(
                "", f"profile {shown(request.profile_name)} of {shown(request.workload_name)} already exists"
            )
        if request.profile.get("type") in ("smpi", "usage_trace", "composed"):
            raise DecisionRefused(
                "",
                f"profile {shown(request.profile_name)}: type {shown(request.profile['type'])} cannot be "
                "registered dynamically",
            )
        names.add(request.profile_name)

    def _register_job(self, request: RegisterJob) -> None:
        job_id = request.job_id
        self._need_registration("REGISTER_JOB", job_id)
        workload, _, name = job_id.partition("!")
        if not name or "!" in name:
            raise DecisionRefused(job_id, "a job id must have the form workload!name")
        for field in ("id", "subtime", "res", "profile"):
            if field not in request.job:
                raise DecisionRefused(job_id, f"REGISTER_JOB needs the field {field!r}")
        if request.job["profile"] not in self._profiles.get(workload, ()):
            raise DecisionRefused(
                job_id, f"its profile {shown(request.job['profile'])} is not registered in {shown(workload)}"
            )
        walltime = request.job.get("walltime", -1)
        if walltime <= 0 and walltime != -1:
            raise DecisionRefused(job_id, f"its walltime must be positive, got {walltime}")
        self._submitted.add(job_id)

    def _need_registration(self, what: str, name: str) -> None:
        if not self._registration_open:
            why = "its registration is finished" if self._dynamic else self._remedy
            raise DecisionRefused(name, f"{what} needs dynamic jobs: {why}")

    def _registration(self, request: NotifyRegistration) -> None:
        if not self._dynamic:
            raise DecisionRefused("", f"NOTIFY registration needs dynamic jobs: {self._remedy}")
        self._registration_open = not request.finished

    def _metadata(self, request: SetJobMetadata) -> None:
        if request.job_id not in self._submitted and request.job_id not in self._running:
            raise DecisionRefused(request.job_id, "SET_JOB_METADATA needs a live job")
        if '"' in request.metadata:
            raise DecisionRefused(
                request.job_id, f"metadata must not hold a double quote, got {shown(request.metadata)}"
            )

    def _change_state(self, request: ChangeJobState) -> None:
        if request.job_id not in self._submitted or request.state is not JobState.RUNNING:
            raise DecisionRefused(request.job_id, "CHANGE_JOB_STATE only works from SUBMITTED to RUNNING in Batsim 4")
        self._submitted.discard(request.job_id)
        self._running[request.job_id] = ()

    def _resource_state(self, request: SetResourceState) -> None:
        if not request.resources:
            raise DecisionRefused("", "SET_RESOURCE_STATE needs at least one host")

    def _nothing(self, request: Request) -> None:
        """Accept a request that Batsim accepts in every state."""

    _CHECKS: ClassVar[dict[type, Callable[[WireGuard, Any], None]]] = {
        ExecuteJob: _execute,
        RejectJob: _reject,
        KillJob: _kill,
        CallMeLater: _call,
        RegisterProfile: _register_profile,
        RegisterJob: _register_job,
        NotifyRegistration: _registration,
        SetJobMetadata: _metadata,
        ChangeJobState: _change_state,
        SetResourceState: _resource_state,
        QueryEnergy: _nothing,
        AnswerEstimate: _nothing,
        ToJobMsg: _nothing,
    }

"""A scripted simulator of dynamic sub-jobs for execution models: durations from profiles, kills, walltimes, calls."""

import heapq
from collections.abc import Iterable
from typing import Any

from spillway.protocol import messages as m
from spillway.schedulers.core.observer import Observer
from spillway.schedulers.core.session import Runtime, Session
from spillway.schedulers.model.decisions import Decision, Kill, Start
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.policykit.view import Running, View
from tests.schedulers.jobmodels.wire_rules import WireRules

DYNAMIC = m.BatsimConfig(dynamic_jobs_enabled=True, profile_reuse_enabled=True)
BANDWIDTH = 10.0
"""Bytes per second of every transfer to the file system."""


def machine(nodes: int = 4, racks: int = 1) -> m.SimulationBegins:
    """Nodes in racks, two storage nodes, a file system (the last id)."""
    return m.SimulationBegins(
        0.0,
        tuple(m.ResourceInfo(i, f"n{i}", properties={"location": f"r{i * racks // nodes}"}) for i in range(nodes)),
        (
            m.ResourceInfo(nodes, "s0", properties={"capacity_bytes": "1000"}),
            m.ResourceInfo(nodes + 1, "s1", properties={"capacity_bytes": "1000"}),
            m.ResourceInfo(nodes + 2, "pfs"),
        ),
        config=DYNAMIC,
    )


class Told(Observer):
    """A session whose policy decides what it is told.

    Attributes
    ----------
    ends
        Time and state of each ended job.
    left
        Id and nodes of a job each time that it has given some back.
    """

    def __init__(self, execution: Runtime, begins: m.SimulationBegins) -> None:
        self.ends: dict[str, tuple[float, m.JobState]] = {}
        self.left: list[tuple[str, tuple[int, ...]]] = []
        self._decisions: list[Decision] = []
        self.session = Session(self._decide, execution, observer=self)
        self.session.handle(m.Message(0.0, (begins,)))

    def ended(self, running: Running, state: m.JobState, now_s: float) -> None:
        """Note an end."""
        assert running.job.id not in self.ends, "a job ended twice"
        self.ends[running.job.id] = now_s, state

    def resized(self, running: Running, now_s: float) -> None:
        """Note the nodes that are left."""
        self.left.append((running.job.id, running.allocation.nodes))

    def tell(self, now_s: float, *events: m.Event) -> tuple[m.Request, ...]:
        """The requests that follow from events."""
        requests = self.session.handle(m.Message(now_s, events)).events
        self.session.check()
        return tuple(requests)

    def start(self, job: Job, allocation: Allocation, now_s: float) -> tuple[m.Request, ...]:
        """Submit a job, and start it at once."""
        fields = {"id": job.name, "subtime": now_s, "res": job.nodes, "profile": job.profile_name, **job.extras}
        if job.bb_bytes:
            fields["bb"] = job.bb_bytes
        if job.walltime_s < float("inf"):
            fields["walltime"] = job.walltime_s
        self._start = job.id, allocation
        return self.tell(now_s, m.JobSubmitted(now_s, job.id, fields, job.profile))

    def kill(self, job: Job, now_s: float) -> tuple[m.Request, ...]:
        """Kill a running job."""
        self._decisions.append(Kill(job, "told"))
        return self.tell(now_s, m.RequestedCall(now_s))

    def _decide(self, view: View) -> Iterable[Decision]:
        for job in view.queue:
            assert job.id == self._start[0]
            yield Start(job, self._start[1])
        decisions, self._decisions = self._decisions, []
        yield from decisions


class Wire:
    """Plays an execution model's requests.

    Attributes
    ----------
    transfers
        ``(start, end, job, hosts)`` of every transfer to or from the file system that has ended.
    ends
        Time and state of the end of every job.
    """

    def __init__(self, execution: Runtime, begins: m.SimulationBegins) -> None:
        self.told = Told(execution, begins)
        self.pfs = begins.storage_resources[-1].id
        self.guard = WireRules(begins.config, {})
        self.now_s = 0.0
        self.log: list[m.Request] = []
        self.ends = self.told.ends
        self.transfers: list[tuple[float, float, str, tuple[int, ...]]] = []
        self._profiles: dict[tuple[str, str], dict[str, Any]] = {}
        self._jobs: dict[str, dict[str, Any]] = {}
        self._running: dict[str, tuple[float, tuple[int, ...], dict[str, Any]]] = {}
        self._calendar: list[tuple[float, int, str]] = []
        self._count = 0

    def start(self, job: Job, allocation: Allocation) -> None:
        """Start a job now."""
        self.guard.submitted(job.id)
        self._apply(self.told.start(job, allocation, self.now_s))

    def kill(self, job: Job) -> None:
        """Kill a job now, unless it has ended."""
        if job.id not in self.ends:
            self._apply(self.told.kill(job, self.now_s))

    def run(self, until_s: float = float("inf")) -> None:
        """Let time pass."""
        while self._calendar and self._calendar[0][0] <= until_s:
            self.now_s, _, what = heapq.heappop(self._calendar)
            if not what:
                self._tell(m.RequestedCall(self.now_s))
            elif what in self._running:
                start_s, _, profile = self._running[what]
                full = self.now_s >= start_s + seconds(profile) - 1e-9
                self._end(what, m.JobState.COMPLETED_SUCCESSFULLY if full else m.JobState.COMPLETED_WALLTIME_REACHED)
        if until_s < float("inf"):
            self.now_s = until_s

    def busy(self) -> list[tuple[str, tuple[int, ...]]]:
        """Transfers with the file system that run now: job and hosts."""
        return [(_owner(sub), hosts) for sub, (_, hosts, profile) in self._running.items() if profile["pfs"]]

    def moving(self) -> list[str]:
        """Sub-jobs that are transfers with the file system and run now."""
        return [sub for sub, (_, _, profile) in self._running.items() if profile["pfs"]]

    # ------------------------------------------------------------------ steps

    def _apply(self, requests: Iterable[m.Request]) -> None:
        requests = list(requests)
        self.guard.check(requests)
        self.log += requests
        for request in requests:
            if isinstance(request, m.RegisterProfile):
                self._profiles[request.workload_name, request.profile_name] = dict(request.profile)
            elif isinstance(request, m.RegisterJob):
                self._jobs[request.job_id] = dict(request.job)
            elif isinstance(request, m.ExecuteJob):
                self._execute(request)
            elif isinstance(request, m.CallMeLater):
                self._at(request.at, "")
            elif isinstance(request, m.KillJob):
                for sub in request.job_ids:
                    if sub in self._running:
                        self._end(sub, m.JobState.COMPLETED_KILLED)

    def _execute(self, request: m.ExecuteJob) -> None:
        job = self._jobs[request.job_id]
        profile = self._profiles[request.job_id.split("!")[0], job["profile"]]
        mapping = request.storage_mapping or {}
        profile = {**profile, "pfs": self.pfs in mapping.values()}
        self._running[request.job_id] = (self.now_s, request.alloc, profile)
        duration = seconds(profile)
        if job["walltime"] > 0:
            duration = min(duration, job["walltime"])
        self._at(self.now_s + duration, request.job_id)

    def _end(self, sub: str, state: m.JobState) -> None:
        start_s, hosts, profile = self._running.pop(sub)
        if profile["pfs"]:
            self.transfers.append((start_s, self.now_s, _owner(sub), hosts))
        code = 0 if state is m.JobState.COMPLETED_SUCCESSFULLY else -1
        self.guard.completed((sub,))
        self._tell(m.JobCompleted(self.now_s, sub, state, code, hosts))

    def _tell(self, event: m.Event) -> None:
        self._apply(self.told.tell(self.now_s, event))

    def _at(self, time_s: float, what: str) -> None:
        self._count += 1
        heapq.heappush(self._calendar, (time_s, self._count, what))


def seconds(profile: dict[str, Any]) -> float:
    """Duration of a sub-job."""
    if profile["type"] == "delay":
        return float(profile["delay"])
    if profile["type"] == "parallel_homogeneous":
        return float(profile["cpu"])
    return float(profile.get("nb_bytes", profile.get("bytes_to_write", 0))) / BANDWIDTH


def _owner(sub: str) -> str:
    return sub.split("!")[0].replace("%", "!")

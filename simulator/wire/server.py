"""The server: incoming messages, the messages to the scheduler and their times, and the end of the simulation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spillway.protocol.limits import MOST_IDLE_CALLS
from spillway.protocol.messages import (
    Event,
    FromJobMsg,
    JobCompleted,
    JobKilled,
    JobState,
    JobSubmitted,
    Notify,
    NotifyKind,
    RequestedCall,
    SimulationEnds,
    SubJobsCompleted,
    TaskProgress,
)
from spillway.simulator.errors import SchedulerFault
from spillway.simulator.jobs.job import Job
from spillway.simulator.options import SimulationOptions
from spillway.simulator.outputs import Outputs
from spillway.simulator.reading.registry import Registry
from spillway.simulator.wire.kernel import Kernel


class Server:
    """Counters and pending events.

    Attributes
    ----------
    pending
        Events for the next message, each with the time at which it reached the server.
    ready
        Whether the scheduler has answered the last message and its time has come.
    registration_finished
        Whether the scheduler announced that no more jobs will be registered.
    forced
        Whether the scheduler has ended the simulation, regardless of running or waiting jobs.
    submitted, completed, running, switching, waiters, killers
        Counters; the simulation is over when all submitted jobs have ended and nothing is under way.
    """

    def __init__(self, kernel: Kernel, registry: Registry, outputs: Outputs, options: SimulationOptions) -> None:
        self.kernel = kernel
        self.registry = registry
        self.outputs = outputs
        self.options = options
        self.pending: list[Event] = []
        self.ready = False
        self.ends_sent = False
        self.forced = False
        self.registration_finished = False
        self.submitted = self.completed = self.running = 0
        self.switching = self.waiters = self.killers = 0
        self.job_submitters = self.event_submitters = 0
        self._reported: list[Job] = []
        self._open_event: Event | None = None
        self._open_ids: list[str] = []
        self._stale_profiles: list[Job] = []
        self._collect = not options.profile_reuse
        self._decimals = options.rules.decimals
        self._idle_calls = 0
        self._completed_before = 0

    @property
    def now(self) -> float:
        """The clock as it is printed (s)."""
        return round(self.kernel.clock, self._decimals)

    # ------------------------------------------------------------------ incoming messages

    def hello(self, _: Any) -> None:
        """Receive the first message of a submitter."""

    def job_submitter_left(self, _: Any) -> None:
        """Note that a workload has been submitted completely."""
        self.job_submitters -= 1
        if self.job_submitters == 0:
            self.pending.append(Notify(self.now, NotifyKind.NO_MORE_STATIC_JOB_TO_SUBMIT.value))

    def event_submitter_left(self, _: Any) -> None:
        """Note that an event file is finished."""
        self.event_submitters -= 1
        if self.event_submitters == 0:
            self.pending.append(Notify(self.now, NotifyKind.NO_MORE_EXTERNAL_EVENT_TO_OCCUR.value))

    def jobs_submitted(self, jobs: list[Job]) -> None:
        """Add static jobs to the queue."""
        self.submitted += len(jobs)
        for job in jobs:
            self.announce(job)

    def announce(self, job: Job) -> None:
        """Submit a job: notify the scheduler."""
        job.state = JobState.SUBMITTED
        assert job.source is not None
        profile = job.profile.source if self.options.forward_profiles else None
        self.pending.append(JobSubmitted(self.now, job.id, job.source, profile))
        job.source = None

    def job_completed(self, job: Job) -> None:
        """Receive the message that a job has ended."""
        self.jobs_completed((job,), (self.kernel.clock,))

    def jobs_completed(self, jobs: Sequence[Job], moments: Sequence[float]) -> None:
        """Receive the messages that jobs have ended, each at its moment (s)."""
        self.running -= len(jobs)
        self.completed += len(jobs)
        pending, decimals = self.pending, self._decimals
        for job, moment in zip(jobs, moments, strict=True):
            group = job.group
            if group is not None:
                group.left -= 1
                if job.state is JobState.COMPLETED_SUCCESSFULLY:
                    if pending and pending[-1] is self._open_event:
                        self._open_ids.append(job.id)
                        if not group.left:
                            self._open_event = None
                        continue
                    if group.left:
                        self._open_ids = [job.id]
                        self._open_event = SubJobsCompleted(round(moment, decimals), self._open_ids)
                        pending.append(self._open_event)
                        continue
            allocation = job.allocation
            assert allocation is not None
            pending.append(JobCompleted(round(moment, decimals), job.id, job.state, job.return_code, allocation.ids))
        self.outputs.jobs.add(jobs)
        self._reported += jobs

    def job_rejected(self, job: Job) -> None:
        """Note that the scheduler has rejected a job."""
        job.state = JobState.REJECTED
        self.completed += 1
        self.outputs.jobs.add((job,))
        self._reported.append(job)

    def killing_done(self, content: tuple[list[Job], dict[str, TaskProgress]]) -> None:
        """Report the jobs that a kill has really ended, then the kill."""
        jobs, progress = content
        for job in jobs:
            if job.state is JobState.COMPLETED_KILLED:
                self.job_completed(job)
        self.pending.append(JobKilled(self.now, tuple([job.id for job in jobs]), progress))
        self.killers -= 1

    def waiting_done(self, call: tuple[str, bool]) -> None:
        """Send a requested call that is due: its name, and whether it is the last one of that name."""
        self.pending.append(RequestedCall(self.now, *call))
        if call[1]:
            self.waiters -= 1

    def job_says(self, content: tuple[Job, Any]) -> None:
        """Send a job's message to the scheduler."""
        job, message = content
        self.pending.append(FromJobMsg(self.now, job.id, message))

    # ------------------------------------------------------------------ outgoing messages

    @property
    def finished(self) -> bool:
        """Whether nothing is left to be simulated."""
        return self.forced or (
            self.completed == self.submitted
            and self.job_submitters == 0
            and self.event_submitters == 0
            and (not self.options.dynamic_jobs or self.registration_finished)
            and self.running == 0
            and self.switching == 0
            and self.waiters == 0
            and self.killers == 0
        )

    def next_message(self) -> list[Event] | None:
        """The events to send now, or ``None``.

        A message is sent when the scheduler is idle, an event is pending, and no message waits for the server. Jobs
        reported as ended are dropped with it.
        """
        if not self.ready or self.kernel.mailbox or self.kernel.stopped:
            return None
        if self.forced:
            self.pending.clear()
        if not self.pending:
            if self.ends_sent or not self.finished:
                return None
            self.pending.append(SimulationEnds(self.now))
            self.ends_sent = True
        events, self.pending = self.pending, []
        if self._idle_calls or type(events[-1]) is RequestedCall:
            self._count_idle_calls(events)
        self.ready = False
        if self._reported:
            self._forget()
        return events

    def _count_idle_calls(self, events: list[Event]) -> None:
        """Refuse a scheduler that is called for ever while no other event can happen."""
        if type(events[-1]) is not RequestedCall:
            self._completed_before, self._idle_calls = self.completed, 0
            return
        idle = self.running == self.job_submitters == self.event_submitters == self.switching == self.killers == 0
        if not idle or self.completed > self._completed_before:
            self._completed_before, self._idle_calls = self.completed, 0
            return
        self._idle_calls += 1
        if self._idle_calls > MOST_IDLE_CALLS:
            raise SchedulerFault(
                f"{MOST_IDLE_CALLS} calls (CALL_ME_LATER) one after another, while no job runs or is to come "
                f"({self.submitted - self.completed} wait): the simulation would never end"
            )

    def _forget(self) -> None:
        self.registry.forget(self._reported)
        if self._collect:
            self._stale_profiles.extend(self._reported)
        self._reported.clear()

    def reply_done(self, _: Any) -> None:
        """Note that the scheduler's reply has been carried out, and its time has come."""
        self.ready = True
        if self._stale_profiles:
            for job in self._stale_profiles:
                job.workload.drop_profile(job.profile.name)
            self._stale_profiles.clear()
        if self.ends_sent:
            if not self.forced:
                self._check_end()
            self.kernel.stopped = True

    def _check_end(self) -> None:
        """Check that nothing is left after the last reply."""
        left = {
            "running jobs": self.running,
            "machines that change their power state": self.switching,
            "kills under way": self.killers,
            "calls requested (CALL_ME_LATER)": self.waiters,
            "jobs that have not ended": self.submitted - self.completed,
        }
        found = ", ".join(f"{count} {what}" for what, count in left.items() if count)
        if found:
            raise SchedulerFault(f"the reply to SIMULATION_ENDS must hold no requests; after it there are {found}")

"""Observer of a conversation: notes broken requirements, with job, time and amounts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NoReturn

from spillway.experiments.trials.account import Account, Request, RunningJob, amount, request_of
from spillway.protocol.messages import (
    ExecuteJob,
    JobCompleted,
    JobSubmitted,
    KillJob,
    Message,
    RejectJob,
    Reply,
    SimulationBegins,
)

EXACT_S = 1e-3
"""Times that differ by less are the same instant: Batsim's messages take less, and all times here are whole seconds."""


class Breach(Exception):
    """A breach after which the rest of the play cannot be judged: the play ends."""


class Observer:
    """Passes on both sides of one conversation, and notes breaches in :attr:`faults`.

    Attributes
    ----------
    answer
        Passes a message on to the scheduler; must be set before the first message.
    faults
        The first breach of each requirement (:data:`spillway.experiments.trials.disciplines.REQUIREMENTS`), in words.
    starts
        Start of each job (s).
    """

    def __init__(self) -> None:
        self.answer: Callable[[Message], Reply | None]
        self.faults: dict[str, str] = {}
        self.starts: dict[str, float] = {}
        self._account = Account((), ())
        self._now_s = 0.0
        self._due: dict[str, float] = {}

    def exchange(self, message: Message) -> Reply | None:
        """Pass a message on, and its reply back; raise :class:`Breach` if the rest of the play cannot be judged."""
        self.message(message)
        reply = self.answer(message)
        if reply is not None:
            self.reply(reply)
        return reply

    def close(self) -> None:
        """Do nothing: the observer opens nothing."""

    def message(self, message: Message) -> None:
        """Record a message of the simulator; a later time ends the previous instant, when gaps must be filled."""
        if message.now > self._now_s + EXACT_S:
            self._end_of_instant()
        self._now_s = message.now
        for event in message.events:
            if isinstance(event, SimulationBegins):
                self._account = Account(event.compute_resources, event.storage_resources)
            elif isinstance(event, JobSubmitted):
                self._account.submitted(request_of(event))
            elif isinstance(event, JobCompleted):
                self._account.gone(event.job_id)

    def reply(self, reply: Reply) -> None:
        """Record a reply of the scheduler."""
        account, self._now_s = self._account, reply.now
        queue, before = list(account.waiting.values()), list(account.running.values())
        for request in reply.events:
            if isinstance(request, ExecuteJob):
                self._start(request)
            elif isinstance(request, RejectJob):
                self._reject(request.job_id)
            elif isinstance(request, KillJob):
                self._kill(request)
        started = {held.job.id: held for held in account.running.values() if held not in before}
        self._check_order(queue, started)
        self._check_promise(queue, before, started)

    def stuck(self) -> None:
        """Note the jobs that are left when no further event can come."""
        for job in self._account.waiting.values():
            if self._account.fits_empty(job):
                text = f"{job.name}, which requests {job.wants}, waits for ever: nothing runs any more"
            else:
                text = (
                    f"{job.name} requests {job.wants}, more than the empty machine has; it was not rejected, so that "
                    "the simulation never ends"
                )
            self._note("ends", text)

    # ------------------------------------------------------------------ one request

    def _start(self, request: ExecuteJob) -> None:
        account, job = self._account, self._account.waiting.get(request.job_id)
        at = f"at {request.timestamp:g} s"
        if job is None:
            known = "was started before" if request.job_id in self.starts else "does not wait"
            self._break("once", f"{at} job {request.job_id!r} was started, which {known}")
        hosts = frozenset(request.alloc)
        if not hosts <= account.hosts:
            self._break("nodes", f"{at} {job.name} was started on host {min(hosts - account.hosts)}, no compute node")
        if len(hosts) != job.nodes:
            self._break("nodes", f"{at} {job.name}, which requests {amount(job.nodes, 0)}, was given {len(hosts)}")
        for held in account.running.values():
            if held.hosts & hosts:
                text = f"{at} {job.name} was started on node {min(held.hosts & hosts)}, on which {held.job.name} runs"
                self._break("nodes", text)
        left = account.free(job.bytes_each, account.running.values())[1]
        if job.nodes * job.bytes_each > left:
            whole = " in whole requests" if len(account.capacities) > 1 else ""
            self._break(
                "buffers", f"{at} {job.name} was started with {job.wants}, when {left / 1e9:g} GB{whole} were free"
            )
        account.start(job, hosts, request.timestamp)
        self.starts[job.id] = request.timestamp

    def _reject(self, job_id: str) -> None:
        job = self._account.waiting.get(job_id)
        if job is not None and self._account.fits_empty(job):
            text = f"{job.name}, which requests {job.wants}, was rejected, although the empty machine can run it"
            self._break("once", text)
        self._account.gone(job_id)

    def _kill(self, request: KillJob) -> None:
        for job_id in request.job_ids:
            held = self._account.running.get(job_id)
            if held is not None and self._now_s < held.end_s - EXACT_S:
                left_s = held.end_s - self._now_s
                text = f"at {self._now_s:g} s {held.job.name} was killed, {left_s:g} s before its walltime"
                self._break("once", text)

    # ------------------------------------------------------------------ one reply

    def _check_order(self, queue: Iterable[Request], started: Mapping[str, RunningJob]) -> None:
        """Check that no job overtakes another one that can run."""
        passed: Request | None = None
        for job in queue:
            if passed is not None and job.id in started:
                text = f"at {self._now_s:g} s {job.name} was started, although {passed.name}, submitted before, waits"
                self._note("order", text)
            if job.id in self._account.waiting and self._account.fits_empty(job):
                passed = passed or job

    def _check_promise(
        self, queue: Iterable[Request], before: list[RunningJob], started: Mapping[str, RunningJob]
    ) -> None:
        """Check that jobs that start beside the first waiting job do not delay it."""
        account, now_s = self._account, self._now_s
        head = account.first()
        if head is None:
            return
        running, others = list(before), dict(started)
        for job in queue:  # jobs that start in order, before it, may use their resources
            if job.id == head.id:
                break
            if job.id in others:
                running.append(others.pop(job.id))
        due_s = min(account.earliest(head, running, now_s), self._due.get(head.id, float("inf")))
        for held in others.values():
            running.append(held)
            at_s = account.earliest(head, running, now_s)
            if at_s > due_s + EXACT_S:
                job = held.job
                self._note(
                    "promise",
                    f"at {now_s:g} s {job.name} was started with {job.wants} for up to {job.walltime_s:g} s, so that "
                    f"{head.name}, first in the queue with {head.wants}, which by the walltimes could start at "
                    f"{due_s:g} s, can start at {at_s:g} s at the earliest",
                )
                break
        self._due[head.id] = min(due_s, account.earliest(head, account.running.values(), now_s))

    def _end_of_instant(self) -> None:
        """Check that jobs that could run without a delay for the first job have been started."""
        account, now_s = self._account, self._now_s
        head, running = account.first(), list(account.running.values())
        if head is None:
            return
        shadow_s = account.earliest(head, running, now_s)
        if shadow_s <= now_s:
            free = amount(*account.free(head.bytes_each, running))
            text = f"at {now_s:g} s {head.name}, first in the queue, waits for its {head.wants} beside {free}"
            self._note("first", text)
            return
        for job in account.waiting.values():
            if job.id == head.id or not account.fits_empty(job) or not account.fits(job, running):
                continue
            wants = f"which requests {job.wants} for up to {job.walltime_s:g} s"
            waits = f"at {now_s:g} s {job.name}, {wants}, waits beside {amount(*account.free(job.bytes_each, running))}"
            beside = [*running, RunningJob(job, frozenset(), now_s, now_s + job.walltime_s)]
            if now_s + job.walltime_s < shadow_s - EXACT_S:
                text = f"{waits}: it would end before {shadow_s:g} s, when {head.name}, first in the queue, can start"
                self._note("backfill", text)
            elif account.earliest(head, beside, now_s) <= shadow_s:
                leaves = f"{head.name}, first in the queue, leaves them free when it can start at {shadow_s:g} s"
                self._note("spare", f"{waits}, and {leaves}")

    # ------------------------------------------------------------------ notes

    def _note(self, requirement: str, words: str) -> None:
        self.faults.setdefault(requirement, words)

    def _break(self, requirement: str, words: str) -> NoReturn:
        self._note(requirement, words)
        raise Breach(words)

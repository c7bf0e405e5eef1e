"""One simulation's conversation, without a socket: message in, reply out. Deterministic and total.

Every event changes the records (:mod:`spillway.schedulers.core.records`); then the policy gets a view and yields
decisions; the guard checks them; the runtime turns them into requests. Time only comes from messages, randomness only
from the seed. The session directs this; each part has a module of its own:

============================================  ============================================
the view that a policy gets                   :mod:`spillway.schedulers.core.views`
its decisions, checked and carried out        :mod:`spillway.schedulers.core.decisions`
jobs that come: submitted, or no longer held  :mod:`spillway.schedulers.core.submissions`
steps of the runtime, ends of jobs            :mod:`spillway.schedulers.core.consequences`
outages and drains                            :mod:`spillway.schedulers.core.losses`
the controllers' turn                         :mod:`spillway.schedulers.core.resizes`
============================================  ============================================
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import Any, ClassVar

from spillway.base.errors import DecisionRefused, RemoteProtocolError, shown
from spillway.protocol.drains import STORAGE_DRAINED
from spillway.protocol.messages import (
    AnswerEstimate,
    EnergyAnswer,
    EstimateQuery,
    Event,
    FromJobMsg,
    JobCompleted,
    JobKilled,
    JobSubmitted,
    Message,
    Notify,
    NotifyKind,
    NotifyRegistration,
    Reply,
    RequestedCall,
    ResourceStateChanged,
    SimulationBegins,
    SimulationEnds,
)
from spillway.schedulers.core.book import Book
from spillway.schedulers.core.consequences import Consequences
from spillway.schedulers.core.decisions import Decisions
from spillway.schedulers.core.execution import NOTHING, Runtime
from spillway.schedulers.core.losses import Losses
from spillway.schedulers.core.observer import Observer
from spillway.schedulers.core.outages import NO_HOSTS
from spillway.schedulers.core.records import Records
from spillway.schedulers.core.resizes import Resizes
from spillway.schedulers.core.submissions import Submissions
from spillway.schedulers.core.terms import Cadence, Ground, JobTerms, Passes, SiteTerms
from spillway.schedulers.core.views import Views
from spillway.schedulers.model.decisions import Pause
from spillway.schedulers.model.job import Job
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.policykit.view import Policy, warnings_of


class Session:
    """The conversation with one simulation.

    Parameters
    ----------
    policy
        Decides; called once per message (or event).
    runtime
        Plays started jobs.
    passes, ground, jobs, site
        Settings of passes, of the machine, of jobs, and of the site.
    observer
        Watches submissions, starts and ends.

    Raises
    ------
    OptionError
        Jobs have holdings with lives of their own, and the timeline is the published one.
    """

    def __init__(
        self,
        policy: Policy,
        runtime: Runtime,
        *,
        passes: Passes | None = None,
        ground: Ground | None = None,
        jobs: JobTerms | None = None,
        site: SiteTerms | None = None,
        observer: Observer | None = None,
    ) -> None:
        passes, jobs = passes or Passes(), jobs or JobTerms()
        self._policy = policy
        self._runtime = runtime
        self._each_event = passes.cadence is Cadence.EVENT
        self._records = records = Records(
            runtime, observer or Observer(), ground or Ground(), jobs, site or SiteTerms(), passes.estimator
        )
        self._views = Views(records, passes, jobs)
        self._consequences = consequences = Consequences(records)
        self._decisions = Decisions(records, consequences, jobs.fewest_nodes)
        self._submissions = Submissions(records, consequences)
        self._losses = Losses(records, consequences)
        self._resizes = Resizes(records, passes.steering) if passes.steering is not None else None
        self.finished = False

    # ------------------------------------------------------------------ public

    @property
    def begun(self) -> bool:
        """Whether the first message, which states the machine, has come."""
        return self._records.machine is not None

    @property
    def machine(self) -> Machine:
        """The machine; only known after the first message."""
        machine = self._records.machine
        assert machine is not None
        return machine

    @property
    def book(self) -> Book:
        """The record of the resources that each job holds, and until when."""
        return self._records.book

    @property
    def waiting(self) -> int:
        """Number of jobs in the queue."""
        return len(self._records.queue.jobs)

    @property
    def queue(self) -> tuple[Job, ...]:
        """Jobs that wait, in order of submission."""
        return tuple(self._records.queue.jobs.values())

    def warnings(self) -> tuple[str, ...]:
        """Warnings about the conversation as a whole, one line each; to be read at its end."""
        records = self._records
        if records.machine is None:
            return ()
        of_policy = warnings_of(self._policy, records.notebook, records.machine, records.now_s)
        return (*records.admission.warnings(), *of_policy)

    def check(self) -> None:
        """Assert that queue, book and runtime agree with each other."""
        self._records.check()

    def handle(self, message: Message) -> Reply:
        """Process one message and return the answer.

        Raises
        ------
        RemoteProtocolError
            The message is illegal in this state (names the place and the state); nothing can follow it.
        DecisionRefused
            A decision of the policy is impossible (names the job and the reason), or the policy pauses.
        """
        try:
            next(self.answering(message))
        except StopIteration as end:
            reply: Reply = end.value
            return reply
        raise DecisionRefused("", "the policy pauses, but the player of this session needs its decisions at once")

    def answering(self, message: Message) -> Generator[None, None, Reply]:
        """Process one message and return the answer; yield wherever the policy pauses.

        Raises
        ------
        RemoteProtocolError, DecisionRefused
            As :meth:`handle`.
        """
        records = self._records
        if self.finished:
            raise RemoteProtocolError("nothing may follow SIMULATION_ENDS")
        records.arrivals.check_times(message)
        records.now_s = message.now
        records.requests = []
        if records.notices.rules.suspends:
            records.notices.read(message)
        if records.machine is not None:
            records.wire.sent()
            records.outages.going = NO_HOSTS
            if Notify in map(type, message.events):
                self._look_ahead(message, records.machine)
        handlers = self._HANDLERS
        for index, event in enumerate(message.events):
            handler = handlers.get(type(event))
            if handler is None or records.machine is None or self.finished:
                self._check_order(event, f"$.events[{index}]")
            assert handler is not None
            try:
                handler(self, event)
            except RemoteProtocolError as error:
                if error.path.startswith("$.events"):
                    raise
                raise error.under(f"$.events[{index}].data") from None
            if self._each_event and (self._submissions.release() or records.dirty):
                yield from self._pass()
        if records.outages.affected:
            self._losses.kill_affected()
        if not self.finished and records.machine is not None:
            yield from self._decide()
            if records.dependents.delays:
                self._submissions.call()
        if records.static_done:
            self._finish_registration()
        return Reply(message.now, tuple(records.requests))

    def _look_ahead(self, message: Message, machine: Machine) -> None:
        """Close hosts that are out at the end of a message, before its first event is processed."""
        records = self._records
        records.outages.read(message.events, records.arrivals.resources)
        if records.outages.going:
            self._losses.machines_changed(machine, records.outages.going, available=False)

    def _check_order(self, event: Event, place: str) -> None:
        """Refuse unexpected events, and any before SIMULATION_BEGINS or after SIMULATION_ENDS."""
        name = type(event).__name__
        if type(event) not in self._HANDLERS:
            raise RemoteProtocolError(f"unexpected event {name}", place)
        if self._records.machine is None and type(event) is not SimulationBegins:
            raise RemoteProtocolError(f"{name} before SIMULATION_BEGINS", place)
        if self.finished:
            raise RemoteProtocolError(f"{name} after SIMULATION_ENDS", place)

    # ------------------------------------------------------------------ events

    def _begin(self, event: SimulationBegins) -> None:
        if self._records.machine is not None:
            raise RemoteProtocolError("a second SIMULATION_BEGINS")
        self._records.begin(event)

    def _end(self, event: SimulationEnds) -> None:
        self.finished = True

    def _submitted(self, event: JobSubmitted) -> None:
        records, job_id = self._records, event.job_id
        if records.outages.acknowledges(job_id):
            return
        if not records.arrivals.check_submission(job_id):
            self._acknowledged(event)
            return
        if records.wire.registration_finished:
            raise RemoteProtocolError(
                f"job {shown(job_id)} was submitted after no_more_static_job_to_submit, when all jobs had ended and "
                "the registration of dynamic jobs was finished",
                "$.job_id",
            )
        self._submissions.submitted(event)

    def _acknowledged(self, event: JobSubmitted) -> None:
        """Pass the submission of a sub-job to the runtime: it alone has the names of registered ones."""
        step = self._runtime.handle(event, self._records.now_s)
        if step is None:
            raise RemoteProtocolError(
                f"job {shown(event.job_id)} has the form of a sub-job, but it was not registered, or has ended",
                "$.job_id",
            )
        self._consequences.enact(step)

    def _completed(self, event: JobCompleted) -> None:
        records, job_id = self._records, event.job_id
        records.arrivals.check_resources(event.alloc, "alloc")
        step = self._runtime.handle(event, records.now_s) if records.wire.completed((job_id,)) else None
        if step is None:
            raise RemoteProtocolError(f"JOB_COMPLETED of {shown(job_id)}, which does not run", "$.job_id")
        self._consequences.enact(step)

    def _killed(self, event: JobKilled) -> None:
        records = self._records
        records.arrivals.check_progress(event)
        for job_id in event.job_ids:
            if not records.wire.killed(job_id):
                raise RemoteProtocolError(f"JOB_KILLED of {shown(job_id)}, whose kill was not requested", "$.job_ids")
        self._to_runtime(event)

    def _state_changed(self, event: ResourceStateChanged) -> None:
        self._records.arrivals.check_resources(event.resources, "resources")
        self._to_runtime(event)

    def _to_runtime(self, event: Event) -> None:
        """Pass an event to the runtime; nothing else in the session depends on it."""
        step = self._runtime.handle(event, self._records.now_s)
        if step is not None:
            self._consequences.enact(step)

    def _called(self, event: RequestedCall) -> None:
        step = self._runtime.handle(event, self._records.now_s)
        if step is not None:
            self._consequences.enact(step)  # requested by the runtime: no event for the policy
        else:
            self._records.dirty = True

    def _notified(self, event: Notify) -> None:
        records = self._records
        if event.kind == NotifyKind.NO_MORE_STATIC_JOB_TO_SUBMIT.value:
            records.static_done = True
            records.pool.more_jobs = False
            self._submissions.no_more()
            records.dirty = records.dirty or bool(records.pool.requests or records.pool.buffers)
        elif event.kind in (NotifyKind.MACHINE_UNAVAILABLE.value, NotifyKind.MACHINE_AVAILABLE.value):
            records.arrivals.check_resources(event.resources, "resources")
            available = event.kind == NotifyKind.MACHINE_AVAILABLE.value
            hosts = set(event.resources) - records.outages.going
            self._losses.machines_changed(self.machine, hosts, available=available)
        elif event.kind == STORAGE_DRAINED:
            self._losses.storage_drained(self.machine, event)

    def _asked(self, event: EstimateQuery) -> None:
        self._records.requests.append(AnswerEstimate(self._records.now_s, event.job_id, 0.0))

    _HANDLERS: ClassVar[dict[type, Callable[[Session, Any], None]]] = {
        SimulationBegins: _begin,
        SimulationEnds: _end,
        JobSubmitted: _submitted,
        JobCompleted: _completed,
        JobKilled: _killed,
        RequestedCall: _called,
        Notify: _notified,
        ResourceStateChanged: _state_changed,
        EnergyAnswer: _to_runtime,
        EstimateQuery: _asked,
        FromJobMsg: _to_runtime,
    }

    # ------------------------------------------------------------------ decisions

    def _decide(self) -> Iterator[None]:
        """Let policy, controllers and runtime act until there are no further consequences."""
        records, consequences, submissions = self._records, self._consequences, self._submissions
        notices, pool, dependents = records.notices, records.pool, records.dependents
        while True:
            if dependents.held or dependents.changed:
                submissions.release()
            for name, job in pool.unused() if pool.to_destroy else ():
                self._decisions.discard(name, job)
                records.dirty = True
            if records.dirty:
                yield from self._pass()
            if notices.given and consequences.kill_noticed():
                continue  # perhaps no other message comes
            if self._resizes is not None and not notices.given:
                self._resizes.turn()
            step = self._runtime.settle(records.now_s)
            if step is not NOTHING:
                consequences.enact(step)
            if step.ended or (pool.to_destroy and pool.unused()):
                continue
            if not (dependents.held or dependents.changed) or not submissions.release():
                return

    def _pass(self) -> Iterator[None]:
        """Let the policy decide once."""
        records, enact = self._records, self._decisions.enact
        records.dirty = False
        if not records.queue.jobs and not records.book.running:
            return
        records.book.advance(records.now_s)
        view = self._views.view()
        notes = view.notes
        for decision in self._policy(view):
            if not enact(decision):
                if type(decision) is not Pause:
                    raise DecisionRefused("", f"a policy must yield decisions, got {shown(decision)}")
                yield
        if notes is not None:
            records.observer.notes(records.now_s, notes)

    def _finish_registration(self) -> None:
        """Notify the simulator that no further jobs will be registered, once all submitted jobs have ended."""
        records = self._records
        left = records.queue.jobs or records.book.running or records.dependents.held
        if not left and not self.finished and records.wire.registration_open:
            records.send((NotifyRegistration(records.now_s, finished=True),))

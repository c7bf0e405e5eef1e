"""One simulation's conversation, without a socket: message in, reply out. Deterministic and total.

The core directs it (``core/session/session.hpp``): it changes the records at every event, lets the policy decide,
checks its decisions, and turns them into requests. This class is its host: the policy's passes, the reading of jobs,
and rare rules. Time only comes from messages, randomness only from the seed.

============================================  ============================================
the view that a policy gets                   :mod:`spillway.schedulers.core.views`
decisions that are rare                       :mod:`spillway.schedulers.core.decisions`
jobs that other jobs hold                     :mod:`spillway.schedulers.core.dependents`
jobs that their users cancel                  :mod:`spillway.schedulers.core.cancellations`
ends of preempted and struck jobs             :mod:`spillway.schedulers.core.deaths`
outages and drains                            :mod:`spillway.schedulers.core.losses`
the controllers' turn                         :mod:`spillway.schedulers.core.steering`
============================================  ============================================
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar, NoReturn, Protocol

import spillway.core as native
from spillway.base.errors import DecisionRefused, OptionError, RemoteProtocolError, returned, shown
from spillway.core import PublishedTimeline
from spillway.protocol.drains import STORAGE_DRAINED
from spillway.protocol.limits import LATEST_S
from spillway.protocol.messages import (
    AnswerEstimate,
    BatsimConfig,
    CallMeLater,
    EnergyAnswer,
    EstimateQuery,
    Event,
    FromJobMsg,
    JobCompleted,
    JobKilled,
    JobState,
    JobSubmitted,
    Message,
    Notify,
    NotifyKind,
    NotifyRegistration,
    Reply,
    Request,
    RequestedCall,
    ResourceStateChanged,
    SimulationBegins,
    SimulationEnds,
)
from spillway.schedulers.core import arrivals, guard
from spillway.schedulers.core.admission import Admission
from spillway.schedulers.core.book import Book, RecordsById
from spillway.schedulers.core.cancellations import Cancellations
from spillway.schedulers.core.counted_pools import CountedPools
from spillway.schedulers.core.deaths import Kills
from spillway.schedulers.core.decisions import Decisions
from spillway.schedulers.core.dependents import Dependents, SettledJob
from spillway.schedulers.core.layers import layer_pools
from spillway.schedulers.core.losses import Losses
from spillway.schedulers.core.observer import Observer
from spillway.schedulers.core.outages import NO_HOSTS, OnOutage, Outages, require_restarts
from spillway.schedulers.core.partitions import node_sets
from spillway.schedulers.core.preemption import Notices
from spillway.schedulers.core.terms import Cadence, Terms
from spillway.schedulers.core.views import Views
from spillway.schedulers.core.words import Numbers, end_reason, illegal, refusal
from spillway.schedulers.model.decisions import Decision, Pause
from spillway.schedulers.model.job import Allocation, Job, replaced
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.model.persistent import Pool
from spillway.schedulers.model.preemption import Preemption
from spillway.schedulers.model.site import Site
from spillway.schedulers.policykit.view import Policy, Running, warnings_of


class Runtime(Protocol):
    """Plays started jobs; the core calls it (``core/session/runtime.hpp``). One instance serves one conversation."""

    @property
    def rows(self) -> int:
        """Number of jobs that can share a node in time; policies get a machine with as many rows of nodes."""
        ...

    def begin(self, machine: Machine, config: BatsimConfig) -> None:
        """Receive the machine and the simulator's settings; raise RemoteProtocolError where a needed one is off."""
        ...

    def refuses(self, job: Job) -> str | None:
        """Return the reason why it cannot play a job, or ``None``; raise RemoteProtocolError for a malformed job."""
        ...


class Session(native.SessionCore):
    """The conversation with one simulation.

    Parameters
    ----------
    policy
        Decides; called once per message (or event).
    runtime
        Plays started jobs.
    terms
        Settings of passes, of the machine, of jobs, and of the site.
    observer
        Watches submissions, starts and ends.

    Attributes
    ----------
    jobs
        The waiting jobs by id, in order of submission.
    dependents, cancellations, outages, notices
        Jobs held by dependencies; cancelled jobs that wait; outages; preempted jobs.
    notebook
        Data of the policy's own.
    book, counted, admission, pool
        Held resources; counted pools; admission of jobs; persistent buffers: once the conversation has begun.

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
        terms: Terms | None = None,
        observer: Observer | None = None,
    ) -> None:
        terms = terms or Terms()
        if terms.lives is not None and issubclass(terms.timeline, PublishedTimeline):
            raise OptionError(
                "holdings with lives of their own and the published timeline exclude each other: the published "
                "scheduler held burst buffers as long as nodes"
            )
        self.observer = observer or Observer()
        watched = [name for name in vars(Observer) if getattr(type(self.observer), name) is not getattr(Observer, name)]
        super().__init__(terms.cadence is Cadence.EVENT, watched)
        self._policy, self._runtime = policy, runtime
        self._terms = terms
        self.site = terms.site
        self.jobs: Mapping[str, Job] = RecordsById(
            lambda job_id: self.line.find(
                job_id
            ),  # the line keeps its session: a stored method of it would be a circle
            lambda: [job.id for job in self.line.waiting()],
            lambda: len(self.line),
        )
        self.filled_s: Mapping[str, float] = RecordsById(self.filled, self.filled_ids, lambda: self.filled_count)
        self.dependents = Dependents(self)
        self.cancellations = Cancellations(self)
        self.outages = Outages(terms.on_outage)
        self.notices = Notices(terms.preemption or Preemption(terms.site or Site()), terms.rest)
        self.notebook: dict[str, Any] = {}
        self._machine: Machine | None = None
        self.book: Book
        self.counted: CountedPools
        self.admission: Admission
        self.pool: Pool
        self._views = Views(self, terms)
        self._others = Decisions(self)
        self._deaths = Kills(self)
        self._losses = Losses(self, self._deaths)
        self._steering = terms.steering
        self._call_s = -1.0
        self._notes: Any = None
        self._remedy = ""
        self.moldable = terms.fewest_nodes is not None
        self.rare = terms.on_outage is not OnOutage.CONTINUE or self.notices.rules.active or terms.steering is not None

    # ------------------------------------------------------------------ public

    @property
    def machine(self) -> Machine:
        """The machine; only known after the first message."""
        machine = self._machine
        assert machine is not None
        return machine

    @property
    def waiting(self) -> int:
        """Number of jobs in the queue."""
        return len(self.line)

    @property
    def queue(self) -> tuple[Job, ...]:
        """Jobs that wait, in order of submission."""
        return tuple(self.line.waiting())

    def warnings(self) -> tuple[str, ...]:
        """Warnings about the conversation as a whole, one line each; to be read at its end."""
        if self._machine is None:
            return ()
        of_policy = warnings_of(self._policy, self.notebook, self._machine, self.now_s)
        return (*self.admission.warnings(), *of_policy)

    def check(self) -> None:
        """Assert that queue, book and runtime agree with each other."""
        if self._machine is None:
            return
        self.book.check()
        fault = self.fault()
        assert not fault, fault
        elsewhere = self.jobs.keys() | self.book.running.keys()
        assert elsewhere.isdisjoint(self.dependents.held), "a job is held by others, and waits or runs at once"

    def handle(self, message: Message) -> Reply:
        """Process one message and return the answer.

        Raises
        ------
        RemoteProtocolError
            The message is illegal in this state (names the place and the state); nothing can follow it.
        DecisionRefused
            A decision of the policy is impossible (names the job and the reason), or the policy pauses.
        """
        reply: Reply | None = self.answer(message)
        if reply is None:
            self._pauses()
        assert reply is not None
        return reply

    def send(self, requests: Iterable[Request]) -> None:
        """Check requests and add them to the answer; DecisionRefused for one that would make Batsim abort."""
        for request in requests:
            self.send_one(request)

    # ------------------------------------------------------------------ words of the core

    def _refuse(
        self, code: int, job_id: str, a: int, b: int, c: int, x: float, text: str, job: Any, given: Any
    ) -> None:
        raise refusal(code, job_id, Numbers(self.book, self.now_s, self._remedy, a, b, c, x, text, job, given))

    def _illegal(self, code: int, text: str, a: int, x: float, y: float) -> None:
        raise illegal(code, text, a, (x, y), len(self.resources))

    def _pauses(self) -> NoReturn:
        raise DecisionRefused("", "the policy pauses, but the player of this session needs its decisions at once")

    def _located(self, error: BaseException, place: int) -> BaseException:
        if not isinstance(error, RemoteProtocolError) or error.path.startswith("$.events"):
            return error
        return error.under(f"$.events[{place}].data")

    def _out_of_order(self, event: Event, place: int) -> None:
        """Refuse an event before SIMULATION_BEGINS or after SIMULATION_ENDS."""
        name = type(event).__name__
        if type(event) not in (*self._OTHERS, *_READ):
            raise RemoteProtocolError(f"unexpected event {name}", f"$.events[{place}]")
        if self._machine is None:
            raise RemoteProtocolError(f"{name} before SIMULATION_BEGINS", f"$.events[{place}]")
        raise RemoteProtocolError(f"{name} after SIMULATION_ENDS", f"$.events[{place}]")

    def _words(self, code: int, number: float, text: str) -> str:
        return text or end_reason(code, number, self.machine)

    # ------------------------------------------------------------------ events

    def _begins(self, event: SimulationBegins) -> None:
        """Begin the conversation, with the machine and the simulator's settings."""
        terms, site = self._terms, self.site or Site()
        resources = arrivals.check_begin(event)
        machine = Machine.from_simulation_begins(event, terms.defaults)
        if terms.demand is not None and terms.demand.from_storages:
            machine = machine.trunk()
        sets, layers = node_sets(site, len(machine.nodes)), layer_pools(site, len(machine.nodes))
        self.counted = CountedPools(site, layers, sets, self._alive)
        machine = dataclasses.replace(machine, partitions=sets, pools=self.counted.pools)
        self._machine = machine.stacked(self._runtime.rows)
        self.layered = bool(layers)
        timeline = terms.timeline(self._machine, self.now_s, terms.placement)
        self.book = Book(self._machine, timeline, terms.estimator)
        self.admission = Admission(self._machine, event.profiles, terms, self._runtime.refuses, self.counted)
        self.pool = Pool(self.book.kept, self.book)
        self._remedy = event.config.dynamic_jobs_remedy
        rule, preempts = self.outages.rule, self.notices.rules.requeues
        if rule.requeues or preempts:
            setting = f"setting on_outage={rule.value}" if rule.requeues else "site, which requeues preempted jobs,"
            require_restarts(event.config, f"the {setting}")
            self.outages.acknowledged = event.config.dynamic_jobs_acknowledged
        self._runtime.begin(machine, event.config)
        self.begin(self.book, self._runtime, event.config.dynamic_jobs_enabled, resources)
        self.observer.opened(self._machine)
        self.log = self.observer.allocation_table

    def _before(self, message: Message) -> None:
        """Close hosts that are out at the end of a message, before its first event is processed."""
        if self.notices.rules.suspends:
            self.notices.read(message)
        if any(type(event) is Notify for event in message.events):
            self.outages.read(message.events, self.resources)
            if self.outages.going:
                self.rare = True
                self._losses.machines_changed(self.machine, self.outages.going, available=False)

    def _acknowledges(self, job_id: str) -> bool:
        return self.outages.acknowledges(job_id)

    def _read(
        self, job_id: str, job: dict[str, Any], profile: dict[str, Any] | None, time_s: float, number: int
    ) -> tuple[Job, str | None]:
        return self.admission.read(job_id, job, profile, time_s, number)

    def _admit(self, job: Job) -> tuple[Job, str | None] | None:
        """Admit a job: add its partitions and pools, and see whether others hold it (``None``).

        A field of the user's that is malformed is that job's rejection: the simulator only passes it on.
        """
        try:
            job, reason = self.admission.admitted(job, self.pool)
            if self.pool.requests:
                self.rare = True
            if reason is not None:
                return job, reason
            if len(self.counted.pools) > len(self.book.machine.pools):
                self.book.widen(self.counted.pools)
            return self._held(job) if job.extras or self.rare else (job, None)
        except RemoteProtocolError as error:
            return job, error.message

    def _held(self, job: Job) -> tuple[Job, str | None] | None:
        """Hold a job that depends on others (``None``), and note its cancellation."""
        self.cancellations.submitted(job)
        settled = self.dependents.submitted(job, self.knows, self.now_s)
        if self.dependents.any:
            self.rare = True
        if settled is None:
            self.pool.hold(job.id)
            return None
        return job, settled.reason or None

    def _other(self, event: Event) -> None:
        handler = self._OTHERS.get(type(event))
        if handler is None:
            raise RemoteProtocolError(f"unexpected event {type(event).__name__}", "$")
        handler(self, event)

    def _killed(self, event: JobKilled) -> None:
        arrivals.check_progress(event)
        for job_id in event.job_ids:
            if not self.kill_confirmed(job_id):
                raise RemoteProtocolError(f"JOB_KILLED of {shown(job_id)}, whose kill was not requested", "$.job_ids")
        self.hear(event)

    def _state_changed(self, event: ResourceStateChanged) -> None:
        self.check_resources(event.resources, "resources")
        self.hear(event)

    def _heard(self, event: Event) -> None:
        self.hear(event)

    def _notified(self, event: Notify) -> None:
        if event.kind == NotifyKind.NO_MORE_STATIC_JOB_TO_SUBMIT.value:
            self.static_done = True
            self.pool.more_jobs = False
            for settled in self.dependents.unknown(self.knows):
                self._free(settled)
            self.dirty = self.dirty or bool(self.pool.requests or self.pool.buffers)
        elif event.kind in (NotifyKind.MACHINE_UNAVAILABLE.value, NotifyKind.MACHINE_AVAILABLE.value):
            self.check_resources(event.resources, "resources")
            self.rare = True
            available = event.kind == NotifyKind.MACHINE_AVAILABLE.value
            hosts = set(event.resources) - self.outages.going
            self._losses.machines_changed(self.machine, hosts, available=available)
        elif event.kind == STORAGE_DRAINED:
            self.rare = True
            self._losses.storage_drained(self.machine, event)

    def _asked(self, event: EstimateQuery) -> None:
        self.send((AnswerEstimate(self.now_s, event.job_id, 0.0),))

    _OTHERS: ClassVar[dict[type, Callable[[Session, Any], None]]] = {
        JobKilled: _killed,
        Notify: _notified,
        ResourceStateChanged: _state_changed,
        EnergyAnswer: _heard,
        EstimateQuery: _asked,
        FromJobMsg: _heard,
    }

    # ------------------------------------------------------------------ passes

    def _decisions(self) -> Iterator[Decision]:
        view = self._views.view()
        self._notes = view.notes
        found: Any = self._policy(view)
        if not hasattr(type(found), "__iter__"):
            raise DecisionRefused("", f"a policy must yield decisions, its call returned {returned(found)}")
        return self.cancellations.played(iter(found))

    def _enact(self, decision: Any) -> bool:
        """Carry out a decision other than a start; return whether the pass goes on."""
        if self._others.enact(decision):
            return True
        if type(decision) is not Pause:
            raise DecisionRefused("", f"a policy must yield decisions, got {shown(decision)}")
        return False

    def _passed(self) -> None:
        if self._notes is not None:
            self.observer.notes(self.now_s, self._notes)
            self._notes = None

    def _fewest(self, job: Job) -> int:
        assert self._terms.fewest_nodes is not None
        return self._terms.fewest_nodes(job)

    def _check_start(self, job: Job, allocation: Allocation) -> None:
        guard.check_layers(self.book, job, allocation)
        if self.pool.requests and (missing := self.pool.missing(job.id)) is not None:
            raise DecisionRefused(job.id, missing)

    def _before_pass(self) -> None:
        self._release()
        for name, job in self.pool.unused() if self.pool.to_destroy else ():
            self._others.discard(name, job)
            self.dirty = True

    def _after_pass(self) -> bool:
        if self.notices.given and self._deaths.kill_noticed():
            return True  # perhaps no other message comes
        if self._steering is not None and not self.notices.given:
            self._steering.turn(self)
        return False

    def _more(self) -> bool:
        if self.pool.to_destroy and self.pool.unused():
            return True
        return self._release()

    def _after_events(self) -> None:
        self.outages.going = NO_HOSTS
        if self.outages.affected:
            self._losses.kill_affected()

    def _after_decisions(self) -> None:
        """Request a call at the end of the next delay after another job's start or end, or at a cancellation."""
        due_s = min(self.dependents.due_s, self.cancellations.due_s)
        if due_s <= LATEST_S and not self.now_s < self._call_s <= due_s:
            self._call_s = due_s
            self.send((CallMeLater(self.now_s, due_s),))

    def _no_more(self) -> None:
        """Notify the simulator that no further jobs will be registered, as all submitted jobs have ended."""
        if not self.dependents.held:
            self.send((NotifyRegistration(self.now_s, finished=True),))
            self.finish_registration(True)

    # ------------------------------------------------------------------ consequences

    def _after_rejection(self, job: Job) -> None:
        self.cancellations.gone(job.id)
        self.dependents.ended(job.id, self.now_s, failed=True)
        self.pool.leave(job, ended=False)

    def _after_start(self, job: Job) -> None:
        self.dependents.started(self.outages.first_attempt(job.id), self.now_s)

    def _after_nodes(self, job_id: str) -> None:
        # At a site, as in Slurm, jobs that depend on this one do not wait until its buffer is emptied.
        if self.site is not None:
            self.dependents.ended(self.outages.first_attempt(job_id), self.now_s, failed=False)

    def _after_end(self, running: Running, state: JobState, reason: str, left: Any, kept_s: float) -> None:
        self._deaths.ended(running, state, reason, left, kept_s)

    def _release(self) -> bool:
        """Queue or reject jobs that dependencies no longer hold, or that are cancelled; return whether any were."""
        dependents, any_settled = self.dependents, self.cancellations.enact()
        while dependents.changed or dependents.held:
            settled = list(dependents.settled(self.now_s))
            idle = self.static_done and not self.waiting and not self.book.running_count
            if not settled and idle and dependents.held and dependents.due_s == math.inf:
                settled.append(dependents.circle())
            for found in settled:
                self._free(found)
            any_settled = any_settled or bool(settled)
            if not settled and not dependents.changed:
                break
        return any_settled

    def _free(self, settled: SettledJob) -> None:
        job = settled.job
        if settled.reason:
            self.reject(job, settled.reason)
            return
        held_s = self.now_s - job.submit_time_s + job.held_s
        job = replaced(job, submit_time_s=self.now_s, held_s=held_s)
        self.pool.place(job)
        self.enqueue(job)
        self.observer.released(job, self.now_s)

    def _alive(self, job_id: str) -> bool:
        """Whether a job waits, is held by others, or holds anything."""
        return job_id in self.line or job_id in self.dependents.held or self.book.holds(job_id)


_READ = (SimulationBegins, SimulationEnds, JobSubmitted, JobCompleted, RequestedCall)
"""Events that the core reads itself."""

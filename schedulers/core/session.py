"""One simulation's conversation, without a socket: message in, reply out. Deterministic and total.

Every event changes the records (queue and book); then the policy gets a view and yields decisions; the guard
checks them; the runtime turns them into requests. Time only comes from messages, randomness only from the seed.
"""

from __future__ import annotations

import dataclasses
import enum
import math
from collections.abc import Callable, Collection, Generator, Iterator, Mapping
from random import Random
from typing import Any, ClassVar

import msgspec

from spillway.base.errors import DecisionRefused, OptionError, RemoteProtocolError, shown
from spillway.protocol.drains import STORAGE_DRAINED
from spillway.protocol.limits import LATEST_S
from spillway.protocol.messages import (
    AnswerEstimate,
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
    RejectJob,
    Reply,
    Request,
    RequestedCall,
    ResourceStateChanged,
    SetResourceState,
    SimulationBegins,
    SimulationEnds,
    SubJobsCompleted,
)
from spillway.schedulers.core.admission import Admission
from spillway.schedulers.core.allocation import find_growth, fits_beside, without
from spillway.schedulers.core.arrivals import Arrivals
from spillway.schedulers.core.book import Book, RunningJobs
from spillway.schedulers.core.counted import Counted
from spillway.schedulers.core.dependents import Dependents, Settled
from spillway.schedulers.core.drains import drained_by
from spillway.schedulers.core.execution import NOTHING, Demand, Ended, Released, Runtime, Staged, Step
from spillway.schedulers.core.guard import (
    check_create,
    check_destroy,
    check_hold,
    check_start,
    check_wake,
)
from spillway.schedulers.core.layers import growable, layer_pools
from spillway.schedulers.core.observer import Observer
from spillway.schedulers.core.outages import (
    NO_HOSTS,
    Death,
    Lost,
    OnOutage,
    Outages,
    lost_by,
    node_seconds,
    registration,
    require_restarts,
)
from spillway.schedulers.core.partitions import node_sets
from spillway.schedulers.core.preempting import Notices, Rest, as_a_whole, check_preempt
from spillway.schedulers.core.queue import Queue
from spillway.schedulers.core.steering import Steering
from spillway.schedulers.core.wire_guard import WireGuard
from spillway.schedulers.model.decisions import (
    Arrange,
    Create,
    Destroy,
    Evict,
    Finish,
    Hold,
    Kill,
    Pause,
    Preempt,
    Reject,
    SetPowerState,
    Start,
    WakeAt,
)
from spillway.schedulers.model.explanations import PassNotes
from spillway.schedulers.model.job import Allocation, Job, Lives
from spillway.schedulers.model.machine import Machine, MachineDefaults
from spillway.schedulers.model.persistent import PersistentBuffer, Pool
from spillway.schedulers.model.preemption import REQUEUE, SUSPEND, Suspended
from spillway.schedulers.model.site import Site
from spillway.schedulers.policykit.estimates import Estimator, Walltimes
from spillway.schedulers.policykit.view import CACHE, Policy, Running, View, warnings_of
from spillway.schedulers.timeline import Resource, Timeline
from spillway.schedulers.timeline.layout import Row
from spillway.schedulers.timeline.placement import Placement

NO_NODES = Allocation(())
SUCCESS = JobState.COMPLETED_SUCCESSFULLY


class Cadence(enum.Enum):
    """When the policy is called: once per message, or (the published experiment) after every single event."""

    MESSAGE = "message"
    EVENT = "event"


class Session:
    """The conversation with one simulation.

    Parameters
    ----------
    policy
        Decides; called once per message (or event).
    seed
        Seed of the generator that policies may use.
    cadence
        When the policy is called.
    runtime
        Plays started jobs.
    unplayable
        Gives the reason why a submitted job cannot be played although the machine could hold it; ``None`` where it can.
    defaults
        What to assume where the platform states no properties.
    placement
        Which nodes and storage nodes serve a request.
    timeline
        Kind of timeline; :class:`spillway.schedulers.timeline.published.PublishedTimeline` reproduces published
        numbers.
    explain
        Whether passes note why jobs wait.
    observer
        Watches submissions, starts and ends.
    estimator
        Expected durations of jobs; default: their walltimes.
    steering
        Controllers that resize running jobs.
    fewest_nodes
        Fewest nodes that a job may start on; ``None``: jobs start on all that they request.
    demand
        Bandwidth that jobs need under the job model; default: what they state (``io_rate``).
    lives
        How long a job's burst buffers and bandwidth are held, around its nodes; default: as long as its nodes.
    on_outage
        What happens to running jobs on nodes and storage nodes that machine events take away.
    site
        Partitions, shares and pools; default: the site has none.
    suspend
        What is played where the site suspends jobs (:class:`spillway.schedulers.model.preemption.Preemption`).
    rest
        What is left of a job that is suspended; needed where some are.
    """

    def __init__(
        self,
        policy: Policy,
        runtime: Runtime,
        *,
        unplayable: Callable[[Job], str | None] | None = None,
        seed: int = 0,
        cadence: Cadence = Cadence.MESSAGE,
        defaults: MachineDefaults | None = None,
        placement: Placement | None = None,
        timeline: type[Timeline] = Timeline,
        explain: bool = False,
        observer: Observer | None = None,
        estimator: Estimator | None = None,
        steering: Steering | None = None,
        fewest_nodes: Callable[[Job], int] | None = None,
        demand: Demand | None = None,
        lives: Callable[[Job], Lives | None] | None = None,
        on_outage: OnOutage = OnOutage.CONTINUE,
        site: Site | None = None,
        suspend: str = "",
        rest: Rest | None = None,
    ) -> None:
        self._policy = policy
        self._rng = Random(seed)
        self._cadence = cadence
        self._runtime = runtime
        self._unplayable = unplayable or runtime.refuses
        self._defaults = defaults
        self._placement = placement or Placement()
        self._timeline_class = timeline
        self._explain = explain
        self._observer = observer or Observer()
        self._estimator: Estimator = estimator if estimator is not None else Walltimes()
        self._steering = steering
        self._fewest_nodes = fewest_nodes
        self._demand = demand
        self._site = site
        if lives is not None and timeline.holds_nodes_longer:
            raise OptionError(
                "holdings with lives of their own and the published timeline exclude each other: the published "
                "scheduler held burst buffers as long as nodes"
            )
        self._lives = lives
        self._outages = Outages(on_outage)
        self._notices = Notices(site or Site(), suspend, rest)
        self._notebook: dict[str, Any] = {}
        self._queue = Queue(self._demand_row)
        self._filled_s: dict[str, float] = {}
        self._static_done = False
        self._machine: Machine | None = None
        self._book: Book
        self._counted: Counted
        self._admission: Admission
        self._pool: Pool
        self._wire: WireGuard
        self._arrivals = Arrivals()
        self._dependents = Dependents()
        self._call_s = -1.0
        self._now_s = 0.0
        self._dirty = False
        self._requests: list[Request] = []
        self.finished = False

    # ------------------------------------------------------------------ public

    @property
    def machine(self) -> Machine:
        """The machine; only known after the first message."""
        assert self._machine is not None
        return self._machine

    @property
    def book(self) -> Book:
        """Who holds what, now and until when."""
        return self._book

    @property
    def waiting(self) -> int:
        """Number of jobs in the queue."""
        return len(self._queue.jobs)

    @property
    def queue(self) -> tuple[Job, ...]:
        """Jobs that wait, in order of submission."""
        return tuple(self._queue.jobs.values())

    def warnings(self) -> tuple[str, ...]:
        """What looks wrong with the conversation as a whole, one line each; to be read at its end."""
        if self._machine is None:
            return ()
        of_policy = warnings_of(self._policy, self._notebook, self._machine, self._now_s)
        return (*self._admission.warnings(), *of_policy)

    def handle(self, message: Message) -> Reply:
        """Digest one message and answer it.

        Raises
        ------
        RemoteProtocolError
            The message is illegal in this state (names the place and the state); nothing can follow it.
        DecisionRefused
            The policy decided something impossible (names the job and the reason), or pauses.
        """
        try:
            next(self.answering(message))
        except StopIteration as end:
            reply: Reply = end.value
            return reply
        raise DecisionRefused("", "the policy pauses, and whatever plays this session needs its decisions at once")

    def answering(self, message: Message) -> Generator[None, None, Reply]:
        """Digest one message and return the answer; on the way yield wherever the policy pauses.

        Raises
        ------
        RemoteProtocolError, DecisionRefused
            As :meth:`handle`.
        """
        if self.finished:
            raise RemoteProtocolError("nothing may follow SIMULATION_ENDS")
        self._arrivals.check_times(message)
        self._now_s = message.now
        self._requests = []
        if self._notices.rules.suspends:
            self._notices.read(message)
        if self._machine is not None:
            self._wire.sent()
            self._outages.going = NO_HOSTS
            if Notify in map(type, message.events):
                self._outages.read(message.events, self._arrivals.resources)
                if self._outages.going:
                    self._machines_changed(self._outages.going, available=False)
        handlers = self._HANDLERS
        for index, event in enumerate(message.events):
            handler = handlers.get(type(event))
            if handler is None or self._machine is None or self.finished:
                self._check_order(event, f"$.events[{index}]")
            assert handler is not None
            rest: Event | None = event
            while rest is not None:
                try:
                    rest = handler(self, rest)
                except RemoteProtocolError as error:
                    if error.path.startswith("$.events"):
                        raise
                    raise error.under(f"$.events[{index}].data") from None
                if self._cadence is Cadence.EVENT and (self._release() or self._dirty):
                    yield from self._run_pass()
        if self._outages.affected:
            self._kill_affected()
        if not self.finished and self._machine is not None:
            yield from self._decide()
            if self._dependents.delays:
                self._call_for_dependents()
        if self._static_done:
            self._finish_registration()
        return Reply(message.now, tuple(self._requests))

    def _check_order(self, event: Event, place: str) -> None:
        """Refuse events that are no such, and any before the first or after the last one."""
        name = type(event).__name__
        if type(event) not in self._HANDLERS:
            raise RemoteProtocolError(f"unexpected event {name}", place)
        if self._machine is None and type(event) is not SimulationBegins:
            raise RemoteProtocolError(f"{name} before SIMULATION_BEGINS", place)
        if self.finished:
            raise RemoteProtocolError(f"{name} after SIMULATION_ENDS", place)

    def check(self) -> None:
        """Prove that queue, book and runtime agree with each other."""
        self._book.check()
        self._runtime.check()
        self._queue.check()
        assert self._queue.jobs.keys().isdisjoint(self._book.running), "a job waits and runs at once"
        elsewhere = self._queue.jobs.keys() | self._book.running.keys()
        assert elsewhere.isdisjoint(self._dependents.held), "a job is held by others, and waits or runs at once"

    # ------------------------------------------------------------------ events

    def _begin(self, event: SimulationBegins) -> None:
        if self._machine is not None:
            raise RemoteProtocolError("a second SIMULATION_BEGINS")
        self._arrivals.begin(event)
        machine = Machine.from_simulation_begins(event, self._defaults)
        if self._demand is not None and self._demand.from_storages:
            machine = machine.trunk()
        site = self._site or Site()
        sets, layers = node_sets(site, len(machine.nodes)), layer_pools(site, len(machine.nodes))
        self._counted = Counted(site, layers, sets, self._alive)
        machine = dataclasses.replace(machine, partitions=sets, pools=self._counted.pools)
        self._machine = machine.stacked(self._runtime.rows)
        timeline = self._timeline_class(self._machine, self._now_s, self._placement)
        self._book = Book(self._machine, timeline, self._estimator)
        self._admission = Admission(
            self._machine, event.profiles, self._placement, self._timeline_class, self._estimator, self._unplayable,
            self._demand, self._lives, site, self._counted,
        )  # fmt: skip
        self._pool = Pool(self._book.kept, self._book)
        self._wire = WireGuard(event.config, event.profiles)
        rule, preempts = self._outages.rule, self._notices.rules.requeues
        if rule.requeues or preempts:
            setting = f"setting on_outage={rule.value}" if rule.requeues else "site, which requeues preempted jobs,"
            require_restarts(event.config, f"the {setting}")
            self._outages.acknowledged = event.config.dynamic_jobs_acknowledged
        self._runtime.begin(machine, event.config)

    def _end(self, event: SimulationEnds) -> None:
        self.finished = True

    def _submitted(self, event: JobSubmitted) -> None:
        if self._outages.acknowledges(event.job_id):
            return
        if not self._arrivals.check_submission(event.job_id):
            self._acknowledged(event)
            return
        if self._wire.registration_finished:
            raise RemoteProtocolError(
                f"job {shown(event.job_id)} was submitted after no_more_static_job_to_submit, when all jobs had ended "
                "and the registration of dynamic jobs was finished",
                "$.job_id",
            )
        job, reason = self._admission.read(event)
        self._wire.submitted(job.id, job.profile_name)
        self._observer.submitted(job, self._now_s)
        if reason is None:
            job, reason = self._admission.admitted(job, self._pool)
        if reason is not None:
            self._reject(job, reason)
            return
        if len(self._counted.pools) > len(self._book.machine.pools):
            self._book.widen(self._counted.pools)
            self._notebook.pop(CACHE, None)  # timelines without the new pools
        settled = self._dependents.submitted(job, self._arrivals.knows, self._now_s)
        if settled is not None and settled.reason:
            self._reject(job, settled.reason)
        elif settled is not None:
            self._queue.add(job)
            self._dirty = True

    def _alive(self, job_id: str) -> bool:
        """Whether a job waits, is held by others, or holds anything."""
        return job_id in self._queue.jobs or job_id in self._dependents.held or self._book.parts_of(job_id) is not None

    def _release(self) -> bool:
        """Let jobs wait that other jobs held until now, or reject them; whether there were any."""
        any_settled, dependents = False, self._dependents
        while dependents.changed or dependents.held:
            settled = list(dependents.settled(self._now_s))
            idle = self._static_done and not self._queue.jobs and not self._book.running
            if not settled and idle and dependents.held and dependents.due_s == math.inf:
                settled.append(dependents.circle())
            for one in settled:
                self._free(one)
            any_settled = any_settled or bool(settled)
            if not settled and not dependents.changed:
                break
        return any_settled

    def _free(self, settled: Settled) -> None:
        job = settled.job
        if settled.reason:
            self._reject(job, settled.reason)
            return
        held_s = self._now_s - job.submit_time_s
        number = self._admission.next_number()
        job = msgspec.structs.replace(job, number=number, submit_time_s=self._now_s, held_s=held_s)
        self._queue.add(job)
        self._observer.released(job, self._now_s)
        self._dirty = True

    def _call_for_dependents(self) -> None:
        """Be called when the next delay after another job's start or end is over."""
        due_s = self._dependents.due_s
        if due_s <= LATEST_S and not self._now_s < self._call_s <= due_s:
            self._call_s = due_s
            self._send((CallMeLater(self._now_s, due_s),))

    def _acknowledged(self, event: JobSubmitted) -> None:
        """A registered sub-job: only a runtime has their names."""
        step = self._runtime.handle(event, self._now_s)
        if step is None:
            raise RemoteProtocolError(
                f"job {shown(event.job_id)} has the form of a sub-job, and none of this id was registered, or it ended",
                "$.job_id",
            )
        self._enact(step)

    def _completed(self, event: JobCompleted) -> None:
        self._arrivals.check_resources(event.alloc, "alloc")
        step = self._runtime.handle(event, self._now_s) if self._wire.completed((event.job_id,)) else None
        if step is None:
            raise RemoteProtocolError(f"JOB_COMPLETED of {shown(event.job_id)}, which does not run", "$.job_id")
        self._enact(step)

    def _sub_jobs_completed(self, event: SubJobsCompleted) -> Event | None:
        """Sub-jobs have ended; what remains to be looked at after those from whose ends something follows."""
        step = self._runtime.handle(event, self._now_s)
        seen = event.job_ids
        if step is not None and isinstance(step.rest, SubJobsCompleted):
            seen = seen[: -len(step.rest.job_ids)]
        if step is None or not self._wire.completed(seen):
            raise RemoteProtocolError(
                f"the end of sub-jobs {shown(list(seen))}, of which one does not run", "$.job_ids"
            )
        self._enact(step)
        return step.rest

    def _killed(self, event: JobKilled) -> None:
        self._arrivals.check_progress(event)
        for job_id in event.job_ids:
            if not self._wire.killed(job_id):
                raise RemoteProtocolError(f"JOB_KILLED of {shown(job_id)}, whose kill was not requested", "$.job_ids")
        self._to_runtime(event)

    def _state_changed(self, event: ResourceStateChanged) -> None:
        self._arrivals.check_resources(event.resources, "resources")
        self._to_runtime(event)

    def _to_runtime(self, event: Event) -> None:
        """Nothing in the session depends on these events; a runtime may."""
        step = self._runtime.handle(event, self._now_s)
        if step is not None:
            self._enact(step)

    def _called(self, event: RequestedCall) -> None:
        step = self._runtime.handle(event, self._now_s)
        if step is not None:
            self._enact(step)  # requested by the runtime: no event for the policy
        else:
            self._dirty = True

    def _notified(self, event: Notify) -> None:
        if event.kind == NotifyKind.NO_MORE_STATIC_JOB_TO_SUBMIT.value:
            self._static_done = True
            self._pool.more_jobs = False
            for settled in self._dependents.unknown(self._arrivals.knows):
                self._free(settled)
            self._dirty = self._dirty or bool(self._pool.requests or self._pool.buffers)
        elif event.kind in (NotifyKind.MACHINE_UNAVAILABLE.value, NotifyKind.MACHINE_AVAILABLE.value):
            self._arrivals.check_resources(event.resources, "resources")
            available = event.kind == NotifyKind.MACHINE_AVAILABLE.value
            self._machines_changed(set(event.resources) - self._outages.going, available)
        elif event.kind == STORAGE_DRAINED:
            self._storage_drained(event)

    def _asked(self, event: EstimateQuery) -> None:
        self._requests.append(AnswerEstimate(self._now_s, event.job_id, 0.0))

    _HANDLERS: ClassVar[dict[type, Callable[[Session, Any], Event | None]]] = {
        SimulationBegins: _begin,
        SimulationEnds: _end,
        JobSubmitted: _submitted,
        JobCompleted: _completed,
        SubJobsCompleted: _sub_jobs_completed,
        JobKilled: _killed,
        RequestedCall: _called,
        Notify: _notified,
        ResourceStateChanged: _state_changed,
        EnergyAnswer: _to_runtime,
        EstimateQuery: _asked,
        FromJobMsg: _to_runtime,
    }

    # ------------------------------------------------------------------ outages

    def _machines_changed(self, resources: Collection[int], available: bool) -> None:
        """Nodes and storage nodes are taken away, or come back; jobs on them are affected at the end of the message."""
        hosts = self._wire.open(resources) if available else self._wire.close(resources)
        nodes, storages = self.machine.places_of(hosts)
        (self._book.open if available else self._book.close)(nodes, storages, self._now_s)
        self._enact(self._runtime.outage(self._wire.closed, self._now_s))
        self._dirty = True
        if not available:
            self._find_struck(frozenset(nodes), frozenset(storages))

    def _storage_drained(self, event: Notify) -> None:
        """A part of storage nodes is drained, or back; jobs keep what they hold there."""
        for storage, drained_bytes in drained_by(self.machine, event.data).items():
            self._book.drain(storage, drained_bytes, self._now_s)
            left_bytes = self._book.left_bytes(storage)
            self._observer.drained(self.machine.storages[storage].name, drained_bytes, left_bytes, self._now_s)
        self._dirty = True

    def _find_struck(self, nodes: frozenset[int], storages: frozenset[int]) -> None:
        """Waiting jobs lose burst buffers that are out; running jobs on what is out are noted."""
        held = self._book.held
        for job_id in [one for one in held if not storages.isdisjoint(held[one].allocation.storages)]:
            self._evict(Evict(self._queue.jobs[job_id]))
        if self._outages.rule is OnOutage.CONTINUE:
            return
        for job_id, running in list(self._book.running.items()):
            lost = lost_by(self.machine, running, nodes, storages, self._pool)
            if lost is not None and not self._shrinks(running.job, lost):
                self._outages.affect(job_id, lost)

    def _shrinks(self, job: Job, lost: Lost) -> bool:
        """Whether a running job goes on without what it lost, where the setting says so."""
        if not self._outages.rule.shrinks or self._outages.is_being_killed(job.id):
            return False
        step = self._runtime.give_up(job, lost.nodes, self._now_s)
        if step is None:
            return False
        self._observer.interrupted(job, "shrinks", lost.reason, self._now_s)
        self._enact(step)
        return True

    def _kill_affected(self) -> None:
        """Kill the running jobs that lost something in this message and have not ended in it."""
        affected, self._outages.affected = self._outages.affected, {}
        for job_id, lost in affected.items():
            self._kill_for(job_id, Death(lost.reason, self._outages.rule.requeues))

    def _kill_noticed(self) -> bool:
        """Kill the jobs that make room for others and have no time left; whether one has ended by that.

        Only once all of a message has been read: their ends may be in it.
        """
        due = [one for one in self._notices.due(self._now_s) if not self._outages.is_being_killed(one[0])]
        for job_id, death in due:
            self._kill_for(job_id, death)
        return any(job_id not in self._book.running for job_id, _ in due)

    def _kill_for(self, job_id: str, death: Death) -> None:
        self._outages.kill(job_id, death)
        self._enact(self._runtime.kill(self._book.running[job_id].job, self._now_s))

    def _after_death(self, running: Running, ended: Ended, death: Death) -> bool:
        """A job that was killed by an outage or for another job waits again, where that is requeued; whether it is."""
        if ended.state is not JobState.COMPLETED_KILLED:
            return False
        held_node_s = node_seconds(running, self._now_s)
        if not death.requeues:
            self._tell(running.job, death, "killed", held_node_s)
            return False
        again = msgspec.structs.replace(self._outages.next_attempt(running.job), left=ended.left)
        if death.suspends:
            again, profile = self._notices.next_part(running, again, self._now_s)
            self._send((profile,))
        elif isinstance(running.job.left, Suspended):
            again = as_a_whole(again, running.job.left)
        if death.by:  # its wait begins anew
            held_s = self._now_s - again.submit_time_s + again.held_s
            again = msgspec.structs.replace(again, submit_time_s=self._now_s, held_s=held_s)
        self._arrivals.check_submission(again.id)
        self._send((registration(again, self._now_s),))
        what = "suspended, goes on as" if death.suspends else "requeued as"
        lost_node_s = 0.0 if death.suspends else held_node_s - ended.kept_s * running.job.nodes
        self._tell(running.job, death, f"{what} {again.name}", lost_node_s)
        self._observer.submitted(again, self._now_s)
        self._queue.add_again(again)
        self._pool.go_on(running.job, again)
        self._counted.goes_on(running.job.id, again.id)
        return True

    def _tell(self, job: Job, death: Death, what: str, lost_node_s: float) -> None:
        """Show what became of a job that was killed."""
        if death.by:
            self._observer.preempted(job, death.by, what, death.told_s, self._now_s, lost_node_s)
        else:
            self._observer.interrupted(job, what, death.reason, self._now_s, lost_node_s)

    # ------------------------------------------------------------------ the policy's pass

    def _decide(self) -> Iterator[None]:
        """Let policy, controllers and runtime act until nothing more follows from it."""
        notices, pool, dependents = self._notices, self._pool, self._dependents
        while True:
            if dependents.held or dependents.changed:
                self._release()
            for name, job in pool.unused() if pool.to_destroy else ():
                self._discard(name, job)
                self._dirty = True
            if self._dirty:
                yield from self._run_pass()
            if notices.given and self._kill_noticed():
                continue  # perhaps no other message comes
            if self._steering is not None and not notices.given:
                self._steer(self._steering)
            step = self._runtime.settle(self._now_s)
            if step is not NOTHING:
                self._enact(step)
            if step.ended or (pool.to_destroy and pool.unused()):
                continue
            if not (dependents.held or dependents.changed) or not self._release():
                return

    def _run_pass(self) -> Iterator[None]:
        self._dirty = False
        if not self._queue.jobs and not self._book.running:
            return
        self._book.advance(self._now_s)
        notes = PassNotes() if self._explain else None
        view = View(
            self._now_s,
            self._book.machine,
            self._queue.shown(),
            RunningJobs(self._book.running),
            self._book.timeline.copy,
            self._rng,
            self._notebook,
            notes,
            self._estimator.estimate_s,
            self._fewest_nodes,
            self._book.held,
            frozenset(self._book.nodes_out),
            self._book,
            self._filled_s,
        )
        if self._pool.requests or self._pool.buffers:
            view.pool = self._pool
        view.demands, view.changes, view.site = self._queue.demands, self._changes, self._site
        if self._notices.rules.active:
            view.vacate = self._book.vacate
        if self._lives is not None:
            view.stages_first = any(job.lives is not None for job in view.queue)
        for decision in self._policy(view):
            enact = self._ENACT.get(type(decision))
            if enact is not None:
                enact(self, decision)
            elif type(decision) is Pause:
                yield
            else:
                raise DecisionRefused("", f"a policy must yield decisions, got {shown(decision)}")
        if notes is not None:
            self._observer.notes(self._now_s, notes)

    def _changes(self) -> int:
        """How often anything that a policy sees changed; what comes to the end of the queue does not count."""
        return self._book.timeline.changes + self._queue.changes

    def _demand_row(self, job: Job) -> Row:
        return self._book.timeline.demand_of(job)

    def _start(self, decision: Start) -> None:
        job, allocation = decision.job, decision.allocation
        fewest = self._fewest_nodes(job) if self._fewest_nodes is not None else None
        check_start(self._book, job.id in self._queue.jobs, job, allocation, fewest)
        if job.id in self._book.held and job.id not in self._filled_s:
            raise DecisionRefused(job.id, "its burst buffer is still being filled (stage-in): it can start after that")
        if self._pool.requests and (missing := self._pool.missing(job.id)) is not None:
            raise DecisionRefused(job.id, missing)
        self._queue.remove(job.id)
        self._filled_s.pop(job.id, None)
        self._book.start(job, allocation, self._now_s)
        self._observer.started(job, allocation, self._now_s)
        first = self._outages.first_attempt(job.id)
        self._dependents.started(first, self._now_s)
        self._enact(self._runtime.start(job, allocation, self._now_s))

    def _hold(self, decision: Hold) -> None:
        job = decision.job
        check_hold(self._book, job.id in self._queue.jobs, decision, self._now_s)
        self._book.hold(job, decision.allocation, self._now_s, decision.until_s)
        self._observer.held(job, self._book.held[job.id], self._now_s)
        self._enact(self._runtime.stage(job, decision.allocation, self._now_s))

    def _evict(self, decision: Evict) -> None:
        if decision.job.id not in self._book.held:
            raise DecisionRefused(
                decision.job.id, "only a waiting job that holds a burst buffer can be evicted from it"
            )
        self._filled_s.pop(decision.job.id, None)
        holding = self._book.evict(decision.job.id, self._now_s)
        self._observer.evicted(decision.job, holding, self._now_s)
        self._enact(self._runtime.unstage(decision.job, self._now_s))

    def _create(self, decision: Create) -> None:
        job, name = decision.job, decision.name
        creation = check_create(self._book, self._pool, job.id in self._queue.jobs, decision)
        buffer = PersistentBuffer(name, job.user, job.id, decision.allocation, self._now_s)
        self._book.keep(buffer)
        self._pool.done.add((job.id, creation.name))
        self._observer.created(buffer, self._now_s)

    def _destroy(self, decision: Destroy) -> None:
        check_destroy(self._pool, decision, decision.job.id in self._queue.jobs, self._book.running)
        self._pool.done.add((decision.job.id, decision.name))
        self._discard(decision.name, decision.job)

    def _discard(self, name: str, job: Job) -> None:
        self._pool.to_destroy.pop(name, None)
        self._observer.destroyed(self._book.discard(name, self._now_s), job, self._now_s)

    def _finish(self, decision: Finish) -> None:
        """A job without nodes has ended: the simulator does not run it."""
        job = decision.job
        if job.id not in self._queue.jobs or job.nodes:
            raise DecisionRefused(job.id, "only a waiting job without nodes can be finished without a start")
        missing = self._pool.missing(job.id)
        if missing is not None:
            raise DecisionRefused(job.id, missing)
        self._queue.remove(job.id)
        self._observer.started(job, NO_NODES, self._now_s)
        self._enact(self._runtime.without_nodes(job, self._now_s))
        self._observer.ended(Running(job, self._now_s, self._now_s, NO_NODES), SUCCESS, self._now_s)
        self._dependents.started(job.id, self._now_s)
        self._dependents.ended(job.id, self._now_s, failed=False)
        self._pool.leave(job)

    def _arrange(self, decision: Arrange) -> None:
        for job, _ in decision.places:
            if job.id not in self._book.running:
                raise DecisionRefused(job.id, "only a running job can be moved")
            try:
                self._book.lift(job.id, self._now_s)
            except ValueError as error:
                raise DecisionRefused(job.id, str(error)) from error
        for job, allocation in decision.places:
            check_start(self._book, True, job, allocation)
            self._book.place(job, allocation, self._now_s)
            self._runtime.move(job, allocation, self._now_s)

    def _reject_waiting(self, decision: Reject) -> None:
        if decision.job.id not in self._queue.jobs:
            raise DecisionRefused(decision.job.id, "only a waiting job can be rejected")
        if decision.job.id in self._book.held:
            self._evict(Evict(decision.job))
        self._queue.remove(decision.job.id)
        self._reject(decision.job, decision.reason)

    def _kill(self, decision: Kill) -> None:
        if decision.job.id not in self._book.running:
            raise DecisionRefused(decision.job.id, "only a running job can be killed")
        self._enact(self._runtime.kill(decision.job, self._now_s))

    def _preempt(self, decision: Preempt) -> None:
        """Let a job make room: it is killed when its time is over, at the end of this message at the earliest."""
        job, by = decision.job, decision.by
        waiting = by.id in self._queue.jobs
        group = check_preempt(self._book, self._notices.rules, waiting, decision, self._now_s)
        if job.id in self._notices.given or self._outages.is_being_killed(job.id):
            return
        suspends = group.mode == SUSPEND
        death = Death(f"preempted by job {by.name}", suspends or group.mode == REQUEUE, by.id, self._now_s, suspends)
        due_s = self._now_s + group.grace_s
        self._notices.give(job.id, due_s, death)
        self._book.leave(job.id, due_s, self._now_s)
        if group.grace_s and due_s <= LATEST_S:  # no simulation gets beyond
            self._send((CallMeLater(self._now_s, due_s),))

    def _wake(self, decision: WakeAt) -> None:
        check_wake(decision.time_s, self._now_s)
        if decision.time_s <= LATEST_S:  # no simulation gets beyond
            self._send((CallMeLater(self._now_s, decision.time_s),))

    def _power(self, decision: SetPowerState) -> None:
        out, holder = self._book.nodes_out, self._book.holder
        busy = [index for index in decision.nodes if holder[index] is not None or index in out]
        if busy:
            raise DecisionRefused("", f"node {self.machine.nodes[busy[0]].name} is busy: its power state must stay")
        resources = self.machine.alloc_ids(decision.nodes)
        self._send((SetResourceState(self._now_s, resources, decision.pstate),))

    _ENACT: ClassVar[dict[type, Callable[[Session, Any], None]]] = {
        Start: _start,
        Hold: _hold,
        Evict: _evict,
        Create: _create,
        Destroy: _destroy,
        Finish: _finish,
        Reject: _reject_waiting,
        Kill: _kill,
        Preempt: _preempt,
        WakeAt: _wake,
        SetPowerState: _power,
        Arrange: _arrange,
    }

    # ------------------------------------------------------------------ the controllers' turn

    def _steer(self, steering: Steering) -> None:
        """Let controllers resize running jobs with what the policy left free; nodes are booked before they are used."""
        book = self._book
        book.advance(self._now_s)
        free_nodes = len(book.free_nodes())
        for resize in steering.decide(self._now_s, free_nodes, self._queue.jobs.values(), self._fits_beside):
            gained: Allocation | None = None
            if resize.growth:
                held = book.running[resize.id].allocation
                free_bytes, bandwidth = book.timeline.free_storage_now(), book.timeline.free_bandwidth_now()
                job = book.running[resize.id].job
                free = book.machine.usable(job.partitions, book.free_nodes(), held.nodes)
                if job.pools:
                    free = growable(book.machine, job, held.pools, free)
                gained = find_growth(self.machine, held, resize.growth, free, free_bytes, bandwidth)
                if gained is None:
                    steering.drop(resize)
                    continue
                changed = self._book.expand(resize.id, gained, self._now_s, resize.until_s)
                self._observer.resized(changed, self._now_s)
            elif resize.leaving:
                self._book.give_up(resize.id, steering.left_by(resize), self._now_s, resize.until_s)
            steering.enact(resize, gained, self._now_s)

    def _fits_beside(self, job: Job, kept: Mapping[str, Collection[int]]) -> bool:
        """Whether a waiting job could start if running jobs held only these of their nodes."""
        book = self._book
        left = [book.there(without(book.running[name].allocation, nodes)) for name, nodes in kept.items()]
        bandwidth = book.timeline.free_bandwidth_now()
        return fits_beside(self.machine, job, book.free_nodes(), book.left_storage(), bandwidth, left)

    def _left(self, released: Released) -> None:
        """A running job has given something back: it is free for the policy's next pass."""
        try:
            changed = self._book.give_back(released.job_id, self._now_s, released.nodes, released.covering)
        except ValueError as error:
            raise DecisionRefused(released.job_id, str(error)) from error
        self._observer.resized(changed, self._now_s)
        self._dirty = True
        # At a site, as in Slurm, what depends on a job does not wait until its buffer is emptied.
        if self._site is not None and not any(Resource.NODES in one.covering for one in changed.holdings):
            self._dependents.ended(self._outages.first_attempt(released.job_id), self._now_s, failed=False)

    # ------------------------------------------------------------------ what follows from it

    def _send(self, requests: Any) -> None:
        self._wire.check(requests)
        self._requests.extend(requests)

    def _enact(self, step: Step) -> None:
        if step is NOTHING:
            return
        if step.requests:
            self._send(step.requests)
        for staged in step.staged:
            self._staged_in(staged)
        for released in step.released:
            self._left(released)
        for expected in step.expected:
            self._book.expect(expected.job_id, expected.until_s, self._now_s, expected.covering)
        for ended in step.ended:
            self._job_ended(ended)

    def _staged_in(self, staged: Staged) -> None:
        """The burst buffer of a waiting job is full; or it failed to be filled, and the job cannot run."""
        self._dirty = True
        if not staged.reason:
            self._filled_s[staged.job_id] = self._now_s
            return
        self._reject_waiting(Reject(self._queue.jobs[staged.job_id], staged.reason))

    def _job_ended(self, ended: Ended) -> None:
        if ended.job_id not in self._book.running:
            raise RemoteProtocolError(f"the end of {shown(ended.job_id)}, which does not run")
        running = self._book.end(ended.job_id, self._now_s)
        self._book.accounts.ended(running, ended.state.value, self._now_s)
        self._observer.ended(running, ended.state, self._now_s)
        self._wire.ended(ended.job_id)
        self._dirty = True
        first = self._outages.first_attempt(ended.job_id)
        death = self._outages.ended(ended.job_id, ended.reason)
        if self._notices.given:
            self._notices.ended(ended.job_id)
        if death is None or not self._after_death(running, ended, death):
            self._dependents.ended(first, self._now_s, failed=ended.state is not SUCCESS)
        if self._pool.requests:
            self._pool.leave(running.job)

    def _reject(self, job: Job, reason: str) -> None:
        self._observer.rejected(job, reason, self._now_s)
        self._dependents.ended(job.id, self._now_s, failed=True)
        self._pool.leave(job, ended=False)
        self._send((RejectJob(self._now_s, job.id),))

    def _finish_registration(self) -> None:
        done = not self._queue.jobs and not self._book.running and not self._dependents.held
        if done and not self.finished and self._wire.registration_open:
            self._send((NotifyRegistration(self._now_s, finished=True),))

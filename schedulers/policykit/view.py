"""A policy's view: the queue, the running jobs, a private timeline, a seeded generator. No clock, no wire."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from random import Random
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from spillway.core import Fit, Resource, Timeline
from spillway.core import Holding as Holding
from spillway.core import Running as Running
from spillway.schedulers.model.decisions import Decision
from spillway.schedulers.model.explanations import PassNotes
from spillway.schedulers.model.job import Job
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.model.persistent import Pool
from spillway.schedulers.model.rules import Rules, Trait
from spillway.schedulers.model.site import Site
from spillway.schedulers.policykit.history import FinishedJobs, Usage


class TakenNodes(NamedTuple):
    """Nodes on which no job may run over an interval (s); ``gap``: between occurrences of the reservation of a pass."""

    start_s: float
    end_s: float
    nodes: frozenset[int]
    gap: bool = False


class HistorySource(Protocol):
    """Source of a view's history (:class:`spillway.schedulers.core.book.Book`)."""

    def finished(self) -> FinishedJobs:
        """Ended jobs."""
        ...

    def usage(self, queue: Sequence[Job], now_s: float) -> Mapping[str, Usage]:
        """Usage of each user's jobs."""
        ...


class View:
    """One pass's view of the simulation: all data for a policy's decisions.

    :attr:`timeline`, :attr:`finished` and :attr:`usage` are made when they are read, and cost nothing otherwise.

    Attributes
    ----------
    now_s
        Current time in seconds.
    machine
        The machine.
    queue
        Waiting jobs in order of submission. Do not modify.
    waiting
        All waiting jobs, also those that a view of some jobs leaves out.
    running
        Running jobs in order of their start.
    timeline
        A private timeline with all running jobs booked until ``end_s``; the policy may book and release in it.
    rng
        The conversation's generator, seeded once; the only source of randomness.
    notebook
        The policy's state between passes (promises, ages, the last plan). Empty at the start.
    notes
        Notes of the policy on the reasons why jobs wait; ``None`` where no notes are kept.
    estimate_s
        Expected duration of a job in seconds: its walltime, unless the session was given a predictor.
    fewest_nodes
        Fewest nodes on which a job may start; ``None``: every job starts on all requested nodes.
    held
        Burst buffers already held by waiting jobs (:class:`spillway.schedulers.model.decisions.Hold`), by job id.
    stages_first
        Whether some job of the queue may start with only its burst buffer, and get its nodes later.
    filled_s
        Ends of stage-in of held burst buffers that are filled (s), by job id: only these jobs can start.
    unavailable
        Nodes that are out: no job can start there, running jobs continue.
    pool
        Persistent buffers, and requests of jobs for them; ``None`` without persistent buffers.
    site
        The described site; ``None`` without a site.
    vacate
        Frees kinds of resources of a running job, by its id, from a time on (s), in a copy of the timeline; ``None`` if
        no job may be preempted.
    taken
        Nodes taken out of the timeline over intervals.
    reserved
        Starts of this pass's reservations, in the order of booking (s); infinite for a job that can never fit.
    reservations
        Bookings of a life of burst buffers in this pass's timeline for jobs that hold their buffers, by job id;
        discarded with the timeline (:meth:`renew`).
    """

    estimate_s: Callable[[Job], float] = attrgetter("walltime_s")
    fewest_nodes: Callable[[Job], int] | None = None
    held: Mapping[str, Holding] = MappingProxyType({})
    filled_s: Mapping[str, float] = MappingProxyType({})
    unavailable: frozenset[int] = frozenset()
    stages_first = False
    taken: tuple[TakenNodes, ...] = ()
    pool: Pool | None = None
    site: Site | None = None
    vacate: Callable[[Timeline, str, float, Resource], None] | None = None

    def __init__(
        self,
        now_s: float,
        machine: Machine,
        queue: Sequence[Job],
        running: Sequence[Running],
        timeline_source: Callable[[], Timeline],
        rng: Random,
        notebook: dict[str, Any],
        notes: PassNotes | None = None,
        past: HistorySource | None = None,
    ) -> None:
        self.reserved: list[float] = []
        self.reservations: dict[str, Fit] = {}
        self.now_s = now_s
        self.machine = machine
        self.queue = self.waiting = queue
        self.running = running
        self.rng = rng
        self.notebook = notebook
        self.notes = notes
        self._timeline_source = timeline_source
        self._past = past

    if TYPE_CHECKING:
        timeline: Timeline
    else:

        def __getattr__(self, name: str) -> Timeline:
            """Make the timeline when it is first read: it is read many times in a pass, without a call then."""
            if name != "timeline":
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
            found = self.timeline = self._timeline_source()
            return found

    def showing(self, queue: Sequence[Job], held: Mapping[str, Holding]) -> View:
        """The same pass with another queue and other held burst buffers; the timeline is shared."""
        other = copy.copy(self)
        other.queue, other.held = queue, held
        other.stages_first = self.stages_first or any(job.lives is not None for job in queue)
        other._timeline_source = lambda: self.timeline
        return other

    def without(self, take: Callable[[Timeline], Timeline], taken: tuple[TakenNodes, ...]) -> View:
        """The same pass with a timeline from which resources are taken, these nodes among them."""
        other, source, seen = copy.copy(self), self._timeline_source, vars(self).get("timeline")
        vacate = self.vacate

        def vacated(timeline: Timeline, job_id: str, from_s: float, kinds: Resource) -> None:
            assert vacate is not None
            vacate(timeline, job_id, from_s, kinds)
            for taken_nodes in taken:  # taken nodes are not freed
                if timeline.now_s < taken_nodes.end_s:
                    timeline.take(max(taken_nodes.start_s, timeline.now_s), taken_nodes.end_s, taken_nodes.nodes)

        other.vacate = None if vacate is None else vacated
        vars(other).pop("timeline", None)
        other._timeline_source = lambda: take(source() if seen is None else seen.copy())
        other.taken += taken
        return other

    @property
    def taken_from_s(self) -> float:
        """First time at which nodes are taken out of the timeline (s); infinite: never."""
        return min((taken_nodes.start_s for taken_nodes in self.taken), default=math.inf)

    @property
    def may_start(self) -> bool:
        """Whether some job might start now: a node is free, or a job needs only its burst buffer at first."""
        return self.timeline.free_nodes_now() > 0 or self.stages_first

    @property
    def at_once(self) -> bool:
        """Whether jobs start with their whole request now or not at all, and no notes are kept."""
        return self.notes is None and self.fewest_nodes is None and not self.held and not self.stages_first

    def aside(self) -> View:
        """A copy of the pass that shares only the notes: its timeline, random numbers and notebook are separate."""
        other = copy.copy(self)
        other.timeline, other.rng, other.notebook = self.timeline.copy(), copy.copy(self.rng), dict(self.notebook)
        return other

    def renew(self) -> None:
        """Make :attr:`timeline` anew at the next reading: bookings are discarded, enacted decisions count."""
        vars(self).pop("timeline", None)
        self.reservations.clear()

    def again(self, queue: Sequence[Job]) -> View:
        """The same pass once more, with the remaining queue and a new timeline (:meth:`renew`)."""
        other = copy.copy(self)
        other.queue = queue
        other.renew()
        return other

    @cached_property
    def finished(self) -> FinishedJobs:
        """Started jobs that have ended, in order of their ends; at most the last 100,000."""
        return FinishedJobs() if self._past is None else self._past.finished()

    @cached_property
    def usage(self) -> Mapping[str, Usage]:
        """Usage of the jobs of each user (:attr:`spillway.schedulers.model.job.Job.user`) until now.

        All jobs count: ended ones (also killed ones, and attempts that an outage ended), running ones, and waiting ones
        that hold a burst buffer. Users without usage may be missing. For usage that decays, see
        :func:`spillway.schedulers.policykit.fairness.decayed_usage`.
        """
        return {} if self._past is None else self._past.usage(self.queue, self.now_s)


class Policy(Protocol):
    """A scheduling policy: a pure function of the view (its state is in ``view.notebook``)."""

    def __call__(self, view: View) -> Iterable[Decision]:
        """Yield decisions for this instant; each is enacted, or refused by the guard, in order."""
        ...


@runtime_checkable
class BufferGiver(Protocol):
    """A policy that itself gives waiting jobs their burst buffers where these come before the nodes."""

    def with_buffers_first(self, view: View) -> Iterable[Decision]:
        """Yield decisions for this instant, :class:`spillway.schedulers.model.decisions.Hold` among them."""
        ...


def rules_of(policy: Policy) -> Rules:
    """Requirements of a policy on the other parts, and traits that it lacks, by attributes of its class.

    ``sharing`` (:class:`spillway.schedulers.timesharing.sharing.NodeSharingPolicy`): its jobs take turns on nodes.
    ``packs_buffers``: it places each node's request on a storage node itself. ``starts_moldable``: it starts jobs on
    fewer nodes than they request. ``with_buffers_first``: :class:`BufferGiver`.
    """
    needs: dict[Trait, tuple[str, str]] = {}
    if getattr(policy, "packs_buffers", False):
        needs[Trait.ANY_STORAGE] = ("", "it packs burst buffers by a rule of its own, onto any storage node")
    if hasattr(policy, "sharing"):
        needs[Trait.TURNS] = ("", "")
        reason = "it chooses nodes by its rows, in racks where storage may never be free"
        needs[Trait.ANY_STORAGE] = ("", reason)
    if hasattr(policy, "with_buffers_first"):
        needs[Trait.BUFFER_ORDER] = ("", "the policy gives burst buffers in an order of its own")
    moldable = getattr(policy, "starts_moldable", False)
    return Rules(
        needs, {} if moldable else {Trait.FEWER_NODES: ("", "it starts every job on all nodes that it requests")}
    )


@runtime_checkable
class _WarningPolicy(Protocol):
    """A policy that may have warnings on the whole conversation."""

    def warnings(self, notebook: Mapping[str, Any], machine: Machine, now_s: float) -> Iterable[str]:
        """Warnings, one line each; read once, at the end."""
        ...


@dataclass(frozen=True)
class PolicyWrapper:
    """Base of policies around another policy; the warnings are those of the inner policy.

    Attributes
    ----------
    policy
        The inner policy, which decides.
    """

    policy: Policy

    def warnings(self, notebook: Mapping[str, Any], machine: Machine, now_s: float) -> Iterable[str]:
        """Warnings of the inner policy."""
        return warnings_of(self.policy, notebook, machine, now_s)


def warnings_of(policy: Policy, notebook: Mapping[str, Any], machine: Machine, now_s: float) -> Iterable[str]:
    """Warnings of a policy on the whole conversation; empty for a policy without ``warnings``."""
    return policy.warnings(notebook, machine, now_s) if isinstance(policy, _WarningPolicy) else ()

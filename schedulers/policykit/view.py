"""What is shown to a policy: the queue, the running jobs, a private timeline, a seeded generator. No clock, no wire."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from random import Random
from typing import Any, NamedTuple, Protocol, runtime_checkable

import msgspec
import numpy as np
import numpy.typing as npt

from spillway.schedulers.model.decisions import Decision
from spillway.schedulers.model.explanations import PassNotes
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.model.persistent import Pool
from spillway.schedulers.model.rules import Rules, Trait
from spillway.schedulers.model.site import Site
from spillway.schedulers.policykit.history import FinishedJobs, Usage
from spillway.schedulers.timeline import Fit, Resource, Timeline

CACHE = "cache"
"""Key of a notebook: :attr:`View.cache`."""


class Holding(msgspec.Struct, frozen=True, gc=False):
    """Something that a job holds, or held, over an interval of its own.

    Attributes
    ----------
    covering
        The kinds of resources that share the interval.
    allocation
        Of which the covered kinds count. The nodes of a burst buffer or of bandwidth are those that it was granted
        for.
    start_s
        Since when (s).
    end_s
        Until when it is expected to be held, or was (s).
    """

    covering: Resource
    allocation: Allocation
    start_s: float
    end_s: float


class Taken(NamedTuple):
    """Nodes on which no job may run over an interval, begin and end in s; ``gap``: it lies between occurrences of the
    reservation that a pass is for.
    """

    start_s: float
    end_s: float
    nodes: frozenset[int]
    gap: bool = False


class Running(msgspec.Struct, frozen=True, eq=False, gc=False):
    """A running job: since when, where, and until when at the latest (``start + walltime``).

    Attributes
    ----------
    job, start_s, end_s
        The job; when it was given its nodes, until when at the latest it was expected to have them (s).
    allocation
        What it holds now. Where nodes or burst buffers were given back alone, the storages need not stand for the nodes
        in turn.
    apart
        What it holds, where that is not all held from ``start_s`` to ``end_s``.
    past
        What it gave back before its end, where that was not nodes together with all that belonged to them.
    """

    job: Job
    start_s: float
    end_s: float
    allocation: Allocation
    apart: tuple[Holding, ...] = ()
    past: tuple[Holding, ...] = ()

    @property
    def holdings(self) -> tuple[Holding, ...]:
        """What it holds, since when, and until when that is expected."""
        return self.apart or (Holding(Resource.ALL, self.allocation, self.start_s, self.end_s),)


class Past(Protocol):
    """Where a view takes from what has happened before (:class:`spillway.schedulers.core.book.Book`)."""

    def finished(self) -> FinishedJobs:
        """Jobs that have ended."""
        ...

    def usage(self, queue: Sequence[Job], now_s: float) -> Mapping[str, Usage]:
        """What each user's jobs have held."""
        ...


class View:
    """One pass's view of the simulation: all that a policy decides by.

    :attr:`timeline`, :attr:`finished` and :attr:`usage` are made when they are read: a pass that does not look at them
    pays nothing for them.

    Attributes
    ----------
    now_s
        Current time in seconds.
    machine
        The machine.
    queue
        Waiting jobs in order of submission. Do not modify.
    waiting
        All waiting jobs, also those that a view of a part of the jobs leaves out.
    running
        Running jobs in order of their start.
    rng
        The conversation's generator, seeded once; the only source of randomness.
    notebook
        The policy's own memory between passes (promises, ages, the last plan). Empty at the start.
    notes
        Where the policy writes why jobs wait, or ``None`` where no notes are kept.
    estimate_s
        Expected duration of a job in seconds: its walltime, unless the session was given a predictor.
    fewest_nodes
        Fewest nodes that a job may start on; ``None``: every job starts on all that it requests.
    held
        Burst buffers that waiting jobs hold already (:class:`spillway.schedulers.model.decisions.Hold`), by job id.
    stages_first
        Whether some job of the queue may start with its burst buffer alone, its nodes later.
    filled_s
        Since when those of them are filled whose stage-in has ended (s), by job id: only these jobs can start.
    unavailable
        Nodes that are out: nothing can be started there, whatever runs there goes on.
    pool
        Persistent buffers and what jobs request of them; ``None`` where there are none.
    demands
        What jobs request as rows of a table (:meth:`spillway.schedulers.timeline.Timeline.demand_of`); ``None``: not
        kept.
    site
        The site whose scheduler this is; ``None`` where none is described.
    vacate
        Frees in a copy of the timeline kinds of what a running job holds, by its id, from a time on (s); ``None`` where
        none may be preempted.
    changes
        How often anything that a policy sees has changed until now, but for the time and for jobs that came to the end
        of the queue; ``None`` where that is not known, as in a view of a part of the jobs.
    taken
        Nodes that are taken out of the timeline over intervals.
    reserved
        Starts of this pass's reservations, in their order (s); infinite for a job that can never fit.
    reservations
        What a life has booked in this pass's timeline for jobs that hold their burst buffers, by job id; forgotten with
        the timeline (:meth:`renew`).
    """

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
        estimate_s: Callable[[Job], float] = attrgetter("walltime_s"),
        fewest_nodes: Callable[[Job], int] | None = None,
        held: Mapping[str, Holding] | None = None,
        unavailable: frozenset[int] = frozenset(),
        past: Past | None = None,
        filled_s: Mapping[str, float] | None = None,
    ) -> None:
        self.filled_s: Mapping[str, float] = filled_s if filled_s is not None else {}
        self.stages_first = False
        self.taken: tuple[Taken, ...] = ()
        self.pool: Pool | None = None
        self.demands: Callable[[Sequence[Job]], npt.NDArray[np.int64]] | None = None
        self.site: Site | None = None
        self.vacate: Callable[[Timeline, str, float, Resource], None] | None = None
        self.changes: Callable[[], int] | None = None
        self.reserved: list[float] = []
        self.reservations: dict[str, Fit] = {}
        self.now_s = now_s
        self.machine = machine
        self.queue = self.waiting = queue
        self.running = running
        self.rng = rng
        self.notebook = notebook
        self.notes = notes
        self.estimate_s = estimate_s
        self.fewest_nodes = fewest_nodes
        self.held: Mapping[str, Holding] = held if held is not None else {}
        self.unavailable = unavailable
        self._timeline_source = timeline_source
        self._past = past

    def showing(self, queue: Sequence[Job], held: Mapping[str, Holding]) -> View:
        """The same pass with another queue and other held burst buffers; the timeline is one and the same."""
        other = copy.copy(self)
        other.queue, other.held = queue, held
        other.stages_first = self.stages_first or any(job.lives is not None for job in queue)
        other._timeline_source = lambda: self.timeline
        other.changes = None
        return other

    def without(self, take: Callable[[Timeline], Timeline], taken: tuple[Taken, ...], changed: int) -> View:
        """The same pass with a timeline from which something is taken, these nodes among it.

        ``changed``: how often that changed till now; without a change it must not grow.
        """
        other, source, changes, seen = (
            copy.copy(self),
            self._timeline_source,
            self.changes,
            self.__dict__.get("timeline"),
        )
        vacate = self.vacate

        def vacated(timeline: Timeline, job_id: str, from_s: float, kinds: Resource) -> None:
            assert vacate is not None
            vacate(timeline, job_id, from_s, kinds)
            for one in taken:  # nothing of it is free for that
                if timeline.now_s < one.end_s:
                    timeline.take(max(one.start_s, timeline.now_s), one.end_s, one.nodes)

        other.vacate = None if vacate is None else vacated
        other.__dict__.pop("timeline", None)
        other._timeline_source = lambda: take(source() if seen is None else seen.copy())
        other.changes = None if changes is None else lambda: changes() + changed
        other.taken += taken
        return other

    @property
    def taken_from_s(self) -> float:
        """Since or from when nodes are taken out of the timeline (s); infinite: never."""
        return min((one.start_s for one in self.taken), default=math.inf)

    @property
    def may_start(self) -> bool:
        """Whether some job might start now: a node is free, or a job needs only its burst buffer at first."""
        return self.timeline.free_nodes_now() > 0 or self.stages_first

    @cached_property
    def timeline(self) -> Timeline:
        """A private timeline with all running jobs booked until ``end_s``; the policy may book and release in it."""
        return self._timeline_source()

    @property
    def untouched(self) -> bool:
        """Whether nobody has looked at :attr:`timeline` yet, so that nothing is booked in it."""
        return "timeline" not in self.__dict__

    @property
    def at_once(self) -> bool:
        """Whether jobs start with all that they request, all of it now, or not at all, and no notes are kept."""
        return self.notes is None and self.fewest_nodes is None and not self.held and not self.stages_first

    @property
    def cache(self) -> dict[str, Any]:
        """A part of the notebook for what only saves time: dropped between two passes, it changes no decision."""
        found: dict[str, Any] = self.notebook.setdefault(CACHE, {})
        return found

    def aside(self) -> View:
        """The same pass once more, of which only notes remain: what it books, draws and keeps is its own."""
        other = copy.copy(self)
        other.timeline, other.rng, other.notebook = self.timeline.copy(), copy.copy(self.rng), dict(self.notebook)
        return other

    def resume(self, timeline: Timeline, reserved: list[float]) -> None:
        """Go on with timeline and reservations of an earlier pass, as this pass would have made them."""
        timeline.advance(self.now_s)
        self.timeline, self.reserved = timeline, reserved

    def renew(self) -> None:
        """Make :attr:`timeline` anew at the next look: what was booked in it is forgotten, what was enacted counts."""
        self.__dict__.pop("timeline", None)
        self.reservations.clear()

    def again(self, queue: Sequence[Job]) -> View:
        """The same pass once more, with what is left of its queue and a timeline made anew (:meth:`renew`)."""
        other = copy.copy(self)
        other.queue = queue
        other.renew()
        return other

    @cached_property
    def finished(self) -> FinishedJobs:
        """Jobs that were started and have ended, in order of their ends; at most the last 100,000."""
        return FinishedJobs() if self._past is None else self._past.finished()

    @cached_property
    def usage(self) -> Mapping[str, Usage]:
        """What the jobs of each user (:attr:`spillway.schedulers.model.job.Job.user`) have held until now.

        All jobs count: ended ones (also killed ones, and attempts that an outage ended), running ones, and waiting ones
        that hold a burst buffer. Users who have held nothing may be missing. Where what is past should count less, see
        :func:`spillway.schedulers.policykit.fairness.decayed_usage`.
        """
        return {} if self._past is None else self._past.usage(self.queue, self.now_s)


class Policy(Protocol):
    """A scheduling policy: a pure function of the view (its memory is ``view.notebook``)."""

    def __call__(self, view: View) -> Iterable[Decision]:
        """Yield decisions for this instant; each is enacted, or refused by the guard, in order."""
        ...


@runtime_checkable
class GivesBuffers(Protocol):
    """A policy that gives waiting jobs their burst buffers itself where these come before the nodes."""

    def with_buffers_first(self, view: View) -> Iterable[Decision]:
        """Yield decisions for this instant, :class:`spillway.schedulers.model.decisions.Hold` among them."""
        ...


def rules_of(policy: Policy) -> Rules:
    """What a policy needs of the others, and what it lacks, by what its class states beside ``__call__``.

    ``sharing`` (:class:`spillway.schedulers.timesharing.sharing.SharesNodes`): its jobs take turns on nodes.
    ``packs_buffers``: it decides itself which storage node gets each node's request. ``starts_moldable``: it starts
    jobs on fewer nodes than they request. ``with_buffers_first``: :class:`GivesBuffers`.
    """
    needs: dict[Trait, tuple[str, str]] = {}
    if getattr(policy, "packs_buffers", False):
        needs[Trait.ANY_STORAGE] = ("", "it packs burst buffers by a rule of its own, onto any storage node")
    if hasattr(policy, "sharing"):
        needs[Trait.TURNS] = ("", "")
        reason = "it chooses nodes by its rows, in racks whose storage may never have room"
        needs[Trait.ANY_STORAGE] = ("", reason)
    if hasattr(policy, "with_buffers_first"):
        needs[Trait.BUFFER_ORDER] = ("", "the policy gives burst buffers in an order of its own")
    moldable = getattr(policy, "starts_moldable", False)
    return Rules(
        needs, {} if moldable else {Trait.FEWER_NODES: ("", "it starts every job on all nodes that it requests")}
    )


@runtime_checkable
class _Warns(Protocol):
    """A policy that may find something wrong with the conversation as a whole."""

    def warnings(self, notebook: Mapping[str, Any], machine: Machine, now_s: float) -> Iterable[str]:
        """What it found, one line each; read once, at the end."""
        ...


@dataclass(frozen=True)
class Around:
    """Base of what stands around a policy and is a policy itself; the warnings are those of the policy.

    Attributes
    ----------
    policy
        Decides on what it sees.
    """

    policy: Policy

    def warnings(self, notebook: Mapping[str, Any], machine: Machine, now_s: float) -> Iterable[str]:
        """What the policy found."""
        return warnings_of(self.policy, notebook, machine, now_s)


def warnings_of(policy: Policy, notebook: Mapping[str, Any], machine: Machine, now_s: float) -> Iterable[str]:
    """What a policy found wrong with the conversation as a whole; nothing where it does not look for that."""
    return policy.warnings(notebook, machine, now_s) if isinstance(policy, _Warns) else ()

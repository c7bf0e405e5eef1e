"""Names of the compiled module, with their documentation; written in C++ in the folders beside this file."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from types import ModuleType
from typing import Any, Protocol, Self, TypeVar, final, overload

import numpy as np
import numpy.typing as npt

from spillway.core.fit import DemandRow, Fit, Free
from spillway.core.placement import Placement, StorageOrder
from spillway.core.resources import Resource
from spillway.protocol.messages import Event, JobState, JsonObject, Message, Reply, Request
from spillway.schedulers.jobmodels.base import JobModel, Place
from spillway.schedulers.jobmodels.gates import IoOrder
from spillway.schedulers.jobmodels.record import JobRecord
from spillway.schedulers.jobmodels.runtime import Restarts
from spillway.schedulers.jobmodels.streams import Streams
from spillway.schedulers.model.decisions import Start
from spillway.schedulers.model.machine import CountedPool, Machine
from spillway.schedulers.model.staging import StageLimits
from spillway.schedulers.policykit.estimates import Estimator

SOURCE_DIGEST: str
TCP_WINDOW: float
"""Bytes (SimGrid's ``network/TCP-gamma``): no transfer is faster than this per two latencies."""
"""SHA-256 over the C++ sources that the module was built from, as hexadecimal digits."""

_Value = TypeVar("_Value", Lives, Allocation, Job)

def replaced(thing: _Value, **changes: Any) -> _Value:
    """Return a copy with other values of some fields, named as in the constructor."""

@final
class Lives:
    """Starts and ends of a job's holdings, relative to the interval of its nodes. The default: all together.

    A job's start in a timeline is the start of its burst buffer; its nodes follow ``storage_lead_s`` later.

    Attributes
    ----------
    storage_lead_s
        Burst buffers are held this long before the nodes (stage-in), finite, at least 0.
    storage_tail_s
        And this long after them (stage-out), finite; below 0: given back before the nodes.
    bandwidth_tail_s
        The same for bandwidth, which begins with the nodes.

    Raises
    ------
    ValueError
        A value is out of range.
    """

    def __init__(
        self, storage_lead_s: float = 0.0, storage_tail_s: float = 0.0, bandwidth_tail_s: float = 0.0
    ) -> None: ...
    @property
    def storage_lead_s(self) -> float: ...
    @property
    def storage_tail_s(self) -> float: ...
    @property
    def bandwidth_tail_s(self) -> float: ...
    def staged(self) -> Lives:
        """The same lives after the stage-in: nothing is held before the nodes."""
    def __hash__(self) -> int: ...

@final
class Allocation:
    """Resources that a job holds.

    Attributes
    ----------
    nodes
        Indices into :attr:`spillway.schedulers.model.machine.Machine.nodes`, ascending.
    storages
        For each node in order the index of the storage node that holds its burst buffer; empty without a burst buffer.
        Of a striped buffer one for each stripe, all different.
    bb_bytes
        Burst-buffer bytes per request.
    io_rate
        Bytes per second per node booked on every link above the node.
    lives
        As in :class:`Job`: a timeline books each part of the allocation over an interval of its own.
    striped
        Whether the burst buffer belongs to the job as a whole (:attr:`Job.stripes`), not to its single nodes.
    pools
        Amounts that it holds of the counted pools; they belong to the job as a whole. As in :class:`Job`, except for
        hierarchical resources: the layers held, and their amounts, depend on the nodes.
    """

    def __init__(
        self,
        nodes: Iterable[int],
        storages: Iterable[int] = (),
        bb_bytes: int = 0,
        io_rate: int = 0,
        lives: Lives | None = None,
        striped: bool = False,
        pools: Iterable[int] = (),
    ) -> None: ...
    @property
    def nodes(self) -> tuple[int, ...]: ...
    @property
    def storages(self) -> tuple[int, ...]: ...
    @property
    def bb_bytes(self) -> int: ...
    @property
    def io_rate(self) -> int: ...
    @property
    def lives(self) -> Lives | None: ...
    @property
    def striped(self) -> bool: ...
    @property
    def pools(self) -> tuple[int, ...]: ...
    def __hash__(self) -> int: ...

@final
class Job:
    """One submitted job. Compared and hashed by identity; ordered by :attr:`number`.

    Attributes
    ----------
    id
        Full id on the wire (``w0!12``).
    number
        Rank of submission in this conversation, from 0: the tie breaker everywhere.
    submit_time_s
        Time of submission; of a job held by dependencies its release, of a preempted one its last end: waits count from
        there.
    walltime_s
        Requested time; ``math.inf`` if the job states no walltime.
    nodes
        Whole nodes requested, at least 1; 0 for a job that only creates or destroys persistent buffers.
    bb_bytes
        Burst-buffer bytes per request; each request is served whole by one storage node. 0: no burst buffer.
    stripes
        0: each node has a request of its own. Above 0: the buffer belongs to the job as a whole and consists of this
        many requests, each on a storage node of its own (1: one buffer per job).
    io_rate
        Average I/O rate per node in bytes per second (0 where unknown).
    profile_name, profile
        The job's kind of work as Batsim describes it (``{}`` where it is unknown).
    extras
        Further fields of the job object (``user``, malleability, I/O phases ...).
    lives
        Intervals of its burst buffers and bandwidth; ``None``: that of its nodes.
    partitions
        Partitions of which it may use the nodes of one, by index in
        :attr:`spillway.schedulers.model.machine.Machine.partitions`, in the job's order; () for any nodes.
    pools
        Amounts that it requests of the counted pools while it has nodes (of a hierarchical resource for each of its
        layers), by index in :attr:`spillway.schedulers.model.machine.Machine.pools`; 0 beyond the last amount.
    held_s
        Time from its submission to :attr:`submit_time_s` (s).
    left
        State kept from its last attempt, for the runtime; ``None``: there was no attempt, or nothing is kept.
    default_walltime
        Whether its walltime is the default of its partition; the simulator then has no walltime of the job.
    grace_s
        Time beyond its walltime for which its site lets it run (s); plans ignore it.
    over_s
        Time beyond its walltime at which it is expected to end once it is overdue (s); 0: at once.
    """

    def __init__(
        self,
        id: str,
        number: int,
        submit_time_s: float,
        walltime_s: float,
        nodes: int,
        bb_bytes: int = 0,
        io_rate: int = 0,
        profile_name: str = "",
        profile: dict[str, Any] = ...,
        extras: dict[str, Any] = ...,
        lives: Lives | None = None,
        stripes: int = 0,
        partitions: Iterable[int] = (),
        pools: Iterable[int] = (),
        held_s: float = 0.0,
        left: Any = None,
        default_walltime: bool = False,
        grace_s: float = 0.0,
        over_s: float = 0.0,
    ) -> None: ...
    @property
    def id(self) -> str: ...
    @property
    def number(self) -> int: ...
    @property
    def submit_time_s(self) -> float: ...
    @property
    def walltime_s(self) -> float: ...
    @property
    def nodes(self) -> int: ...
    @property
    def bb_bytes(self) -> int: ...
    @property
    def io_rate(self) -> int: ...
    @property
    def profile_name(self) -> str: ...
    @property
    def profile(self) -> dict[str, Any]: ...
    @property
    def extras(self) -> dict[str, Any]: ...
    @property
    def lives(self) -> Lives | None: ...
    @property
    def stripes(self) -> int: ...
    @property
    def partitions(self) -> tuple[int, ...]: ...
    @property
    def pools(self) -> tuple[int, ...]: ...
    @property
    def held_s(self) -> float: ...
    @property
    def left(self) -> Any: ...
    @property
    def default_walltime(self) -> bool: ...
    @property
    def grace_s(self) -> float: ...
    @property
    def over_s(self) -> float: ...
    @property
    def requests(self) -> int:
        """Number of requests for burst buffer of :attr:`bb_bytes` each: one per node, or per stripe."""
    @property
    def name(self) -> str:
        """Id within its workload (``12`` of ``w0!12``)."""
    @property
    def workload(self) -> str:
        """Name of its workload (``w0`` of ``w0!12``)."""
    @property
    def user(self) -> str:
        """Its user, from its field ``user`` (a number as text); ``""`` without one."""
    @property
    def account(self) -> str:
        """The account that it is charged to, from its field ``account``; ``""`` without one."""
    @property
    def qos(self) -> str:
        """Its quality of service, from its field ``qos``; ``""`` without one."""
    @property
    def gpus(self) -> int:
        """GPUs that it needs on each of its nodes, from its field ``gpus``; 0 without one."""

def set_leak_warnings(on: bool) -> None:
    """Choose whether objects of the core that are left when Python ends are named on the standard error; off at first.

    They are faults of the bindings, but where a program froze its objects (``gc.freeze``).
    """

class StartsInOrder(Iterator[Start]):
    """First come, first served: starts up to the first job that does not fit, each booked when it is asked for.

    Parameters
    ----------
    timeline
        Gets the bookings, from now on.
    jobs
        The jobs, in their order.
    estimate_s
        Expected duration of a job (s, at least 0); ``None``: its walltime.

    Attributes
    ----------
    started
        Number of jobs that were started.
    """

    def __init__(
        self,
        timeline: Timeline,
        jobs: Sequence[Job] | WaitingJobs,
        estimate_s: Callable[[Job], float] | None = None,
    ) -> None: ...
    def __next__(self) -> Start: ...
    @property
    def started(self) -> int: ...

class Fill(Iterator[Start]):
    """Greedy filling: starts of all jobs that fit now, in their order, each booked when it is asked for.

    Parameters
    ----------
    timeline
        Gets the bookings, from now on.
    jobs
        The jobs; none has lives of its own.
    durations_s
        Duration of each (s, at least 0); ``None``: their walltimes.
    """

    def __init__(
        self,
        timeline: Timeline,
        jobs: Sequence[Job] | WaitingJobs,
        durations_s: npt.NDArray[np.float64] | None = None,
    ) -> None: ...
    def __next__(self) -> Start: ...

class Snapshot:
    """A state of a timeline, to return to with :meth:`Timeline.restore`."""

    def breakpoints(self) -> list[float]:
        """Starts of its segments, and times at which bookings on drained storage nodes change (s)."""

class Timeline:
    """Step function over time of free nodes (by identity), bytes per storage node and bandwidth per link.

    Segments are half-open, ``[times[k], times[k + 1])``; the last one is endless. Neighbours always differ, so that the
    timeline depends only on its bookings and every breakpoint is a real change.

    A timeline and its copies are used from one thread at a time.

    Parameters
    ----------
    machine
        The machine; everything is free at first.
    now_s
        Start of the timeline in seconds.
    placement
        Rules by which a fit chooses nodes and storages, by default those of the thesis. Only ``rack`` changes whether a
        job fits.

    Raises
    ------
    ValueError
        When the machine is so large that sums of its capacities exceed 64 bits.

    References
    ----------
    Herbein et al., HPDC 2016, section 3.4, for the bandwidth levels (DOI 10.1145/2907294.2907316); Kopanski's thesis
    (Euro-Par version DOI 10.1007/978-3-030-85665-6_8) for burst buffers as whole requests on storage nodes.
    """

    def __init__(self, machine: Machine, now_s: float = 0.0, placement: Placement | None = None) -> None: ...
    @property
    def machine(self) -> Machine:
        """The machine."""
    @property
    def placement(self) -> Placement:
        """The rules by which fits choose nodes and storages."""
    @property
    def now_s(self) -> float:
        """Start of the first segment."""
    def __len__(self) -> int:
        """Return the number of segments."""
    def segments(self) -> list[tuple[float, Free]]:
        """Start of every segment (s), and what is free in it."""
    def free_until(self, end_s: float) -> Free:
        """Return the resources that are free over the whole of ``[now, end_s)``; the present always counts."""
    def totals_at(self, times_s: Sequence[float]) -> list[tuple[int, int]]:
        """Numbers of nodes and of bytes of burst buffer that are free at some times (s)."""
    def breakpoints(self) -> list[float]:
        """Start of every segment: ``now_s`` and the later times at which free resources change."""
    def next_change_s(self) -> float:
        """Time of the next change of free resources (s), infinity for never."""
    def free_nodes_now(self) -> int:
        """Return the number of nodes free at ``now_s``."""
    def free_storage_now(self) -> list[int]:
        """Bytes free at ``now_s`` per storage node."""
    def free_bandwidth_now(self) -> list[int]:
        """Bytes per second free at ``now_s`` per link."""
    def free_pools_now(self) -> list[int]:
        """Amount free at ``now_s`` per counted pool."""
    def fit_now(self, job: Job, duration_s: float, covering: Resource = ...) -> Allocation | None:
        """Return the job's allocation if it starts now and runs for ``duration_s``, or ``None`` if it cannot.

        See :meth:`earliest_fit`.
        """
    def choose_storages(
        self, nodes: Sequence[int], free_bytes: Sequence[int], bb_bytes: int, order: StorageOrder, stripes: int = 0
    ) -> tuple[int, ...] | None:
        """Choose a storage node for each request, which must hold its bytes whole; ``None`` when they do not fit.

        Parameters
        ----------
        nodes
            The job's nodes, each with a request.
        free_bytes
            Bytes left per storage node.
        bb_bytes
            Bytes per request; 0 gives no storages.
        order
            The rule; under ``rack`` any storage node counts.
        stripes
            Above 0: this number of requests for the whole job, on different storage nodes; ``nearest`` takes stripe
            ``i`` as a request of the job's node ``floor(i * nodes / stripes)``.
        """
    def demand_of(self, job: Job) -> DemandRow:
        """Return a job's demand, as searches among many jobs take it; it stays the same, here and in copies."""
    def earliest_fit(
        self,
        job: Job,
        duration_s: float,
        not_before_s: float | None = None,
        covering: Resource = ...,
        latest_s: float = ...,
    ) -> Fit | None:
        """Find the earliest start of a job.

        Candidates are ``not_before_s`` and the later breakpoints. At a start, the nodes qualify that are free over the
        whole of ``[start, start + duration_s)``; the bytes of a storage node and the bandwidth of a link are their
        minima over it. If the duration is too short to be added to the start, the start itself counts.

        Where the job's holdings have lives of their own (:class:`Lives`), this holds for
        each over its own interval, and ``start`` is that of the burst buffer.

        Parameters
        ----------
        duration_s
            Seconds >= 0, infinity allowed.
        not_before_s
            Earliest start of interest; ``None`` or an earlier time than now: now.
        covering
            Resources that are searched and put into the allocation; the others are ignored.
        latest_s
            Last start of interest; a search that ends there is cheaper than one without end.

        Returns
        -------
        Fit or None
            ``None`` when the job does not fit at any of these times.

        Raises
        ------
        ValueError
            For a negative duration or one that is not a number.
        """
    def reserve(self, start_s: float, end_s: float, allocation: Allocation, covering: Resource = ...) -> None:
        """Book an allocation over ``[start_s, end_s)``; an empty interval books nothing.

        Where the allocation's parts have lives of their own, it starts with the burst buffer, and the interval is as
        long as that of the nodes.

        Parameters
        ----------
        start_s, end_s
            Seconds; ``now_s <= start_s <= end_s``, and ``end_s`` may be infinite.
        covering
            Resources that are booked.

        Raises
        ------
        ValueError
            When it would over-commit (names the resource and the time), for an unknown index, a node named twice, or an
            interval that begins before now. Nothing is changed then. On a partly drained storage node the whole
            capacity can be booked, also more than is left (:meth:`drain`), so that buffers held there can be kept.
        """
    def reserve_from(self, not_before_s: float, duration_s: float, allocation: Allocation) -> float:
        """Book just this allocation for a duration, at the earliest start at which all of it is free.

        Parameters
        ----------
        not_before_s
            Earliest start of interest (s), now or later.
        duration_s
            Seconds >= 0, infinity allowed.

        Returns
        -------
        float
            The start (s); infinity, with nothing booked, if there is no such start.

        Raises
        ------
        ValueError
            As :meth:`reserve`, but never because a resource is not free.
        """
    def release(self, start_s: float, end_s: float, allocation: Allocation, covering: Resource = ...) -> None:
        """Give an allocation back over ``[start_s, end_s)``, the reverse of :meth:`reserve`.

        Raises
        ------
        ValueError
            As :meth:`reserve`, and when more would be free than the machine has. Nothing is changed then.
        """
    def advance(self, now_s: float) -> None:
        """Drop the time before ``now_s``; ValueError when that is earlier than :attr:`now_s`."""
    def close(self, nodes: Collection[int], storages: Collection[int]) -> None:
        """Take nodes and storage nodes out of service: they are free at no time, and nothing may be booked there."""
    def take(
        self,
        start_s: float,
        end_s: float,
        nodes: Collection[int],
        bb_bytes: Sequence[int] = (),
        pools: Sequence[int] = (),
    ) -> None:
        """Take nodes over ``[start_s, end_s)``, whatever is booked there, and free bytes and amounts of pools.

        For a copy in which passes book: other bookings on these nodes at that time can no longer be released.

        Parameters
        ----------
        start_s, end_s
            Seconds; ``now_s <= start_s < end_s``.
        nodes
            Indices of the nodes.
        bb_bytes, pools
            Most bytes of each storage node, and most of each counted pool, as far as they are free; () for nothing.
        """
    def drain(self, storage: int, drained: int) -> None:
        """Drain ``drained`` bytes of a storage node in all; 0 gives all of them back.

        Bookings stay. While they exceed the bytes left, nothing is free, and a release frees bytes only once less is
        booked than is left. The storage node must not be closed (:meth:`close`).
        """
    def widen(self, pools: tuple[CountedPool, ...]) -> None:
        """Append counted pools: ``pools`` are the present and the new ones, all free.

        Copies that were made before become invalid.
        """
    def copy(self) -> Self:
        """Return an independent timeline of the same state; costs a copy of its rows."""
    def snapshot(self) -> Snapshot:
        """Keep the present state for :meth:`restore`, any number of times, here or in a copy."""
    def restore(self, snapshot: Snapshot) -> None:
        """Return to the state of a snapshot of this timeline or of a copy of it."""
    def check(self) -> None:
        """Prove the invariants: ascending times, totals that add up, nothing over-committed, neighbours that differ."""

class PublishedTimeline(Timeline):
    """The published scheduler's timeline: nodes are held one rounding step longer than burst buffers.

    Its intervals of nodes end at the next floating-point number after the job's estimated end, its intervals of
    burst buffers at that end itself. This changes schedules: at a job's end the buffers are free and the nodes not
    yet, so that a reservation which waits for buffers takes other, idle nodes and blocks them; and a job that would
    end exactly when a reservation begins does not get its nodes. Only this rule reproduces the published numbers
    (on the thesis's part-4 EASY with burst-buffer reservations waits 16,813 s on average; without this rule 14,552
    s).
    """

class FillSearch:
    """Scores orders of jobs by the jobs that greedy filling starts now, and climbs over orders by swaps.

    The plain definition of climbing is :func:`spillway.schedulers.search.hill_climbing.climb`.

    Parameters
    ----------
    timeline
        Free resources; it stays as it is.
    demands
        :meth:`Timeline.demand_of` each job, in rows.
    spans
        Expected duration and time waited so far of each job (s), in rows.
    nodes_first
        Whether nodes or burst-buffer bytes come first in the score.
    """

    def __init__(
        self,
        timeline: Timeline,
        demands: npt.NDArray[np.int64],
        spans: npt.NDArray[np.float64],
        nodes_first: bool,
    ) -> None: ...
    @property
    def never_fits(self) -> list[bool]:
        """Whether each job does not fit now even if it comes first."""
    def climb(self, order: npt.NDArray[np.int64], budget: int) -> tuple[int, int, list[float]]:
        """Improve an order in place; at most ``budget`` swaps are tried.

        Returns
        -------
        tuple
            The number of swaps tried, the position of the last job that starts in the final order (-1 for no job), and
            its score: nodes and bytes started, in the order of the objective, and the mean wait of these jobs (s).
        """

def narrow_points(timeline: Timeline) -> list[int]:
    """Places of the first segment and of later ones with less of some resource than all segments before.

    Jobs that start now hold their resources from now on, so a later segment can keep a further job from starting now
    only if it is narrower than the earlier segments.
    """

PAIR_CALLER: int
"""Flag of a pair: the caller decides on it."""
PAIR_WITHOUT: int
"""Flag of a pair: its job has no buffer yet."""
PAIR_STAGING: int
"""Flag of a pair: its job's buffer is being filled."""
PAIR_NOW_ONLY: int
"""Flag of a pair: it gets no reservation."""
PAIR_OVERLAPPING: int
"""Flag of a pair: its reservation may overlap with others."""
PAIR_BUFFER: int
"""Flag of a pair: its job requests a buffer."""

class PlanPass:
    """A backfill pass over pairs of a job and a partition; it writes to these arrays.

    Parameters
    ----------
    pairs
        ``int64[pairs, 5]``: place of the job, nodes, row of the partition's nodes (0: all), number of the user, flags.
    durations_s
        Expected duration of each pair (s).
    waiting
        State of each job: 0 not waiting, 1 waiting, 2 waiting with an expected start.
    unreserved_s
        Time up to which too few nodes were unreserved for each pair's duration (s); minus infinity without a search.
    starts_s
        Expected start of each pair (s), infinity for never.
    counts
        ``int64[3, sets or users]``: tried pairs of each partition and of each user, reservations in each partition.
    rules
        The members of ``PlanRules`` in ``search/node_space.hpp``, in order.
    """

    def __init__(
        self,
        pairs: npt.NDArray[np.int64],
        durations_s: npt.NDArray[np.float64],
        waiting: npt.NDArray[np.int64],
        unreserved_s: npt.NDArray[np.float64],
        starts_s: npt.NDArray[np.float64],
        counts: npt.NDArray[np.int64],
        rules: tuple[float | int, ...],
    ) -> None: ...

class NodePlan:
    """Nodes that are planned for waiting jobs over intervals, by the rules of Slurm's two schedulers.

    Sets of nodes are arrays of 64-bit words: node ``i`` is bit ``i % 64`` of word ``i // 64``.

    Parameters
    ----------
    now_s
        The present (s).
    sets
        ``int64[sets, words]``: all nodes, then those of each partition.
    usable, idle
        The nodes that are not out, and the idle ones of these.

    References
    ----------
    Slurm 22.05, ``sched/backfill`` (reservations, next candidates), ``select/linear`` and ``select/cons_tres``
    (expected ends, choice of nodes).
    """

    def __init__(
        self,
        now_s: float,
        sets: npt.NDArray[np.int64],
        usable: npt.NDArray[np.int64],
        idle: npt.NDArray[np.int64],
    ) -> None: ...
    @property
    def idle(self) -> npt.NDArray[np.int64]:
        """The idle nodes."""
    @property
    def chosen(self) -> npt.NDArray[np.int64]:
        """The nodes chosen last."""
    @property
    def is_stacked(self) -> bool:
        """Whether a backfill pass was prepared."""
    @property
    def asks(self) -> bool:
        """Whether the caller decides on the pair that a backfill pass has returned; otherwise it can start."""
    def reserved(self) -> list[tuple[float, float, npt.NDArray[np.int64]]]:
        """Begin and end of each segment of time from now on (s), and the nodes without a reservation in it."""
    def choose(self, nodes: npt.NDArray[np.int64]) -> None:
        """Set the nodes chosen last."""
    def prefer(self, nodes: npt.NDArray[np.int64]) -> None:
        """Set the nodes that are chosen before all others."""
    def consecutive(self, nodes: npt.NDArray[np.int64], count: int) -> npt.NDArray[np.int64]:
        """Choose ``count`` of some nodes: the shortest run of neighbours that suffices, else the longest, and so on.

        Preferred nodes come first.
        """
    def stack(
        self,
        held: npt.NDArray[np.int64],
        ends_s: npt.NDArray[np.float64],
        numbers: npt.NDArray[np.int64],
        ended: int,
        windows: list[tuple[float, float, float, npt.NDArray[np.int64]]],
    ) -> None:
        """Prepare a backfill pass.

        Parameters
        ----------
        held, ends_s, numbers
            Nodes of running jobs in the order in which they are expected to leave, these times (s), and the jobs'
            numbers.
        ended
            Number of them that have ended, but still have nodes that are not back; they come first.
        windows
            Windows of maintenance: begin, end, time at which a job in the way is tried again (s), nodes.
        """
    def occupy(self, nodes: npt.NDArray[np.int64]) -> None:
        """Take idle nodes before a backfill pass was prepared."""
    def take(self, nodes: npt.NDArray[np.int64], end_s: float, number: int) -> None:
        """Mark nodes as busy: job ``number`` was started on them and is expected to leave at ``end_s``."""
    def main(
        self,
        pairs: npt.NDArray[np.int64],
        waiting: npt.NDArray[np.int64],
        ended: npt.NDArray[np.int64],
        nodes: npt.NDArray[np.int64],
        asks: int,
        depth: int,
        pair: int,
    ) -> int:
        """Next pair of a waiting job, from ``pair`` on, that can start or that the caller decides on, or their number.

        A pair before it that lacks nodes ends its partition: the partition's nodes are kept.

        Parameters
        ----------
        ended
            Flags of the partitions that have ended; written.
        nodes
            Nodes of no partition that has ended; written.
        asks
            Flags of pairs that the caller decides on; -1: all.
        depth
            Most pairs of waiting jobs that are visited in a pass, including those of partitions that have ended.
        """
    def backfill(self, plan_pass: PlanPass, pair: int) -> int:
        """Plan pairs in order from ``pair`` on, up to the next that can start or the caller decides on, or the end."""
    def plan(self, plan_pass: PlanPass, pair: int, not_before_s: float, gone_s: float) -> float:
        """Expected start of a pair from a time on (s, infinity for never), with its nodes chosen.

        Nodes of jobs that are expected to end up to ``gone_s`` count like idle ones.
        """
    def keep(self, plan_pass: PlanPass, pair: int, start_s: float) -> bool:
        """Reserve the chosen nodes for a pair that is to start at ``start_s``; return whether the rules allow it."""
    def keep_started(self, plan_pass: PlanPass, pair: int, nodes: npt.NDArray[np.int64]) -> None:
        """Reserve the nodes on which a pair has just started, to its expected end."""

def pair_columns(
    jobs: Sequence[Job], partitioned: bool
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Numbers of jobs; of each job in each of its partitions: a row of the table of a :class:`PlanPass`, walltime (s).

    The place of a job is that in ``jobs``, users are numbered as they come. Not ``partitioned``: each job has one pair,
    with all nodes.
    """

def leaving_nodes(
    running: Sequence[Running], words: int, longer_s: Mapping[str, float]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Nodes of running jobs, in the order in which they are expected to leave them.

    Parameters
    ----------
    running
        The jobs; one that holds all but counted pools has ended, and leaves its nodes before all others.
    words
        Number of words of a set of nodes.
    longer_s
        Extensions of the limits of jobs, by name (s).

    Returns
    -------
    tuple
        ``int64[parts, words]``: nodes held until the same time; these times, in whole seconds as Slurm stores them (s;
        minus infinity for a job that has ended); numbers of the jobs.
    """

def node_sets(timeline: Timeline) -> npt.NDArray[np.int64]:
    """Sets of nodes of a machine, ``int64[sets, words]``: all, then those of each partition.

    Then for each pool that only restricts nodes (a layer of mode 0) the nodes of each of these sets that serve it.
    """

class PlanSearch:
    """Plans of orders of jobs, and annealing over orders.

    A plan of an order places each job in turn at its earliest start and books it (Kopanski, master's thesis 2020,
    section 3.4). Its score is a weighted sum of powers of waiting times, or the latest start
    (:mod:`spillway.schedulers.policykit.objectives`).

    Parameters
    ----------
    timeline
        Free resources; it stays as it is.
    demands
        :meth:`Timeline.demand_of` each job, in rows.
    spans
        Of each job: expected duration (s), time from which its wait is counted (s), weight, 1 if its holdings have
        lives of their own (else 0), and these (s): lead, tail of the burst buffer, tail of the bandwidth.
    latest
        Whether the score is the latest start; else the sum over jobs of
        ``weight * wait**alpha * (1 + (wait / guard_s)**guard_power)``, without the guard where ``guard_s`` is infinite.
    stride
        Positions between two checkpoints of the timeline; 0: by the number of jobs.
    """

    def __init__(
        self,
        timeline: Timeline,
        demands: npt.NDArray[np.int64],
        spans: npt.NDArray[np.float64],
        latest: bool,
        alpha: float,
        guard_s: float,
        guard_power: float,
        stride: int,
    ) -> None: ...
    @property
    def starts_s(self) -> npt.NDArray[np.float64]:
        """Planned start of each job (s), of the order planned last."""
    @property
    def least(self) -> npt.NDArray[np.float64]:
        """The least that each job can add to the score: planned as if it were the only one."""
    @property
    def alone_s(self) -> npt.NDArray[np.float64]:
        """Start of each job as if it were the only one (s)."""
    def score(self, order: npt.NDArray[np.int32]) -> float:
        """Plan an order; return its score."""
    def backfilled(self, order: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """Jobs in the order of their starts under EASY backfilling in an order (:func:`easy_starts`)."""
    def begin(
        self,
        order: npt.NDArray[np.int32],
        score: float,
        seed: int,
        temperature: float,
        cooling: float,
        period: int,
        coolest: float,
        swaps_only: bool,
        delayed_only: bool,
    ) -> None:
        """Begin annealing from an order; parameters as in :class:`spillway.schedulers.policykit.planning.Annealing`."""
    def anneal(self, end: int) -> int:
        """Do the steps up to ``end``, without Python's lock; the same steps in any number of calls give the same.

        Returns the step reached: below ``end`` when no job is delayed, as no plan is better then.
        """
    @property
    def best(self) -> npt.NDArray[np.int32]:
        """The best order so far."""
    @property
    def best_score(self) -> float:
        """Its score."""

def easy_starts(
    times: Sequence[float],
    free: Sequence[tuple[int, int]],
    waiting: Sequence[int],
    demands: Sequence[tuple[int, int]],
    durations_s: Sequence[float],
) -> list[float]:
    """Start of each job (s, infinity for never) under EASY backfilling, if no job arrived and all took their estimates.

    Only totals of nodes and bytes of burst buffer count. At every release of resources, jobs start in their order; the
    first job that cannot start reserves its earliest start, and later jobs start if they leave this reservation free.

    Parameters
    ----------
    times, free
        Starts of segments (s), ascending, and the nodes and bytes that are free in each.
    waiting
        Jobs in their order.
    demands, durations_s
        Nodes and bytes of each job, and its expected duration (s).
    """

def demand_keys(parts: Sequence[Sequence[int]]) -> tuple[list[int], list[int], int, int]:
    """Make whole numbers of demands so that one subtraction compares all their parts (L. Lamport, CACM 18(8), 1975).

    ``parts[p][k]`` is part ``p`` of demand ``k``. Returns keys of each demand as the smaller and as the larger one of a
    comparison, the guard bits, and a key that compares below no demand: demand ``k`` requests no more of all than ``j``
    if ``~((above[j] | guards) - below[k]) & guards == 0``.
    """

class Engine:
    """A machine on which parallel tasks run, and its clock (``core/engines/engine.hpp``).

    Handles grow with each start and are never used twice. Callers check what they give; methods of unknown handles
    return -1.

    Attributes
    ----------
    clock
        Seconds since the start of the simulation.
    ends_at_once
        Whether a task that has work can end at the instant of its start.
    active
        Number of tasks that have started and neither ended nor been cancelled.
    """

    @property
    def clock(self) -> float: ...
    @property
    def ends_at_once(self) -> bool: ...
    @property
    def active(self) -> int: ...
    def start(
        self,
        hosts: Sequence[int],
        flops: Sequence[float],
        each: float,
        sources: Sequence[int],
        destinations: Sequence[int],
        amounts: Sequence[float],
    ) -> int:
        """Start a task at the present clock; return its handle.

        Its latency passes first, then its work begins. A task without any work ends in the next ``advance``, without
        time passing.

        Parameters
        ----------
        hosts
            Indices into ``platform.hosts``. The same host may occur more than once and then takes as many shares of
            its cores.
        flops
            Work of each position, one number for all, or none.
        each
            Bytes between every ordered pair of different positions.
        sources, destinations, amounts
            Transfers between positions of its hosts, bytes.
        """

    def sleep(self, seconds: float) -> int:
        """Start a task that uses no resource and ends after a time, such as a delay job.

        SimGrid counts down the rest of a sleep, and takes less than 1e-9 s as 0; ends of sleeps agree with its clock
        to the last bit, instants given to ``advance`` only up to rounding.
        """

    def cancel(self, handle: int) -> float:
        """Remove a task; return its progress in [0, 1], or -1 if no task of that handle is active."""

    def progress(self, handle: int) -> float:
        """Progress in [0, 1] of a task, or -1 if no task of that handle is active."""

    def next_completion(self) -> float:
        """Instant at which the next task ends if nothing is started or cancelled before; ``inf`` without one."""

    def advance(self, until: float) -> list[int]:
        """Move the clock to an instant or to the next end, whichever comes first; return the tasks that ended.

        They come in SimGrid's order, that of their starts. The clock stays the same if ``until`` is infinite and no
        task is active, or no task can make progress (hosts of speed 0; then the ``simgrid`` engine fails instead).
        """

    def change_speed(self, host: int, speed: float) -> None:
        """Change the speed of a host, flop/s of one core."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *_: object) -> None: ...

class FixedEngine(Engine):
    """A task takes as long as its slowest host computes, without any contention.

    Parameters
    ----------
    speeds
        flop/s of one core, by host.
    """

    def __init__(self, speeds: Sequence[float]) -> None: ...

class Route(Protocol):
    """What a platform says of a route: numbers of links in order of travel, and seconds."""

    @property
    def links(self) -> Sequence[int]: ...
    @property
    def latency(self) -> float: ...

class Network:
    """Hosts, links and routes of a machine; engines may share it (``core/engines/network.hpp``).

    Parameters
    ----------
    speeds, cores
        flop/s of one core, and number of cores, by host.
    bandwidths, fatpipe
        Bytes/s, and whether each user gets the whole bandwidth, by link.
    route
        Route between two hosts; each is asked for once.
    route_once
        The same, for pairs of which a platform need not remember the route.
    alike
        Groups of hosts that routing treats alike by construction, apart from the first and last links of routes.
    most_hosts
        Most hosts of which all routes are compared in search of groups; beyond, only groups by construction are used.
    many
        Fewest missing routes of an all-to-all for which groups by construction are used.
    """

    def __init__(
        self,
        speeds: Sequence[float],
        cores: Sequence[int],
        bandwidths: Sequence[float],
        fatpipe: Sequence[bool],
        route: Callable[[int, int], Route],
        route_once: Callable[[int, int], Route],
        alike: Callable[[], list[list[int]]],
        most_hosts: int = 512,
        many: int = 1000,
    ) -> None: ...
    def route(self, source: int, destination: int) -> tuple[list[int], float]:
        """Links and latency of the route between two hosts, looked up if they are not known yet."""

    def group(self, members: Sequence[int]) -> None:
        """Count all-to-alls among these hosts by groups from now on, if routing treats some of them alike."""

    @property
    def groups(self) -> list[int]:
        """The group of each host in use; -1 without one. All-to-alls among hosts with groups are counted by these."""

class FluidEngine(Engine):
    """SimGrid's ``ptask_L07`` with its fair bottleneck sharing, operation by operation (``core/engines/fluid.hpp``).

    Parameters
    ----------
    network
        The machine.
    """

    def __init__(self, network: Network) -> None: ...
    def rate(self, handle: int) -> float:
        """Share of its work per second at which a task ran just before the clock, also one that has just ended."""

    def check(self) -> str | None:
        """The first of the engine's own invariants that does not hold."""

class IoTree:
    """Links between compute hosts and the file system, and each host's share of their bandwidth
    (``core/engines/io_tree.hpp``).

    Parameters
    ----------
    bytes_per_s, parents
        Bandwidth of each link, and the number of the link above it, -1 at a root; every link comes after its parent.
    above
        The innermost link above each host, or -1.
    whole_units
        Whether shares are cut to whole MB/s.
    """

    def __init__(
        self, bytes_per_s: Sequence[float], parents: Sequence[int], above: Sequence[int], whole_units: bool = False
    ) -> None: ...
    def change_demand(self, hosts: Sequence[int], bytes_per_s: Sequence[float], sign: float = 1.0) -> None:
        """Add to (``sign`` -1: take from) the bandwidth that hosts request, whole bytes/s."""

    @property
    def contended(self) -> bool:
        """Whether the requests of any link exceed its bandwidth."""

    def share(self) -> None:
        """Find the interference factors of all hosts."""

    def factor(self, host: int) -> float:
        """Share of the time that a job on a host computes; the host has a request, and a link above it."""

def water_fill(requests: Sequence[float], peak: float, whole: bool = False) -> list[float]:
    """Bandwidth that each child gets: its request, or an equal share of the rest that smaller requests leave.

    Parameters
    ----------
    requests
        Requests of the children, >= 0, in any order.
    peak
        Bandwidth of the resource, >= 0, in the same unit.
    whole
        Whether shares are cut to whole units; the remainder goes to the children served last.
    """

class WaterfillEngine(Engine):
    """Constant I/O streams beside computation, under the contention model of Herbein et al. (HPDC 2016, section 4.4).

    Parameters
    ----------
    speeds, stores
        flop/s of one core, and whether it is a storage host, by host.
    tree
        The links above the hosts.

    Attributes
    ----------
    contended_s
        Time so far during which some task got less than it requested.
    busy_s
        Time so far during which some task ran.
    """

    def __init__(self, speeds: Sequence[float], stores: Sequence[bool], tree: IoTree) -> None: ...
    @property
    def contended_s(self) -> float: ...
    @property
    def busy_s(self) -> float: ...

class Packer:
    """Packs whole units into bins, or proves that they do not fit (``core/search/packing.hpp``).

    It keeps its working memory from question to question; no answer depends on earlier ones.
    """

    def __init__(self) -> None: ...
    def pack(
        self, units: Sequence[int], sizes: Sequence[int], capacities: Sequence[int], budget: int
    ) -> tuple[int, npt.NDArray[np.int64], int]:
        """Pack items, each of so many units of one size, into bins; all amounts are at least 0.

        Parameters
        ----------
        units, sizes
            Units of each item, and the size of one of its units.
        capacities
            Capacity per bin, in the measure of the sizes.
        budget
            Most steps to take.

        Returns
        -------
        tuple
            1 where they fit, 0 where they do not, -1 where the budget was used up; units of each item in each bin
            (``int64[items, bins]``), zeros where they do not fit; the steps taken.
        """

class SubsetChoice:
    """The best set of items that :func:`branch_and_bound` found.

    Attributes
    ----------
    chosen
        The items, ascending; ``None`` when no set was found.
    taken
        ``int64[chosen, bins]``: units of each chosen item in each bin.
    bound
        No set can have a score above this; ``None`` when there is no set.
    proven
        Whether the set is proven best, or proven not to exist.
    steps
        Steps of the search.
    """

    @property
    def chosen(self) -> list[int] | None: ...
    @property
    def taken(self) -> npt.NDArray[np.int64]: ...
    @property
    def bound(self) -> tuple[float, float, float] | None: ...
    @property
    def proven(self) -> bool: ...
    @property
    def steps(self) -> int: ...

def branch_and_bound(
    units: Sequence[int],
    sizes: Sequence[int],
    waits: Sequence[float],
    free_units: int,
    capacities: Sequence[int],
    units_first: bool,
    mandatory: Sequence[int],
    loads: Sequence[Sequence[int]],
    load_limits: Sequence[int],
    steps: int,
    pack_steps: int,
    table_cells: int,
    settle: Callable[[list[int]], tuple[int, list[int]]] | None,
) -> SubsetChoice:
    """Find the best set of items that fit together (``core/search/subset.hpp``).

    Parameters
    ----------
    units, sizes, waits, free_units, capacities, units_first, mandatory, loads, load_limits
        As in :class:`spillway.schedulers.search.subset.SubsetProblem`.
    steps, pack_steps, table_cells
        As in :class:`spillway.schedulers.search.subset_bb.Budget`.
    settle
        Decides a set that the packing search left undecided: 1, 0 or -1 as in :meth:`Packer.pack`, and the packing item
        by item where it is 1. It is called for the most promising sets first.
    """

class GangRules:
    """Rules of the matrix of gang scheduling, as in :class:`spillway.schedulers.timesharing.rules.Rules`.

    Parameters
    ----------
    where
        0: anywhere, 1: on the file's nodes, 2: on these first (then local jobs are replicated before the others).
    migrate, scan
        Whether remote jobs are moved to their files' nodes, and jobs behind one that does not fit are tried.
    """

    def __init__(self, where: int, migrate: bool, scan: bool) -> None: ...

class GangPlace:
    """The rows and columns of a job in a :class:`GangMatrix`.

    Attributes
    ----------
    job
        Its number.
    columns
        Mask of its columns, the same in all its rows.
    home
        Row into which it was scheduled, or moved since.
    rows
        Mask of the rows in which it runs: its home, and the rows of its replicas.
    files
        Mask of the columns that hold its file's partitions, as many as tasks; 0 for a job without files.
    rate
        Bytes per second that each task streams.
    local
        Whether every task is on its file's node.
    """

    @property
    def job(self) -> int: ...
    @property
    def columns(self) -> int: ...
    @property
    def home(self) -> int: ...
    @property
    def rows(self) -> int: ...
    @property
    def files(self) -> int: ...
    @property
    def rate(self) -> int: ...
    @property
    def local(self) -> bool: ...
    def nodes(self, width: int) -> tuple[int, ...]:
        """Its cells as the nodes of a machine with a row of ``width`` nodes per slice, ascending."""

class GangOutcome:
    """What a scheduling event, or a step of it, changed in a :class:`GangMatrix`.

    Attributes
    ----------
    changed, started
        Places of jobs with other rows or columns than before, and of jobs that were placed, in order of start.
    migrated
        Numbers of the jobs that moved to their files' nodes, in their order.
    tasks
        Number of tasks that changed their node.
    """

    @property
    def changed(self) -> list[GangPlace]: ...
    @property
    def started(self) -> list[GangPlace]: ...
    @property
    def migrated(self) -> list[int]: ...
    @property
    def tasks(self) -> int: ...

class GangMatrix:
    """The Ousterhout matrix: rows are time slices, columns are nodes (``core/search/gang_matrix.hpp``).

    Sets of columns are masks: bit ``c`` stands for column ``c``. A waiting job is a tuple of its number, tasks, mask of
    the columns with its file, and bytes per second of a task. ``closed`` is a mask of columns that are out: they take
    no further jobs, and their jobs stay. ``hold(job, columns)`` takes what else a job needs, and returns whether it is
    free. The steps of an event are methods, too; each changes the matrix.

    Parameters
    ----------
    level
        Rows: the multiprogramming level, 1 to 64.
    width
        Columns: the nodes.
    links
        Mask of the columns below each link, and its bytes per second, which hold in each row.

    Attributes
    ----------
    places
        The jobs, in order of their start.
    """

    def __init__(self, level: int, width: int, links: Sequence[tuple[int, int]] = ()) -> None: ...
    @property
    def level(self) -> int: ...
    @property
    def width(self) -> int: ...
    @property
    def places(self) -> list[GangPlace]: ...
    def add(self, job: int, columns: int, home: int, rows: int, files: int = 0, rate: int = 0) -> None:
        """Add a job that has its place already, as in :class:`GangPlace`."""

    def without(self, jobs: Sequence[int]) -> GangMatrix:
        """A copy of the matrix without some jobs."""

    def recompute(
        self,
        queue: Sequence[tuple[int, int, int, int]],
        rules: GangRules,
        tasks: int = 0,
        closed: int = 0,
        hold: Callable[[int, int], bool] | None = None,
    ) -> GangOutcome:
        """Compute the matrix of a scheduling event: clean, migrate, compact, schedule, fill.

        Parameters
        ----------
        queue
            Waiting jobs in order of arrival.
        rules
            The policy.
        tasks
            Most tasks that may migrate now.
        """

    def clean(self, closed: int = 0) -> None:
        """Remove every instance of a job that is not in its home row."""

    def migrate(self, tasks: int, closed: int = 0) -> GangOutcome:
        """Move remote jobs to their files' nodes where those are free, in order of their start."""

    def compact(self, closed: int = 0) -> None:
        """Move jobs to new home rows, in the same columns, so that few rows hold many jobs."""

    def schedule(
        self,
        queue: Sequence[tuple[int, int, int, int]],
        where: int,
        scan: bool = False,
        closed: int = 0,
        hold: Callable[[int, int], bool] | None = None,
    ) -> list[GangPlace]:
        """Place waiting jobs in their order, until one does not fit, or all that fit; return their places."""

    def fill(self, local_first: bool = False, closed: int = 0) -> None:
        """Give jobs further rows in which their columns are free, one each in turn, until no job fits."""

class GangClock:
    """Slices and costs of gang scheduling, in whole microseconds.

    Parameters
    ----------
    level, quantum_us
        Rows, and length of a slice.
    local_us, remote_us, migration_us
        Costs of a block on the task's own node and on another; of a restart.
    at_once
        Whether jobs that migrate restart inside the running slice, not with the next.
    limit
        Most tasks that migrate in one slice.
    """

    def __init__(
        self,
        level: int,
        quantum_us: int,
        local_us: int,
        remote_us: int,
        migration_us: int,
        at_once: bool,
        limit: int,
    ) -> None: ...

class GangRun:
    """How the jobs of a workload ran, in their order.

    Attributes
    ----------
    start_us, end_us
        Instants at which each job got its place in the matrix, and ended.
    local
        Whether it ended on its file's nodes.
    migrations
        Number of moves of jobs to their files' nodes.
    """

    @property
    def start_us(self) -> list[int]: ...
    @property
    def end_us(self) -> list[int]: ...
    @property
    def local(self) -> list[bool]: ...
    @property
    def migrations(self) -> int: ...

def run_gang(jobs: Sequence[tuple[int, int, int, int, int]], clock: GangClock, rules: GangRules, width: int) -> GangRun:
    """Gang scheduling from one scheduling event to the next, whole cycles at once (``core/search/gang_machine.hpp``).

    Parameters
    ----------
    jobs
        In order of submission: submission and processor time (us), blocks, tasks, mask of the columns with the file.
    width
        Columns: the nodes.
    """

@final
class Transfer:
    """Move bytes.

    Attributes
    ----------
    source, destination
        Ends of the transfer. Between burst buffers and another place each node's bytes move separately; nodes write to
        or read from the file system together. A striped buffer belongs to all nodes: its stripes are filled and emptied
        side by side, and each node writes or reads an equal part of each.
    bytes_per_node
        Bytes of each node, at least 0; of a striped buffer bytes of each stripe.
    stage
        Stage to which time and bytes are added in the job's record.
    nodes
        Node indices, ascending; ``None``: all nodes that the job was granted.
    abandoned
        Whether a job that fails ends without this transfer, if it runs beside a computation.
    began
        Called with the time at which the first bytes move.
    """

    __match_args__: tuple[str, ...]

    def __init__(
        self,
        source: Place,
        destination: Place,
        bytes_per_node: float,
        stage: str,
        nodes: tuple[int, ...] | None = None,
        abandoned: bool = False,
        began: Callable[[float], None] | None = None,
    ) -> None: ...
    @property
    def source(self) -> Place: ...
    @property
    def destination(self) -> Place: ...
    @property
    def bytes_per_node(self) -> float: ...
    @property
    def stage(self) -> str: ...
    @property
    def nodes(self) -> tuple[int, ...] | None: ...
    @property
    def abandoned(self) -> bool: ...
    @property
    def began(self) -> Callable[[float], None] | None: ...
    @property
    def shared(self) -> bool:
        """Whether it uses the parallel file system, and so passes the I/O gate."""

@final
class Compute:
    """Run a profile.

    Attributes
    ----------
    profile
        In Batsim's terms (``delay``, ``parallel_homogeneous`` ...).
    nodes
        Node indices, ascending; ``None``: all nodes that the job was granted.
    stage
        Stage to which the time is added in the job's record.
    beside
        A transfer that begins with it, or with its turn if it uses the file system. The program continues meanwhile;
        the job ends only with it.
    turn_bytes
        ``None``, or the bytes that the profile represents: it then waits for its turn at the I/O gate. With several I/O
        nodes each turn has the part of its nodes.
    may_fail
        Whether a failure (return code above 0) is handed to the program instead of ending the job.
    began
        Called with the time at which it begins.

    Raises
    ------
    ValueError
        It would wait for a turn, and has a transfer beside it.
    """

    __match_args__: tuple[str, ...]

    def __init__(
        self,
        profile: JsonObject,
        nodes: tuple[int, ...] | None = None,
        stage: str = "compute",
        beside: Transfer | None = None,
        turn_bytes: float | None = None,
        may_fail: bool = False,
        began: Callable[[float], None] | None = None,
    ) -> None: ...
    @property
    def profile(self) -> JsonObject: ...
    @property
    def nodes(self) -> tuple[int, ...] | None: ...
    @property
    def stage(self) -> str: ...
    @property
    def beside(self) -> Transfer | None: ...
    @property
    def turn_bytes(self) -> float | None: ...
    @property
    def may_fail(self) -> bool: ...
    @property
    def began(self) -> Callable[[float], None] | None: ...

@final
class Done:
    """Result of an operation: times at which it was reached, began (in its turn) and ended (s), and its final state."""

    __match_args__: tuple[str, ...]

    def __init__(
        self,
        ready_s: float,
        began_s: float,
        ended_s: float,
        state: JobState | None = None,
        return_code: int = 0,
    ) -> None: ...
    @property
    def ready_s(self) -> float: ...
    @property
    def began_s(self) -> float: ...
    @property
    def ended_s(self) -> float: ...
    @property
    def state(self) -> JobState: ...
    @property
    def return_code(self) -> int: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, place: int) -> Any: ...

class Gate:
    """A gate in front of the I/O nodes, from which the runtime requests turns (``core/session/gate.hpp``)."""

@final
class Shared(Gate):
    """Every turn begins at once."""

    def __init__(self) -> None: ...

@final
class Exclusive(Gate):
    """One turn at a time per I/O node, never preempted.

    Parameters
    ----------
    order
        Order of the turns; ``None``: first come, first served.
    """

    def __init__(self, order: IoOrder | None = None) -> None: ...

@final
class Hosts:
    """Hosts of a machine as Batsim numbers them, by the indices that schedulers use.

    Parameters
    ----------
    nodes, storages
        Batsim's id of each compute node, and of each storage node.
    pfs
        Of the parallel file system's host, if there is one.
    io_node
        I/O node of each compute node, from 0.
    """

    def __init__(
        self, nodes: Sequence[int], storages: Sequence[int], pfs: int | None, io_node: Sequence[int]
    ) -> None: ...

class ProgramRuntime:
    """The runtime of job models (``core/session/program_runtime.hpp``), which sessions call.

    Parameters
    ----------
    model, gate, on_record, limits
        As in :class:`spillway.schedulers.jobmodels.runtime.ProgramRuntime`.
    streams, restarts
        Streams beside submitted jobs; checkpoints of killed attempts, or ``None``: no job resumes.
    """

    def __init__(
        self,
        model: JobModel,
        gate: Gate,
        streams: Streams,
        restarts: Restarts | None,
        on_record: Callable[[JobRecord], None] | None,
        limits: StageLimits | None,
    ) -> None: ...
    def begin_on(self, machine: Machine, hosts: Hosts, reuse: bool) -> None:
        """Take the machine; ``reuse``: whether the simulator lets profiles be used more than once."""

    def published(self) -> tuple[Any, ...]:
        """States that the programs of running jobs publish, in order of their starts."""

    def shown(self, job_id: str) -> Any:
        """The state that a running job publishes."""

    def take_reports(self) -> tuple[Any, ...]:
        """Reports of programs since the last call."""

@final
class SubJobs:
    """The sub-jobs of one job (``core/session/sub_jobs.hpp``).

    Parameters
    ----------
    job_id
        The job.
    reuse
        Whether a profile may be used twice; otherwise Batsim deletes it with its job, and it is registered anew.

    Attributes
    ----------
    deadline_s
        End of the job's walltime (s); infinity without a walltime.
    count
        Number of sub-jobs so far.
    """

    deadline_s: float

    def __init__(self, job_id: str, reuse: bool = True) -> None: ...
    @property
    def count(self) -> int: ...
    def run(
        self, profile: JsonObject, hosts: Sequence[int], walltime_s: float, now_s: float, requests: list[Request]
    ) -> str:
        """Run a profile as a sub-job on hosts (Batsim's ids, ascending): append the requests, return its id.

        Parameters
        ----------
        walltime_s
            Time that they may take; infinity for no limit.
        """

class WorkKind(Enum):
    """Kinds of work (``core/model/profile.hpp``)."""

    DELAY = ...
    HOMOGENEOUS = ...
    HOMOGENEOUS_TOTAL = ...
    EXPLICIT = ...
    STORAGE_ACCESS = ...
    IO_STREAM = ...
    STAGING = ...
    PROGRAM = ...

class Work:
    """The work of a job: a fixed time, one parallel task of the engine, or a program of the embedding.

    Attributes
    ----------
    kind
        Its kind.
    seconds
        Of a delay.
    program
        The program, of which the core knows nothing; ``None`` for other work.
    """

    @staticmethod
    def explicit(cpu: Sequence[float], com: Sequence[float]) -> Work:
        """``cpu[n]`` flop, ``com[n * n]`` bytes; row: source, column: destination."""

    @staticmethod
    def of_program(program: object) -> Work:
        """A program of the embedding."""

    @property
    def kind(self) -> WorkKind: ...
    @property
    def seconds(self) -> float: ...
    @property
    def program(self) -> Any: ...

class Profile:
    """A profile of a workload.

    Attributes
    ----------
    name
        Unique in its workload.
    kind
        Batsim's ``type``.
    work
        Work of a job.
    ret
        Return code of a job that is not stopped; 0 is success.
    size
        Number of resources that it is made for, ``None`` for any.
    elastic
        Whether it may run on any number of hosts, independently of the job's request.
    elastic_parts
        Whether it only runs profiles that may.
    children
        Names of the profiles that it runs.
    source
        The object that described it, as printed.
    dropped
        Whether new jobs cannot have it any more.
    """

    def __init__(
        self,
        name: str,
        kind: str,
        work: Work,
        ret: int = 0,
        size: int | None = None,
        elastic: bool = False,
        children: Sequence[str] = (),
        source: dict[str, Any] | None = None,
    ) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def work(self) -> Work: ...
    @property
    def ret(self) -> int: ...
    @property
    def size(self) -> int | None: ...
    @property
    def elastic(self) -> bool: ...
    elastic_parts: bool
    @property
    def children(self) -> tuple[str, ...]: ...
    source: dict[str, Any]
    dropped: bool

class OriginKind(Enum):
    """Where jobs come from: a workload's file, messages that register them, or a scheduler in this process."""

    FILE = ...
    REGISTERED = ...
    LOCAL = ...

class Origin:
    """What the jobs of a workload have in common: its name, and where they come from."""

    def __init__(self, name: str, kind: OriginKind) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> OriginKind: ...

class SimulatedJob:
    """One job in the simulator, from its registration until it has been reported to the scheduler.

    Parameters
    ----------
    origin, name, profile
        Its workload, its name there, and its work.
    subtime, walltime
        Submission time, and walltime (-1: no limit), s.
    res
        Number of resources.
    source
        Its object as sent with JOB_SUBMITTED; ``None`` if it will not be sent.

    Attributes
    ----------
    id, workload
        ``id`` is ``workload!name``.
    state
        Its present state, as a word of Batsim; ``running`` says whether it runs.
    metadata
        Text for its row of the table.
    foreign_profile
        Full name of its profile where that is of another workload, else "".
    alloc
        Its machines, ascending; ``None`` before its start.
    executors
        Platform host of each executor of a program.
    start, runtime, return_code
        Results of its execution, s; -1 before.
    energy
        Energy of its machines during its execution (J), -1 when not measured.
    wait_start
        Start of its present pause (s).
    """

    def __init__(
        self,
        origin: Origin,
        name: str,
        profile: Profile,
        subtime: float,
        res: int,
        walltime: float,
        source: dict[str, Any] | None = None,
    ) -> None: ...
    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def workload(self) -> str: ...
    @property
    def profile(self) -> Profile: ...
    subtime: float
    @property
    def res(self) -> int: ...
    @property
    def walltime(self) -> float: ...
    source: dict[str, Any] | None
    @property
    def state(self) -> str: ...
    @property
    def running(self) -> bool: ...
    metadata: str
    foreign_profile: str
    @property
    def alloc(self) -> tuple[int, ...] | None: ...
    @property
    def executors(self) -> tuple[int, ...]: ...
    @property
    def start(self) -> float: ...
    @property
    def runtime(self) -> float: ...
    @property
    def return_code(self) -> int: ...
    energy: float
    @property
    def wait_start(self) -> float: ...

class StaticJobs:
    """Jobs of a workload's file still to be submitted: in the order of the file, or of their submissions once sorted.

    Each access makes a new object of a job, except of those that were found by name.

    Attributes
    ----------
    next_time
        Submission time of the first job (s).
    profile_names
        Names of the jobs' profiles.

    Parameters
    ----------
    in_order
        Whether jobs of one instant keep the order of the file.
    """

    def __init__(self, in_order: bool = False) -> None: ...
    def append(self, job: SimulatedJob) -> None:
        """Add a job that was just read; its object is packed."""

    def __len__(self) -> int: ...
    def __getitem__(self, place: int) -> SimulatedJob: ...
    def __iter__(self) -> Iterator[SimulatedJob]: ...
    def sort(self) -> None:
        """Order by submission time, then by full id compared as text (``w0!10`` before ``w0!9``), or as in the file."""

    def find(self, name: str) -> SimulatedJob | None:
        """The job of that name; ``None`` if it is not among them. Changes of it stay."""

    @property
    def profile_names(self) -> set[str]: ...

class MachineStates:
    """All machines, by Batsim's numbers: their states, jobs, and the machine-seconds in each state.

    States are numbers of :class:`spillway.simulator.world.machines.State`.

    Parameters
    ----------
    hosts
        Platform's host by machine.
    compute_count
        Number of compute hosts, which come first.
    way
        Latency (s) of a message from a machine to the master, and its bytes per second after that; asked once for each
        machine.

    Attributes
    ----------
    counters
        Number of machines per state; storage hosts are not counted until they change, as in Batsim.
    time_in
        Machine-seconds spent per state, up to each machine's last change.
    """

    def __init__(self, hosts: Sequence[int], compute_count: int, way: Callable[[int], tuple[float, float]]) -> None: ...
    def __len__(self) -> int: ...
    @property
    def counters(self) -> list[int]: ...
    @property
    def time_in(self) -> list[float]: ...
    def state(self, machine: int) -> int:
        """A machine's state."""

    def jobs(self, machine: int) -> int:
        """Number of jobs on a machine."""

    def way(self, machine: int) -> tuple[float, float]:
        """Latency (s) of a message from a machine to the master, and its bytes per second after that."""

    def change(self, machine: int, state: int, now: float) -> None:
        """Change one machine's state."""

    def occupy(self, ids: Sequence[int], now: float) -> None:
        """Note the start of a job on machines."""

    def leave(self, ids: Sequence[int], now: float) -> None:
        """Note the end of a job on machines; an unavailable machine stays unavailable."""

    def check(self) -> bool:
        """Whether counters and states agree (for tests)."""

class Totals:
    """Sums over all jobs; times in s. Executed jobs are all but the rejected ones.

    Attributes
    ----------
    finished
        Jobs that ran, however they ended.
    killed
        Jobs that ran without success: failed, killed, or stopped at their walltime.
    """

    @property
    def jobs(self) -> int: ...
    @property
    def rejected(self) -> int: ...
    @property
    def success(self) -> int: ...
    @property
    def waiting(self) -> float: ...
    @property
    def turnaround(self) -> float: ...
    @property
    def slowdown(self) -> float: ...
    @property
    def max_waiting(self) -> float: ...
    @property
    def max_turnaround(self) -> float: ...
    @property
    def max_slowdown(self) -> float: ...
    @property
    def makespan(self) -> float: ...
    @property
    def finished(self) -> int: ...
    @property
    def killed(self) -> int: ...

class JobTable:
    """Rows of ``_jobs.csv``, and the sums over them.

    Parameters
    ----------
    sink
        Is given the rows, many at a time; ``None``: only the sums are kept.
    old_rows
        Whether profiles are named without their workload and metadata are in quotes, as in Batsim 4.

    Attributes
    ----------
    totals
        Sums over all jobs so far.
    spans
        First start, last end and sum of the run times (s, as printed) of each local workload's jobs, their number, and
        the machines of the job that ended last.
    """

    def __init__(self, sink: Callable[[str], None] | None, old_rows: bool = True) -> None: ...
    @property
    def totals(self) -> Totals: ...
    @property
    def spans(self) -> dict[str, tuple[float, float, float, int, str]]: ...
    @property
    def own_places(self) -> list[int]:
        """Begins and ends, in turn, of the rows of jobs that are no sub-jobs, in bytes from the first row on."""
    def rejected_row(self, job: SimulatedJob) -> str:
        """The row that a job has when it is rejected."""
    def settle(self) -> None:
        """Hand out the rows collected so far."""

class Rule(Enum):
    """Rules that a scheduler or an input may break (``core/loop/fault.hpp``)."""

    TEXT = ...
    NOW_RANGE = ...
    LATER_THAN_NOW = ...
    NO_DYNAMIC_JOBS = ...
    REGISTRATION_CLOSED = ...
    NOT_SUBMITTED = ...
    NOT_REJECTABLE = ...
    NO_KILL = ...
    NOT_RUNNING = ...
    NOTHING_TO_KILL = ...
    KILL_UNKNOWN = ...
    QUOTE_IN_METADATA = ...
    CALL_RANGE = ...
    NO_MACHINE = ...
    UNKNOWN_MACHINE = ...
    WRONG_COUNT = ...
    MACHINE_BUSY = ...
    MACHINE_STATE = ...
    NO_COMPUTATION_STATE = ...
    MAPPING_GAP = ...
    MAPPING_PLACE = ...
    EXECUTORS = ...
    STORAGE_LABEL = ...
    STORAGE_MAPPING_NEEDED = ...
    STORAGE_UNMAPPED = ...
    STORAGE_UNKNOWN = ...
    NO_STORAGE_HOST = ...
    STORAGE_COMPUTES = ...
    NO_EXTRA_IO = ...
    EXTRA_IO_KIND = ...
    EXTRA_IO_MAPPED = ...
    IDLE_CALLS = ...
    REQUESTS_AT_END = ...
    LATEST_TIME = ...
    NOT_PLAYED = ...

class RequestKind(Enum):
    """Kinds of requests that the loop carries out itself."""

    EXECUTE_JOB = ...
    REJECT_JOB = ...
    CALL_ME_LATER = ...
    KILL_JOB = ...
    REGISTER_PROFILE = ...
    REGISTER_JOB = ...
    SET_METADATA = ...
    OTHER = ...

class Fault:
    """A broken rule.

    Attributes
    ----------
    rule, numbers, texts
        The rule, and what its words need.
    index
        Place of the request in the reply; -1: none.
    request
        Kind of the request that breaks it; ``None``: none does.
    unscheduled
        Whether a job was to start without a scheduler.
    job
        Full id of the job concerned, or "".
    """

    @property
    def rule(self) -> Rule: ...
    @property
    def numbers(self) -> list[float]: ...
    @property
    def texts(self) -> list[str]: ...
    @property
    def index(self) -> int: ...
    @property
    def request(self) -> RequestKind | None: ...
    @property
    def unscheduled(self) -> bool: ...
    @property
    def job(self) -> str: ...

class LoopOptions:
    """Options of a simulation that the loop needs (:mod:`spillway.simulator.options`, ``core/loop/options.hpp``)."""

    decimals: int
    sized: bool
    late_calls: bool
    reprints: bool
    kills_again: bool
    forward_profiles: bool
    dynamic_jobs: bool
    acknowledge_dynamic_jobs: bool
    profile_reuse: bool
    compute_sharing: bool
    storage_sharing: bool
    energy: bool
    no_scheduler: bool
    wall_clock: bool
    most_idle_calls: int
    progress_every: int

    def __init__(self) -> None: ...
    def set_own_way(self, latency_s: float, bytes_per_s: float) -> None:
        """Way of a message from the master to itself: latency, and bytes per second after that."""

class AllocationTable:
    """Rows of ``allocations.csv``: what each started job was given.

    Parameters
    ----------
    nodes, storages
        Batsim's ids of nodes and storage nodes, by the indices that schedulers use.
    partitions
        Names of partitions and their nodes, ascending; a column more, if there are any.
    sink
        Gets the rows, many at a time.
    """

    def __init__(
        self,
        nodes: Sequence[int],
        storages: Sequence[int],
        partitions: Sequence[tuple[str, Sequence[int]]],
        sink: Callable[[str], object],
    ) -> None: ...
    def settle(self) -> None:
        """Give the rows collected so far to the sink."""

class Scheduler:
    """A scheduler in the core: it takes the loop's messages without any object of Python."""

class Stopwatch(Scheduler):
    """A session whose answers are timed; links and servers use it in place of the session.

    Parameters
    ----------
    session
        Answers the messages.
    report
        Called a few times a second with the simulated time (s).

    Attributes
    ----------
    finished
        Whether the conversation is over.
    times_ns
        Real time of each answer, in order, ns.
    cpu_s
        CPU seconds of this thread in answers: those of each block of 256 answers, times the share of the answers in
        its real time.
    """

    def __init__(self, session: SessionCore, report: Callable[[float], None]) -> None: ...
    def handle(self, message: Message) -> Reply:
        """Answer a message, for a server; errors as :meth:`spillway.schedulers.core.session.Session.handle`."""
    @property
    def finished(self) -> bool: ...
    @property
    def times_ns(self) -> npt.NDArray[np.int64]: ...
    @property
    def cpu_s(self) -> float: ...

class Timer:
    """A timer that was set."""

class Errand:
    """A task of the engine that is not the whole work of a job."""

class Loop:
    """Batsim's side of a simulation: clock, mailbox, server, executions.

    Parameters
    ----------
    engine
        An engine of the core, or one of Python with its methods.
    exchange
        The scheduler: one of the core, or a function that gives the reply to a message (``None``: it comes later).
    machines
        States of the machines.
    extension
        Does what is rare (:class:`spillway.simulator.wire.extension.Extension`).
    observer
        Watches executions (:class:`spillway.simulator.wire.observer.Observer`); ``None``: nobody does.
    table
        Gets the rows of the jobs.
    options
        See :class:`LoopOptions`.
    protocol
        The module :mod:`spillway.protocol.messages`.
    words
        Words of broken rules (:class:`spillway.simulator.wire.words.Words`).

    Attributes
    ----------
    paused
        Whether it has stopped for a reply.
    clock, now
        Simulated time, and the same as it is printed in messages, s.
    messages
        Number of messages exchanged.
    thinking_s
        Real time spent waiting for the scheduler, s.
    submitted, completed, running, switching, waiters
        Numbers of jobs, of machines that change their power state, of calls to come.
    registration_finished
        Whether the scheduler has announced that no more jobs will be registered.
    """

    def __init__(
        self,
        engine: object,
        exchange: Scheduler | Callable[[Any], Any],
        machines: MachineStates,
        extension: object,
        observer: object | None,
        table: JobTable,
        options: LoopOptions,
        protocol: ModuleType,
        words: object,
    ) -> None: ...
    def submit_jobs(self, jobs: StaticJobs) -> None:
        """Add the jobs of a workload; they are used up."""

    def submit_events(self, times: Sequence[float], events: Sequence[object]) -> None:
        """Add the external events of a file, in the order in which they take effect."""

    def begin(self, first: object) -> None:
        """Begin with the first event; :meth:`run` must follow."""

    def begin_alone(self) -> None:
        """Begin without any scheduler: start every job at once on the first machines."""

    def run(self) -> bool:
        """Simulate until the end, or a pause; ``False`` if nothing can happen any more (a deadlock)."""

    def go_on(self) -> bool:
        """Let a scheduler whose policy paused go on; false: it pauses again, else :meth:`run` must follow."""
    def answer(self, reply: object) -> None:
        """Continue with the reply that the scheduler did not have at once; :meth:`run` must follow."""

    @property
    def paused(self) -> bool: ...
    @property
    def clock(self) -> float: ...
    @property
    def now(self) -> float: ...
    @property
    def messages(self) -> int: ...
    @property
    def thinking_s(self) -> float: ...
    @property
    def submitted(self) -> int: ...
    @property
    def completed(self) -> int: ...
    @property
    def running(self) -> int: ...
    switching: int
    waiters: int
    registration_finished: bool
    def stop(self) -> None:
        """End the simulation, whatever runs or waits."""

    def waiting_jobs(self) -> list[SimulatedJob]:
        """Jobs of files that were submitted and neither executed nor rejected, in the order of their submission."""

    def job(self, id: str) -> SimulatedJob | None:
        """A job that the scheduler may name, by its full id."""

    def tell(self, event: object) -> None:
        """Send an event to the scheduler with the next message."""

    def call(self, name: str, last: bool) -> None:
        """Send a requested call."""

    def at(self, time: float, token: int) -> Timer:
        """Recall a number at a time (s)."""

    def forget(self, timer: Timer) -> None:
        """Drop a timer that has not fired yet."""

    def post(self, machine: int, token: int) -> None:
        """Send a message from a machine to the server, which recalls a number when it is received."""

    def say(self, job: SimulatedJob, token: int) -> None:
        """The same from a job, which is told when it was received."""

    def run_errand(
        self, token: int, hosts: Sequence[int], flops: float, bytes: float = 0.0, job: SimulatedJob | None = None
    ) -> Errand:
        """Start a task: flop on each host, and bytes from the first to the second; its end recalls a number."""

    def cancel(self, errand: Errand) -> None:
        """Remove a task, if it still runs."""

    def set_running(self, job: SimulatedJob) -> None:
        """Change a job's state to RUNNING, without any execution."""

    def sleep(self, job: SimulatedJob, seconds: float) -> None:
        """Let a program wait, but no longer than the walltime allows; exactly as long is too long."""

    def poll(self, job: SimulatedJob, seconds: float) -> None:
        """Let a program wait for a message, with a look every ``seconds``."""

    def message_came(self, job: SimulatedJob) -> None:
        """Wake a program that waits for a message, at its next look."""

    def run_part(self, job: SimulatedJob, work: Work) -> None:
        """Run a pause or a task as a part of a program; :class:`ValueError` gives the reason if it cannot run."""

    def begin_chains(self, job: SimulatedJob) -> None:
        """Begin tasks side by side, within the walltime."""

    def end_chains(self, job: SimulatedJob) -> None:
        """End tasks side by side."""

    def end(self, job: SimulatedJob, code: int) -> None:
        """End a program with a return code; 0: with that of its profile."""

@final
class Holding:
    """Resources that a job holds over an interval [start_s, end_s); ``covering`` says which of the allocation's kinds.

    Attributes
    ----------
    covering
        Kinds of resources.
    allocation
        They are those of these kinds.
    start_s, end_s
        Since when, and until when as expected (s).
    """

    def __init__(self, covering: Resource, allocation: Allocation, start_s: float, end_s: float) -> None: ...
    @property
    def covering(self) -> Resource: ...
    @property
    def allocation(self) -> Allocation: ...
    @property
    def start_s(self) -> float: ...
    @property
    def end_s(self) -> float: ...

@final
class Running:
    """A running job, as a policy sees it.

    Attributes
    ----------
    job
        The job.
    start_s
        Its start on its nodes (s).
    end_s
        Its expected end (s), when all that it holds is free.
    allocation
        What it holds now.
    apart
        Its holdings, where they do not all have the same interval; else empty.
    past
        Holdings that have ended.
    """

    def __init__(
        self,
        job: Job,
        start_s: float,
        end_s: float,
        allocation: Allocation,
        apart: Sequence[Holding] = ...,
        past: Sequence[Holding] = ...,
    ) -> None: ...
    @property
    def job(self) -> Job: ...
    @property
    def start_s(self) -> float: ...
    @property
    def end_s(self) -> float: ...
    @property
    def allocation(self) -> Allocation: ...
    @property
    def apart(self) -> tuple[Holding, ...]: ...
    @property
    def past(self) -> tuple[Holding, ...]: ...
    @property
    def holdings(self) -> tuple[Holding, ...]:
        """All that it holds, with the interval of each."""

@final
class FinishedLog:
    """Jobs that have ended, in order of their ends; it only grows."""

    def __len__(self) -> int: ...
    def row(self, place: int) -> tuple[str, str, float, float, float, float, int, int, float, float, str, str]:
        """Id, user, submission, start, end, walltime (s), nodes, state, node-seconds, byte-seconds, account, QOS."""

class Book:
    """The only record of the resources that each job holds, and until when; its first row is the present.

    Entries must have been checked before.

    Parameters
    ----------
    timeline
        Free resources over time; its first row is the present.
    estimator
        Corrects the expected ends of jobs that outlive them; ``None``: walltimes.
    """

    def __init__(self, timeline: Timeline, estimator: Estimator | None) -> None: ...
    @property
    def timeline(self) -> Timeline: ...
    def running_jobs(self) -> list[Running]:
        """Running jobs, in order of their starts."""
    def find_running(self, job_id: str) -> Running | None: ...
    @property
    def running_count(self) -> int: ...
    def find_held(self, job_id: str) -> Holding | None:
        """The burst buffer that a waiting job holds."""
    def held_ids(self) -> list[str]: ...
    @property
    def held_count(self) -> int: ...
    def holder_of(self, node: int) -> str | None:
        """Id of the job that holds a node."""
    def free_nodes(self) -> list[int]:
        """Nodes that are idle and available, ascending."""
    def left_bytes(self, storage: int) -> int:
        """Free bytes of a storage node; negative while a drained one holds more than the rest of its capacity."""
    @property
    def nodes_out(self) -> frozenset[int]: ...
    @property
    def storages_out(self) -> frozenset[int]: ...
    @property
    def drained(self) -> dict[int, int]:
        """Withheld bytes by storage node."""
    def there(self, allocation: Allocation) -> Allocation:
        """The part of an allocation on resources that are available."""
    def parts_of(self, job_id: str) -> Any:
        """Resources of a job for its nodes, its burst buffer and its bandwidth; ``None`` if it holds nothing."""
    def holds(self, job_id: str) -> bool: ...
    def usage_by_user(self, queue: Sequence[Job], now_s: float) -> list[tuple[str, tuple[float, float]]]:
        """Node-seconds and byte-seconds of each user's jobs until now; users of waiting jobs have 0."""
    @property
    def finished_log(self) -> tuple[FinishedLog, int, int]:
        """Jobs that have ended; place of the first that a policy sees; number of all."""
    most_finished: int
    """Least number of ended jobs that policies see, if there were so many."""
    def account_end(self, running: Running, state: int, now_s: float) -> None: ...
    def hold(self, job: Job, allocation: Allocation, now_s: float, until_s: float) -> None:
        """Give a waiting job its burst buffer."""
    def evict(self, job_id: str, now_s: float) -> Holding:
        """Take a waiting job's burst buffer; return what it held."""
    def keep_buffer(self, name: str, allocation: Allocation, since_s: float) -> None: ...
    def discard_buffer(self, name: str, now_s: float) -> None: ...
    def start(self, job: Job, allocation: Allocation, now_s: float) -> Running: ...
    def end(self, job_id: str, now_s: float) -> Running:
        """End a running job; return it as it was."""
    def take_off(self, job_id: str, now_s: float) -> bool: ...
    def place(self, job: Job, allocation: Allocation, now_s: float) -> None: ...
    def expand(self, job_id: str, gained: Allocation, now_s: float, until_s: float) -> Running: ...
    def give_up(self, job_id: str, nodes: Sequence[int], now_s: float, until_s: float) -> None:
        """Expect that a running job will give nodes back at a time."""
    def give(self, job_id: str, now_s: float, nodes: Sequence[int] | None, covering: Resource) -> Any:
        """Give resources back; the changed job, or a fault's number and node."""
    def leave(self, job_id: str, until_s: float, now_s: float) -> Any: ...
    def vacate(self, timeline: Timeline, job_id: str, from_s: float, kinds: Resource | None = None) -> None:
        """Free a running job's resources in another timeline from a time on."""
    def advance(self, now_s: float, ending: str = "") -> None:
        """Go on to a time; jobs that outlive their expected ends get others."""
    def close(self, nodes: Sequence[int], storages: Sequence[int], now_s: float) -> None: ...
    def open(self, nodes: Sequence[int], storages: Sequence[int], now_s: float) -> None: ...
    def drain_bytes(self, storage: int, drained: int, now_s: float) -> None: ...
    def fault(self) -> str:
        """First inconsistency, in words; empty: none."""

@final
class WaitingJobs(Sequence[Job]):
    """Waiting jobs in order of submission, as of one pass; immutable."""

    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, index: int) -> Job: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Job]: ...

@final
class Queue:
    """Waiting jobs in order of submission; a pass sees them as they were at its beginning."""

    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    def __contains__(self, job_id: str) -> bool: ...
    def find(self, job_id: str) -> Job | None: ...
    def waiting(self) -> list[Job]: ...
    def add(self, job: Job) -> None: ...
    def remove(self, job_id: str) -> None: ...
    def shown(self) -> WaitingJobs: ...
    def fault(self) -> str:
        """First inconsistency, in words; empty: none."""

class SessionCore(Scheduler):
    """One simulation's conversation: records, dispatch of events, decisions and their consequences.

    A subclass in Python is its host: it is called, by names that begin with an underscore, for what is decided and for
    what is rare (:class:`spillway.schedulers.core.session.Session`).

    Parameters
    ----------
    each_event
        The policy decides after every event, as in the published experiment, not once a message.
    watched
        Methods of the attribute ``observer`` that are called (:class:`spillway.schedulers.core.observer.Observer`).

    Attributes
    ----------
    log
        Gets a row of each started job.
    submitted_jobs, ended_jobs
        Jobs that have come so far, and those that have ended, rejected ones included.
    """

    log: AllocationTable | None
    submitted_jobs: int
    ended_jobs: int

    def __init__(self, each_event: bool, watched: Sequence[str]) -> None: ...
    def answer(self, message: Message) -> Reply | None:
        """Answer a message; ``None``: the policy pauses, and :meth:`go_on` goes on."""
    def go_on(self) -> Reply | None: ...
    def begin(self, book: Book, runtime: Any, dynamic: bool, resources: Sequence[int]) -> None: ...
    @property
    def begun(self) -> bool: ...
    @property
    def finished(self) -> bool: ...
    @property
    def now_s(self) -> float: ...
    dirty: bool
    """Whether anything that the policy sees has changed since its last pass."""
    static_done: bool
    """Whether the simulator has submitted all its static jobs."""
    rare: bool
    """Whether rare features are in use, so that the host is called for them."""
    moldable: bool
    layered: bool
    @property
    def line(self) -> Queue: ...
    def filled_ids(self) -> list[str]:
        """Waiting jobs whose burst buffers have been filled."""
    def filled(self, job_id: str) -> float | None: ...
    @property
    def filled_count(self) -> int: ...
    def knows(self, job_id: str) -> bool: ...
    def times(self, job_id: str) -> tuple[float, float]:
        """Start and end of a job (s); not a number: not yet; negative: it failed."""
    def note_start(self, job_id: str, now_s: float) -> None: ...
    def note_end(self, job_id: str, now_s: float, failed: bool) -> None: ...
    def check_submission(self, job_id: str) -> bool: ...
    def check_resources(self, ids: Sequence[int], member: str) -> None: ...
    @property
    def resources(self) -> frozenset[int]: ...
    @property
    def closed(self) -> frozenset[int]:
        """Hosts that are out."""
    def close_hosts(self, hosts: Sequence[int]) -> list[int]: ...
    def open_hosts(self, hosts: Sequence[int]) -> list[int]: ...
    def kill_confirmed(self, job_id: str) -> bool: ...
    def finish_registration(self, finished: bool) -> None: ...
    def tell_submitted(self, job: Job) -> None:
        """Count a further attempt of a job, and tell the observer."""
    def tell_started(self, job: Job, allocation: Allocation) -> None:
        """Record a start, and tell the observer, for a job that no node runs."""
    def tell_ended(self, running: Running, state: JobState) -> None:
        """The same for its end."""
    def start(self, job: Job, allocation: Allocation) -> None: ...
    def hold(self, job: Job, allocation: Allocation, until_s: float) -> None: ...
    def evict(self, job: Job) -> None: ...
    def reject_waiting(self, job: Job, reason: str) -> None: ...
    def reject(self, job: Job, reason: str) -> None: ...
    def kill_job(self, job: Job) -> None: ...
    def wake(self, time_s: float) -> None: ...
    def enqueue(self, job: Job) -> None: ...
    def send_one(self, request: Request) -> None: ...
    def hear(self, event: Event) -> None: ...
    def report_outage(self) -> None: ...
    def give_up_nodes(self, job: Job, nodes: Sequence[int]) -> bool: ...
    def end_without_nodes(self, job: Job) -> None: ...
    def move_job(self, job: Job, allocation: Allocation) -> bool: ...
    def fault(self) -> str:
        """First inconsistency of queue, book and runtime, in words; empty: none."""

def check_start(words: Any, book: Book, waiting: bool, job: Job, nodes: int, allocation: Allocation) -> None:
    """Check a start against a book alone; ``words._refuse`` raises what is wrong."""

def check_storages(words: Any, book: Book, job: Job, allocation: Allocation) -> None:
    """Check only the storages of an allocation; ``words._refuse`` raises what is wrong."""

def set_start_type(type: type) -> None:
    """Tell the session which class is a plain start, so that it carries it out itself."""

def read_job(
    job_id: str,
    fields: dict[str, Any],
    profile: dict[str, Any] | None,
    number: int,
    now_s: float,
    granule_bytes: int = 1,
) -> Job:
    """Build a job from the object that JOB_SUBMITTED carries.

    A ``walltime`` that is absent, -1 or beyond :data:`spillway.protocol.limits.LATEST_S` means no walltime. Each
    request for burst buffer is rounded up to whole granules.

    Raises
    ------
    RemoteProtocolError
        A field has the wrong type or is out of range; the error names its place in the event (``$.job.walltime``).
    """

PLAIN_PROFILES: tuple[str, ...]
"""Types of profiles that :func:`read_plain_profile` reads: one task, or a pause, of a few numbers."""

def as_printed(value: Any) -> Any:
    """A JSON value after Batsim 4 has written and read it, as registered objects are: doubles of six decimals.

    Raises
    ------
    ValueError
        A double that Batsim cannot print, or something that is no JSON.
    """

def read_plain_profile(name: str, data: Any, reprinted: bool, of_file: bool) -> Profile | None:
    """Read a profile of a type of :data:`PLAIN_PROFILES`; ``None`` if it has another type, or any fault.

    Parameters
    ----------
    name, data
        Its name, and its JSON object.
    reprinted
        Whether Batsim prints it with six decimals before it passes it on.
    of_file
        Whether its own numbers have all their decimals nevertheless, as those of a file.
    """

def read_plain_profiles(
    names: list[str], objects: list[Any], begin: int, reprinted: bool, found: dict[str, Profile | None]
) -> int:
    """Read profiles of a file, as :func:`read_plain_profile`, up to the first that it does not read.

    Parameters
    ----------
    names, objects
        Names, and JSON objects.
    begin
        Place of the first one.
    reprinted
        As there.
    found
        Gets the profiles.

    Returns
    -------
    int
        Number of profiles that were read.
    """

class JobRows:
    """Reads the jobs of one workload from their JSON objects.

    Parameters
    ----------
    name
        Name of the workload.
    profiles
        Its profiles by name; the object itself is kept.
    reprints
        Whether Batsim prints registered jobs with six decimals before it reads them, and all that it passes on.
    """

    def __init__(self, name: str, profiles: dict[str, Profile | None], reprints: bool) -> None: ...
    def read(self, origin: Origin, data: Any, reprinted: bool, keep: bool) -> SimulatedJob | None:
        """Read a job; ``None`` if it has any fault.

        Parameters
        ----------
        origin
            Common properties of the jobs.
        data
            Its JSON object.
        reprinted
            Whether the job is a registered one.
        keep
            Whether its object will be sent to the scheduler.
        """

    def read_all(self, origin: Origin, items: list[Any], begin: int, jobs: StaticJobs) -> list[str]:
        """Read jobs of the workload's file from a place on, up to the first that has any fault or a mapping of ranks.

        Parameters
        ----------
        origin
            Common properties of the jobs.
        items
            JSON objects.
        begin
            Place of the first one.
        jobs
            Gets the jobs; their objects are packed.

        Returns
        -------
        list of str
            Names of the jobs that were read.
        """

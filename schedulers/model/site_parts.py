"""Parts of a site's description that partitions, accounts and the machine have in common: limits, pools, schedulers.

References
----------
SchedMD, *slurm.conf*, *Resource Limits*, *Hierarchical Resource (HRES) Scheduling*, *Advanced Resource Reservation
Guide*, *burst_buffer.conf*.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Annotated, Literal

import msgspec

from spillway.base.errors import shown
from spillway.protocol.intervals import parse_intervals

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
Natural = Annotated[int, msgspec.Meta(ge=0, le=2**62)]
Weight = Annotated[int, msgspec.Meta(ge=0, le=2**32 - 1)]
Seconds = Annotated[float, msgspec.Meta(ge=0, le=1e12)]
SHORTEST_S = 0.001
"""Least duration (s) that a site states: what is shorter vanishes beside the times of a log."""

Length = Annotated[float, msgspec.Meta(ge=SHORTEST_S, le=1e12)]
Factor = Annotated[float, msgspec.Meta(ge=0, le=1e9)]
Counts = dict[Name, Natural]
"""Amounts of trackable resources by name: ``node``, ``cpu``, ``gres/gpu``, ``bb/NAME``, ``license/NAME``; ``bb/`` and
``mem`` in bytes."""


class Values(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Base of all values of a site: immutable; an unknown field is an error."""


class Limits(Values, frozen=True):
    """Limits of an association or a QOS; ``None`` or no entry: no limit.

    Attributes
    ----------
    group_jobs, group_submitted, group_tres
        ``GrpJobs``, ``GrpSubmit``, ``GrpTRES``: jobs that run, jobs that wait or run, and resources held at a time, of
        all jobs below it.
    user_jobs, user_submitted, user_tres
        ``MaxJobs``, ``MaxSubmit`` (QOS: ``MaxJobsPU``, ``MaxSubmitPU``, ``MaxTRESPU``): the same for each user, of an
        association in each account separately.
    account_jobs, account_submitted, account_tres
        ``MaxJobsPA``, ``MaxSubmitPA``, ``MaxTRESPA`` of a QOS: the same for each account.
    job_tres, job_least_tres
        ``MaxTRES``, ``MinTRES``: most and least resources of one job.
    job_longest_s
        ``MaxWall``: longest walltime of one job (s).
    """

    group_jobs: Natural | None = None
    group_submitted: Natural | None = None
    group_tres: Counts = {}
    user_jobs: Natural | None = None
    user_submitted: Natural | None = None
    user_tres: Counts = {}
    account_jobs: Natural | None = None
    account_submitted: Natural | None = None
    account_tres: Counts = {}
    job_tres: Counts = {}
    job_least_tres: Counts = {}
    job_longest_s: Seconds | None = None


Preempts = Literal["", "off", "cancel", "requeue", "suspend"]
"""Mode of preemption of a job; "": the site's ``PreemptMode``."""


class Layer(Values, frozen=True):
    """An amount of a resource on some nodes.

    Attributes
    ----------
    name
        Name, unique within the resource.
    nodes
        Ranges of nodes by place; "" for a layer with children (mode 3): all their nodes.
    count
        The amount; -1: unlimited.
    parent
        Layer above it (mode 3); "": it is the root.
    base
        Amount that is always in use without jobs (a power supply's own load); in mode 3 also of the layers above.
    """

    name: Name
    nodes: str = ""
    count: Annotated[int, msgspec.Meta(ge=-1, le=2**62)] = 0
    parent: str = ""
    base: Natural = 0


class Resource(Values, frozen=True):
    """A hierarchical resource (``resources.yaml``): counted on layers of nodes.

    Attributes
    ----------
    name
        As jobs name it among their licenses.
    mode
        1: enough on one layer that overlaps the allocation; 2: enough on all of them; 3: per node, summed upward.
    layers
        At least one.
    variables
        Names for counts.
    """

    name: Name
    mode: Annotated[int, msgspec.Meta(ge=1, le=3)]
    layers: Annotated[tuple[Layer, ...], msgspec.Meta(min_length=1)]
    variables: Counts = {}


class Gpus(Values, frozen=True):
    """GPUs on each of some nodes; a node that is listed twice has the larger number.

    Attributes
    ----------
    nodes
        Ranges of nodes by place; "": all nodes.
    count
        GPUs of each node.
    """

    count: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
    nodes: str = ""


class Cpus(Values, frozen=True):
    """CPUs of each of some nodes; of a node that is listed twice the larger number counts.

    Attributes
    ----------
    nodes
        Ranges of nodes by place; "": all nodes.
    count
        CPUs of each node; nodes without a number have one.
    """

    count: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
    nodes: str = ""


class Reservation(Values, frozen=True):
    """Nodes, licenses and buffers that are kept over an interval.

    Attributes
    ----------
    name
        As jobs name it.
    start_s
        Its start (s since 1970, as logs state times: without a zone they are taken as they are).
    length_s
        Duration (s), at least :data:`SHORTEST_S`.
    every_s
        Time from one start to the next (s), at least 1; 0: once.
    nodes
        Ranges of nodes by place; "": no nodes, or all of them where it has the flag ``ALL_NODES``.
    licenses, tres
        Further resources that it keeps; buffers as ``bb/NAME`` in bytes.
    users, accounts
        Users and accounts (with those below them) that may use it: both must match, (): all; with a minus sign before
        them, those that may not.
    flags
        As Slurm names them (``MAINT``, ``IGNORE_JOBS``, ``FLEX`` ...).
    """

    name: Name
    start_s: Seconds
    length_s: Length
    every_s: Seconds = 0.0
    nodes: str = ""
    licenses: Counts = {}
    tres: Counts = {}
    users: tuple[Name, ...] = ()
    accounts: tuple[Name, ...] = ()
    flags: tuple[Name, ...] = ()


Selects = Literal["", "linear", "cons_tres"]
"""Selection of nodes (``SelectType``); "": not stated."""


class Scheduler(Values, frozen=True):
    """Settings of the site's two schedulers (``SchedulerParameters`` and its neighbours); ``None``: not stated.

    Attributes
    ----------
    backfill
        Whether there is a backfill scheduler (``SchedulerType=sched/backfill``).
    default_queue_depth, partition_job_depth
        Jobs that an event-driven pass examines, in all and of each partition.
    sched_interval_s, batch_sched_delay_s
        Time between two main passes, and the least between two after events (s).
    bf_interval_s, bf_window_s, bf_resolution_s
        Time between two backfill passes, length of their plans, and its steps (s).
    bf_max_job_test, bf_max_job_part, bf_max_job_user, bf_max_job_array_resv
        Jobs that a backfill pass examines: in all, of each partition, of each user; tasks of an array with a
        reservation.
    bf_max_time_s, bf_yield_interval_s
        Longest backfill pass, and time after which it yields to others (s).
    bf_min_prio_reserve, bf_job_part_count_reserve
        Least priority of a job that gets a reservation; jobs of each partition that get one whatever their priority.
    bf_continue, bf_licenses, bf_one_resv_per_job, bf_window_linear
        The flags of the same names.
    bb_array_stage_cnt
        Tasks of an array that stage in at a time.
    select
        ``SelectType``.
    preempt
        Kind of preemption: ``partition_prio``, ``qos``; "": no preemption.
    preempts
        ``PreemptMode``.
    exempt_s
        ``PreemptExemptTime`` (s).
    requeue_hold_s
        Time for which a requeued job cannot start: one second more than ``cred_expire`` of ``AuthInfo`` (s).
    over_time_limit_s
        Time beyond its walltime after which a job is told to end (``OverTimeLimit``, s); ``unlimited``: never.
    kill_wait_s
        Time from there to its kill (``KillWait``, s).
    enforce
        ``AccountingStorageEnforce``: properties of associations that are enforced (``limits``, ``qos`` ...; ``none``).
        Empty: unknown, limits are enforced.
    others
        Further parameters, verbatim.
    """

    backfill: bool = True
    default_queue_depth: Natural | None = None
    partition_job_depth: Natural | None = None
    sched_interval_s: Seconds | None = None
    batch_sched_delay_s: Seconds | None = None
    bf_interval_s: Seconds | None = None
    bf_window_s: Seconds | None = None
    bf_resolution_s: Seconds | None = None
    bf_max_job_test: Natural | None = None
    bf_max_job_part: Natural | None = None
    bf_max_job_user: Natural | None = None
    bf_max_job_array_resv: Natural | None = None
    bf_max_time_s: Seconds | None = None
    bf_yield_interval_s: Seconds | None = None
    bf_min_prio_reserve: Natural | None = None
    bf_job_part_count_reserve: Natural | None = None
    bf_continue: bool = False
    bf_licenses: bool = False
    bf_one_resv_per_job: bool = False
    bf_window_linear: Natural = 0
    bb_array_stage_cnt: Natural | None = None
    select: Selects = ""
    preempt: str = ""
    preempts: Preempts = ""
    exempt_s: Seconds = 0.0
    requeue_hold_s: Seconds = 0.0
    over_time_limit_s: Seconds | Literal["unlimited"] = 0.0
    kill_wait_s: Seconds = 0.0
    enforce: tuple[Name, ...] = ()
    others: tuple[Name, ...] = ()

    @property
    def over_s(self) -> float:
        """Time beyond its walltime after which a job is told to end (s); infinite without a limit."""
        return math.inf if isinstance(self.over_time_limit_s, str) else self.over_time_limit_s

    @property
    def grace_s(self) -> float:
        """Time beyond its walltime for which a job runs (s); infinite without a limit."""
        return self.over_s + self.kill_wait_s

    @property
    def enforces_limits(self) -> bool:
        """Whether limits of associations and QOS are enforced; they are if :attr:`enforce` is empty."""
        return not self.enforce or not _ENFORCING_LIMITS.isdisjoint(map(str.lower, self.enforce))


_ENFORCING_LIMITS = frozenset({"all", "limits", "safe"})
"""Values of ``AccountingStorageEnforce`` that enforce limits."""


NO_BUFFERS = "none"
"""Kind of burst buffers of a site that has none: none are drawn for its jobs."""


class Buffers(Values, frozen=True):
    """Settings of the site's burst buffers (``burst_buffer.conf``); the platform states their sizes.

    Attributes
    ----------
    kind
        ``BurstBufferType`` without its first part: ``datawarp``, ``lua``; ``none``: the site has none; "": not stated.
    default_pool
        Pool of jobs that name no pool.
    granularity
        Requests are rounded up to multiples of it (bytes); 0: not stated.
    stage_in_timeout_s, stage_out_timeout_s
        Time after which a transfer has failed (s); ``None``: never.
    setup_s, teardown_s
        Time to make a job's burst buffer before anything is moved into it, and to remove it after all is moved out (s):
        the buffer is in use meanwhile.
    failing, failing_seed
        Share of jobs whose buffer cannot be made, 0 to 1, and the seed of their draws (one for each job, by its id):
        such a job is rejected when its set-up is over.
    flags
        As Slurm names them (``EnablePersistent``, ``TeardownFailure`` ...).
    """

    kind: str = ""
    default_pool: str = ""
    granularity: Natural = 0
    stage_in_timeout_s: Seconds | None = None
    stage_out_timeout_s: Seconds | None = None
    setup_s: Seconds = 0.0
    teardown_s: Seconds = 0.0
    failing: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.0
    failing_seed: Natural = 0
    flags: tuple[Name, ...] = ()


def repeated(what: str, names: Iterable[str]) -> Iterator[str]:
    """Faults of names that occur more than once."""
    for name, count in Counter(names).items():
        if count > 1:
            yield f"{what} {shown(name)} occurs {count} times; expected once"


def outside(where: str, nodes: str, most: int) -> Iterator[str]:
    """A fault of ranges of nodes that are malformed, or beyond the site's ``most`` nodes (0: unknown)."""
    try:
        places = parse_intervals(nodes)
    except ValueError as error:
        yield f"{where}: {error}"
        return
    if most and places and places[-1] >= most:
        yield f"{where}: node {places[-1]} is not one of the site's {most} nodes, which count from 0"


def base_loads(resource: Resource) -> dict[str, int]:
    """Amount of each layer that is always in use: its own base load, and in mode 3 those of the layers below it."""
    layers = {layer.name: layer for layer in resource.layers}
    found = {layer.name: layer.base for layer in resource.layers}
    for layer in resource.layers:
        above = layer.parent
        while above in layers:
            found[above] += layer.base
            above = layers[above].parent
    return found


def layer_faults(resource: Resource, nodes: int) -> Iterator[str]:
    """Faults of a hierarchical resource: repeated layers, unknown parents, in mode 3 no tree of uniform depth."""
    where = f"resource {shown(resource.name)}"
    layers = {layer.name: layer for layer in resource.layers}
    yield from repeated(f"{where}: layer", (layer.name for layer in resource.layers))
    depths = set()
    inner = {layer.parent for layer in resource.layers}
    for layer in resource.layers:
        yield from outside(f"{where}, layer {shown(layer.name)}: nodes", layer.nodes, nodes)
        if layer.parent and (resource.mode != 3 or layer.parent not in layers):
            yield f"{where}, layer {shown(layer.name)}: parent {shown(layer.parent)} is no layer of mode 3 here"
            return
        if layer.nodes and layer.name in inner:
            place = f"{where}, layer {shown(layer.name)}"
            yield f"{place}: it has layers below it, whose nodes are its own: leave nodes out"
        depth, above = 0, layer
        while above.parent and depth <= len(layers):
            depth, above = depth + 1, layers[above.parent]
        if layer.name not in inner:
            depths.add(depth)
    roots = [layer.name for layer in resource.layers if not layer.parent]
    if resource.mode == 3 and (len(roots) != 1 or len(depths) != 1 or max(depths) >= len(layers)):
        yield f"{where}: mode 3 needs one root and leaves of one depth, got {len(roots)} roots"
        return
    for name, base in base_loads(resource).items():
        if 0 <= layers[name].count < base:
            yield f"{where}, layer {shown(name)}: its count {layers[name].count} is below its base load {base}"

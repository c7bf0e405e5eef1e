"""A site as its scheduler needs it: partitions, shares, weights of priority, counted pools. Read once, never changed.

A site file (``docs/site.md``) is read to a :class:`Site` at the command line; from there on it is passed as one compact
JSON text (:func:`site_text`), so that the description of a run holds all of it and needs no file to be repeated.

References
----------
SchedMD, *slurm.conf*, *Multifactor Priority Plugin*, *Fair Tree Fairshare Algorithm*, *Licenses Guide*.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Literal

import msgspec

from spillway.base.errors import OptionError, shown
from spillway.protocol.intervals import parse_intervals
from spillway.schedulers.model.job import (
    CPUS_FIELD,
    GPUS_FIELD,
    LICENSES_FIELD,
    PARTITION_FIELD,
    RESERVATION_FIELD,
    JobField,
)
from spillway.schedulers.model.site_parts import (
    Buffers,
    Cpus,
    Factor,
    Gpus,
    Length,
    Limits,
    Name,
    Natural,
    Preempts,
    Reservation,
    Resource,
    Scheduler,
    Seconds,
    Values,
    Weight,
    layer_faults,
    outside,
    repeated,
)

FAILS_FIELD = "bb_fails"
"""Field of a job whose burst buffer cannot be made."""

SITE_FIELDS = (
    JobField(
        PARTITION_FIELD, "job", "text or number; several separated by commas",
        "partitions that it may run in: its nodes all belong to one of them",
    ),
    JobField("account", "job", "text, or a number", "account of its user that it is charged to"),
    JobField("qos", "job", "text", "quality of service"),
    JobField(
        LICENSES_FIELD, "job", "text: `name:count`, several separated by commas",
        "licenses and hierarchical resources of the site that it holds while it runs",
    ),
    JobField(RESERVATION_FIELD, "job", "text", "advance reservation of the site that it runs in"),
    JobField(GPUS_FIELD, "job", "whole number", "GPUs that it needs on each of its nodes"),
    JobField(
        CPUS_FIELD, "job", "whole number; absent: one for each of its nodes",
        "CPUs that it requests in all, for its priority: it gets whole nodes",
    ),
    JobField("site_factor", "job", "whole number", "term of its priority that the site sets"),
    JobField(
        "nice", "job", "whole number from -2147483645 to 2147483645",
        "amount that its user subtracts from its priority",
    ),
    JobField(
        FAILS_FIELD, "job", "true or false",
        "its burst buffer cannot be made: it is rejected when it should be filled (`--bb-life slurm`, `standby`)",
    ),
)  # fmt: skip
"""Fields of a job that only a site gives a meaning."""


class Partition(Values, frozen=True):
    """Nodes that jobs may request by the partition's name, and their limits there.

    Attributes
    ----------
    name
        As jobs name it (field ``partition``).
    nodes
        Ranges of nodes by their place in the machine, ``0-15 20``; "" for all nodes. Partitions may overlap.
    tier
        ``PriorityTier``: jobs of higher tiers come first whatever their priority.
    factor
        ``PriorityJobFactor``: its part of its jobs' priority, relative to the largest of all partitions.
    longest_s
        ``MaxTime``: longest walltime of a job (s), above 0; ``None``: no limit.
    default_s
        ``DefaultTime``: walltime of jobs that do not state it (s), above 0; ``None``: ``longest_s``.
    fewest_nodes, most_nodes
        ``MinNodes``, ``MaxNodes`` of a job; ``None``: no limit.
    default
        Whether jobs that name no partition run here.
    accepting
        Whether it takes jobs (``State=UP``).
    qos
        ``QoS``: QOS with limits for all its jobs; "": no such QOS.
    accounts, not_accounts
        ``AllowAccounts``, ``DenyAccounts``, with those below them; (): all allowed, no account denied. The first takes
        precedence over the second.
    only_qos, not_qos
        ``AllowQos``, ``DenyQos``, likewise.
    preempts
        ``PreemptMode``: mode of preemption of its jobs.
    grace_s
        ``GraceTime``: time that they have from their preemption to their kill (s).
    """

    name: Name
    nodes: str = ""
    tier: Natural = 1
    factor: Natural = 1
    longest_s: Length | None = None
    default_s: Length | None = None
    fewest_nodes: Natural = 1
    most_nodes: Natural | None = None
    default: bool = False
    accepting: bool = True
    qos: str = ""
    accounts: tuple[Name, ...] = ()
    not_accounts: tuple[Name, ...] = ()
    only_qos: tuple[Name, ...] = ()
    not_qos: tuple[Name, ...] = ()
    preempts: Preempts = ""
    grace_s: Seconds = 0.0


class Association(Values, frozen=True):
    """An account, or a user in an account, and its shares among its siblings.

    Attributes
    ----------
    account
        Name of the account.
    user
        "": the account itself.
    parent
        Account above an account; "": the root.
    shares
        ``Fairshare``: shares among its siblings, at least 0.
    priority
        ``Priority``: its part of the association factor.
    default
        Whether it is the user's default account.
    qos, default_qos
        QOS that its jobs may name, and their default; () and "": the site's.
    limits
        Of all its jobs.
    """

    account: Name
    user: str = ""
    parent: str = ""
    shares: Natural = 1
    priority: Natural = 0
    default: bool = False
    qos: tuple[Name, ...] = ()
    default_qos: str = ""
    limits: Limits = Limits()


class Qos(Values, frozen=True):
    """A quality of service.

    Attributes
    ----------
    name
        As jobs name it (field ``qos``).
    priority
        Its part of its jobs' priority, relative to the largest of all.
    usage_factor
        Weight of usage under it, relative to that of others.
    limits
        Of all its jobs.
    preempt
        QOS with jobs that it may preempt.
    preempts
        ``PreemptMode``: mode of preemption of its own jobs.
    grace_s, exempt_s
        ``GraceTime``, ``PreemptExemptTime``: time that these have from their preemption to their kill, and time from
        their start in which they are not preempted (s).
    flags
        As Slurm names them (``DenyOnLimit``, ``NoReserve`` ...).
    """

    name: Name
    priority: Natural = 0
    usage_factor: Factor = 1.0
    limits: Limits = Limits()
    preempt: tuple[Name, ...] = ()
    preempts: Preempts = ""
    grace_s: Seconds = 0.0
    exempt_s: Seconds = 0.0
    flags: tuple[Name, ...] = ()


class License(Values, frozen=True):
    """A counted pool of the whole cluster: jobs hold some of it (field ``licenses``, ``name:count,...``).

    Attributes
    ----------
    name
        As jobs name it.
    count
        Total number.
    """

    name: Name
    count: Natural


class Weights(Values, frozen=True):
    """Weights of the factors of a job's priority, and their calculation (``slurm.conf``, ``Priority...``).

    Attributes
    ----------
    age, fairshare, size, partition, qos, association
        Weights, 0 to 2^32 - 1.
    tres
        Weights of trackable resources by name (``node``, ``cpu``, ``bb``, ``license/NAME``).
    billing
        ``TRESBillingWeights``: weights of usage by resource: ``node`` per node, ``bb`` per gigabyte of burst buffer;
        empty: only nodes count.
    longest_age_s
        ``PriorityMaxAge``: age from which the factor is 1 (s).
    half_life_s
        ``PriorityDecayHalfLife``: usage counts half after this time (s); 0: it never decays.
    period_s
        ``PriorityCalcPeriod``: time between two calculations of usage (s).
    phase_s
        Time of a first calculation (s).
    favor_small
        ``PriorityFavorSmall``: small jobs get the larger size factor.
    small_relative_to_time
        ``SMALL_RELATIVE_TO_TIME``: size is relative to the walltime.
    flags
        Other ``PriorityFlags``, as Slurm names them (``NO_FAIR_TREE``, ``NO_NORMAL_PART`` ...).
    """

    age: Weight = 0
    fairshare: Weight = 0
    size: Weight = 0
    partition: Weight = 0
    qos: Weight = 0
    association: Weight = 0
    tres: dict[Name, Weight] = msgspec.field(default_factory=dict)
    billing: dict[Literal["node", "bb"], Factor] = msgspec.field(default_factory=dict)
    longest_age_s: Length = 604800.0
    half_life_s: Seconds = 604800.0
    period_s: Length = 300.0
    phase_s: Seconds = 0.0
    favor_small: bool = False
    small_relative_to_time: bool = False
    flags: tuple[Name, ...] = ()

    @property
    def all_zero(self) -> bool:
        """Whether every weight is 0, so that no factor orders jobs."""
        weights = (self.age, self.fairshare, self.size, self.partition, self.qos, self.association)
        return not any((*weights, *self.tres.values()))


class Site(Values, frozen=True):
    """The description of a site for a scheduler.

    Attributes
    ----------
    name
        Name of the cluster.
    nodes
        Compute nodes that partitions refer to by place; 0: as many as the machine has.
    partitions, associations, qos, licenses, resources, gpus, cpus, reservations, weights, scheduler, buffers
        As above; empty: not present at the site.
    """

    name: str = ""
    nodes: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] = 0
    partitions: tuple[Partition, ...] = ()
    associations: tuple[Association, ...] = ()
    qos: tuple[Qos, ...] = ()
    licenses: tuple[License, ...] = ()
    resources: tuple[Resource, ...] = ()
    gpus: tuple[Gpus, ...] = ()
    cpus: tuple[Cpus, ...] = ()
    reservations: tuple[Reservation, ...] = ()
    weights: Weights = Weights()
    scheduler: Scheduler = Scheduler()
    buffers: Buffers = Buffers()


def cpus_of_nodes(site: Site, nodes: int) -> list[int]:
    """CPUs of each of a machine's ``nodes`` nodes; one where the site states none."""
    found = [0] * nodes
    for cpu in site.cpus:
        for place in parse_intervals(cpu.nodes) if cpu.nodes else range(nodes):
            if place < nodes:
                found[place] = max(found[place], cpu.count)
    return [count or 1 for count in found]


def site_text(site: Site) -> str:
    """The compact text of a site (JSON), which :func:`parse_site` reads."""
    return msgspec.json.encode(site, order="sorted").decode()


def parse_site(text: str) -> Site:
    """Read the compact text of a site. Raises :class:`OptionError` if it is invalid or contradicts itself."""
    try:
        site = msgspec.json.decode(text, type=Site)
    except msgspec.MsgspecError as error:
        raise OptionError(f"setting site must be the JSON text of a site: {error}") from None
    for fault in faults(site):
        raise OptionError(f"setting site: {fault}")
    return site


def faults(site: Site) -> Iterator[str]:
    """Contradictions in a site, each with its place."""
    yield from repeated("partition", (partition.name for partition in site.partitions))
    yield from repeated("qos", (qos.name for qos in site.qos))
    yield from repeated(
        "license", [*(license_.name for license_ in site.licenses), *(resource.name for resource in site.resources)]
    )
    yield from repeated("reservation", (reservation.name for reservation in site.reservations))
    yield from repeated(
        "association", (f"{association.account}/{association.user}".rstrip("/") for association in site.associations)
    )
    defaults = [partition.name for partition in site.partitions if partition.default]
    if len(defaults) > 1:
        yield f"partitions {defaults[0]!r} and {defaults[1]!r} are both the default: expected one"
    for partition in site.partitions:
        where = f"partition {shown(partition.name)}"
        yield from outside(f"{where}: nodes", partition.nodes, site.nodes)
        most, longest_s = partition.most_nodes, partition.longest_s
        if most is not None and most < partition.fewest_nodes:
            yield f"{where}: most_nodes is {most}, below fewest_nodes {partition.fewest_nodes}"
        if longest_s is not None and partition.default_s is not None and partition.default_s > longest_s:
            yield f"{where}: default_s is {partition.default_s:g} s, above longest_s {longest_s:g} s"
        yield from _unknown(where, "qos", (partition.qos, *partition.only_qos, *partition.not_qos), site)
    for qos in site.qos:
        yield from _unknown(f"qos {shown(qos.name)}: preempt", "qos", qos.preempt, site)
    yield from _circle(site.qos)
    for table, several in (("gpu", site.gpus), ("cpu", site.cpus)):
        for gpus in several:
            yield from outside(f"{table}: nodes", gpus.nodes, site.nodes)
    for reservation in site.reservations:
        yield from _reservation(reservation, site)
    yield from _accounts(site.associations)
    for resource in site.resources:
        yield from layer_faults(resource, site.nodes)


def _unknown(where: str, what: str, names: Iterable[str], site: Site) -> Iterator[str]:
    """Faults of names of QOS that the site does not have, if it states any QOS."""
    known = {qos.name for qos in site.qos}
    for name in names:
        if name and known and name not in known:
            yield f"{where}: {what} {shown(name)} is not one of {', '.join(sorted(known))}"


def _reservation(one: Reservation, site: Site) -> Iterator[str]:
    """Faults of a reservation: unknown nodes, unknown or too many licenses, and overlapping intervals."""
    where = f"reservation {shown(one.name)}"
    yield from outside(f"{where}: nodes", one.nodes, site.nodes)
    if 0 < one.every_s < 1:
        yield f"{where}: every_s is {one.every_s:g} s: expected at least 1 s, or 0 for once"
    elif one.every_s and one.length_s > one.every_s:
        yield f"{where}: length_s is {one.length_s:g} s, above every_s {one.every_s:g} s: it would overlap itself"
    counts = {license.name: license.count for license in site.licenses}
    layered = {resource.name for resource in site.resources}
    for name, count in one.licenses.items() if counts else ():
        if name in layered:
            continue
        if name not in counts:
            yield f"{where}: license {shown(name)} is not one of {', '.join(sorted(counts))}"
        if count > counts.get(name, count):
            yield f"{where}: it keeps {count} of license {shown(name)}, but the site has {counts[name]}"


def _circle(several: tuple[Qos, ...]) -> Iterator[str]:
    """A fault of QOS that preempt each other in a circle: their jobs could requeue each other forever."""
    below = {qos.name: set(qos.preempt) for qos in several}
    for name in below:
        reached, found = set[str](), set(below[name])
        while found:
            reached |= found
            found = set[str]().union(*(below.get(name, set()) for name in found)) - reached
        if name in reached:
            yield f"qos {shown(name)}: preempt: it preempts itself, directly or through others: expected no circle"
            return


def _accounts(associations: tuple[Association, ...]) -> Iterator[str]:
    """Faults of the tree of accounts: missing parents, and accounts below themselves."""
    parents = {association.account: association.parent for association in associations if not association.user}
    for association in associations:
        above = association.account if association.user else association.parent
        if above and above not in parents:
            whose = f"user {shown(association.user)}" if association.user else f"account {shown(association.account)}"
            yield f"association: {whose} is below account {shown(above)}, which has no association of its own"
    for account in parents:
        seen, above = {account}, parents[account]
        while above in parents and above not in seen:
            seen.add(above)
            above = parents[above]
        if above == account:
            yield f"association: account {shown(account)} is below itself"
            return

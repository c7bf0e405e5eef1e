"""A site as its scheduler needs it: partitions, shares, weights of priority, counted pools. Read once, never changed.

A site file (``docs/site.md``) is read to a :class:`Site` at the command line; from there on it travels as one compact
JSON text (:func:`site_text`), so that the description of a run holds all of it and needs no file to be repeated.

References
----------
SchedMD, *slurm.conf*, *Multifactor Priority Plugin*, *Fair Tree Fairshare Algorithm*, *Licenses Guide*.
"""

from __future__ import annotations

import msgspec

from spillway.base.errors import OptionError

NodeRanges = tuple[tuple[int, int], ...]
"""First and last node of each of several ranges; () for all nodes."""

LARGEST_WEIGHT = 2**32 - 1
"""Largest weight of a factor, and largest priority of a job."""


def node_ranges(text: str) -> NodeRanges:
    """Read ranges of nodes by their place, ``0-15 20``. Raises :class:`ValueError` for another form."""
    return tuple(_range(one) for one in text.split())


def _range(text: str) -> tuple[int, int]:
    first, dash, last = text.partition("-")
    if not first.isdecimal() or (dash and not last.isdecimal()) or int(last or first) < int(first):
        raise ValueError(f"{text!r} is no range of nodes")
    return int(first), int(last or first)


def nodes_within(ranges: NodeRanges, nodes: int) -> list[int]:
    """The nodes of these ranges on a machine with so many, ascending."""
    if not ranges:
        return list(range(nodes))
    return sorted({one for first, last in ranges for one in range(first, min(last + 1, nodes))})


class Partition(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Nodes that a job may ask for by name, and the limits there.

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
        ``MaxTime``: longest walltime of a job (s); ``None``: no limit.
    default_s
        ``DefaultTime``: walltime of a job that states none (s); ``None``: ``longest_s``.
    fewest_nodes, most_nodes
        ``MinNodes``, ``MaxNodes`` of a job; ``None``: no limit.
    default
        Whether jobs that name no partition go here.
    accepting
        Whether it takes jobs (``State=UP``).
    """

    name: str
    nodes: str = ""
    tier: int = 1
    factor: int = 1
    longest_s: float | None = None
    default_s: float | None = None
    fewest_nodes: int = 1
    most_nodes: int | None = None
    default: bool = False
    accepting: bool = True

    def __post_init__(self) -> None:
        node_ranges(self.nodes)


class Association(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
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
    """

    account: str
    user: str = ""
    parent: str = ""
    shares: int = 1
    priority: int = 0
    default: bool = False


class Qos(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A quality of service.

    Attributes
    ----------
    name
        As jobs name it (field ``qos``).
    priority
        Its part of its jobs' priority, relative to the largest of all.
    usage_factor
        What usage under it counts, relative to that of others.
    """

    name: str
    priority: int = 0
    usage_factor: float = 1.0


class License(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A counted pool of the whole cluster: jobs hold some of it (field ``licenses``, ``name:count,...``)."""

    name: str
    count: int


class Weights(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Weights of the factors of a job's priority, and how they are calculated (``slurm.conf``, ``Priority...``).

    Attributes
    ----------
    age, fairshare, size, partition, qos, association
        Weights, 0 to 2^32 - 1.
    tres
        Weights of trackable resources by name (``node``, ``cpu``, ``bb``, ``license/NAME``).
    billing
        ``TRESBillingWeights``: what usage counts, by resource: ``node`` per node, ``bb`` per gigabyte of burst buffer;
        empty: nodes alone.
    longest_age_s
        ``PriorityMaxAge``: age from which the factor is 1 (s).
    half_life_s
        ``PriorityDecayHalfLife``: usage counts half after this time (s); 0: it never decays.
    period_s
        ``PriorityCalcPeriod``: time between two calculations of usage (s).
    favor_small
        ``PriorityFavorSmall``: small jobs get the larger size factor.
    small_relative_to_time
        ``SMALL_RELATIVE_TO_TIME``: size is relative to the walltime.
    """

    age: int = 0
    fairshare: int = 0
    size: int = 0
    partition: int = 0
    qos: int = 0
    association: int = 0
    tres: dict[str, int] = {}
    billing: dict[str, float] = {}
    longest_age_s: float = 604800.0
    half_life_s: float = 604800.0
    period_s: float = 300.0
    favor_small: bool = False
    small_relative_to_time: bool = False

    def __post_init__(self) -> None:
        weights = (self.age, self.fairshare, self.size, self.partition, self.qos, self.association)
        if not all(0 <= weight <= LARGEST_WEIGHT for weight in (*weights, *self.tres.values())):
            raise ValueError(f"weights must be from 0 to {LARGEST_WEIGHT}")
        if not (self.longest_age_s > 0 and self.half_life_s >= 0 and self.period_s > 0):
            raise ValueError("longest_age_s and period_s must be above 0 s, half_life_s at least 0")
        if not all(name in ("node", "bb") and 0 <= weight < 1e18 for name, weight in self.billing.items()):
            raise ValueError("billing must be weights of at least 0 of 'node' and 'bb'")


class Site(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a scheduler has to know of a site.

    Attributes
    ----------
    name
        Of the cluster.
    nodes
        Compute nodes that partitions refer to by place; 0: as many as the machine has.
    partitions, associations, qos, licenses, weights
        As above; empty: the site has none.
    """

    name: str = ""
    nodes: int = 0
    partitions: tuple[Partition, ...] = ()
    associations: tuple[Association, ...] = ()
    qos: tuple[Qos, ...] = ()
    licenses: tuple[License, ...] = ()
    weights: Weights = Weights()


def site_text(site: Site) -> str:
    """The compact text of a site (JSON), which :func:`parse_site` reads."""
    return msgspec.json.encode(site, order="sorted").decode()


def parse_site(text: str) -> Site:
    """Read the compact text of a site. Raises :class:`OptionError` where it is none."""
    try:
        return msgspec.json.decode(text, type=Site)
    except msgspec.MsgspecError as error:
        raise OptionError(f"setting site must be the JSON text of a site: {error}") from None

"""Tables of a site's description, and its parts that are not played yet."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
from rich.console import Console

from spillway.analysis.document.blocks import Table
from spillway.analysis.document.terminal import say
from spillway.analysis.document.terminal import show as print_table
from spillway.base.units import NONE, duration, size
from spillway.protocol.intervals import parse_intervals
from spillway.schedulers.model.preemption import KINDS, Preemption
from spillway.schedulers.model.site import Association, Partition, Qos, Site, Weights
from spillway.schedulers.model.site_parts import Buffers, Limits, Reservation, Scheduler
from spillway.schedulers.policies import POLICIES
from spillway.schedulers.policykit.site_scheduler import SiteOptions, site_options
from spillway.schedulers.policykit.terms import PLAYED_FLAGS
from spillway.schedulers.site_file import PLAYED

_PLAYER = "slurm-backfill"
"""The policy that has a site's parameters as options."""

_PARTS: Sequence[tuple[str, str, Callable[[Site], object]]] = (
    (
        "flags",
        "flags of priority beyond those of docs/priority.md",
        lambda site: set(site.weights.flags) - PLAYED_FLAGS,
    ),
    ("license", "licences: jobs do not hold them", lambda site: site.licenses),
    ("resource", "hierarchical resources: jobs do not hold them", lambda site: site.resources),
    (
        "limits",
        "limits of resources other than nodes and GPUs",
        lambda site: any(_limited(one) for several in (site.associations, site.qos) for one in several),
    ),
    (
        "unenforced",
        "limits, which the site does not enforce (AccountingStorageEnforce)",
        lambda site: (
            not site.scheduler.enforces_limits
            and any(one.limits != Limits() for several in (site.associations, site.qos) for one in several)
        ),
    ),
    (
        "flags of qos",
        "flags of QOS",
        lambda site: {flag for one in site.qos for flag in one.flags} - {"DenyOnLimit"},
    ),
    ("qos of associations", "which QOS users may name: any", lambda site: any(one.qos for one in site.associations)),
    (
        "reservation",
        "reservations (a window in which nothing runs is the setting 'maintenance')",
        lambda site: site.reservations,
    ),
    (
        "kinds of preemption",
        "preemption other than by tier (partition_prio) or QOS (qos)",
        lambda site: site.scheduler.preempt not in ("", "none", *KINDS),
    ),
    (
        "suspension",
        "preemption by suspension, except with the setting suspend=suspend; its other values name the substitute",
        lambda site: bool(Preemption(site).suspended),
    ),
    (
        "burst_buffer",
        "settings of burst buffers: their timeouts, and pools beside the platform's",
        lambda site: site.buffers != Buffers(),
    ),
)
"""Parts of a site: the name in :data:`~spillway.schedulers.site_file.PLAYED`, words for the part while it is not
played, and whether a site states it."""


def not_played(site: Site) -> list[str]:
    """Parts of a site that no run plays, in words."""
    found = [words for name, words, states in _PARTS if name not in PLAYED and states(site)]
    options, without = _stated(site)
    if options:
        found.append(f"parameters of the schedulers, except under policy {_PLAYER}, which has them as options")
    return found + ([f"parameters of the schedulers: {', '.join(without)}"] if without else [])


def show(site: Site, console: Console) -> None:
    """Print a site's description as tables and lines."""
    say(console, f"site {site.name or '(no name)'}: {site.nodes or 'as many nodes as the machine has'}"
                 f"{' nodes' if site.nodes else ''}")  # fmt: skip
    for title, table in _tables(site):
        if table.rows:
            print_table(console, table, title)
    for line in _lines(site):
        say(console, line)
    for words in not_played(site):
        say(console, f"not played yet: {words}")
    say(console, f"the site's schedulers: --policy {policy_of(site)}")


def _tables(site: Site) -> Iterator[tuple[str, Table]]:
    yield (
        "Partitions",
        Table(
            ("partition", "nodes", "tier", "factor", "longest", "default", "nodes of a job", "who", "state"),
            [_partition(one, site) for one in site.partitions],
        ),
    )
    yield (
        "Shares",
        Table(("account or user", "shares", "normalised", "priority", "limits"), list(_shares(site.associations))),
    )
    yield (
        "QOS",
        Table(
            ("qos", "priority", "usage counts", "preempts jobs of", "limits"),
            [
                (
                    one.name,
                    str(one.priority),
                    f"{one.usage_factor:g}",
                    ", ".join(one.preempt) or NONE,
                    _limits(one.limits),
                )
                for one in site.qos
            ],
        ),
    )
    yield ("Pools", Table(("pool", "count", "where"), list(_pools(site))))
    yield (
        "Reservations",
        Table(
            ("reservation", "begin", "length", "nodes", "keeps also", "who", "flags"),
            [_reservation(one, site) for one in site.reservations],
        ),
    )


def _partition(one: Partition, site: Site) -> Sequence[str]:
    least, most = one.fewest_nodes, one.most_nodes
    return (
        f"{one.name}{' (default)' if one.default else ''}",
        str(_count(one.nodes, site)),
        str(one.tier),
        str(one.factor),
        _time(one.longest_s),
        _time(one.default_s),
        f"{least} to {most if most is not None else 'all'}",
        _who(one),
        "up" if one.accepting else "takes no jobs",
    )


def _who(one: Partition) -> str:
    """Accounts and QOS that may use a partition, and the QOS with limits for its jobs."""
    parts = (
        ("accounts", one.accounts), ("no accounts", one.not_accounts), ("QOS", one.only_qos), ("no QOS", one.not_qos),
        ("limits of QOS", (one.qos,) if one.qos else ()),
    )  # fmt: skip
    return "; ".join(f"{words} {' '.join(names)}" for words, names in parts if names) or "all"


def _count(nodes: str, site: Site) -> int | str:
    return len(parse_intervals(nodes)) if nodes else site.nodes or "all"


def _time(seconds: float | None) -> str:
    return NONE if seconds is None else duration(seconds)


def _reservation(one: Reservation, site: Site) -> Sequence[str]:
    begin = f"{datetime.fromtimestamp(one.start_s, UTC):%Y-%m-%d %H:%M:%S}"
    every = f", every {duration(one.every_s)}" if one.every_s else ""
    everything = not one.nodes and "ALL_NODES" in one.flags
    nodes = str(_count("", site) if everything else len(parse_intervals(one.nodes)))
    also = [f"{count} of {name}" for name, count in one.licenses.items()]
    also += [f"{size(amount)} of {name}" for name, amount in one.tres.items() if name.startswith("bb/")]
    who = ", ".join((*one.users, *(f"account {name}" for name in one.accounts)))
    kept = ", ".join(also) or NONE
    return one.name, begin + every, duration(one.length_s), nodes, kept, who or NONE, ", ".join(one.flags) or NONE


def _shares(associations: Sequence[Association]) -> Iterator[Sequence[str]]:
    """The tree of accounts, users below theirs; shares among siblings, and of the whole."""
    below: dict[str, list[Association]] = defaultdict(list)
    for one in associations:
        below[one.account if one.user else one.parent].append(one)

    def under(account: str, part: float, depth: int) -> Iterator[Sequence[str]]:
        siblings = below[account]
        total = sum(one.shares for one in siblings) or 1
        for one in siblings:
            own = part * one.shares / total
            name = f"{'  ' * depth}{one.user or one.account}{' (default account)' if one.default else ''}"
            yield name, str(one.shares), f"{own:.4f}", str(one.priority), _limits(one.limits)
            if not one.user:
                yield from under(one.account, own, depth + 1)

    return under("", 1.0, 0)


def _limited(one: Association | Qos) -> bool:
    """Whether something has limits beyond those that are played."""
    counts = (value for value in msgspec.structs.asdict(one.limits).values() if isinstance(value, dict))
    return any(resource not in ("node", "gres/gpu") for count in counts for resource in count)


def _limits(limits: Limits) -> str:
    """Limits in words: ``user_jobs 4, group_tres node=8``."""
    found = []
    for name, value in msgspec.structs.asdict(limits).items():
        if isinstance(value, dict):
            found += [f"{name} {key}={amount}" for key, amount in value.items()]
        elif value is not None:
            found.append(f"{name} {duration(value) if name.endswith('_s') else value}")
    return ", ".join(found) or NONE


def _pools(site: Site) -> Iterator[Sequence[str]]:
    for one in site.licenses:
        yield one.name, f"{one.count:,}", "the cluster"
    for resource in site.resources:
        for layer in resource.layers:
            count = "infinitely many" if layer.count < 0 else f"{layer.count:,}"
            where = f"{_count(layer.nodes, site)} nodes" if layer.nodes else "the layers below it"
            base = f", {layer.base:,} of them in use always" if layer.base else ""
            yield f"{resource.name} (mode {resource.mode}), {layer.name}", count, where + base
    for gpus in site.gpus:
        yield "GPUs", f"{gpus.count} a node", f"{_count(gpus.nodes, site)} nodes"
    for cpus in site.cpus:
        yield "CPUs", f"{cpus.count} a node", f"{_count(cpus.nodes, site)} nodes"


def policy_of(site: Site) -> str:
    """The policy that decides with the site's parameters, as ``--policy`` takes it."""
    stated = _stated(site).text
    return _PLAYER + (f":{stated}" if stated else "")


def _stated(site: Site) -> SiteOptions:
    return site_options(site, POLICIES[_PLAYER].options(), {})


def _lines(site: Site) -> Iterator[str]:
    """Weights, schedulers and buffers, where they differ from the defaults."""
    for title, value, default in (
        ("priority", site.weights, Weights()),
        ("scheduler", site.scheduler, Scheduler()),
        ("burst buffers", site.buffers, Buffers()),
    ):
        changed = {
            name: found for name in value.__struct_fields__ if (found := getattr(value, name)) != getattr(default, name)
        }
        words = ", ".join(f"{name} {_plain(name, found)}" for name, found in changed.items())
        yield f"{title}: {words or 'the defaults'}"


def _plain(name: str, value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(f"{key}={amount}" for key, amount in value.items())
    if isinstance(value, tuple):
        return " ".join(map(str, value))
    if isinstance(value, float):
        return duration(value) if name.endswith("_s") else f"{value:g}"
    if name == "granularity":
        return size(value)
    return str(value).lower() if isinstance(value, bool) else str(value)

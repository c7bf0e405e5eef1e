"""Tables of a site's description, and its parts that are not played yet."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from spillway.analysis.document.blocks import Block, Heading, Paragraph, Table, Words
from spillway.base.units import NONE, duration, size
from spillway.experiments.site.written import changed
from spillway.protocol.intervals import parse_intervals
from spillway.schedulers.model.preemption import KINDS, Preemption
from spillway.schedulers.model.site import Association, Site
from spillway.schedulers.model.site_parts import Limits
from spillway.schedulers.policies import POLICIES
from spillway.schedulers.policykit.slurm.site_scheduler import SiteOptions, site_options
from spillway.schedulers.policykit.slurm.terms import PLAYED_FLAGS
from spillway.schedulers.site_file import SINGLE, START, TABLES

_PLAYER = "slurm-backfill"
"""The policy that has a site's parameters as options."""


def _limits(site: Site) -> Iterator[Limits]:
    return (entry.limits for several in (site.associations, site.qos) for entry in several)


def _is_left(limits: Limits) -> bool:
    """Whether limits are beyond those that are played."""
    counts = (value for value in changed(limits).values() if isinstance(value, dict))
    return any(resource not in ("node", "gres/gpu") for count in counts for resource in count)


_TIMES = {"setup_s", "teardown_s"}
_FAILING = {"failing", "failing_seed"}
_PARTS: Sequence[tuple[str, Callable[[Site], object]]] = (
    ("flags of priority beyond those of docs/priority.md", lambda site: set(site.weights.flags) - PLAYED_FLAGS),
    ("limits of resources other than nodes and GPUs", lambda site: any(map(_is_left, _limits(site)))),
    (
        "limits, which the site does not enforce (AccountingStorageEnforce)",
        lambda site: not site.scheduler.enforces_limits and any(limits != Limits() for limits in _limits(site)),
    ),
    ("flags of QOS", lambda site: {flag for qos in site.qos for flag in qos.flags} - {"DenyOnLimit"}),
    ("which QOS users may name: any", lambda site: any(association.qos for association in site.associations)),
    (
        "preemption other than by tier (partition_prio) or QOS (qos)",
        lambda site: site.scheduler.preempt not in ("", "none", *KINDS),
    ),
    (
        "preemption by suspension, except with the setting suspend=suspend; its other values name the substitute",
        lambda site: bool(Preemption(site).suspended),
    ),
    (
        "settings of burst buffers: their timeouts, and pools beside the platform's",
        lambda site: changed(site.buffers).keys() - _TIMES - _FAILING,
    ),
    (
        "set-up and tear-down of burst buffers, except under --bb-life and --model io",
        lambda site: changed(site.buffers).keys() & _TIMES,
    ),
    (
        "burst buffers that cannot be made, except under --bb-life slurm and standby",
        lambda site: changed(site.buffers).keys() & _FAILING,
    ),
)
"""Parts of a site that no run plays, and whether a site states them."""


def not_played(site: Site) -> list[str]:
    """Parts of a site that no run plays, in words."""
    found = [words for words, states in _PARTS if states(site)]
    options, without = _stated(site)
    if options:
        found.append(f"parameters of the schedulers, except under policy {_PLAYER}, which has them as options")
    return found + ([f"parameters of the schedulers: {', '.join(without)}"] if without else [])


def document(site: Site) -> Iterator[Block]:
    """A site's description: tables, lines, and the parts that are not played."""
    nodes = f"{site.nodes} nodes" if site.nodes else "as many nodes as the machine has"
    yield Heading(f"site {site.name or '(no name)'}: {nodes}", 1)
    for title, table in _tables(site):
        if table.rows:
            yield from (Heading(title), table)
    yield Heading("Parameters")
    single = ((key.replace("_", " "), _plain(key, getattr(site, TABLES[key][0]))) for key in SINGLE)
    lines = [f"{key}: {'the defaults' if words == NONE else words}" for key, words in single]
    lines += [f"not played yet: {words}" for words in not_played(site)]
    lines.append(f"the site's schedulers: --policy {policy_of(site)}")
    yield from (Paragraph(Words(line)) for line in lines)


def _tables(site: Site) -> Iterator[tuple[str, Table]]:
    """A table for each kind of entry, with the columns in which one differs from its defaults; shares as a tree."""
    for key, (field, kind) in TABLES.items():
        entries = getattr(site, field)
        if kind is Association:
            heading = ("account or user", "shares", "normalised", "priority", "limits")
            yield "shares", Table(heading, list(_shares(entries)))
        elif key not in SINGLE:
            columns = list(dict.fromkeys(name for entry in entries for name in changed(entry)))
            headings = [START if name == "start_s" else name for name in columns]  # as in the file
            rows = [[_plain(name, getattr(entry, name), site) for name in columns] for entry in entries]
            yield key.replace("_", " "), Table(headings, rows)


def _shares(associations: Sequence[Association]) -> Iterator[Sequence[str]]:
    """The tree of accounts, users below theirs; shares among siblings, and of the whole."""
    below: dict[str, list[Association]] = defaultdict(list)
    for association in associations:
        below[association.account if association.user else association.parent].append(association)

    def under(account: str, part: float, depth: int) -> Iterator[Sequence[str]]:
        siblings = below[account]
        total = sum(sibling.shares for sibling in siblings) or 1
        for sibling in siblings:
            own = part * sibling.shares / total
            name = f"{'  ' * depth}{sibling.user or sibling.account}{' (default account)' if sibling.default else ''}"
            yield name, str(sibling.shares), f"{own:.4f}", str(sibling.priority), _plain("limits", sibling.limits)
            if not sibling.user:
                yield from under(sibling.account, own, depth + 1)

    return under("", 1.0, 0)


def policy_of(site: Site) -> str:
    """The policy that decides with the site's parameters, as ``--policy`` takes it."""
    stated = _stated(site).text
    return _PLAYER + (f":{stated}" if stated else "")


def _stated(site: Site) -> SiteOptions:
    return site_options(site, POLICIES[_PLAYER].options(), {})


def _plain(name: str, value: Any, site: Site | None = None) -> str:
    """A value in words; of a table inside another one what differs from its defaults."""
    if name == "nodes" and site is not None:
        return f"{len(parse_intervals(value)):,}" if value else str(site.nodes or "all")
    if isinstance(value, msgspec.Struct):
        return ", ".join(f"{key} {_plain(key, inner)}" for key, inner in changed(value).items()) or NONE
    if isinstance(value, dict):
        sizes = {key: size(amount) if key.startswith("bb/") else amount for key, amount in value.items()}
        return " ".join(f"{key}={amount}" for key, amount in sizes.items()) or NONE
    if isinstance(value, tuple):
        joint = "; " if value and isinstance(value[0], msgspec.Struct) else " "
        return joint.join(_plain("", member) for member in value) or NONE
    if name == "start_s":
        return f"{datetime.fromtimestamp(value, UTC):%Y-%m-%d %H:%M:%S}"
    if isinstance(value, float):
        return duration(value) if name.endswith("_s") else f"{value:g}"
    if name == "granularity":
        return size(value)
    return NONE if value in (None, "") else {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)

"""An operator's page about a log: what was not played, who waits, what binds, and the changes that would help most."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console

from spillway.analysis.answers.bindings import MEANING, Group, WaitsByResource, bound, groups, worst
from spillway.analysis.answers.ratios import Wording, per_cent
from spillway.analysis.answers.whatif import wait
from spillway.analysis.document.blocks import Block, Heading, Paragraph, Table, Words
from spillway.analysis.document.html import to_html
from spillway.analysis.document.terminal import say, write
from spillway.base import durable
from spillway.base.units import number, share
from spillway.experiments.campaign.folder.site_waits import as_stated
from spillway.experiments.campaign.inputs import machines
from spillway.experiments.campaign.inputs.machine_changes import CAPACITY, NODES
from spillway.experiments.campaign.inputs.shakes import Shaken
from spillway.experiments.campaign.whatif import site_changes
from spillway.experiments.campaign.whatif.answer import Answer, counts, of_log, omitted
from spillway.experiments.campaign.whatif.knobs import chooses_buffers
from spillway.experiments.campaign.whatif.rows import Relation, Row, Rows
from spillway.experiments.run import folders
from spillway.experiments.run.explain import keep_reasons
from spillway.experiments.run.reasons import REASONS
from spillway.experiments.run.sessions import REPLAY
from spillway.experiments.run.spec import PlatformSpec, RunSpec
from spillway.schedulers.model.site import Site

PAGE = "answer.html"
HELP_MOST = 3
"""Changes that the page names."""

_POLICIES = ("easy", "sjf-easy", "conservative")
_MORE = "+10%"
_WAITS = Wording("less", "more", "times as long")
NO_PRICE = "nothing that is counted gets worse"
OWN_PEAK = (
    "Burst buffers: nobody states them, so the pool is the log's own peak and more can hardly help: state yours "
    "(--burst-buffer-total SIZE) and capacity is among the changes."
)


def candidates(platform: PlatformSpec, site: Site | None, policy: str) -> list[str]:
    """Changes to try: policies, capacity, limits, maintenance; only those that the machine and the site have.

    Parameters
    ----------
    platform
        The machine as it is.
    policy
        Name of the policy as it is.
    """
    found = [f"policy={name}" for name in _POLICIES if name != policy]
    if site is not None and site.nodes and site.partitions:
        found += [f"{name}={_MORE}" for name in site_changes.partitions_to_resize(site)]
    elif machines.is_chosen(platform) or platform.source.startswith("nodes:"):
        found.append(f"{NODES}={_MORE}")
    if not chooses_buffers(platform) and _has_buffers(platform):
        found.append(f"{CAPACITY}=x1.25")
    if site is not None:
        found += [f"license.{license_.name}=+{max(1, round(license_.count / 10))}" for license_ in site.licenses]
        found += [f"{site_changes.LIMITS}={site_changes.NONE}"] if any(site_changes.limits_of(site)) else []
        found += [
            f"reservation.{reservation.name}={site_changes.NONE}"
            for reservation in site.reservations
            if not reservation.users
        ]
    return found


def _has_buffers(platform: PlatformSpec) -> bool:
    if machines.is_chosen(platform):
        return not platform.source.endswith("=0")
    return not platform.source.endswith((".xml", ".xml.xz")) and bool(machines.load(platform).facts.storage_bytes)


@dataclass(frozen=True)
class HelpfulChange:
    """A change with fewer waiting node-hours: its row, relation to the policy without it, and node-hours saved."""

    row: Row
    relation: Relation
    node_hours: float


class SiteAnswer:
    """Writes and prints the page when all runs have finished.

    Parameters
    ----------
    answer
        The answer of the question about the changes.
    title
        Name of the log.
    states_buffers
        Whether somebody states the machine's burst buffers.
    trust
        Whether policies from outside may run again, for their reasons.
    """

    def __init__(self, answer: Answer, title: str, *, states_buffers: bool, trust: bool) -> None:
        self._answer = answer
        self._title = title
        self._states_buffers = states_buffers
        self._trust = trust
        self.shakes = answer.shakes

    def __call__(self, grids: Sequence[Sequence[RunSpec]], shaken: Shaken, root: Path, console: Console) -> list[Path]:
        """Print and write the page; return the files that were written."""
        rows, said, written = self._answer.written(grids, shaken, root)
        played = {"at the site" if run.policy.label == REPLAY else run.policy.label: run for run in grids[0]}
        waiting = {name: self._bound(run, root) for name, run in played.items()}
        blocks = [
            Heading(f"{self._title}: who waits, why, and what would help", 1),
            Heading("Not read, not played", 2),
            *_left_out(root / grids[0][-1].id),
            *([] if self._states_buffers else [Paragraph(Words(OWN_PEAK))]),
            Heading("Who waits", 2),
            _groups({name: groups(waits_by_resource.table) for name, waits_by_resource in waiting.items()}),
            Heading("What binds", 2),
            _bindings(waiting),
            Heading("What would help most", 2),
            *_helping(rows, waiting),
            Heading("The longest waits", 2),
            _worst(waiting),
            Heading("All changes", 2),
            *(Paragraph(Words(line)) for line in said),
        ]
        write(console, blocks)
        durable.write_text(root / PAGE, to_html(blocks, contents=False))
        say(console, f"page: {root / PAGE}")
        return [*written, root / PAGE]

    def _bound(self, run: RunSpec, root: Path) -> WaitsByResource:
        folder = root / run.id
        if not (folder / REASONS).exists():
            keep_reasons(folder, trust=self._trust)
        return bound(folder, as_stated(run, root).ran())


def _left_out(folder: Path) -> Iterator[Block]:
    """Parts of the log and of the site that are not played."""
    record = folders.read_json(folder / folders.RUN_FILE)
    of_site = record.get("assumed", {}).get("site", ())
    lines = [*of_log(record), *omitted(record), *(f"of the site: {words}" for words in of_site)]
    if not lines:
        yield Paragraph(Words("Every line of the log that was read is played as it is stated."))
    yield from (Paragraph(Words(line)) for line in lines)


def _groups(found: Mapping[str, Sequence[Group]]) -> Table:
    """Mean waits and waiting node-hours by group, in each schedule."""
    first = {(group.kind, group.name): group for group in next(iter(found.values()))}
    tables = {name: {(group.kind, group.name): group for group in several} for name, several in found.items()}
    lines = [
        [
            Words(f"{kind}: {label}"),
            Words(number(group.jobs), value=group.jobs),
            *(_waits(table.get((kind, label))) for table in tables.values()),
        ]
        for (kind, label), group in first.items()
    ]
    return Table(["jobs by", "jobs", *(f"mean wait {name}" for name in tables)], lines)


def _waits(group: Group | None) -> Words:
    if group is None:
        return Words("–")
    return Words(wait(group.wait_s), value=group.wait_s, small=f"{number(round(group.node_hours))} node-hours")


def _bindings(waiting: Mapping[str, WaitsByResource]) -> Table:
    """Shares of the waiting node-hours by the resource that binds, in each schedule."""
    hours = {name: waits_by_resource.node_hours for name, waits_by_resource in waiting.items()}
    kinds = list(dict.fromkeys(kind for found in hours.values() for kind in found))
    lines = [
        [
            Words(kind, small=MEANING[kind]),
            *(_share(found.get(kind, 0.0), sum(found.values())) for found in hours.values()),
        ]
        for kind in kinds
    ]
    return Table(["binds", *hours], lines)


def _share(hours: float, total: float) -> Words:
    part = hours / total if total else 0.0
    return Words(share(part), value=part, small=f"{number(round(hours))} node-hours")


def helping(rows: Rows, hours: float) -> list[HelpfulChange]:
    """Changes with a band below no change, the most node-hours first.

    Parameters
    ----------
    hours
        Waiting node-hours under the policy without a change.
    """
    found = [
        HelpfulChange(row, row.to_same, hours * (1 - row.to_same.band.value))
        for row in rows.all
        if row.to_same is not None and row.to_same.is_effect and row.to_same.band.value < 1
    ]
    return sorted(found, key=lambda one: -one.node_hours)


def _helping(rows: Rows, waiting: Mapping[str, WaitsByResource]) -> Iterator[Block]:
    ours = [*waiting.values()][-1]
    hours = sum(ours.node_hours.values())
    found = helping(rows, hours)
    tried = len([row for row in rows.all if row.to_same is not None])
    if not found:
        yield Paragraph(Words(f"None of the {tried} changes that were tried shortens waits beyond chance."))
        return
    lines = [
        [
            Words(helpful_change.row.asked.name, small=f"saves {number(round(helpful_change.node_hours))} node-hours"),
            Words(
                f"{per_cent(helpful_change.relation.band.value)} less",
                "better",
                small=f"({_WAITS.span(helpful_change.relation.band.low, helpful_change.relation.band.high)})",
            ),
            Words("; ".join(counts(helpful_change.row, rows.same, rows.confidence)[0]) or NO_PRICE),
        ]
        for helpful_change in found[:HELP_MOST]
    ]
    yield Table(["change", "jobs wait", "the price"], lines)
    yield Paragraph(
        Words(
            f"Of {tried} changes, against {rows.same.policy} without them, where jobs wait {number(round(hours))} "
            "node-hours; node-hours saved are that sum times the change of the mean wait."
        )
    )


def _worst(waiting: Mapping[str, WaitsByResource]) -> Table:
    """The jobs that waited longest at the site (else under the policy), with the reason in each schedule."""
    first = next(iter(waiting.values()))
    places = {name: {job: row for row, job in enumerate(waits.table.job_id)} for name, waits in waiting.items()}
    lines = []
    for row in worst(first.table):
        job = first.table.job_id[row]
        cells = [Words(job), Words(first.table.user[row]), Words(number(int(first.table.nodes[row])))]
        for name, waits_by_resource in waiting.items():
            here = places[name].get(job)
            waited = float(waits_by_resource.table.wait_s[here]) if here is not None else np.nan
            kind = waits_by_resource.kind_of(here) if here is not None else ""
            cells.append(Words(wait(waited) if here is not None else "did not run", value=waited, small=kind))
        lines.append(cells)
    return Table(["job", "user", "nodes", *waiting], lines)

"""The figures of the report, section by section of the thesis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.studies.document import Block, Heading, Image, Paragraph, Table
from experiments.thesis.campaign import Scope
from experiments.thesis.cells import listed, pair
from experiments.thesis.checks import Check, Group, Published
from experiments.thesis.draw import GANTT_JOBS, Artist
from experiments.thesis.figures import (
    FULL_FIGURES,
    GANTT_FIGURE,
    LOAD_FIGURES,
    MINUTE_BOUND,
    MODEL_NAMES,
    PART_FIGURES,
    RATIO_FIGURES,
    SYSTEM_FIGURES,
    Family,
)
from experiments.thesis.inputs import FULL
from experiments.thesis.models import Model
from experiments.thesis.published import METRICS, Key
from experiments.thesis.results import MINUTE_SLOWDOWN, Results
from experiments.thesis.variants import RESERVATION

SECTIONS = ("4.2.1", "4.2.2", "4.3", "4.4", "4.5", "4.6.1", "4.6.2", "4.7")
"""Sections of the thesis that have figures."""

EXTRA_METRICS = {"median_waiting_time_s": "median wait", "max_waiting_time_s": "longest wait"}


@dataclass(frozen=True)
class Material:
    """All that the report is made of.

    Attributes
    ----------
    scope
        What was requested.
    results
        The finished runs.
    published
        The thesis's values.
    checks
        The comparisons.
    original
        Whether the runs had the published inputs.
    folder
        Where the report is written.
    """

    scope: Scope
    results: Results
    published: Published
    checks: Sequence[Check]
    original: bool
    folder: Path

    @property
    def part_names(self) -> list[str]:
        """Names of the parts that were requested."""
        return [f"part-{number}" for number in self.scope.parts]


def section_blocks(material: Material, artist: Artist, section: str) -> Iterator[Block]:
    """Figures and tables of one section of the thesis, as far as they were run."""
    blocks = [
        *_system(material, artist, section),
        *_full(material, artist, section),
        *_loads(material, artist, section),
        *_parts(material, artist, section),
        *_ratio_figures(material, artist, section),
    ]
    if blocks:
        model = next(family.model for family in FULL_FIGURES if family.section == section)
        yield Heading(f"Section {section} ({MODEL_NAMES[model]})")
        yield from blocks


def _of(families: Sequence[Family], section: str) -> list[Family]:
    return [family for family in families if family.section == section]


def _system(material: Material, artist: Artist, section: str) -> Iterator[Block]:
    for family in _of([f for f in FULL_FIGURES if f.policies == RESERVATION], section):
        if family.model is Model.ALLOC:
            yield from _gantt(material, artist)
        for metric, number in SYSTEM_FIGURES[family.model].items():
            path = artist.system(family, metric)
            if path is not None:
                yield Heading(f"Figure {number}: {metric.removesuffix('_s').replace('_', ' ')}", 3)
                yield Image(path, f"Like Figure {number}; full workload.")
                yield from _table_of(material, family, FULL, metric)


def _gantt(material: Material, artist: Artist) -> Iterator[Block]:
    workload = FULL if material.scope.full else next(iter(material.part_names), "")
    path = artist.gantt(Model.ALLOC.value, workload, "no-future-1")
    if path is not None:
        yield Heading(f"Figure {GANTT_FIGURE}: Gantt chart", 3)
        yield Image(path, f"no-future-1 on {workload}: the first {GANTT_JOBS:,} jobs to start, at most.")
    if material.part_names:
        path = artist.gantt(Model.ALLOC.value, material.part_names[0], "plan-square-0")
        if path is not None:
            yield Image(path, f"For comparison: plan-square-0 on {material.part_names[0]}.")


def _full(material: Material, artist: Artist, section: str) -> Iterator[Block]:
    """Distributions of the full workload; of all parts together where that was not run."""
    for family in _of(FULL_FIGURES, section):
        whole = material.scope.full
        if not whole and section not in {part.section for part in PART_FIGURES}:
            continue
        workloads = [FULL] if whole else material.part_names
        for metric, number in family.numbers.items():
            column = MINUTE_SLOWDOWN if whole and number == MINUTE_BOUND else metric
            path = artist.full(family, column, workloads)
            if path is None:
                continue
            yield Heading(f"Figure {number}: {METRICS[metric]}", 3)
            of = "full workload" if whole else f"here of all jobs of {', '.join(workloads)}, not of the full workload"
            bound = "; bound of 60 s" if column == MINUTE_SLOWDOWN else ""
            yield Image(path, f"Like Figure {number}; {of}{bound}. Mean, quantiles, {family.tail:,} largest values.")
            if whole:
                yield from _table_of(material, family, FULL, column)
                if metric == "mean_waiting_time_s":
                    for extra, words in EXTRA_METRICS.items():
                        yield Paragraph(f"{words.capitalize()}:")
                        yield from _table_of(material, family, FULL, extra)


def _loads(material: Material, artist: Artist, section: str) -> Iterator[Block]:
    workload = FULL if material.scope.full else next(iter(material.part_names), "")
    for family in _of([f for f in FULL_FIGURES if f.policies == RESERVATION], section):
        for number, storage in zip(LOAD_FIGURES[family.model], (False, True), strict=True):
            path = artist.load(family, workload, storage=storage)
            if path is not None:
                yield Heading(f"Figure {number}: {'storage' if storage else 'compute'} load", 3)
                yield Image(path, f"Like Figure {number}; {workload}. What the waiting jobs request over time.")


def _parts(material: Material, artist: Artist, section: str) -> Iterator[Block]:
    for family in _of(PART_FIGURES, section):
        for metric, number in family.numbers.items():
            path = artist.parts(family, metric, material.part_names)
            if path is not None:
                yield Heading(f"Figure {number}: mean {METRICS[metric]} of the split workload", 3)
                yield Image(path, f"Like Figure {number}.")
                if material.original:
                    yield from _part_table(material, family, metric)


def _part_table(material: Material, family: Family, metric: str) -> Iterator[Block]:
    found = {
        (check.key.workload, check.key.policy): check
        for check in material.checks
        if check.group is Group.PART and (check.key.model, check.key.metric) == (family.model.value, metric)
    }
    rows = []
    for part in material.part_names:
        checks = [found.get((part, policy)) for policy in family.policies]
        rows.append((part, *(pair(check) for check in checks)))
    yield Paragraph("Reproduced / published (deviation):")
    yield Table(("part", *family.policies), rows)


def _ratio_figures(material: Material, artist: Artist, section: str) -> Iterator[Block]:
    for family in _of(RATIO_FIGURES, section):
        for metric, number in family.numbers.items():
            path = artist.ratios(family, metric, material.part_names)
            if path is not None:
                yield Heading(f"Figure {number}: {METRICS[metric]}, normalised to backfill-sjf-1", 3)
                yield Image(path, f"Like Figure {number}. One dot per part; diamond: published median of these parts.")


def _table_of(material: Material, family: Family, workload: str, metric: str) -> Iterator[Block]:
    keys = {Key(family.model.value, workload, policy, metric) for policy in family.policies}
    found = {check.key.policy: check for check in material.checks if check.key in keys}
    rows = [found[policy] for policy in family.policies if policy in found]
    if rows:
        yield listed(rows, ("schedule",))

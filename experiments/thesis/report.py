"""The report: published and reproduced values side by side, how close they are, and the thesis's kinds of figures."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from experiments import folders
from experiments.spec import Model
from experiments.thesis.campaign import Scope
from experiments.thesis.checks import Check, Group, Published, Verdict
from experiments.thesis.document import Block, Heading, Image, Listing, Paragraph, Table, to_html, to_markdown
from experiments.thesis.draw import GANTT_JOBS, Artist
from experiments.thesis.figures import (
    FULL_FIGURES, GANTT_FIGURE, LOAD_FIGURES, MINUTE_BOUND, MODEL_NAMES, PART_FIGURES, RATIO_FIGURES, SYSTEM_FIGURES,
    Family,
)  # fmt: skip
from experiments.thesis.inputs import FULL
from experiments.thesis.published import METRICS, UNSOUND, Key
from experiments.thesis.results import MINUTE_SLOWDOWN, Results
from experiments.thesis.variants import ALIASES, RESERVATION, SPLIT, is_random

PLOTS = "plots"
EXTRA_METRICS = {"median_waiting_time_s": "median wait", "max_waiting_time_s": "longest wait"}


@dataclass(frozen=True)
class Material:
    """All that the report is made of.

    Attributes
    ----------
    scope
        What was asked for.
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
        """Names of the parts that were asked for."""
        return [f"part-{number}" for number in self.scope.parts]


def write_report(material: Material) -> tuple[Path, Path]:
    """Write ``REPORT.md``, ``report.html``, ``comparison.csv`` and the plots; return the paths of the first two."""
    blocks = list(_blocks(material))
    markdown, page = material.folder / "REPORT.md", material.folder / "report.html"
    folders.write_text(markdown, to_markdown(blocks, material.folder))
    folders.write_text(page, to_html(blocks))
    folders.write_text(material.folder / "comparison.csv", comparison_csv(material.checks))
    return markdown, page


def comparison_csv(checks: Sequence[Check]) -> str:
    """All comparisons as a table."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    head = ("group", "model", "workload", "policy", "metric", "figure", "published", "reproduced", "deviation")
    writer.writerow((*head, "tolerance", "verdict"))
    for check in checks:
        key = check.key
        writer.writerow(
            (check.group.value, key.model, key.workload, key.policy, key.metric, check.figure)
            + (check.published, check.reproduced, f"{check.deviation:.6f}", check.tolerance, check.verdict.value)
        )
    return text.getvalue()


def tally(checks: Sequence[Check]) -> Table:
    """How many values of each group are as close as they should be."""
    rows = []
    for group in Group:
        for model in Model:
            for judged in (True, False):
                found = [c for c in checks if (c.group, c.key.model, c.judged) == (group, model.value, judged)]
                if not found:
                    continue
                close = sum(check.verdict in (Verdict.MET, Verdict.WITHIN) for check in found)
                wanted = "required" if judged else "told only"
                rows.append(
                    (group.value, MODEL_NAMES[model], _tolerances(found), wanted, str(len(found)), str(close))
                    + (f"{100 * close / len(found):.0f} %",)
                )
    return Table(("compared", "model", "tolerance", "judged", "values", "close", "share"), rows)


def _blocks(material: Material) -> Iterator[Block]:
    yield Heading("The thesis's evaluation, repeated", 1)
    yield Paragraph(_subject(material))
    yield Heading("How close")
    yield tally(material.checks)
    missed = [check for check in material.checks if check.verdict is Verdict.MISSED]
    if missed:
        yield Paragraph("Missed:")
        yield _listed(missed)
    yield from _means(material)
    yield from _normalised(material)
    yield from _measured(material)
    yield Heading("What differs, and why")
    yield Listing(tuple(_remarks(material)))
    artist = Artist(
        material.results, material.published, material.folder / PLOTS, original=material.original
    )
    for section in ("4.2.1", "4.2.2", "4.3", "4.4", "4.5", "4.6.1", "4.6.2", "4.7"):
        yield from _section(material, artist, section)
    yield from _cost(material)


def _subject(material: Material) -> str:
    scope = material.scope
    models = " and ".join(MODEL_NAMES[model] for model in scope.models)
    parts = ", ".join(str(number) for number in scope.parts) or "none"
    source = (
        "The inputs are the published files."
        if material.original
        else "The published inputs were not there: burst buffers and traffic were drawn anew from the KTH log, so only "
        "statistics can be compared, and nothing is judged."
    )
    return (
        f"{len(material.results.rows)} runs of the published schedules, to the letter of the published code; model "
        f"{models}; parts {parts}; full workload: {'yes' if scope.full else 'no'}; seeds of the annealing "
        f"{', '.join(map(str, scope.seeds))}. {source} Parts are counted from 0 as in the files (the thesis counts "
        f"from 1). In the figures, diamonds are published values."
    )


def _means(material: Material) -> Iterator[Block]:
    chosen = [check for check in material.checks if check.group is Group.MEAN]
    if not chosen:
        return
    yield Heading("Means over the parts")
    for model in material.scope.models:
        for metric, name in METRICS.items():
            rows = [c for c in chosen if (c.key.model, c.key.metric) == (model.value, metric)]
            if rows:
                yield Heading(f"{MODEL_NAMES[model]}: {name}", 3)
                yield _listed(rows, ("schedule",))


def _normalised(material: Material) -> Iterator[Block]:
    chosen = [check for check in material.checks if check.group is Group.RATIO]
    if not chosen:
        return
    yield Heading("Normalised to backfill-sjf-1")
    yield Paragraph("Median over the parts of each part's mean divided by that of backfill-sjf-1.")
    for model in material.scope.models:
        rows = [check for check in chosen if check.key.model == model.value]
        if rows:
            yield Heading(f"{MODEL_NAMES[model]}", 3)
            yield _listed(rows, ("schedule", "metric"))


def _measured(material: Material) -> Iterator[Block]:
    chosen = [check for check in material.checks if check.group is Group.MEASURED]
    if chosen:
        yield Heading("The published scheduler itself")
        yield Paragraph(
            "The published scheduler was run again under the real Batsim on the published inputs; these values are "
            "known to all digits, and nothing in them is random: the schedules should be the same."
        )
        yield _listed(chosen, ("workload", "schedule", "metric"))


def _section(material: Material, artist: Artist, section: str) -> Iterator[Block]:
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
                yield Image(path, f"Like Figure {number}; {workload}. What the waiting jobs ask for over time.")


def _parts(material: Material, artist: Artist, section: str) -> Iterator[Block]:
    for family in _of(PART_FIGURES, section):
        for metric, number in family.numbers.items():
            path = artist.parts(family, metric, material.part_names)
            if path is not None:
                yield Heading(f"Figure {number}: mean {METRICS[metric]} of the split workload", 3)
                yield Image(path, f"Like Figure {number}. Whiskers: 95 % bootstrap interval over the jobs of the part.")
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
        rows.append((part, *(_pair(check) for check in checks)))
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
        yield _listed(rows, ("schedule",))


_NAMED = {
    "workload": lambda check: check.key.workload,
    "schedule": lambda check: check.key.policy,
    "metric": lambda check: check.key.metric.removeprefix("median_normalised_").removesuffix("_s").replace("_", " "),
}


def _listed(checks: Sequence[Check], names: Sequence[str] = ("schedule", "workload", "metric")) -> Table:
    rows = [
        (
            *(_NAMED[name](check) for name in names),
            _number(check.published),
            _number(check.reproduced),
            _deviation(check),
            _tolerance(check),
            check.verdict.value,
            check.figure,
        )
        for check in checks
    ]
    return Table((*names, "published", "reproduced", "deviation", "tolerance", "verdict", "figure"), rows)


def _remarks(material: Material) -> Iterator[str]:
    yield (
        "The published annealing draws from Python's random numbers, ours from its own seeded generator: `plan-*` can "
        "agree in distribution only. Seeds of one schedule differ by about 2 % in the mean over the parts."
    )
    yield (
        "`full`: the original full files are lost. The inputs are put together from the parts, whose burst buffers "
        "were drawn anew; so single values of the full workload agree statistically, as far as they can."
    )
    yield (
        "`filler` and `no-future-1` react to differences of a fraction of a second, and the published filler takes "
        "storage nodes outside a group in the order of a hash table; hence their wider tolerances."
    )
    for ours, same in ALIASES.items():
        yield (
            f"`{ours}` is `{same}`: the published code sums the planned starts, which orders plans as the sum of the "
            "waiting times does; the objective of the thesis's text (the latest start) was never measured."
        )
    yield (
        "Reservation depths of 2 and more: in the published code a reserved job does not start even when its "
        "reservation begins now. Section 4.7's conclusion rests on that; these runs repeat it to the letter."
    )
    yield f"Figure {MINUTE_BOUND} has a bound of 60 s for the bounded slowdown, all others one of 600 s."
    yield (
        "Storage utilisation (Figures 4.3 and 4.15) is left out: the published values lack the number of nodes and "
        "divide by an eighth of the capacity."
    )
    for (model, workload, policy), reason in UNSOUND.items():
        yield f"`{policy}`, model {model}, {workload} is left out on both sides: {reason}."


def _cost(material: Material) -> Iterator[Block]:
    rows = []
    results, published = material.results, material.published
    for model in material.scope.models:
        for policy in dict.fromkeys((*SPLIT, *(row["policy"] for row in results.rows))):
            parts = [results.values(model.value, p, policy, "scheduler_cpu_s") for p in material.part_names]
            split = [fmean(values) for values in parts if values]
            whole = results.value(model.value, FULL, policy, "scheduler_cpu_s")
            given = published.get(Key(model.value, FULL, policy, "scheduler_s"))
            if split or whole is not None:
                rows.append(
                    (policy, MODEL_NAMES[model], f"{fmean(split):.2f}" if split else "-")
                    + ("-" if whole is None else f"{whole:,.1f}", f"{given.value:,.0f}" if given else "-")
                    + (f"{given.value / whole:,.0f}" if given and whole else "-",)
                )
    if rows:
        yield Heading("What it cost")
        yield Paragraph(
            "CPU seconds spent in the scheduler. The published ones are wall-clock seconds of another machine: the "
            "ratio is an order of magnitude."
        )
        yield Table(("schedule", "model", "per part", "full workload", "published (full)", "ratio"), rows)


def _pair(check: Check | None) -> str:
    if check is None:
        return "-"
    return f"{_number(check.reproduced)} / {_number(check.published)} ({_deviation(check)})"


def _number(value: float) -> str:
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 100 else f"{value:.3f}"


def _deviation(check: Check) -> str:
    if check.absolute:
        return f"{check.deviation:+.4f}"
    return f"{100 * check.deviation:+.2f} %"


def _tolerance(check: Check) -> str:
    return f"{check.tolerance:g}" if check.absolute else f"{100 * check.tolerance:.0f} %"


def _tolerances(checks: Sequence[Check]) -> str:
    texts = dict.fromkeys(_tolerance(check) for check in checks)
    return ", ".join(texts) if checks[0].group is not Group.MEASURED else "equal"


def describe_seeds(results: Results, model: str, parts: Sequence[str], metric: str) -> Mapping[str, tuple[float, float]]:
    """Least and largest mean over the parts among the seeds, for the schedules that depend on them."""
    found = {}
    for policy in SPLIT:
        values = [results.values(model, part, policy, metric) for part in parts if results.has(model, part, policy)]
        if is_random(policy) and values:
            means = [fmean(column) for column in zip(*values, strict=False)]
            found[policy] = min(means), max(means)
    return found

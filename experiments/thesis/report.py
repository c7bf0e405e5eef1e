"""The report: published and reproduced values side by side, how close they are, and the thesis's kinds of figures."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean

from experiments import folders
from experiments.studies.document import Block, Heading, Listing, Paragraph, Table, to_html, to_markdown
from experiments.thesis.cells import comparison_csv, listed, number, tally
from experiments.thesis.chance import draws_of
from experiments.thesis.checks import Check, Group, Verdict, common_parts
from experiments.thesis.draw import Artist
from experiments.thesis.figures import MINUTE_BOUND, MODEL_NAMES
from experiments.thesis.inputs import FULL
from experiments.thesis.models import Model
from experiments.thesis.published import METRICS, UNSOUND, Key
from experiments.thesis.sections import SECTIONS, Material, section_blocks
from experiments.thesis.variants import ALIASES, SPLIT, is_random

PLOTS = "plots"

CHANCE_METRICS = ("mean_waiting_time_s", "mean_bounded_slowdown")


def write_report(material: Material) -> tuple[Path, Path]:
    """Write ``REPORT.md``, ``report.html``, ``comparison.csv`` and the plots; return the paths of the first two."""
    blocks = list(_blocks(material))
    markdown, page = material.folder / "REPORT.md", material.folder / "report.html"
    folders.write_text(markdown, to_markdown(blocks, material.folder))
    folders.write_text(page, to_html(blocks))
    folders.write_text(material.folder / "comparison.csv", comparison_csv(material.checks))
    return markdown, page


def _blocks(material: Material) -> Iterator[Block]:
    yield Heading("The thesis's evaluation, repeated", 1)
    yield Paragraph(_subject(material))
    yield Heading("How close")
    yield Paragraph(
        "Required are: with the published inputs and all 16 parts, means over the parts and medians of the ratios "
        "(waiting time, turnaround time, bounded slowdown); always, equality with the published scheduler's own runs "
        "under the real Batsim. Everything else is only reported: single parts and the full workload are single draws "
        "of chaotic schedules, and the thesis itself calls its mean slowdowns unreliable."
    )
    yield tally(material.checks)
    missed = [check for check in material.checks if check.verdict is Verdict.MISSED]
    if missed:
        yield Paragraph("Missed:")
        yield listed(missed, ("model", "schedule", "workload", "metric"))
    yield from _means(material)
    yield from _normalised(material)
    yield from _measured(material)
    yield Heading("What differs, and why")
    yield Listing(tuple(_remarks(material)))
    artist = Artist(material.results, material.published, material.folder / PLOTS, original=material.original)
    for section in SECTIONS:
        yield from section_blocks(material, artist, section)
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
                yield listed(rows, ("schedule",))
    yield from _seeds(material)


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
            yield listed(rows, ("schedule", "metric"))


def _measured(material: Material) -> Iterator[Block]:
    chosen = [check for check in material.checks if check.group is Group.MEASURED]
    if chosen:
        yield Heading("The published scheduler itself")
        yield Paragraph(
            "The published scheduler was run again under the real Batsim on the published inputs; these values are "
            "known to all digits, and nothing in them is random: the schedules should be the same. Compared are the "
            "means of waiting time, turnaround time and both slowdowns, the makespan and the number of killed jobs."
        )
        yield _measured_table(chosen)


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


def _measured_table(checks: Sequence[Check]) -> Table:
    """One row per run: the waiting times with their digits, the killed jobs, and how many values are equal."""
    runs: dict[tuple[str, str, str], dict[str, Check]] = {}
    for check in checks:
        runs.setdefault((check.key.model, check.key.workload, check.key.policy), {})[check.key.metric] = check
    rows = []
    for (model, workload, policy), found in runs.items():
        wait, killed = found["mean_waiting_time_s"], found["killed"]
        met = sum(check.verdict is Verdict.MET for check in found.values())
        rows.append(
            (
                *(MODEL_NAMES[Model(model)], workload, policy, f"{wait.published:,.4f}", f"{wait.reproduced:,.4f}"),
                *(f"{killed.published:.0f}", f"{killed.reproduced:.0f}", f"{met} of {len(found)}"),
                Verdict.MET.value if met == len(found) else Verdict.MISSED.value,
            )
        )
    names = ("model", "workload", "schedule", "mean wait published (s)", "reproduced", "killed published", "reproduced")
    return Table((*names, "values equal", "verdict"), rows)


def _seeds(material: Material) -> Iterator[Block]:
    """How far the seeds of one schedule lie apart, and the published draw from them."""
    rows = []
    for model, policy, metric in itertools.product(material.scope.models, filter(is_random, SPLIT), CHANCE_METRICS):
        place = (model.value, policy, metric)
        parts = common_parts(material.results, material.published, *place, material.part_names)
        ours = [material.results.values(model.value, part, policy, metric) for part in parts]
        draws = draws_of(ours, [material.published[Key(model.value, part, policy, metric)].value for part in parts])
        if draws is not None:
            cells = (number(draws.published), number(draws.mean), number(draws.deviation))
            means = "  ".join(number(mean) for mean in draws.means)
            distance = f"{draws.distance:+.1f}" if material.original else "-"  # other inputs: another distribution
            rows.append((policy, MODEL_NAMES[model], METRICS[metric], *cells, distance, means))
    if rows:
        yield Heading("Seeds", 3)
        yield Paragraph(
            "Means over the parts. A published value is one draw, and so is each of our seeds; 'one draw' is the "
            "standard deviation of such a draw, from the spread of our seeds within each part, and 'distance' what "
            "lies between the published value and our mean, in standard errors of that difference: between -2 and 2 "
            "it may well be chance, whatever the tolerance."
        )
        names = ("schedule", "model", "metric", "published", "our mean", "one draw", "distance", "by seed")
        yield Table(names, rows)


def _cost(material: Material) -> Iterator[Block]:
    rows = []
    results, published = material.results, material.published
    for model in material.scope.models:
        for policy in dict.fromkeys((*SPLIT, *(row["policy"] for row in results.rows))):
            parts = [results.values(model.value, p, policy, "scheduler_cpu_s") for p in material.part_names]
            split = [fmean(values) for values in parts if values]
            whole = results.value(model.value, FULL, policy, "scheduler_cpu_s")
            given = published.get(Key(model.value, FULL, policy, "scheduler_s"))
            cells = (
                f"{fmean(split):.2f}" if split else "-",
                f"{whole:,.1f}" if whole is not None else "-",
                f"{given.value:,.0f}" if given else "-",
                f"{given.value / whole:,.0f}" if given and whole else "-",
            )
            if split or whole is not None:
                rows.append((policy, MODEL_NAMES[model], *cells))
    if rows:
        yield Heading("What it cost")
        yield Paragraph(
            "CPU seconds spent in the scheduler. The published ones are wall-clock seconds of another machine: the "
            "ratio is an order of magnitude."
        )
        yield Table(("schedule", "model", "per part", "full workload", "published (full)", "ratio"), rows)

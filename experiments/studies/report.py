"""One report for all studies: claims, readings by statement, choices, figures."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import msgspec
from rich.console import Console

from spillway.analysis.document.blocks import Block, Heading, Image, Listing, Paragraph, Table
from spillway.analysis.document.html import to_html
from spillway.analysis.document.terminal import say
from spillway.analysis.document.terminal import show as show_table
from spillway.analysis.document.text import to_csv, to_markdown
from spillway.analysis.tables.names import slug
from spillway.experiments.campaign.folder import reuse
from spillway.experiments.run import codehash, version
from spillway.experiments.run.folders import write_text
from spillway.experiments.studies.claims import Parameter
from spillway.experiments.studies.pairs import Pair, Reading, apart
from spillway.experiments.studies.results import Results
from spillway.experiments.studies.runner import PointResults
from spillway.experiments.studies.study import Study
from spillway.experiments.studies.tables import Means
from spillway.experiments.studies.verdicts import Case, JudgedClaim, VariedClaim, Verdict, width

CLAIMS = "claims.json"
"""File of a study's verdicts, written by :func:`spillway.experiments.campaign.folder.reuse.keep`."""

MARKS = {
    Verdict.REPRODUCED: "yes",
    Verdict.FITS_ONE_RUN: "fits",
    Verdict.NOT_REPRODUCED: "no",
    Verdict.FITTED: "fitted",
    Verdict.NOT_JUDGED: "?",
}
"""Forms of the verdicts in the table of readings."""


class Line(msgspec.Struct, frozen=True):
    """A claim in the table of all studies."""

    study: str
    group: str
    place: str
    name: str
    statement: str
    published: str
    ours: str
    verdict: str
    why: str


@dataclass(frozen=True)
class Outcome:
    """Contents of the report.

    Attributes
    ----------
    study, played
        The study and its points.
    results
        The values under the study's own reading.
    judged
        Claims under the study's own reading.
    crossed
        Claims under every compared reading.
    varied
        Results over draws of the fitted numbers, by claim.
    withheld
        Reason why published values are left out ("": the conditions are the paper's).
    quick
        Whether fewer seeds and cases than the study's were played.
    command
        Command that repeats the study.
    """

    study: Study
    played: PointResults
    results: Results
    judged: Sequence[JudgedClaim]
    crossed: Mapping[Reading, Sequence[JudgedClaim]] = field(default_factory=dict)
    varied: Mapping[str, VariedClaim] = field(default_factory=dict)
    withheld: str = ""
    quick: bool = False
    command: str = ""

    @cached_property
    def tables(self) -> list[tuple[Means, Table]]:
        """The study's tables that have a row for the played points."""
        made = [(kind, kind(self.results)) for kind in self.study.tables]
        return [(kind, table) for kind, table in made if table.rows]


def counts(judged: Sequence[JudgedClaim]) -> str:
    """Number of claims by verdict, in words."""
    found = ", ".join(f"{sum(item.verdict is verdict for item in judged)} {verdict.value}" for verdict in Verdict)
    return f"{len(judged)} claims: {found}"


def show(outcome: Outcome, console: Console) -> None:
    """Print the claims, their count, and the comparison of readings."""
    if outcome.judged:
        alone = [judged for judged in outcome.judged if not judged.claim.group]
        if alone:
            show_table(console, _claims(outcome, alone), outcome.study.title)
        if len(alone) < len(outcome.judged):
            show_table(console, _group_table(outcome.judged), "Groups of claims")
        say(console, counts(outcome.judged))
    for kind, table in outcome.tables:
        show_table(console, table, kind.title)
    if outcome.crossed:
        say(console, _reading_sentence(outcome.crossed))


def write(outcome: Outcome, folder: Path, figures: Sequence[Path] = ()) -> list[Path]:
    """Write the report, its tables as CSV files, and the verdicts; return the files of report and tables."""
    blocks = list(_blocks(outcome, figures))
    texts = {
        "report.md": to_markdown(blocks, folder),
        "report.html": to_html(blocks),
        "claims.csv": _csv(_claims(outcome, outcome.judged)),
        "points.csv": _points(outcome),
    }
    if outcome.crossed:
        texts["readings.csv"] = _csv(_reading_table(outcome.crossed))
        texts["pairs.csv"] = _csv(_pair_table(outcome.study, apart(outcome.study, outcome.crossed)))
    if outcome.varied:
        texts["varied.csv"] = _csv(_varied_table(outcome))
    texts |= {f"{slug(kind.title).lower()}.csv": _estimates(kind, outcome.results) for kind, _ in outcome.tables}
    for name, text in texts.items():
        write_text(folder / name, text)
    if not outcome.quick:
        reuse.keep(folder / CLAIMS, outcome.study.name, codehash.code_of(__name__), lines_of(outcome))
    return [folder / name for name in texts]


def lines_of(outcome: Outcome) -> list[Line]:
    """The claims as lines of the table of all studies."""
    return [
        Line(
            outcome.study.name, judged.claim.group, judged.claim.place, judged.claim.name, judged.claim.statement,
            "" if outcome.withheld else _published(judged), _ours(judged), judged.verdict.value, judged.why,
        )
        for judged in outcome.judged
    ]  # fmt: skip


def _reading_sentence(crossed: Mapping[Reading, Sequence[JudgedClaim]]) -> str:
    """A sentence on readings that give all statements; readings whose points were not all played are counted apart.

    A statement without a value under any reading is not compared: for example, its points are too many to cross.
    """
    claims = len(next(iter(crossed.values())))
    compared = [place for place in range(claims) if any(every[place].cases for every in crossed.values())]
    judged = {reading: [every[place] for place in compared] for reading, every in crossed.items()}
    played = {reading: ones for reading, ones in judged.items() if ones and all(item.cases for item in ones)}
    looked = f"{len(played)} readings were compared"
    looked += (
        f", {len(crossed) - len(played)} more were not played to their end." if len(played) < len(crossed) else "."
    )
    left_out = claims - len(compared)
    if left_out:
        looked += f" {left_out} statements are compared under none of them."
    if not played:
        return looked
    all_hold = [reading for reading, ones in played.items() if all(judged_claim.verdict.holds for judged_claim in ones)]
    if all_hold and not left_out:
        return f"{looked} All statements hold under: {'; '.join(map(_words, all_hold))}."
    most = max(sum(judged_claim.verdict.holds for judged_claim in ones) for ones in played.values())
    return f"{looked} No reading tried gives all statements; the most that one gives is {most} of {len(compared)}."


def _reading_table(crossed: Mapping[Reading, Sequence[JudgedClaim]]) -> Table:
    """Readings by statement, with the verdicts."""
    readings = list(crossed)
    axes = [name for name, _ in readings[0]]
    names = [judged_claim.claim.name for judged_claim in crossed[readings[0]]]
    rows = [
        (
            *(str(value) for _, value in reading),
            *(MARKS[judged_claim.verdict] for judged_claim in crossed[reading]),
            str(sum(judged_claim.verdict.holds for judged_claim in crossed[reading])),
        )
        for reading in readings
    ]
    return Table((*axes, *names, "hold"), rows)


def _pair_table(study: Study, found: Sequence[Pair]) -> Table:
    """Pairs of statements that no reading gives together, with the choices that decide them, and joined readings."""
    rows = [
        (
            judged.one, judged.other, str(len(judged.gives_one)), str(len(judged.gives_other)),
            ", ".join(choice.axis for choice in judged.decided_by(study.choices)), _joined_words(judged),
        )
        for judged in found
    ]  # fmt: skip
    columns = ("statement", "excludes", "readings that give it", "that give the other", "decided by", "joined readings")
    return Table(columns, rows)


def _joined_words(pair: Pair) -> str:
    """Number of compared readings that join a change for each of the two statements, in words."""
    if not pair.tried and not pair.left:
        return "no other"
    return f"{len(pair.tried)} compared" + (f", {len(pair.left)} not" if pair.left else "")


def _varied_table(outcome: Outcome) -> Table:
    """Results of claims over draws of the fitted numbers."""
    rows = [
        (
            judged.claim.name, _ours(judged), f"{found.holds} of {found.draws}", _number(found.low),
            _number(found.high), judged.verdict.value,
        )
        for judged in outcome.judged
        if (found := outcome.varied.get(judged.claim.name)) is not None
    ]  # fmt: skip
    return Table(("claim", "ours", "holds in draws", "smallest", "largest", "verdict"), rows)


def _words(reading: Reading) -> str:
    return ", ".join(f"{name} {value}" for name, value in reading)


def _group_table(judged: Sequence[JudgedClaim]) -> Table:
    """Number of claims by group and verdict."""
    found = Counter((judged_claim.claim.group, judged_claim.verdict) for judged_claim in judged)
    groups = [group for group in dict.fromkeys(judged_claim.claim.group for judged_claim in judged) if group]
    rows = [(group, *(str(found[group, verdict]) for verdict in Verdict)) for group in groups]
    return Table(("group", *(verdict.value for verdict in Verdict)), rows)


def _claims(outcome: Outcome, judged: Sequence[JudgedClaim]) -> Table:
    """Claims with our values; published ones only if the conditions are the paper's."""
    published = not outcome.withheld
    columns = ("place", "claim", *(("published",) if published else ()), "ours [95 %]", "p", "verdict", "why")
    rows = []
    for item in judged:
        stated = (_published(item),) if published else ()
        p_value = "" if math.isnan(item.p_value) or item.claim.exact else f"{item.p_value:.3f}"
        verdict = item.verdict.value
        rows.append((item.claim.place, item.claim.statement, *stated, _ours(item), p_value, verdict, item.why))
    return Table(columns, rows)


def _published(one: JudgedClaim) -> str:
    return f"{one.claim.region.published} {one.claim.unit}".strip()


def _ours(one: JudgedClaim) -> str:
    if not one.cases:
        return ""
    if len(one.cases) == 1:
        return _value(one, one.cases[0])
    shown = [one.cases[0], one.cases[len(one.cases) // 2], one.cases[-1]] if len(one.cases) > 3 else one.cases
    words = "; ".join(f"{case.words}: {_value(one, case)}" for case in shown)
    return f"{one.inside} of {len(one.cases)} cases: {words}"


def _value(one: JudgedClaim, case: Case) -> str:
    found = case.estimate
    if math.isnan(found.value):
        return "not defined"
    value = _number(found.value)
    if math.isnan(found.low) or found.low == found.high:
        return value
    if one.claim.one_run:
        between = f"{_number(found.low)} to {_number(found.high)}"
        return f"{value}, one run {between} ({width(one.claim, found):.0%} wide)"
    return f"{value} [{_number(found.low)}, {_number(found.high)}]"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _blocks(outcome: Outcome, figures: Sequence[Path]) -> Iterator[Block]:
    study = outcome.study
    yield Heading(study.title, 1)
    if study.source:
        yield Paragraph(f"After {study.source}.")
    if outcome.withheld:
        yield Paragraph(f"Nothing is judged, and no published value is printed: {outcome.withheld}.")
    elif outcome.quick:
        yield Paragraph("A quick run: claims are judged on the few seeds and cases that it played.")
    if outcome.judged:
        yield Heading("Claims")
        yield Paragraph(
            f"{counts(outcome.judged)}. Intervals of 95 % over {study.unit}s (Student's, of logarithms for ratios). "
            "A claim is decided if the p-value of its contrary, adjusted for the claims of its family (Holm; the "
            "authors' statements are one family, each group of values is another), is below 0.05; a "
            "number counts as reproduced only within its tolerance on both sides. A number from a single run fits if "
            "it lies in the interval of 95 % of a single run of ours."
        )
        yield from _grouped(outcome)
    if outcome.crossed:
        yield Heading("Readings by statement")
        yield Paragraph(_reading_sentence(outcome.crossed))
        yield _reading_table(outcome.crossed)
        yield Heading("Statements that no reading gives together", 3)
        found = apart(study, outcome.crossed)
        yield Paragraph(
            f"{len(found)} pairs. Each of the two holds under some reading; no reading gives both, not even by their "
            "means. A reading that gives the one and another that gives the other, if they change different choices, "
            "were joined and compared, too."
        )
        if found:
            yield _pair_table(study, found)
    if outcome.varied:
        yield Heading("Dependence on fitted numbers")
        yield Paragraph(f"{study.draws} draws of all of them from the ranges that the paper leaves open.")
        yield _varied_table(outcome)
    for kind, table in outcome.tables:
        yield Heading(kind.title)
        yield table
    yield from _chosen(study)
    yield from _how(outcome)
    for path in figures:
        yield Image(path, path.stem.replace("-", " "))


def _grouped(outcome: Outcome) -> Iterator[Block]:
    """Claims without a group, the number of claims by group and verdict, and the claims of each group."""
    groups: dict[str, list[JudgedClaim]] = {}
    for item in outcome.judged:
        groups.setdefault(item.claim.group, []).append(item)
    if "" in groups:
        yield _claims(outcome, groups.pop(""))
    if groups:
        yield _group_table(outcome.judged)
    for group, judged in groups.items():
        yield Heading(group, 3)
        yield _claims(outcome, judged)


def _chosen(study: Study) -> Iterator[Block]:
    if study.choices:
        yield Heading("Ambiguous points of the paper")
        rows = [
            (choice.axis, choice.question, str(value), words, ", ".join(choice.fitted.get(value, ())))
            for choice in study.choices
            for value, words in choice.readings.items()
        ]
        yield Table(("axis", "question", "value", "reading", "fitted to"), rows)
    if study.parameters:
        yield Heading("Numbers that were chosen")
        columns = ("parameter", "value", "range", "why", "fitted to")
        yield Table(columns, [_parameter(parameter) for parameter in study.parameters])


def _parameter(one: Parameter) -> tuple[str, ...]:
    between = f"{one.between[0]:g} to {one.between[1]:g}" if one.between else ""
    return (one.name, str(one.value), between, one.why, ", ".join(one.fitted_to))


def _how(outcome: Outcome) -> Iterator[Block]:
    played = outcome.played
    yield Heading("Runs")
    points = [f"{len(played.values)} points; code of commit {version.commit() or 'not known'}"]
    if outcome.command:
        points.append(f"repeat it with `{outcome.command}`")
    if played.old:
        points.append(f"{len(played.old)} points were made by other code; --rerun repeats them")
    points += [f"failed: {point.id}: {cause}" for point, cause in played.failed.items()]
    yield Listing((*points, *outcome.study.notes))


def _estimates(kind: Means, results: Results) -> str:
    """A table with all digits: a line for each row and value."""
    lines = [
        [*key, name, repr(found.value), repr(found.low), repr(found.high), found.units]
        for key, values in kind.estimates(results).items()
        for name, found in values.items()
    ]
    return to_csv([*kind.rows, "measure", "value", "low", "high", "units"], lines)


def _points(outcome: Outcome) -> str:
    values = outcome.played.values
    axes = list(outcome.study.axes)
    names = sorted({name for found in values.values() for name in found})
    rows = [
        [*(point.get(axis) for axis in axes), *(repr(found[name]) if name in found else "" for name in names)]
        for point, found in values.items()
    ]
    return to_csv([*axes, *names], rows)


def _csv(table: Table) -> str:
    return to_csv(table.headings, table.rows)

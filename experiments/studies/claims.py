"""What a paper states, what of our choices it depends on, and the judge."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from spillway.experiments.run.errors import SpecError
from spillway.experiments.studies import statistics
from spillway.experiments.studies.points import Grid, Value
from spillway.experiments.studies.results import NotRun, Results
from spillway.experiments.studies.statistics import FEWEST, LEVEL, Estimate, Sample

Measure = Callable[[Results], Sample]
"""From the results of one reading to one value per unit. Measures that are equal count as the same value."""


@dataclass(frozen=True)
class Region:
    """Where our value must lie for the claim to hold.

    Attributes
    ----------
    low, high
        Both ends belong to it; infinite where the claim has one side only.
    published
        The paper's value, as it is printed in tables.
    """

    low: float
    high: float
    published: str

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


def within(value: float, tolerance: float, *, relative: bool = False) -> Region:
    """A published number; ours may differ by the tolerance on both sides (in its unit, or as a share of it)."""
    reach = abs(value) * tolerance if relative else tolerance
    return Region(value - reach, value + reach, f"{value:,g} ± {reach:,.3g}")


def between(low: float, high: float) -> Region:
    """A published range."""
    return Region(low, high, f"{low:,g} to {high:,g}")


def at_least(bound: float) -> Region:
    """A one-sided statement, judged as it is stated."""
    return Region(bound, math.inf, f">= {bound:,g}")


def at_most(bound: float) -> Region:
    """A one-sided statement, judged as it is stated."""
    return Region(-math.inf, bound, f"<= {bound:,g}")


def more_than(bound: float) -> Region:
    """A one-sided statement that equality does not satisfy."""
    return Region(math.nextafter(bound, math.inf), math.inf, f"> {bound:,g}")


def less_than(bound: float) -> Region:
    """A one-sided statement that equality does not satisfy."""
    return Region(-math.inf, math.nextafter(bound, -math.inf), f"< {bound:,g}")


@dataclass(frozen=True)
class Premise:
    """What must be so for a claim to say anything: where its mean is outside the region, nothing is judged.

    Attributes
    ----------
    words
        What is measured.
    """

    words: str
    measure: Measure
    region: Region


@dataclass(frozen=True)
class Claim:
    """A statement of a paper.

    Attributes
    ----------
    name
        Short and unique within the study.
    place
        Section, figure or table.
    statement
        In our words.
    region
        Where our value must lie.
    measure
        Our value.
    unit
        Of the value ("": a ratio or a number of something named in the statement).
    each
        Axes whose every value is a case of its own: the claim holds where all cases do ("at every load").
    depends
        Parameters and choices of the study that the value depends on; ``None``: on all. One of them that was fitted
        makes the claim fitted.
    exact
        Whether nothing in it is random: then a single value is judged.
    premise
        What must be so, whatever the case; ``None``: nothing.
    group
        Of many alike claims: they are counted together on the screen, and listed after the others in the report.
    """

    name: str
    place: str
    statement: str
    region: Region
    measure: Measure
    unit: str = ""
    each: Grid = field(default_factory=dict)
    depends: tuple[str, ...] | None = None
    exact: bool = False
    premise: Premise | None = None
    group: str = ""

    def cut(self, grid: Grid) -> Claim:
        """The claim on fewer cases: those of the values that a smaller grid has, where it has some of them."""
        kept = {
            axis: [value for value in values if value in grid.get(axis, values)] for axis, values in self.each.items()
        }
        return replace(self, each={axis: kept[axis] or values for axis, values in self.each.items()})


@dataclass(frozen=True)
class Parameter:
    """A number that we had to choose.

    Attributes
    ----------
    name, value, why
        Its name, what was chosen, and from what that follows.
    fitted_to
        The published value that was looked at when it was chosen ("": none).
    """

    name: str
    value: str
    why: str
    fitted_to: str = ""


@dataclass(frozen=True)
class Choice:
    """An ambiguous point of a paper: an axis of the study whose values are readings of it.

    Attributes
    ----------
    axis
        Name of the axis.
    question
        What the paper leaves open, and where.
    readings
        Words by value; the first is the study's own.
    fitted
        Values that were chosen by looking at a published value, with that value.
    crossed
        Whether its readings are compared under all readings of the others; else under their usual ones alone.
    """

    axis: str
    question: str
    readings: Mapping[Value, str]
    fitted: Mapping[Value, str] = field(default_factory=dict)
    crossed: bool = True

    @property
    def usual(self) -> Value:
        """The study's own reading."""
        return next(iter(self.readings))


class Verdict(enum.Enum):
    """What came of a claim."""

    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not reproduced"
    FITTED = "fitted"
    NOT_JUDGED = "not judged"


@dataclass(frozen=True)
class Case:
    """One value of a claim: the axes that it is about, its estimate, and whether that lies in the region."""

    axes: tuple[tuple[str, Value], ...]
    estimate: Estimate

    @property
    def words(self) -> str:
        """The axes in words."""
        return ", ".join(f"{name} {value}" for name, value in self.axes)


@dataclass(frozen=True)
class Judged:
    """A claim with our values.

    Attributes
    ----------
    cases
        One per value of ``each``, or one.
    verdict, why
        What came of it; the reason where it is not plain from the values.
    p_value
        Adjusted probability of the contrary; NaN where nothing was tested.
    """

    claim: Claim
    cases: tuple[Case, ...]
    verdict: Verdict
    why: str = ""
    p_value: float = math.nan

    @property
    def inside(self) -> int:
        """Cases whose mean lies in the region."""
        return sum(case.estimate.value in self.claim.region for case in self.cases)


def judge(claims: Sequence[Claim], results: Results, fitted: Mapping[str, str], *, withheld: str = "") -> list[Judged]:
    """Judge all claims on one reading.

    Parameters
    ----------
    claims
        In the paper's order; the first of two with the same measure counts.
    results
        Of one reading.
    fitted
        Parameters and choices in force that were fitted, with what they were fitted to.
    withheld
        Why nothing may be judged: conditions that are not the paper's ("": they are).
    """
    opened = [_open(claim, results, withheld, claims[:place]) for place, claim in enumerate(claims)]
    tested = {one.claim.name: one.p_value for one in opened if one.verdict is not Verdict.NOT_JUDGED}
    adjusted = statistics.holm(tested)
    return [_decide(one, adjusted[one.claim.name], fitted) if one.claim.name in tested else one for one in opened]


def check_claims(claims: Sequence[Claim]) -> None:
    """Raise :class:`SpecError` where two claims have one name, or a region is empty."""
    names = [claim.name for claim in claims]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise SpecError(f"two claims are called {twice!r}; give each its own name")
    empty = next((claim.name for claim in claims if not claim.region.low <= claim.region.high), None)
    if empty is not None:
        raise SpecError(f"claim {empty!r}: no value can lie in its region")


def _open(claim: Claim, results: Results, withheld: str, before: Sequence[Claim]) -> Judged:
    """Measure a claim, and test it by itself."""
    try:
        samples = {axes: claim.measure(results.at(dict(axes))) for axes in _cases(claim)}
        unmet = _unmet(claim, results)
    except NotRun as missing:
        return Judged(claim, (), Verdict.NOT_JUDGED, f"not run: {missing}")
    cases = tuple(Case(axes, statistics.estimate(sample)) for axes, sample in samples.items())
    why = withheld or unmet or _unfit(claim, samples.values(), before)
    if why:
        return Judged(claim, cases, Verdict.NOT_JUDGED, why)
    p_value = _contrary(claim.region, list(samples.values()))
    return Judged(claim, cases, Verdict.REPRODUCED, p_value=0.0 if claim.exact else p_value)


def _unmet(claim: Claim, results: Results) -> str:
    """Why the premise is not met, with its value ("": it is)."""
    if claim.premise is None:
        return ""
    value = statistics.estimate(claim.premise.measure(results)).value
    if value in claim.premise.region:
        return ""
    return f"{claim.premise.words}: {value:.3g}, must be {claim.premise.region.published}"


def _unfit(claim: Claim, samples: Collection[Sample], before: Sequence[Claim]) -> str:
    """Why a claim cannot be judged ("": it can)."""
    same = next((one for one in before if (one.measure, one.each) == (claim.measure, claim.each)), None)
    if same is not None:
        return f"the value was counted for {same.name!r}"
    if not all(sample.defined for sample in samples):
        return "a value is not defined (a ratio to a mean of 0, or no such job)"
    fewest = min(len(sample.values) for sample in samples)
    if not claim.exact and fewest < FEWEST:
        return f"{fewest} seeds, at least {FEWEST} are needed"
    return ""


def _cases(claim: Claim) -> list[tuple[tuple[str, Value], ...]]:
    found: list[tuple[tuple[str, Value], ...]] = [()]
    for axis, values in claim.each.items():
        found = [(*axes, (axis, value)) for axes in found for value in values]
    return found


def _contrary(region: Region, samples: Sequence[Sample]) -> float:
    """Probability of what was seen if the contrary were true.

    All cases inside: the claim holds unless some case does not, so the largest of their p-values counts. Some outside:
    one that is truly outside is enough, so the smallest counts, times the number of cases.
    """
    means = [statistics.estimate(sample).value for sample in samples]
    if all(mean in region for mean in means):
        return max(_outside(region, sample) for sample in samples)
    beyond = [_inside(region, sample) for sample, mean in zip(samples, means, strict=True) if mean not in region]
    return min(1.0, len(samples) * min(beyond))


def _outside(region: Region, sample: Sample) -> float:
    """p-value of a mean inside: that the true one is beyond either edge."""
    edges = ((region.low, True), (region.high, False))
    return max(statistics.beyond(sample, edge, above=above) for edge, above in edges if math.isfinite(edge))


def _inside(region: Region, sample: Sample) -> float:
    """p-value of a mean outside: that the true one is inside."""
    above = statistics.estimate(sample).value > region.high
    return statistics.beyond(sample, region.high if above else region.low, above=above)


def _chosen(fitted: Mapping[str, str]) -> str:
    """What was chosen by looking at a published value; of many the names, their values are in the study's table."""
    if len(fitted) <= 2:
        return "; ".join(f"{name} was chosen for {what}" for name, what in fitted.items())
    return f"{len(fitted)} numbers were chosen by published values (listed below), {next(iter(fitted))} and others"


def _decide(one: Judged, p_value: float, fitted: Mapping[str, str]) -> Judged:
    claim = one.claim
    depends = {name: what for name, what in fitted.items() if claim.depends is None or name in claim.depends}
    holds = one.inside == len(one.cases)
    if p_value >= LEVEL:
        return Judged(
            claim, one.cases, Verdict.NOT_JUDGED, "the interval reaches over the edge: more seeds are needed", p_value
        )
    if not holds:
        return Judged(claim, one.cases, Verdict.NOT_REPRODUCED, p_value=p_value)
    if depends:
        return Judged(claim, one.cases, Verdict.FITTED, _chosen(depends), p_value)
    return Judged(claim, one.cases, Verdict.REPRODUCED, p_value=p_value)

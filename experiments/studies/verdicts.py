"""The judge: five verdicts, and the dependence of claims on numbers that were chosen by published values.

A claim that holds is *reproduced* if it also holds with other choices of the fitted numbers; it is *fitted* if it does
not, or if a number was chosen by its published value. A number from a paper's single run *fits one run* if it lies in
the prediction interval of a single run of ours.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from spillway.experiments.studies import statistics
from spillway.experiments.studies.claims import Claim, Region
from spillway.experiments.studies.points import Value
from spillway.experiments.studies.results import NotRun, Results
from spillway.experiments.studies.statistics import FEWEST, LEVEL, Estimate, Sample

Fitted = Mapping[str, Sequence[str]]
"""Parameters and choices in force that were chosen by published values, with the claims of these values."""


MORE = "more seeds are needed"
OVER = f"the interval reaches over the edge: {MORE}"
"""Reason of a claim that its seeds do not decide."""


class Verdict(enum.Enum):
    """Verdict on a claim."""

    REPRODUCED = "reproduced"
    FITS_ONE_RUN = "fits one run"
    FITTED = "fitted"
    NOT_REPRODUCED = "not reproduced"
    NOT_JUDGED = "not judged"

    @property
    def holds(self) -> bool:
        """Whether the claim is true of our runs, also if it depends on fitted numbers."""
        return self in (Verdict.REPRODUCED, Verdict.FITS_ONE_RUN, Verdict.FITTED)


@dataclass(frozen=True)
class Case:
    """One value of a claim: its axes, and its estimate (for a single run, with the prediction interval)."""

    axes: tuple[tuple[str, Value], ...]
    estimate: Estimate

    @property
    def words(self) -> str:
        """The axes in words."""
        return ", ".join(f"{name} {value}" for name, value in self.axes)


@dataclass(frozen=True)
class JudgedClaim:
    """A claim with our values.

    Attributes
    ----------
    cases
        One per value of ``each``, or a single one.
    verdict, why
        The verdict, and its reason if it is not clear from the values.
    p_value
        Adjusted probability of the contrary; NaN if nothing was tested.
    family
        Number of claims that were tested and adjusted with it.
    """

    claim: Claim
    cases: tuple[Case, ...]
    verdict: Verdict
    why: str = ""
    p_value: float = math.nan
    family: int = 0

    @property
    def inside(self) -> int:
        """Number of cases with the value in the region (for a single run: with an interval that meets it)."""
        return sum(_inside(self.claim, case.estimate) for case in self.cases)

    @property
    def by_value(self) -> bool:
        """Whether all values lie in the claim's region, perhaps by chance."""
        return bool(self.cases) and self.inside == len(self.cases)


@dataclass(frozen=True)
class VariedClaim:
    """Results of a claim over draws of the fitted numbers.

    Attributes
    ----------
    holds, draws
        Number of draws with all values in the claim's region, and of all draws.
    low, high
        Smallest and largest of its values.
    """

    holds: int
    draws: int
    low: float
    high: float


def judge(
    claims: Sequence[Claim],
    results: Results,
    fitted: Fitted,
    *,
    withheld: str = "",
    varied: Mapping[str, VariedClaim] | None = None,
) -> list[JudgedClaim]:
    """Judge all claims on one reading.

    Parameters
    ----------
    claims
        In the paper's order; the first of two with the same measure counts.
    results
        Results of one reading.
    fitted
        Numbers and choices made by published values.
    withheld
        Reason why nothing is judged: conditions that are not the paper's ("": they are).
    varied
        Results over draws of the fitted numbers (:func:`vary`), by claim; ``None``: nothing was drawn.
    """
    opened = [_open(claim, results, withheld, claims[:place]) for place, claim in enumerate(claims)]
    families: dict[str, dict[str, float]] = {}
    for judged_claim in opened:
        if not math.isnan(judged_claim.p_value):
            families.setdefault(judged_claim.claim.group, {})[judged_claim.claim.name] = judged_claim.p_value
    adjusted = {group: statistics.holm(tested) for group, tested in families.items()}
    return [
        judged_claim
        if judged_claim.verdict is Verdict.NOT_JUDGED
        else _decide(judged_claim, adjusted.get(judged_claim.claim.group, {}), fitted, varied or {})
        for judged_claim in opened
    ]


def vary(claims: Sequence[Claim], draws: Sequence[Results]) -> dict[str, VariedClaim]:
    """Evaluate claims under each draw of the fitted numbers; claims without values there are left out."""
    found: dict[str, VariedClaim] = {}
    for claim in claims:
        each = [_estimates(claim, results) for results in draws]
        values = [estimate.value for estimates in each for estimate in estimates if not math.isnan(estimate.value)]
        if values:
            holds = sum(
                bool(estimates) and all(_inside(claim, estimate) for estimate in estimates) for estimates in each
            )
            found[claim.name] = VariedClaim(holds, len(each), min(values), max(values))
    return found


def _estimates(claim: Claim, results: Results) -> list[Estimate]:
    """Values of a claim's cases; empty if the measured thing, such as a shift, did not happen."""
    try:
        return [_estimate(claim, sample) for sample in _samples(claim, results).values()]
    except NotRun:
        return []


def _open(claim: Claim, results: Results, withheld: str, before: Sequence[Claim]) -> JudgedClaim:
    """Measure a claim, and test it without regard to the others."""
    try:
        samples = _samples(claim, results)
        unmet = _unmet(claim, results)
    except NotRun as missing:
        return JudgedClaim(claim, (), Verdict.NOT_JUDGED, f"not run: {missing}")
    cases = tuple(Case(axes, _estimate(claim, sample)) for axes, sample in samples.items())
    why = withheld or unmet or _unfit(claim, samples.values(), before) or _too_wide(claim, cases)
    if why:
        return JudgedClaim(claim, cases, Verdict.NOT_JUDGED, why)
    one = JudgedClaim(claim, cases, Verdict.REPRODUCED, p_value=0.0)
    if claim.one_run and one.by_value:
        return replace(one, verdict=Verdict.FITS_ONE_RUN, p_value=math.nan)
    return one if claim.exact else replace(one, p_value=_contrary(claim, list(samples.values())))


def _samples(claim: Claim, results: Results) -> dict[tuple[tuple[str, Value], ...], Sample]:
    found = {axes: claim.measure(results.at(dict(axes))) for axes in _cases(claim)}
    return {axes: replace(sample, whole=claim.share_of) for axes, sample in found.items()} if claim.share_of else found


def _estimate(claim: Claim, sample: Sample) -> Estimate:
    return statistics.estimate(sample, one=claim.one_run > 0)


def _inside(claim: Claim, found: Estimate) -> bool:
    if claim.one_run and not math.isnan(found.low):
        return found.low <= claim.region.high and found.high >= claim.region.low
    return found.value in claim.region


def _unmet(claim: Claim, results: Results) -> str:
    """The unmet premise with its value ("": it is met)."""
    if claim.premise is None:
        return ""
    value = statistics.estimate(claim.premise.measure(results)).value
    if value in claim.premise.region:
        return ""
    return f"{claim.premise.words}: {value:.3g}, must be {claim.premise.region.published}"


def _unfit(claim: Claim, samples: Collection[Sample], before: Sequence[Claim]) -> str:
    """The reason why a claim cannot be judged ("": it can)."""
    same = next((earlier for earlier in before if (earlier.measure, earlier.each) == (claim.measure, claim.each)), None)
    if same is not None:
        return f"the value was counted for {same.name!r}"
    if not all(sample.defined for sample in samples):
        return "a value is not defined (a ratio to a mean of 0, or no such job)"
    fewest = min(len(sample.values) for sample in samples)
    if not claim.exact and fewest < FEWEST:
        return f"{fewest} seeds, at least {FEWEST} are needed"
    return ""


def _too_wide(claim: Claim, cases: Sequence[Case]) -> str:
    """The reason why a single run of ours decides nothing ("": it does, or the claim is on a mean).

    A number that lies outside of the interval is refuted, however wide the interval is.
    """
    if not claim.one_run or not all(_inside(claim, case.estimate) for case in cases):
        return ""
    widest = max(width(claim, case.estimate) for case in cases)
    if widest <= claim.one_run:
        return ""
    return f"the interval of a single run is {widest:.0%} of the number wide, {claim.one_run:.0%} was the most allowed"


def width(claim: Claim, found: Estimate) -> float:
    """Width of a single run's prediction interval as a share of the published number."""
    return (found.high - found.low) / abs((claim.region.low + claim.region.high) / 2)


def _cases(claim: Claim) -> list[tuple[tuple[str, Value], ...]]:
    found: list[tuple[tuple[str, Value], ...]] = [()]
    for axis, values in claim.each.items():
        found = [(*axes, (axis, value)) for axes in found for value in values]
    return found


def _contrary(claim: Claim, samples: Sequence[Sample]) -> float:
    """Probability of the observed values if the contrary were true.

    With all cases inside, the claim holds unless some case does not, so the largest of their p-values counts. With some
    outside, one case that is truly outside is enough, so the smallest counts, times the number of cases.
    """
    means = [statistics.estimate(sample).value for sample in samples]
    if not claim.one_run and all(mean in claim.region for mean in means):
        return max(_beyond_edges(claim.region, sample) for sample in samples)
    beyond = [_within(claim, sample) for sample, mean in zip(samples, means, strict=True) if mean not in claim.region]
    return min(1.0, len(samples) * min(beyond))


def _beyond_edges(region: Region, sample: Sample) -> float:
    """p-value of a mean inside the region, if the true mean were beyond either edge."""
    edges = ((region.low, True), (region.high, False))
    return max(statistics.beyond(sample, edge, above=above) for edge, above in edges if math.isfinite(edge))


def _within(claim: Claim, sample: Sample) -> float:
    """p-value of a mean outside the region, if the true mean (or a single run) were inside."""
    above = statistics.estimate(sample).value > claim.region.high
    edge = claim.region.high if above else claim.region.low
    one = claim.one_run > 0
    return min(1.0, (2 if one else 1) * statistics.beyond(sample, edge, above=above, one=one))


def _decide(
    one: JudgedClaim, family: Mapping[str, float], fitted: Fitted, varied: Mapping[str, VariedClaim]
) -> JudgedClaim:
    """Decide a claim by its p-value among those of its family: of the group that the study gave it."""
    alone, p_value = one.p_value, family.get(one.claim.name, math.nan)
    one = replace(one, p_value=p_value, family=len(family))
    if p_value >= LEVEL:
        clear = f"clear of the edge alone, but not as one of {len(family)} claims: {MORE}"
        return replace(one, verdict=Verdict.NOT_JUDGED, why=clear if alone < LEVEL else OVER)
    if not one.by_value:
        return replace(one, verdict=Verdict.NOT_REPRODUCED)
    hangs_on, why = _hangs_on_fit(one.claim, fitted, varied.get(one.claim.name))
    return replace(one, verdict=Verdict.FITTED if hangs_on else one.verdict, why=why)


def _hangs_on_fit(claim: Claim, fitted: Fitted, varied: VariedClaim | None) -> tuple[bool, str]:
    """Whether a claim holds because of fitted numbers, and the reason ("": it does not depend on fitted numbers)."""
    by_it = [name for name, claims in fitted.items() if claim.name in claims]
    if by_it:
        return True, f"{', '.join(by_it)}: chosen by this value"
    touching = [name for name in fitted if claim.depends is None or name in claim.depends]
    if varied is not None and varied.holds < varied.draws:
        return True, f"holds in {varied.holds} of {varied.draws} draws of what was fitted"
    if touching and varied is None:
        return True, f"{', '.join(touching)}: chosen by other published values, and not drawn"
    return False, f"holds in all {varied.draws} draws of what was fitted" if touching and varied else ""

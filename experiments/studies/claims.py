"""Claims of a paper, the choices of ours that they depend on, and the choices made by a published value."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from spillway.experiments.run.errors import SpecError
from spillway.experiments.studies.points import Grid, Value
from spillway.experiments.studies.results import Results
from spillway.experiments.studies.statistics import Sample

Measure = Callable[[Results], Sample]
"""A function from the results of one reading to one value per unit. Equal measures count as the same value."""


@dataclass(frozen=True)
class Region:
    """Range in which our value must lie for the claim to hold.

    Attributes
    ----------
    low, high
        Bounds, both included; one is infinite if the claim has one side only.
    published
        The paper's value, in the form of the tables.
    """

    low: float
    high: float
    published: str

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


def within(value: float, tolerance: float, *, relative: bool = False) -> Region:
    """A published number; ours may differ by the tolerance on both sides (in its unit, or as a share of it)."""
    reach = abs(value) * tolerance if relative else tolerance
    return Region(value - reach, value + reach, f"{value:,g} ± {reach:,.3g}" if reach else f"{value:,g}")


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
    """Condition for a claim to be meaningful: if its mean is outside the region, the claim is not judged.

    Attributes
    ----------
    words
        Name of the measure.
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
        The statement in our words.
    region
        Range in which our value must lie.
    measure
        Our value.
    unit
        Unit of the value ("": a ratio, or a count of a thing named in the statement).
    each
        Axes with every value as a separate case: the claim holds if all cases do ("at every load").
    depends
        Parameters and choices of the study that the value depends on; ``None`` is for studies in which nothing was
        chosen by a published value.
    one_run
        For a number from the paper's single run: largest width of the prediction interval of a single run of ours, as a
        share of the number, at which the claim is judged by it; 0: the claim is on the mean over many runs.
    exact
        Whether nothing in it is random: a single value is judged then.
    premise
        Condition for all cases; ``None``: no condition.
    group
        Group of many similar values ("": a statement of the authors). Each group is a family of its own, whose
        p-values are adjusted together; its claims are counted together on the screen, and listed after the others.
    share_of
        For a share, the value of the whole (1; 100 for percent): its interval ends there and at 0. 0: no share.
    """

    name: str
    place: str
    statement: str
    region: Region
    measure: Measure
    unit: str = ""
    each: Grid = field(default_factory=dict)
    depends: tuple[str, ...] | None = None
    one_run: float = 0.0
    exact: bool = False
    premise: Premise | None = None
    group: str = ""
    share_of: float = 0.0

    def cut(self, grid: Grid) -> Claim:
        """The claim on fewer cases: the values that a smaller grid has, or all if it has no value of an axis."""
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
        Its name, the chosen value, and the reason.
    fitted_to
        Claims whose published values were used to choose it.
    between
        Range that the paper leaves open: draws from it show which verdicts depend on the number. The axis of its name
        then has the value.
    """

    name: str
    value: Value
    why: str
    fitted_to: tuple[str, ...] = ()
    between: tuple[float, float] | None = None


@dataclass(frozen=True)
class Choice:
    """An ambiguous point of a paper: an axis of the study with readings of it as values.

    Attributes
    ----------
    axis
        Name of the axis.
    question
        The open question, and its place in the paper.
    readings
        Words by value; the first reading is the study's own.
    fitted
        Values that were chosen by published values, with the claims of these published values.
    crossed
        Whether its readings are compared under all readings of the others; else only under their usual ones.
    """

    axis: str
    question: str
    readings: Mapping[Value, str]
    fitted: Mapping[Value, tuple[str, ...]] = field(default_factory=dict)
    crossed: bool = True

    @property
    def usual(self) -> Value:
        """The study's own reading."""
        return next(iter(self.readings))


def check_claims(claims: Sequence[Claim]) -> None:
    """Raise :class:`SpecError` if two claims have the same name, or a region does not fit its claim."""
    known: set[str] = set()
    for claim in claims:
        region, whole = claim.region, claim.share_of
        if claim.name in known:
            raise SpecError(f"two claims are called {claim.name!r}; give each its own name")
        faults = {
            "no value can lie in its region": not region.low <= region.high,
            f"a share of {whole:g} cannot lie in its region": whole and (region.low > whole or region.high < 0),
            "a single run has a number, but its region has one side only": claim.one_run
            and not math.isfinite(region.high - region.low),
        }
        for words, is_one in faults.items():
            if is_one:
                raise SpecError(f"claim {claim.name!r}: {words}")
        known.add(claim.name)

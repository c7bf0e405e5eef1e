"""Description of a study: points, their player, claims, figures. It is data, except for the functions it names."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from spillway.experiments.run.errors import SpecError
from spillway.experiments.studies.claims import Choice, Claim, Parameter, check_claims
from spillway.experiments.studies.points import Grid, Point, Value, Values, expand, replace_axes, vary_axes
from spillway.experiments.studies.product import Product
from spillway.experiments.studies.results import Results
from spillway.experiments.studies.tables import Means
from spillway.workloads.draws import Draws

SEEDS = tuple(range(5))

OTHER = "other values than the study's"


class Figure(Protocol):
    """A figure of a study."""

    def __call__(self, results: Results, folder: Path) -> list[Path]:
        """Draw into the folder; return the PNG files."""
        ...


@dataclass(frozen=True)
class ComputedPoints:
    """Points that are calls of a function.

    Attributes
    ----------
    play
        Plays a point; a function of a module, so that worker processes find it.
    inputs
        Inputs that decide the result besides the axes, as plain data: checksums of logs.
    policies
        Policies with code that decides the result of a point.
    batch
        Number of points that a worker process plays one after another.
    same
        The point that is played in place of points that differ from it only in axes without effect.
    seen
        Values of a point, from those of the point that was played in its place.
    """

    play: Callable[[Point], Values]
    inputs: Callable[[Point], Any] = lambda point: None
    policies: Callable[[Point], Sequence[str]] = lambda point: ()
    batch: int = 1
    same: Callable[[Point], Point] = lambda point: point
    seen: Callable[[Point, Values], Values] = lambda point, values: values


@dataclass(frozen=True)
class Study:
    """A question, the runs that answer it, and the claims.

    Attributes
    ----------
    name, title
        Name on the command line and of the folder of results; title of the report.
    play
        Player of a point.
    grids
        Points are all combinations of the values of each grid; a grid may leave out an axis of ``choices``.
    claims
        In the paper's order.
    source
        The paper.
    more
        Grids that only ``--all`` plays, for their cost; claims about them are not judged without it.
    quick
        Axes that ``--quick`` replaces, best by fewer of the study's own values: the claims are then judged on these
        cases. Under other values of an axis (fewer jobs) nothing is judged.
    parameters
        Numbers that we had to choose.
    choices
        Ambiguous points of the paper.
    crossing
        Axes that are replaced when readings are compared (fewer loads, for example); ``None``: readings are not
        compared.
    effects
        Axes that have an effect only at some values of others: elsewhere a point is played with their usual values.
    draws, varying
        Number of draws of all fitted numbers from their ranges, which show the verdicts that depend on them; axes that
        are replaced in these draws (fewer seeds, for example).
    figures, tables
        Figures, and tables besides the claims.
    unit
        Axis of independent units.
    notes
        Lines for the report.
    data
        Contents of the folder that ``--data`` names, on the axis ``data``: the same conditions from another place
        ("": the study has no such axis).
    lacks
        Returns the reason why the inputs of a point are not the paper's, and nothing is judged ("": they are).
    """

    name: str
    title: str
    play: Product | ComputedPoints
    grids: Sequence[Grid]
    claims: Sequence[Claim] = ()
    source: str = ""
    more: Sequence[Grid] = ()
    quick: Grid = field(default_factory=dict)
    parameters: Sequence[Parameter] = ()
    choices: Sequence[Choice] = ()
    crossing: Grid | None = None
    effects: Mapping[str, Grid] = field(default_factory=dict)
    draws: int = 0
    varying: Grid = field(default_factory=dict)
    figures: Sequence[Figure] = ()
    tables: Sequence[Means] = ()
    unit: str = "seed"
    notes: Sequence[str] = ()
    data: str = ""
    lacks: Callable[[Point], str] = lambda point: ""

    def __post_init__(self) -> None:
        """Raise :class:`SpecError` if the study contradicts itself."""
        check_claims(self.claims)
        self.points(whole=True)
        known = {*self.axes, *(parameter.name for parameter in self.parameters)}
        fits = [claims for choice in self.choices for claims in choice.fitted.values()]
        fits += [parameter.fitted_to for parameter in self.parameters if parameter.fitted_to]
        names = [claim.name for claim in self.claims]
        for claim in self.claims:
            if claim.depends is None and fits:
                raise SpecError(f"claim {claim.name!r} must say what it depends on: this study has fitted numbers")
            unknown = [name for name in (claim.depends or ()) if name not in known]
            if unknown:
                raise SpecError(f"claim {claim.name!r} depends on {unknown[0]!r}, which is no axis and no parameter")
        lost = next((name for claims in fits for name in claims if name not in names), None)
        if lost is not None:
            raise SpecError(f"something was fitted to {lost!r}, which is no claim of this study")

    @property
    def usual(self) -> dict[str, Value]:
        """The study's own reading, and its own values of the numbers that can be drawn."""
        drawn = {parameter.name: parameter.value for parameter in self.parameters if parameter.between is not None}
        return drawn | {choice.axis: choice.usual for choice in self.choices}

    def same(self, point: Point) -> Point:
        """The point that is played in place of points that differ from it only in axes without effect."""
        idle = {
            axis: self.usual[axis]
            for axis, where in self.effects.items()
            if any(point[other] not in values for other, values in where.items())
        }
        found = point.replaced(**idle)
        return self.play.same(found) if isinstance(self.play, ComputedPoints) else found

    @property
    def axes(self) -> dict[str, None]:
        """Names of all axes, in order."""
        return dict.fromkeys([*self.usual, *(name for grid in (*self.grids, *self.more) for name in grid)])

    def points(self, changes: Grid | None = None, *, quick: bool = False, whole: bool = False) -> list[Point]:
        """Points of the study's own reading, with other values of the axes that a user changed.

        Parameters
        ----------
        whole
            Whether the grids of ``more`` are played, too.
        """
        changes = changes or {}
        readings = {axis: values for axis, values in changes.items() if axis in self.usual}  # grids leave them out, too
        return expand(
            [{**grid, **readings} for grid in vary_axes(self._grids(quick=quick, whole=whole), changes)], self.usual
        )

    def readings(self) -> Iterator[dict[str, Value]]:
        """Readings that are compared first: all combinations of crossed choices, and each other choice alone.

        The study's own reading is the first. :mod:`spillway.experiments.studies.pairs` adds further readings.
        """
        crossed = [choice for choice in self.choices if choice.crossed]
        for values in itertools.product(*(choice.readings for choice in crossed)):
            yield self.usual | {choice.axis: value for choice, value in zip(crossed, values, strict=True)}
        for choice in self.choices:
            if not choice.crossed:
                yield from (self.usual | {choice.axis: value} for value in choice.readings if value != choice.usual)

    def crossed(
        self, changes: Grid | None = None, readings: Sequence[tuple[tuple[str, Value], ...]] | None = None
    ) -> dict[tuple[tuple[str, Value], ...], list[Point]]:
        """Points of each reading, by its axes; empty if readings are not compared.

        Parameters
        ----------
        readings
            The readings; ``None``: those of :meth:`readings`.
        """
        if self.crossing is None or not self.choices or not self.claims:
            return {}
        grids = vary_axes(vary_axes(self._grids(), changes or {}), self.crossing)
        wanted = [tuple(reading.items()) for reading in self.readings()] if readings is None else readings
        return {reading: expand(_without(grids, dict(reading)), dict(reading)) for reading in wanted}

    def varied(self, changes: Grid | None = None) -> list[list[Point]]:
        """Points of each draw of all numbers that have a range."""
        grids = vary_axes(vary_axes(self._grids(), changes or {}), self.varying)
        found = []
        for draw in range(self.draws):
            drawn = {
                parameter.name: _drawn(parameter, draw)
                for parameter in self.parameters
                if parameter.between is not None
            }
            found.append(expand(_without(grids, drawn), self.usual | drawn))
        return found

    @property
    def changed_by_quick(self) -> str:
        """The reason why nothing is judged with ``--quick`` ("": it has cases of the study)."""
        own = {axis: {self.usual.get(axis)} for axis in self.quick}
        for grid in self.grids:
            for axis in self.quick:
                own[axis].update(grid.get(axis, ()))
        others = [axis for axis, values in self.quick.items() if axis != "seed" and not own[axis].issuperset(values)]
        return f"quick: {', '.join(others)} has {OTHER}" if others else ""

    def _grids(self, *, quick: bool = False, whole: bool = False) -> list[Grid]:
        return replace_axes([*self.grids, *(self.more if whole else ())], self.quick if quick else {})

    def fitted(self, reading: Mapping[str, Value]) -> dict[str, tuple[str, ...]]:
        """Parameters and choices in force that were chosen by published values, with the claims of these values."""
        found = {parameter.name: parameter.fitted_to for parameter in self.parameters if parameter.fitted_to}
        for choice in self.choices:
            value = reading.get(choice.axis, choice.usual)
            if value in choice.fitted:
                found[choice.axis] = choice.fitted[value]
        return found


def _without(grids: Sequence[Grid], reading: Mapping[str, Value]) -> list[Grid]:
    """Grids without the axes of a reading: a grid that varies a choice itself then has the reading's value."""
    return [{name: values for name, values in grid.items() if name not in reading} for grid in grids]


def _drawn(parameter: Parameter, draw: int) -> float:
    """A number drawn uniformly from its range, with four digits."""
    low, high = parameter.between or (0.0, 0.0)
    return float(f"{low + (high - low) * Draws(draw, f'fitted/{parameter.name}').uniform(1)[0]:.4g}")

"""Descriptions of studies as data: a file ``study.toml`` beside the code that plays a study.

The file has the paper's claims with the section that they come from, the readings of its ambiguous points, the numbers
that were chosen, the grids of points, tables and figures; ``[common]`` has the axes that all grids share. Code is only
for players, and for measures and figures that no study shares. An axis ``seed = 10`` stands for the seeds 0 to 9; the
values of an axis and a claim's ``depends`` may be the name of a list of ``[lists]``; ``for`` makes an entry for each of
its rows, whose values replace ``{name}`` in the entry's texts; ``extends`` names a file beside it, whose other keys are
taken over; ``policies`` are names that the study's player gives to policies with options.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

import msgspec

from spillway.experiments.run.errors import SpecError
from spillway.experiments.studies import claims as regions
from spillway.experiments.studies.claims import Choice, Claim, Measure, Parameter, Premise, Region
from spillway.experiments.studies.figures import Bars, Forest, Lines
from spillway.experiments.studies.measures import (
    Comparison,
    ComparisonPair,
    LargestOverAxis,
    Mean,
    OccurrenceMean,
    RatioOfMeans,
    Steps,
)
from spillway.experiments.studies.points import Point, Value
from spillway.experiments.studies.product import Product
from spillway.experiments.studies.study import ComputedPoints, Figure, Study
from spillway.experiments.studies.tables import Means, Ratios

Axes = dict[str, Value | list[Value]]
Row = dict[str, Any]
Lists = Mapping[str, Sequence[Value]]
T = TypeVar("T")

SHARED: Mapping[str, Callable[..., Any]] = {
    "mean": Mean,
    "occurring": lambda metric, axes: OccurrenceMean(Mean(metric, axes)),
    "ratio": partial(Comparison, ratios=True),
    "difference": partial(Comparison, ratios=False),
    "against": RatioOfMeans,
    "change": partial(RatioOfMeans, percent=True),
    "quotient": partial(ComparisonPair, ratios=True),
    "gap": partial(ComparisonPair, ratios=False),
    "largest": LargestOverAxis,
    "steps": Steps,
}
"""Measures of all studies by their names in a description."""

_EDGES: Mapping[str, Callable[[float], Region]] = {
    ">=": regions.at_least,
    "<=": regions.at_most,
    ">": regions.more_than,
    "<": regions.less_than,
}


class _Reading(msgspec.Struct, forbid_unknown_fields=True):
    value: Value
    words: str
    fitted_to: tuple[str, ...] = ()


class _File(msgspec.Struct, forbid_unknown_fields=True):
    """Keys of a description; the fields of their entries are those of the classes that are made of them."""

    name: str
    title: str
    grid: list[Axes]
    source: str = ""
    unit: str = "seed"
    data: str = ""
    draws: int = 0
    notes: list[str] = []
    extends: str = ""
    lists: dict[str, list[Value]] = {}
    policies: dict[str, str] = {}
    common: Axes = {}
    more: list[Axes] = []
    quick: Axes = {}
    crossing: Axes | None = None
    effects: dict[str, dict[str, list[Value]]] = {}
    varying: Axes = {}
    claim: list[Row] = []
    choice: list[Row] = []
    parameter: list[Row] = []
    table: list[Row] = []
    lines: list[Row] = []
    bars: list[Row] = []
    forest: list[Row] = []


def read_study(
    path: Path,
    play: Product | ComputedPoints,
    *,
    measures: Mapping[str, Callable[..., Measure]] | None = None,
    figures: Sequence[Figure] = (),
    claims: Sequence[Claim] = (),
    lacks: Callable[[Point], str] = lambda point: "",
    has: Callable[[str, Value], bool] = lambda axis, value: True,
) -> Study:
    """Read a study.

    Parameters
    ----------
    path
        Its description.
    play
        Player of its points.
    measures
        Measures of its own, by their names in the description.
    figures, claims
        Figures and claims that code makes, beside those of the description.
    lacks
        See :class:`spillway.experiments.studies.study.Study`.
    has
        Whether a value of an axis can be played here (a log that is at hand); others are left out.

    Raises
    ------
    SpecError
        The file does not describe a study.
    """
    try:
        given = msgspec.convert(_read(path), _File)
        known = {**SHARED, **(measures or {})}
        tables = [_table(row) for row in _rows(given.table)]
        return Study(
            name=given.name,
            title=given.title,
            source=given.source,
            play=play,
            grids=[_axes({**given.common, **grid}, has, given.lists) for grid in given.grid],
            more=[_axes({**given.common, **grid}, has, given.lists) for grid in given.more],
            claims=[*(_claim(row, known, given.lists) for row in _rows(given.claim)), *claims],
            quick=_axes(given.quick, has, given.lists),
            crossing=None if given.crossing is None else _axes(given.crossing, has, given.lists),
            effects=given.effects,
            draws=given.draws,
            varying=_axes(given.varying, has, given.lists),
            parameters=[_made(Parameter, row) for row in given.parameter],
            choices=[_choice(row, has) for row in given.choice],
            tables=tables,
            figures=[
                *(_made(Lines, row, measure=partial(_measure, known=known)) for row in _rows(given.lines)),
                *(_made(Bars, row) for row in _rows(given.bars)),
                *(_made(Forest, row, panels=partial(_panels, tables)) for row in given.forest),
                *figures,
            ],
            unit=given.unit,
            notes=given.notes,
            data=given.data,
            lacks=lacks,
        )
    except (OSError, tomllib.TOMLDecodeError, msgspec.ValidationError, SpecError, TypeError) as problem:
        raise SpecError(f"{path}: {problem}") from None


def _made(cls: Callable[..., T], row: Row, **read: Callable[[Any], Any]) -> T:
    """An object of an entry: each value by the reader of its field, or as the field's type has it."""
    hints = get_type_hints(cls)
    unknown = next((name for name in row if name not in hints), None)
    if unknown is not None:
        raise SpecError(f"unknown field `{unknown}`: expected {', '.join(hints)}")
    return cls(
        **{
            name: read[name](value) if name in read else msgspec.convert(value, hints[name])
            for name, value in row.items()
        }
    )


def _read(path: Path) -> dict[str, Any]:
    given = tomllib.loads(path.read_text(encoding="utf-8"))
    return {**_read(path.with_name(given["extends"])), **given} if "extends" in given else given


def _axes(given: Axes, has: Callable[[str, Value], bool], lists: Lists) -> dict[str, list[Value]]:
    kept = {
        axis: [value for value in _values(axis, values, lists) if has(axis, value)] for axis, values in given.items()
    }
    return {axis: values for axis, values in kept.items() if values}


def _values(axis: str, given: Value | list[Value], lists: Lists) -> Sequence[Value]:
    if isinstance(given, list):
        return given
    if isinstance(given, str) and given in lists:
        return lists[given]
    return range(int(given)) if axis == "seed" else [given]


def _rows(entries: Sequence[Row]) -> Iterator[Row]:
    """The entries, one for each row of their ``for``."""
    for entry in entries:
        for row in entry.get("for", [{}]):
            yield {name: _filled(value, row) for name, value in entry.items() if name != "for"}


def _filled(value: Any, row: Row) -> Any:
    """A value with those of a row: a text that is only ``{name}`` becomes the row's own value."""
    if isinstance(value, str):
        alone = re.fullmatch(r"\{(\w+)\}", value)
        return row.get(alone[1], value) if alone else value.format_map(row) if row else value
    if isinstance(value, dict):
        return {name: _filled(member, row) for name, member in value.items()}
    return [_filled(member, row) for member in value] if isinstance(value, list) else value


def _claim(row: Row, known: Mapping[str, Callable[..., Any]], lists: Lists) -> Claim:
    published, measure = row.pop("published", ""), partial(_measure, known=known)

    def region(text: str) -> Region:
        found = region_of(text)
        return Region(found.low, found.high, published) if published else found

    def depends(given: str | list[str]) -> tuple[str, ...]:
        if isinstance(given, str) and given not in lists:
            raise SpecError(f"claim {row.get('name')!r}: there is no list {given!r}")
        return tuple(map(str, lists[given] if isinstance(given, str) else given))

    premise = partial(_made, Premise, measure=measure, region=region_of)
    return _made(Claim, row, region=region, measure=measure, depends=depends, premise=premise)


def region_of(text: str) -> Region:
    """The range of a text: ``>= 2``, ``< 0``, ``55 to 65``, ``8 ± 0.5`` or ``1``.

    Raises
    ------
    SpecError
        It is none of these.
    """
    try:
        for sign, edge in _EDGES.items():
            if text.startswith(f"{sign} "):
                return edge(float(text.removeprefix(sign)))
        if " to " in text:
            low, high = map(float, text.split(" to "))
            return regions.between(low, high)
        value, _, reach = text.partition(" ± ")
        return regions.within(float(value), float(reach or 0))
    except ValueError:
        raise SpecError(f"region {text!r}: expected >= 2, <= 2, > 2, < 2, 1 to 2, 2 ± 0.5 or 2") from None


def _measure(given: Row, known: Mapping[str, Callable[..., Any]]) -> Any:
    """A measure: its kind with the first of its fields, or all of them, and the others beside it."""
    kind = next((name for name in given if name in known), None)
    if kind is None:
        raise SpecError(f"measure {given}: expected one of {', '.join(known)}")
    make = known[kind]
    cls = make.func if isinstance(make, partial) else make
    names = [info.name for info in fields(cls)] if isinstance(cls, type) else ["metric", "axes"]
    first = {names[0]: given[kind]} if not isinstance(given[kind], dict) else given[kind]
    found = {name: _field(value, known) for name, value in {**first, **given}.items() if name != kind}
    empty: dict[str, Any] = {name: {} for name in names if name in ("axes", "above", "below")}
    return make(**(empty | found))


def _field(value: Any, known: Mapping[str, Callable[..., Any]]) -> Any:
    if isinstance(value, dict) and any(name in known for name in value):
        return _measure(value, known)
    return tuple(value) if isinstance(value, list) else value


def _choice(row: Row, has: Callable[[str, Value], bool]) -> Choice:
    given = msgspec.convert(row.get("readings", []), list[_Reading])
    readings = [reading for reading in given if has(str(row.get("axis")), reading.value)]
    words = {reading.value: reading.words for reading in readings}
    fitted = {reading.value: reading.fitted_to for reading in readings if reading.fitted_to}
    return replace(_made(Choice, row, readings=lambda _: words), fitted=fitted)


def _table(row: Row) -> Means:
    return _made(Ratios if row.pop("ratios", False) else Means, row)


def _panels(tables: Sequence[Means], given: Sequence[Mapping[str, str]]) -> dict[str, tuple[Means, str]]:
    """Panels of a forest: a title, the title of a table, a value of it."""
    titled = {table.title: table for table in tables}
    return {panel["title"]: (titled[panel["table"]], panel["metric"]) for panel in given}

"""Descriptions of studies as data: a file ``study.toml`` beside the code that plays a study.

The file has the paper's claims with the section that they come from, the readings of its ambiguous points, the numbers
that were chosen, the grids of points, tables and figures over an axis. Code is only for players, and for measures and
figures that no study shares. An axis ``seed = 10`` stands for the seeds 0 to 9; a claim's ``depends`` may name a list
of ``[lists]``; ``for`` makes a claim for each of its rows, whose values replace ``{name}`` in the claim's texts.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from spillway.experiments.run.errors import SpecError
from spillway.experiments.studies import claims as regions
from spillway.experiments.studies.claims import Choice, Claim, Measure, Parameter, Premise, Region
from spillway.experiments.studies.figures import Lines
from spillway.experiments.studies.measures import Change, Compared, Largest, Mean, Occurring, Steps
from spillway.experiments.studies.points import Point, Value
from spillway.experiments.studies.product import Product
from spillway.experiments.studies.study import Computed, Figure, Study
from spillway.experiments.studies.tables import Means, Ratios

Axes = dict[str, Value | list[Value]]

SHARED: Mapping[str, Callable[..., Any]] = {
    "mean": Mean,
    "occurring": lambda metric, axes: Occurring(Mean(metric, axes)),
    "ratio": partial(Compared, ratios=True),
    "difference": partial(Compared, ratios=False),
    "change": Change,
    "largest": Largest,
    "steps": Steps,
}
"""Measures of all studies by their names in a description."""

_EDGES: Mapping[str, Callable[[float], Region]] = {
    ">=": regions.at_least,
    "<=": regions.at_most,
    ">": regions.more_than,
    "<": regions.less_than,
}


class _Row(msgspec.Struct, forbid_unknown_fields=True):
    """A table of the file."""


class _Premise(_Row):
    words: str
    measure: dict[str, Any]
    region: str


class _Claim(_Row):
    name: str
    place: str
    statement: str
    region: str
    measure: dict[str, Any]
    published: str = ""
    unit: str = ""
    each: dict[str, list[Value]] = {}
    depends: str | list[str] | None = None
    one_run: float = 0.0
    exact: bool = False
    share_of: float = 0.0
    premise: _Premise | None = None


class _Reading(_Row):
    value: Value
    words: str
    fitted_to: tuple[str, ...] = ()


class _Choice(_Row):
    axis: str
    question: str
    readings: list[_Reading]
    crossed: bool = True


class _Parameter(_Row):
    name: str
    value: str | float
    why: str
    fitted_to: tuple[str, ...] = ()
    between: tuple[float, float] | None = None


class _Table(_Row):
    title: str
    metrics: dict[str, str]
    rows: tuple[str, ...]
    against: dict[str, Value] = {}
    only: dict[str, Value] = {}
    ratios: bool = False


class _Lines(_Row):
    metric: str
    words: str
    x: str
    x_words: str
    by: str = "policy"
    panel: str = ""
    log: bool = False
    only: dict[str, Value] = {}
    against: dict[str, Value] = {}
    names: dict[str, str] = {}
    measure: dict[str, Any] = {}
    shown: dict[str, list[Value]] = {}
    name: str = ""


class _Study(_Row):
    name: str
    title: str
    grid: list[Axes]
    source: str = ""
    unit: str = "seed"
    data: str = ""
    draws: int = 0
    notes: list[str] = []
    lists: dict[str, list[str]] = {}
    more: list[Axes] = []
    quick: Axes = {}
    crossing: Axes | None = None
    varying: Axes = {}
    claim: list[dict[str, Any]] = []
    choice: list[_Choice] = []
    parameter: list[_Parameter] = []
    table: list[_Table] = []
    lines: list[_Lines] = []


def read_study(
    path: Path,
    play: Product | Computed,
    *,
    measures: Mapping[str, Callable[..., Measure]] | None = None,
    figures: Sequence[Figure] = (),
    claims: Sequence[Claim] = (),
    parameters: Sequence[Parameter] = (),
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
    figures, claims, parameters
        Figures, claims and parameters that code makes, beside those of the description.
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
        given = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), _Study)
        known = {**SHARED, **(measures or {})}
        made = [_claim(msgspec.convert(row, _Claim), known, given.lists) for row in _rows(given.claim)]
    except (OSError, tomllib.TOMLDecodeError, msgspec.ValidationError, SpecError, TypeError) as problem:
        raise SpecError(f"{path}: {problem}") from None

    def axes(found: Axes) -> dict[str, list[Value]]:
        kept = {axis: [one for one in _values(axis, values) if has(axis, one)] for axis, values in found.items()}
        return {axis: values for axis, values in kept.items() if values}

    return Study(
        name=given.name,
        title=given.title,
        source=given.source,
        play=play,
        grids=[axes(grid) for grid in given.grid],
        more=[axes(grid) for grid in given.more],
        claims=[*made, *claims],
        quick=axes(given.quick),
        crossing=None if given.crossing is None else axes(given.crossing),
        draws=given.draws,
        varying=axes(given.varying),
        parameters=[*parameters, *(Parameter(**msgspec.structs.asdict(row)) for row in given.parameter)],
        choices=[_choice(row, has) for row in given.choice],
        tables=[_table(row) for row in given.table],
        figures=[*(_figure(row, known) for row in given.lines), *figures],
        unit=given.unit,
        notes=given.notes,
        data=given.data,
        lacks=lacks,
    )


def _values(axis: str, given: Value | list[Value]) -> Sequence[Value]:
    if isinstance(given, list):
        return given
    return range(int(given)) if axis == "seed" else [given]


def _rows(claims: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The claims, one for each row of their ``for``."""
    for claim in claims:
        for row in claim.get("for", [{}]):
            yield {name: _filled(value, row) for name, value in claim.items() if name != "for"}


def _filled(value: Any, row: Mapping[str, Any]) -> Any:
    """A value with those of a row: a text that is only ``{name}`` becomes the row's own value."""
    if isinstance(value, str):
        alone = re.fullmatch(r"\{(\w+)\}", value)
        return row.get(alone[1], value) if alone else value.format_map(row) if row else value
    if isinstance(value, dict):
        return {name: _filled(one, row) for name, one in value.items()}
    return [_filled(one, row) for one in value] if isinstance(value, list) else value


def _claim(row: _Claim, known: Mapping[str, Callable[..., Any]], lists: Mapping[str, list[str]]) -> Claim:
    if isinstance(row.depends, str) and row.depends not in lists:
        raise SpecError(f"claim {row.name!r}: there is no list {row.depends!r}")
    depends = lists[row.depends] if isinstance(row.depends, str) else row.depends
    region, needs = region_of(row.region), row.premise
    return Claim(
        row.name, row.place, row.statement,
        Region(region.low, region.high, row.published) if row.published else region,
        _measure(row.measure, known), row.unit, row.each, None if depends is None else tuple(depends),
        row.one_run, row.exact,
        Premise(needs.words, _measure(needs.measure, known), region_of(needs.region)) if needs else None,
        share_of=row.share_of,
    )  # fmt: skip


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


def _measure(given: Mapping[str, Any], known: Mapping[str, Callable[..., Any]]) -> Any:
    """A measure: its kind with the first of its fields, or all of them, and the others beside it."""
    kind = next((name for name in given if name in known), None)
    if kind is None:
        raise SpecError(f"measure {dict(given)}: expected one of {', '.join(known)}")
    make = known[kind]
    cls = make.func if isinstance(make, partial) else make
    names = [one.name for one in fields(cls)] if isinstance(cls, type) else ["metric", "axes"]
    first = {names[0]: given[kind]} if not isinstance(given[kind], dict) else given[kind]
    found = {name: _field(value, known) for name, value in {**first, **given}.items() if name != kind}
    empty: dict[str, Any] = {name: {} for name in names if name in ("axes", "above", "below")}
    return make(**(empty | found))


def _field(value: Any, known: Mapping[str, Callable[..., Any]]) -> Any:
    if isinstance(value, dict) and any(name in known for name in value):
        return _measure(value, known)
    return tuple(value) if isinstance(value, list) else value


def _choice(row: _Choice, has: Callable[[str, Value], bool]) -> Choice:
    readings = [one for one in row.readings if has(row.axis, one.value)]
    fitted = {one.value: one.fitted_to for one in readings if one.fitted_to}
    return Choice(row.axis, row.question, {one.value: one.words for one in readings}, fitted, row.crossed)


def _table(row: _Table) -> Means:
    return (Ratios if row.ratios else Means)(row.title, row.metrics, row.rows, row.against, row.only)


def _figure(row: _Lines, known: Mapping[str, Callable[..., Any]]) -> Lines:
    given = {name: value for name, value in msgspec.structs.asdict(row).items() if name != "measure"}
    return Lines(**given, measure=_measure(row.measure, known) if row.measure else None)

"""Points of a study: one run each, named by the values of its axes."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath

from spillway.analysis.tables.names import slug
from spillway.base.options import show
from spillway.experiments.run.errors import SpecError

Value = str | int | float | bool
"""Value of an axis: kept with its type, compared exactly."""

Grid = Mapping[str, Sequence[Value]]
"""Values by axis; it stands for all their combinations, the last axis fastest."""

Values = Mapping[str, float]
"""Values measured at a point, by name."""

LONGEST = 120
"""Characters of a point's name before its digest."""


@dataclass(frozen=True)
class Point:
    """One run.

    Attributes
    ----------
    axes
        Names and values, in the order of the study.
    """

    axes: tuple[tuple[str, Value], ...]

    def __getitem__(self, axis: str) -> Value:
        """Value of an axis; raise ``KeyError`` if the study has no axis of this name."""
        return self._values[axis]

    def get(self, axis: str, default: Value = "") -> Value:
        """Value of an axis, or the default if the study has no axis of this name."""
        return self._values.get(axis, default)

    def text(self, axis: str) -> str:
        """Value of an axis of texts."""
        value = self[axis]
        assert isinstance(value, str), f"axis {axis} holds {value!r}, not a text"
        return value

    def number(self, axis: str) -> float:
        """Value of an axis of numbers."""
        value = self[axis]
        assert isinstance(value, int | float), f"axis {axis} holds {value!r}, not a number"
        return float(value)

    def whole(self, axis: str) -> int:
        """Value of an axis of whole numbers."""
        return int(self.number(axis))

    def matches(self, wanted: Mapping[str, Value]) -> bool:
        """Whether the named axes have these values."""
        own = self._values
        return all(axis in own and own[axis] == value for axis, value in wanted.items())

    @cached_property
    def _values(self) -> dict[str, Value]:
        return dict(self.axes)

    def replaced(self, **changes: Value) -> Point:
        """The point with other values of some of its axes."""
        return Point(tuple((name, changes.get(name, value)) for name, value in self.axes))

    def without(self, *names: str) -> tuple[tuple[str, Value], ...]:
        """The other axes, which two compared points have in common."""
        return tuple((name, value) for name, value in self.axes if name not in names)

    @property
    def id(self) -> str:
        """Stable name of its files: readable values, and a digest of all values with their types."""
        words = "_".join(slug(_word(value)) for _, value in self.axes)[:LONGEST]
        return f"{words}_{hashlib.sha256(repr(self.axes).encode()).hexdigest()[:8]}"


def _word(value: Value) -> str:
    return PurePath(value).name if isinstance(value, str) else show(value)


def expand(grids: Iterable[Grid], fixed: Mapping[str, Value]) -> list[Point]:
    """All points of some grids, each once, in order.

    Parameters
    ----------
    grids
        The grids; all must have the same axes once ``fixed`` is added.
    fixed
        Values of the axes that a grid does not name.

    Raises
    ------
    SpecError
        Two grids differ in their axes.
    """
    found: dict[Point, None] = {}
    names: set[frozenset[str]] = set()
    for grid in grids:
        whole = {name: [value] for name, value in fixed.items() if name not in grid} | dict(grid)
        names.add(frozenset(whole))
        order = sorted(whole, key=lambda name: name == "seed")
        found.update(dict.fromkeys(_product({name: whole[name] for name in order})))
    if len(names) > 1:
        one, other = list(names)[:2]
        raise SpecError(
            f"the grids of a study must have the same axes; only some have {', '.join(sorted(one ^ other))}"
        )
    return list(found)


def _product(grid: Grid) -> Iterator[Point]:
    for values in itertools.product(*grid.values()):
        yield Point(tuple(zip(grid, values, strict=True)))


def replace_axes(grids: Iterable[Grid], changes: Grid) -> list[Grid]:
    """The grids with other values of the axes that ``changes`` names; axes that a grid leaves out stay out."""
    return [{name: changes.get(name, values) for name, values in grid.items()} for grid in grids]


def vary_axes(grids: Sequence[Grid], changes: Grid) -> list[Grid]:
    """As :func:`replace_axes`, but an axis only changes in grids that vary it, or in all grids if no grid varies it."""
    varied = {name for grid in grids for name, values in grid.items() if len(values) > 1}
    return [
        replace_axes(
            [grid],
            {name: values for name, values in changes.items() if name not in varied or len(grid.get(name, ())) > 1},
        )[0]
        for grid in grids
    ]

"""Quantities as texts: SimGrid's numbers with a unit, users' input, changes of either, and figures for readers.

A :class:`Scale` reads and writes texts such as ``1250MBps``, ``50us``, ``1Gf``, ``40GB`` exactly. In SimGrid's files a
bare number is in the base unit; in users' input (:meth:`Scale.read`) it is refused: ``200`` hardly means bytes.
Notations of other programs (Slurm's ``16G``) are read with the rest of their formats.

References
----------
SimGrid's XML reference, https://simgrid.org/doc/latest/XML_Reference.html
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

_DECIMAL = ("k", "M", "G", "T", "P", "E", "Z", "Y")
_BINARY = ("Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "Zi", "Yi")
_WORDS = ("kilo", "mega", "giga", "tera", "peta", "exa", "zeta", "yotta")  # "zeta" is SimGrid's spelling
_NUMBER = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(.*)", re.DOTALL)


@dataclass(frozen=True, eq=False)
class Scale:
    """Units of one quantity.

    Attributes
    ----------
    base
        The unit of a number without unit.
    example
        For messages.
    factors
        Value of each unit in the base unit.
    written
        The units to write with.
    also
        Users' spellings that SimGrid does not have, with SimGrid's unit for each.
    """

    base: str
    example: str
    factors: Mapping[str, float]
    written: tuple[str, ...]
    also: Mapping[str, str] = field(default_factory=dict)

    @lru_cache(maxsize=1000)  # noqa: B019  (the scales are constants; files repeat the same few texts)
    def parse(self, text: str) -> float:
        """Read a finite number of at least 0, with a unit or in the base unit.

        Raises
        ------
        ValueError
            The text is wrong; the message states the expected and the actual text, the caller adds the place.
        """
        match = _NUMBER.fullmatch(text)
        if match is None:
            raise ValueError(f"expected a number with a unit such as {self.example!r}, got {text!r}")
        unit = match[2] or self.base
        if unit not in self.factors:
            raise ValueError(f"unknown unit {unit!r} in {text!r}; known are {', '.join(self.written)} and more")
        value = float(match[1]) * self.factors[unit]
        if not 0.0 <= value < float("inf"):
            raise ValueError(f"must be finite and not negative, got {text!r}")
        return value

    def read(self, text: str) -> float:
        """Read a user's input: as :meth:`parse`, but only 0 needs no unit, and a space may precede the unit.

        Raises
        ------
        ValueError
            The text is wrong; the message states the expected and the actual text, the caller adds the place.
        """
        match = _NUMBER.fullmatch(text.strip())
        if match is None:
            return self.parse(text)  # raises the error
        unit = match[2].strip()
        if not unit and float(match[1]) != 0:
            known = ", ".join(self.written)
            raise ValueError(f"{text!r} has no unit: expected one of {known}, such as {self.example!r}")
        return self.parse(f"{match[1]}{self.also.get(unit, unit)}")

    @lru_cache(maxsize=1000)  # noqa: B019
    def write(self, value: float) -> str:
        """Shortest text with a unit that :meth:`parse` reads as exactly this number."""
        if value == 0:
            return "0"
        texts = [f"{value!r}{self.base}"]
        if value.is_integer() and value < 2**53:
            texts.append(f"{value:.0f}{self.base}")
        for unit in self.written:
            short = f"{value / self.factors[unit]:.12g}{unit}"
            if self.parse(short) == value:
                texts.append(short)
        return min(texts, key=len)


def _prefixed(unit: str, value: float, prefixes: tuple[str, ...], step: float) -> dict[str, float]:
    return {prefix + unit: value * step**power for power, prefix in enumerate(("", *prefixes))}


def _both(unit: str, value: float) -> dict[str, float]:
    return {**_prefixed(unit, value, _DECIMAL, 1000.0), **_prefixed(unit, value, _BINARY, 1024.0)}


SPEED = Scale(
    "f",
    "1Gf",
    {**_prefixed("f", 1.0, _DECIMAL, 1000.0), **_prefixed("flops", 1.0, _WORDS, 1000.0)},
    ("f", "kf", "Mf", "Gf", "Tf"),
)
"""flop/s."""

BANDWIDTH = Scale(
    "Bps",
    "1250MBps",
    {**_both("Bps", 1.0), **_both("bps", 0.125)},
    ("Bps", "kBps", "MBps", "GBps", "TBps"),
    {f"{prefix}B/s": f"{prefix}Bps" for prefix in ("", *_DECIMAL, *_BINARY)},
)
"""bytes/s."""

TIME = Scale(
    "s",
    "50us",
    {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0},
    ("s", "ms", "us", "ns"),
    {"min": "m"},
)
"""Seconds."""

SIZE = Scale("B", "40GB", _both("B", 1.0), ("B", "kB", "MB", "GB", "TB"), {"KB": "kB"})
"""Bytes."""


# --------------------------------------------------------------------------- changes

_FACTOR = re.compile(r"x\s*(.+)", re.DOTALL)
_PER_CENT = re.compile(r"([+-].+)%", re.DOTALL)


@dataclass(frozen=True)
class Change:
    """A change of a quantity: its new value is ``start + factor * now``.

    Attributes
    ----------
    factor
        0 for a new value, 1 for an amount that is added.
    start
        In the base unit.
    """

    factor: float
    start: float = 0.0

    def of(self, now: float) -> float:
        """The new value of a quantity with this value."""
        return self.start + self.factor * now


def change_of(text: str, scale: Scale | None = None) -> Change:
    """Read a change: a factor (``x1.2``, ``+20%``), an amount more or less (``+40TB``, ``-2``), or a new value.

    Parameters
    ----------
    scale
        Units of the quantity; ``None``: it is a number.

    Raises
    ------
    ValueError
        The text is wrong, or a factor or new value is not above 0; the message states the expected text, the caller
        adds the rest.
    """
    given = text.strip()
    new = "120" if scale is None else scale.example
    unit = " with its unit" if scale is not None else ""
    try:
        if found := _FACTOR.fullmatch(given):
            change = Change(float(found[1]))
        elif found := _PER_CENT.fullmatch(given):
            change = Change(1.0 + float(found[1]) / 100.0)
        else:
            signed = given[:1] in ("+", "-")
            amount = given.removeprefix(given[0]) if signed else given
            value = float(amount) if scale is None else scale.read(amount)
            change = Change(float(signed), -value if given[0] == "-" else value)
            if signed and amount.lstrip()[:1] in ("+", "-"):
                raise ValueError
    except (ValueError, IndexError):
        change = Change(math.nan)
    if not (change.factor > 0 or change.start > 0) or not math.isfinite(change.factor + change.start):
        raise ValueError(
            f"expected a factor such as x1.2 or +20%, more or less such as +{new}, or a value{unit} such as {new}, "
            "above 0"
        )
    return change


def changed(text: str, now: float, scale: Scale | None = None) -> float:
    """New value of a quantity after a change (:func:`change_of`).

    Parameters
    ----------
    now
        Present value, in the base unit.

    Raises
    ------
    ValueError
        As for :func:`change_of`, or the new value is not above 0.
    """
    value = change_of(text, scale).of(now)
    if not value > 0:
        present = f"{now:g}" if scale is None else scale.write(now)
        raise ValueError(f"expected a value above 0 to remain of {present}")
    return value


# --------------------------------------------------------------------------- figures for readers

NONE = "–"
"""Text in the place of a missing figure."""


_RESOLUTION_S = 1.5e-6
"""Batsim rounds times to microseconds: a job that starts when it is submitted may seem to wait for a microsecond."""


def duration(seconds: float) -> str:
    """Time in at most two units: ``1 d 23 h``, ``2 h 32 min``, ``12 min 39 s``, ``4.2 s``, ``0.35 ms``.

    Times below :data:`_RESOLUTION_S` are 0.
    """
    if math.isnan(seconds):
        return NONE
    if seconds < 0:
        return f"-{duration(-seconds)}"
    if seconds < _RESOLUTION_S:
        return "0 s"
    if seconds < 1:
        return f"{1000 * seconds:.3g} ms"
    if seconds < 59.95:
        return f"{seconds:.3g} s"
    for unit, below, name, of_rest in (
        (60, 3600, "min", "s"),
        (3600, 86_400, "h", "min"),
        (86_400, math.inf, "d", "h"),
    ):
        part = {"s": 1, "min": 60, "h": 3600}[of_rest]
        whole, rest = divmod(round(seconds / part), unit // part)
        if whole * unit < below:
            return f"{whole:,} {name} {rest} {of_rest}" if rest and whole < 100 else f"{whole:,} {name}"
    raise AssertionError("the last unit has no end")


def share(value: float) -> str:
    """Share in [0, 1] in per cent, with three digits at most: ``64.1 %``."""
    if math.isnan(value):
        return NONE
    return f"{100 * value:.0f} %" if value == 0 or abs(value) >= 0.9995 else f"{100 * value:.3g} %"


def size(count: float) -> str:
    """Bytes with decimal prefixes: ``480 GB``."""
    if math.isnan(count):
        return NONE
    for unit, factor in (("PB", 1e15), ("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= factor:
            return f"{count / factor:.3g} {unit}" if count < 999.5 * factor else f"{count / factor:,.0f} {unit}"
    return f"{count:.0f} B"


def number(value: float) -> str:
    """Count or ratio, without meaningless digits."""
    if math.isnan(value):
        return NONE
    magnitude = abs(value)
    if magnitude >= 1000 or float(value).is_integer():
        return f"{value:,.0f}"
    return f"{value:.1f}" if magnitude >= 100 else f"{value:.2f}" if magnitude >= 1 else f"{value:.3g}"


def many(count: int, one: str, several: str) -> str:
    """A number with its noun, and a verb if given: ``1 job requests``, ``1,200 jobs request``."""
    return f"{count:,} {one if count == 1 else several}"

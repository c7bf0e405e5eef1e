"""SimGrid's number-with-unit texts: ``1250MBps``, ``50us``, ``1Gf``; and sizes, ``40GB``, likewise.

References
----------
SimGrid's XML reference, https://simgrid.org/doc/latest/XML_Reference.html
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
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
    """

    base: str
    example: str
    factors: Mapping[str, float]
    written: tuple[str, ...]

    @lru_cache(maxsize=1000)  # noqa: B019  (the scales are constants; files repeat the same few texts)
    def parse(self, text: str) -> float:
        """Read a finite number of at least 0, with a unit or in the base unit.

        Raises
        ------
        ValueError
            Saying what was expected and what came; the caller adds where.
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
    "Bps", "1250MBps", {**_both("Bps", 1.0), **_both("bps", 0.125)}, ("Bps", "kBps", "MBps", "GBps", "TBps")
)
"""bytes/s."""

TIME = Scale(
    "s",
    "50us",
    {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0},
    ("s", "ms", "us", "ns"),
)
"""Seconds."""

SIZE = Scale("B", "40GB", _both("B", 1.0), ("B", "kB", "MB", "GB", "TB"))
"""Bytes."""

"""SimGrid's number-with-unit texts: ``1250MBps``, ``50us``, ``1Gf``.

References
----------
SimGrid's XML reference, section "Units" (https://simgrid.org/doc/latest/XML_Reference.html).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_DECIMAL = ("k", "M", "G", "T", "P", "E", "Z", "Y")
_DECIMAL_WORDS = ("kilo", "mega", "giga", "tera", "peta", "exa", "zetta", "yotta")
_NUMBER = re.compile(r"\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(.*)", re.DOTALL)


def _scaled(unit: str, value: float, prefixes: tuple[str, ...], step: float) -> dict[str, float]:
    return {prefix + unit: value * step**power for power, prefix in enumerate(("", *prefixes))}


_BINARY = tuple(prefix.upper() + "i" if prefix == "k" else prefix + "i" for prefix in _DECIMAL)

SPEED: Mapping[str, float] = {
    **_scaled("f", 1.0, _DECIMAL, 1000.0),
    **_scaled("flops", 1.0, _DECIMAL_WORDS, 1000.0),
    "zetaflops": 1e21,  # SimGrid 3.32 spells it so
}
"""flop/s by unit."""

BANDWIDTH: Mapping[str, float] = {
    **_scaled("bps", 0.125, _DECIMAL, 1000.0),
    **_scaled("bps", 0.125, _BINARY, 1024.0),
    **_scaled("Bps", 1.0, _DECIMAL, 1000.0),
    **_scaled("Bps", 1.0, _BINARY, 1024.0),
}
"""bytes/s by unit."""

TIME: Mapping[str, float] = {
    "w": 604800.0, "d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12,
}  # fmt: skip
"""Seconds by unit."""

SIZE: Mapping[str, float] = {**_scaled("B", 1.0, _DECIMAL, 1000.0), **_scaled("B", 1.0, _BINARY, 1024.0)}
"""Bytes by unit."""

_BASE_UNIT = {id(SPEED): "f", id(BANDWIDTH): "Bps", id(TIME): "s", id(SIZE): "B"}


def parse(text: str, units: Mapping[str, float]) -> float:
    """Read a non-negative number with a unit; without one, the base unit (f, Bps, s, B) is meant, as in SimGrid.

    Raises
    ------
    ValueError
        Saying what was expected; the caller adds where.
    """
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise ValueError(f"expected a number with a unit such as {_examples(units)}, got {text!r}")
    unit = match[2] or _BASE_UNIT[id(units)]
    if unit not in units:
        raise ValueError(f"unknown unit {unit!r} in {text!r}; known are {', '.join(units)}")
    value = float(match[1]) * units[unit]
    if not 0.0 <= value < float("inf"):
        raise ValueError(f"must be finite and not negative, got {text!r}")
    return value


def write(value: float, units: Mapping[str, float]) -> str:
    """Shortest text with a unit that :func:`parse` reads as exactly this number."""
    texts = [f"{value!r}{_BASE_UNIT[id(units)]}"]
    for unit, scale in units.items():
        short = f"{value / scale:.12g}{unit}"
        if parse(short, units) == value:
            texts.append(short)
    return min(texts, key=lambda text: (len(text), "i" in text, text))


def _examples(units: Mapping[str, float]) -> str:
    return {"f": "'1Gf'", "Bps": "'1250MBps'", "s": "'50us'", "B": "'40GB'"}[_BASE_UNIT[id(units)]]

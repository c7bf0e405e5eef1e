"""Figures as people write them: durations in days, hours, minutes and seconds, shares in per cent, bytes in GB."""

from __future__ import annotations

import math

NONE = "–"
"""What stands where there is no figure."""


def duration(seconds: float) -> str:
    """Time in at most two units: ``1 d 23 h``, ``2 h 32 min``, ``12 min 39 s``, ``4.2 s``, ``0.35 ms``."""
    if math.isnan(seconds):
        return NONE
    if seconds < 0:
        return f"-{duration(-seconds)}"
    if seconds < 1:
        return f"{1000 * seconds:.3g} ms" if seconds else "0 s"
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
    """Count or ratio: no digits without meaning."""
    if math.isnan(value):
        return NONE
    magnitude = abs(value)
    if magnitude >= 1000 or float(value).is_integer():
        return f"{value:,.0f}"
    return f"{value:.1f}" if magnitude >= 100 else f"{value:.2f}" if magnitude >= 1 else f"{value:.3g}"

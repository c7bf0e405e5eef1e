"""Near misses: known names similar to a wrong one, for error texts."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_ALIKE = 0.6
"""Least similarity of a near miss (:func:`difflib.get_close_matches`)."""


def nearest(name: object, known: Iterable[object], alike: float = _ALIKE) -> str:
    """The known name most similar to another one, regardless of case; "" without a similar name."""
    folded: dict[str, str] = {}
    for one in known:
        folded.setdefault(str(one).casefold(), str(one))
    found = difflib.get_close_matches(str(name).casefold(), folded, 1, alike)
    return folded[found[0]] if found else ""


def near(name: object, known: Iterable[object]) -> str:
    """``; did you mean 'NAME'?`` with the nearest of the known names; "" without a similar name."""
    found = nearest(name, known)
    return f"; did you mean {found!r}?" if found else ""

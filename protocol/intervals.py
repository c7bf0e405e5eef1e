"""Interval sets on the wire (``"0-3 5"``) as sorted tuples of resource ids, and back.

Texts are read leniently (unsorted, overlapping, any blanks) and written canonically: ascending, merged, one number for
a single id, so that equal sets give equal texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from operator import lt

from spillway.base.errors import shown

MAX_IDS = 1 << 20
"""Most ids of a set that is read: a longer range in a message is an error, and must not exhaust memory."""

_MAX_ID = (1 << 31) - 1
_PART = re.compile(r"([0-9]{1,10})(?:-([0-9]{1,10}))?", re.ASCII)


@lru_cache(maxsize=4096)
def parse_intervals(text: str) -> tuple[int, ...]:
    """Read an interval set; the empty text is the empty set.

    Parameters
    ----------
    text
        Numbers ``a`` and closed intervals ``a-b`` with ``a <= b``, separated by blanks.

    Returns
    -------
    tuple of int
        The ids, ascending, each once.

    Raises
    ------
    ValueError
        A part is neither a number nor an interval, or the set has more than :data:`MAX_IDS` ids.
    """
    ids: list[int] = []
    for part in text.split():
        match = _PART.fullmatch(part)
        if match is None:
            raise ValueError(f"expected resource ids such as '0-3 5', got {shown(text)} with the part {shown(part)}")
        first = int(match[1])
        last = first if match[2] is None else int(match[2])
        if not first <= last <= _MAX_ID:
            raise ValueError(f"expected intervals first-last with first <= last < 2^31, got {shown(part)}")
        if last - first + len(ids) >= MAX_IDS:
            raise ValueError(f"expected at most {MAX_IDS} resource ids, got {shown(text)}")
        ids.extend(range(first, last + 1))
    if any(ids[i] >= ids[i + 1] for i in range(len(ids) - 1)):
        ids = sorted(set(ids))
    return tuple(ids)


@lru_cache(maxsize=4096)
def _format_sorted(ids: tuple[int, ...]) -> str:
    first = last = ids[0]
    if ids[-1] - first == len(ids) - 1:
        return f"{first}-{ids[-1]}" if len(ids) > 1 else str(first)
    parts: list[str] = []
    for number in (*ids[1:], -1):
        if number == last + 1:
            last = number
            continue
        parts.append(str(first) if first == last else f"{first}-{last}")
        first = last = number
    return " ".join(parts)


def format_intervals(ids: Iterable[int]) -> str:
    """Write resource ids (in any order, repeated or not) canonically; no id gives the empty text."""
    numbers = tuple(ids)
    if not all(map(lt, numbers, numbers[1:])):
        numbers = tuple(sorted(set(numbers)))
    return _format_sorted(numbers) if numbers else ""

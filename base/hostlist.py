"""Lists of host names as resource managers write them: ``tuolumne[1001-1016,1018],login1``.

Names may have several pairs of brackets (``r[1-2]n[0-3]``: the last counts fastest); numbers keep their leading zeros.

References
----------
Flux RFC 29, *Hostlist Format*.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Sequence

from spillway.base.limits import HOSTS

_ITEM = re.compile(r"(?:[^\[\],\s]|\[[^\[\]]*\])*")
_BRACKETS = re.compile(r"\[([^\[\]]*)\]")
_RANGE = re.compile(r"(\d{1,18})(?:-(\d{1,18}))?", re.ASCII)
_NUMBERED = re.compile(r"(.*?)(\d{1,18})", re.ASCII | re.DOTALL)
_EXPECTED = "expected host names such as n[1-16,18] or a1,a2"


def expanded(text: str) -> tuple[str, ...]:
    """The names of a list, in its order; empty for an empty text.

    Raises
    ------
    ValueError
        It is no such list, names a host twice, or more hosts than :data:`~spillway.base.limits.HOSTS`.
    """
    names: list[str] = []
    at = 0
    while at < len(text):
        item = _ITEM.match(text, at)
        if item is None or not item[0] or (item.end() < len(text) and text[item.end()] != ","):
            raise ValueError(f"{_EXPECTED}, got {_shown(text)}")
        names.extend(_names(item[0], text, HOSTS.value - len(names)))
        if item.end() == len(text) - 1:
            raise ValueError(f"{_EXPECTED}, got {_shown(text)}")
        at = item.end() + 1
    if len(set(names)) < len(names):
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise ValueError(f"{_shown(text)} names {twice!r} twice")
    return tuple(names)


def _names(item: str, text: str, most: int) -> Iterator[str]:
    """The names of one item of a list, at most ``most``."""
    pieces = _BRACKETS.split(item)
    numbers = [_numbers(ranges, text, most) for ranges in pieces[1::2]]
    if math.prod(map(len, numbers)) > most:
        raise ValueError(HOSTS.text())
    for chosen in itertools.product(*numbers):
        yield "".join(itertools.chain(*zip(pieces[::2], (*chosen, ""), strict=True)))


def _numbers(ranges: str, text: str, most: int) -> list[str]:
    """The numbers of one pair of brackets, as texts."""
    found: list[str] = []
    for part in ranges.split(","):
        stated = _RANGE.fullmatch(part)
        first, last = (stated[1], stated[2] or stated[1]) if stated else ("1", "0")
        if int(last) < int(first):
            raise ValueError(f"{_EXPECTED}, got {_shown(text)}")
        if int(last) - int(first) + 1 + len(found) > most:
            raise ValueError(HOSTS.text())
        found += [f"{number:0{len(first)}d}" for number in range(int(first), int(last) + 1)]
    return found


def compressed(names: Iterable[str]) -> str:
    """The shortest such list of these names, in their order: consecutive numbers become a range."""
    runs: list[tuple[str, list[tuple[str, str]]]] = []
    for name in names:
        numbered = _NUMBERED.fullmatch(name)
        prefix, digits = (numbered[1], numbered[2]) if numbered else (name, "")
        if not digits or not runs or runs[-1][0] != prefix or not runs[-1][1]:
            runs.append((prefix, [(digits, digits)] if digits else []))
            continue
        first, last = runs[-1][1][-1]
        if int(digits) == int(last) + 1 and digits == f"{int(digits):0{len(first)}d}":
            runs[-1][1][-1] = first, digits
        else:
            runs[-1][1].append((digits, digits))
    return ",".join(f"{prefix}{_ranges(parts)}" for prefix, parts in runs)


def _ranges(parts: Sequence[tuple[str, str]]) -> str:
    """Ranges in brackets; nothing for a name without a number, the number itself for a single one."""
    texts = [first if first == last else f"{first}-{last}" for first, last in parts]
    return "".join(texts) if not texts or (len(texts) == 1 and "-" not in texts[0]) else f"[{','.join(texts)}]"


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:60]}...")

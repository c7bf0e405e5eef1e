"""Texts of a site in their three layouts: records of ``KEY=VALUE``, tables between ``|``, lines ``Key=Value``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from spillway.base.errors import InputError, shown
from spillway.workloads.logs.layouts import pairs
from spillway.workloads.logs.slurm_units import UNLIMITED, UnitError, count_of, duration_of, size_of

T = TypeVar("T")

_KEY = re.compile(r"(?:^|\s)([A-Z][A-Za-z]*(?:\[\d+\])?)=")
_CONF = re.compile(r"\s*([A-Za-z]\w*(?:\[\d+\])?)\s*=\s*(.*)")
_SEVERAL = re.compile(
    r"\s*(?:\w+Name\s*=\s*\S+\s+\w+\s*=|(?:Partition|Node|Down|NodeSet)(?:Name|Nodes)?\s*=)", re.IGNORECASE
)
_PAIR = re.compile(r"(\w+(?:\[\d+\])?)\s*=\s*(\"[^\"]*\"|'[^']*'|\S+)")
_DAYS = re.compile(r"(\d{1,6})-(\d{1,2})(?::(\d{1,2}))?", re.ASCII)
_NOTHING = {"", "(null)", "n/a", "none", "null"}
_NO_LIMIT = {"unlimited", "infinite", "-1"}

_MINUTE = 60


@dataclass(frozen=True)
class Entry:
    """Values by key, in lower case, and the place in the file that errors name."""

    values: Mapping[str, str]
    where: str

    def text(self, *keys: str) -> str:
        """The first of these values that is not empty; "" for Slurm's ``(null)`` and ``N/A``."""
        for key in keys:
            found = self.values.get(key.lower(), "").strip()
            if found.lower() not in _NOTHING:
                return found
        return ""

    def read(self, convert: Callable[[str], T], key: str, default: Any) -> T:
        """A value by its reader, ``default`` where it is empty.

        Raises
        ------
        InputError
            The value is malformed; names file, line and key.
        """
        text = self.text(key)
        try:
            return convert(text) if text else default
        except UnitError as error:
            raise InputError(f"{self.where}: {key} must be {error}, got {shown(text)}") from None
        except ValueError as error:  # of a list of hosts: a whole sentence
            raise InputError(f"{self.where}: {key}: {error}") from None

    def over(self, defaults: Mapping[str, str]) -> Entry:
        """The entry with these values for keys that it lacks."""
        return Entry({**defaults, **self.values}, self.where)

    def names(self, *keys: str) -> tuple[str, ...]:
        """A list of names between commas; () for ``ALL`` and for nothing."""
        text = self.text(*keys)
        return () if text.upper() == "ALL" else tuple(filter(None, (part.strip() for part in text.split(","))))

    def flag(self, key: str) -> bool:
        """Whether a value is a yes."""
        return self.text(key).lower() in ("yes", "true", "1")


def records(text: str, name: str, first: str) -> Iterator[Entry]:
    """Records of ``scontrol show``: each begins with the key ``first``, on one line (``-o``) or on several."""
    begun: list[str] = []
    place = 0
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith(f"{first}="):
            if begun:
                yield Entry(pairs(" ".join(begun), _KEY)[1], f"{name}, line {place}")
            begun, place = [line], number
        elif begun and line.strip():
            begun.append(line.strip())
    if begun:
        yield Entry(pairs(" ".join(begun), _KEY)[1], f"{name}, line {place}")


def rows(text: str, name: str) -> Iterator[Entry]:
    """Rows of ``sacctmgr show ... -P`` (or ``-p``), below the header that names their columns.

    Raises
    ------
    InputError
        A row has another number of fields than the header.
    """
    columns: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        parts = line.split("|")
        if not columns:
            columns = [part.strip().lower().replace(" ", "") for part in parts]
            continue
        if len(parts) != len(columns):
            raise InputError(
                f"{name}, line {number}: expected {len(columns)} fields between '|' as in the header, got {len(parts)}"
            )
        yield Entry(dict(zip(columns, parts, strict=True)), f"{name}, line {number}")


def settings(text: str, name: str) -> tuple[Entry, list[Entry]]:
    """A configuration: its single keys, and its lines of several (``PartitionName=... Nodes=...``).

    Comments, continued lines (joined without a blank), keys that come again (the last counts) and the blanks around
    ``=`` of ``scontrol show config`` are taken as Slurm takes them.
    """
    single: dict[str, str] = {}
    several: list[Entry] = []
    continued = ""
    for number, line in enumerate(text.splitlines(), start=1):
        plain = continued + re.sub(r"(?<!\\)#.*", "", line).rstrip()
        if plain.endswith("\\"):
            continued = plain[:-1]
            continue
        continued = ""
        if _SEVERAL.match(plain):
            pairs = {key.lower(): value.strip("\"'") for key, value in _PAIR.findall(plain)}
            several.append(Entry(pairs, f"{name}, line {number}"))
        elif found := _CONF.fullmatch(plain):
            single[found[1].lower()] = found[2].strip()
    return Entry(single, name), several


# --------------------------------------------------------------------------- values


def whole(text: str) -> int:
    """A whole number, perhaps shortened (``1.5K``), perhaps with a fraction of zeros (``1.000000``)."""
    return count_of(re.sub(r"\.0+$", "", text))


def limit(text: str) -> int | None:
    """A whole number; ``None`` for no limit."""
    return None if text.lower() in _NO_LIMIT else whole(text)


def number(text: str) -> float:
    """A number of at least 0."""
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found < 1e12:
        raise UnitError("a number of at least 0")
    return found


def seconds(text: str) -> float | None:
    """Seconds of a time in Slurm's forms, a bare number in minutes; ``None`` for no limit.

    The forms: minutes, minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes,
    days-hours:minutes:seconds.
    """
    if text.lower() in _NO_LIMIT:
        return None
    if text.isascii() and text.isdecimal() and len(text) < 10:
        return float(text) * _MINUTE
    if found := _DAYS.fullmatch(text):
        return float(int(found[1]) * 86_400 + int(found[2]) * 3600 + int(found[3] or 0) * _MINUTE)
    try:
        total = duration_of(text)
    except UnitError:
        total = -1
    if total == UNLIMITED or total < 0:
        raise UnitError("a time such as 90, 1:30:00, 7-0 or UNLIMITED")
    return float(total)


def span(text: str) -> float:
    """Seconds as :func:`seconds`, with 0 for no limit."""
    return seconds(text) or 0.0


def bare_seconds(text: str) -> float | None:
    """A number of seconds; ``None`` for no limit; other forms as :func:`seconds` has them."""
    return number(text) if re.fullmatch(r"\d+(?:\.\d*)?", text) else seconds(text)


def resources(text: str) -> dict[str, int]:
    """Amounts of trackable resources by name, of ``cpu=4,mem=8G,node=2,gres/gpu=8,bb/datawarp=100G``.

    Memory and burst buffers become bytes. An amount of -1, which lifts a limit, is left out.
    """
    found: dict[str, int] = {}
    for item in filter(None, text.split(",")):
        name, equals, amount = item.strip().partition("=")
        if not equals or not name:
            raise UnitError("resources such as cpu=4,node=2")
        if amount != "-1":
            in_bytes = name == "mem" or name.startswith("bb/")
            found[name] = size_of(amount) if in_bytes else whole(amount)
    return found


def counts(text: str) -> dict[str, int]:
    """Counts by name, of ``matlab:30,ansys@server=100`` (older: ``matlab*30``); a name without a count counts 1."""
    found: dict[str, int] = {}
    for item in filter(None, (part.strip() for part in text.split(","))):
        name, _, count = re.sub("[=*]", ":", item).rpartition(":") if re.search(r"[:=*]\d", item) else (item, "", "1")
        found[name] = whole(count)
    return found


_PREEMPTS = {"off": "off", "cancel": "cancel", "requeue": "requeue", "suspend": "suspend", "gang": "", "cluster": ""}


def preempts(text: str) -> str:
    """Treatment of preempted jobs; the words ``GANG`` and ``WITHIN`` beside it are ignored."""
    words = [word for word in text.lower().split(",") if word not in ("gang", "within")]
    if any(word not in _PREEMPTS for word in words):
        raise UnitError(f"one of {', '.join(_PREEMPTS)}")
    return _PREEMPTS[words[0]] if words else ""

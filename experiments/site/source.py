"""Text of a site's files in its three layouts: records of ``KEY=VALUE``, tables between ``|``, lines ``Key=Value``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from spillway.base.errors import InputError, shown
from spillway.workloads.logs.layouts import pairs
from spillway.workloads.logs.slurm_units import UnitError, count_of, duration_of

_KEY = re.compile(r"(?:^|\s)([A-Z][A-Za-z]*(?:\[\d+\])?)=")
_CONF = re.compile(r"\s*([A-Za-z]\w*(?:\[\d+\])?)\s*=\s*(.*)")
_SEVERAL = re.compile(
    r"\s*(?:\w+Name\s*=\s*\S+\s+\w+\s*=|(?:Partition|Node|Down|NodeSet)(?:Name|Nodes)?\s*=)", re.IGNORECASE
)
_PAIR = re.compile(r"(\w+(?:\[\d+\])?)\s*=\s*(\"[^\"]*\"|'[^']*'|\S+)")
_NOTHING = {"", "(null)", "n/a", "none", "null"}
_NO_LIMIT = {"unlimited", "infinite", "-1"}

Reader = Callable[[str], Any]
Fields = Mapping[str, tuple[str, Reader] | str]
"""Fields of a struct: the key of each and the reader of its value; a key alone: a list of names."""


@dataclass(frozen=True)
class Entry:
    """Values by key, in lower case, and the place in the file that errors name."""

    values: Mapping[str, str]
    where: str

    def text(self, *keys: str) -> str:
        """The first of these values that is not empty; "" for Slurm's ``(null)`` and ``N/A``."""
        found = (self.values.get(key.lower(), "").strip() for key in keys)
        return next((text for text in found if text.lower() not in _NOTHING), "")

    def read(self, convert: Reader, keys: str, default: Any = None) -> Any:
        """The first value of some keys (between ``|``) by its reader, ``default`` where all are empty.

        Raises
        ------
        InputError
            The value is malformed; names file, line and key.
        """
        key = next((key for key in keys.split("|") if self.text(key)), keys)
        text = self.text(key)
        try:
            return convert(text) if text else default
        except UnitError as error:
            raise InputError(f"{self.where}: {key} must be {error}, got {shown(text)}") from None
        except ValueError as error:  # of a list of hosts: a whole sentence
            raise InputError(f"{self.where}: {key}: {error}") from None

    def fields(self, table: Fields) -> dict[str, Any]:
        """Values of a struct's fields that the entry states."""
        found: dict[str, Any] = {}
        for field, of in table.items():
            key, reader = (of, names) if isinstance(of, str) else of
            if (value := self.read(reader, key)) is not None:
                found[field] = value
        return found

    def over(self, defaults: Mapping[str, str]) -> Entry:
        """The entry with these values for keys that it lacks."""
        return Entry({**defaults, **self.values}, self.where)

    def names(self, *keys: str) -> tuple[str, ...]:
        """A list of names between commas; () for ``ALL`` and for nothing."""
        return names(self.text(*keys))

    def flag(self, key: str) -> bool:
        """Whether a value is a yes."""
        return flag(self.text(key))


def records(text: str, name: str, first: str) -> Iterator[Entry]:
    """Records of ``scontrol show``: each begins with the key ``first``, on one line (``-o``) or on several."""
    begun: list[tuple[int, list[str]]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith(f"{first}="):
            begun.append((number, [line]))
        elif begun and line.strip():
            begun[-1][1].append(line.strip())
    return (Entry(pairs(" ".join(lines), _KEY)[1], f"{name}, line {number}") for number, lines in begun)


def rows(text: str, name: str) -> Iterator[Entry]:
    """Rows of ``sacctmgr show ... -P`` (or ``-p``), below the header that names their columns.

    Raises
    ------
    InputError
        A row has another number of fields than the header.
    """
    lines = [(number, line.split("|")) for number, line in enumerate(text.splitlines(), start=1) if line.strip()]
    columns = [part.strip().lower().replace(" ", "") for part in lines[0][1]] if lines else []
    for number, parts in lines[1:]:
        where = f"{name}, line {number}"
        if len(parts) != len(columns):
            raise InputError(f"{where}: expected {len(columns)} fields between '|' as in the header, got {len(parts)}")
        yield Entry(dict(zip(columns, parts, strict=True)), where)


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
        continued = plain[:-1] if plain.endswith("\\") else ""
        if continued:
            continue
        if _SEVERAL.match(plain):
            found = {key.lower(): value.strip("\"'") for key, value in _PAIR.findall(plain)}
            several.append(Entry(found, f"{name}, line {number}"))
        elif setting := _CONF.fullmatch(plain):
            single[setting[1].lower()] = setting[2].strip()
    return Entry(single, name), several


# --------------------------------------------------------------------------- values


def names(text: str) -> tuple[str, ...]:
    """Names between commas; () for ``ALL``."""
    return () if text.upper() == "ALL" else tuple(filter(None, (part.strip() for part in text.split(","))))


def flag(text: str) -> bool:
    """Whether a text is a yes."""
    return text.lower() in ("yes", "true", "1")


def limit(text: str) -> int | None:
    """A whole number; ``None`` for no limit."""
    return None if text.lower() in _NO_LIMIT else count_of(text)


def number(text: str) -> float:
    """A number of at least 0."""
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found < 1e12:
        raise UnitError("a number of at least 0")
    return found


def seconds(text: str, unit_s: int = 60) -> float | None:
    """Seconds of a time in Slurm's forms, a bare number in minutes, or in other units; ``None`` for no limit."""
    return None if text.lower() in _NO_LIMIT else float(duration_of(text, unit_s))


def span(text: str) -> float:
    """Seconds as :func:`seconds`, with 0 for no limit."""
    return seconds(text) or 0.0


def bare_seconds(text: str) -> float | None:
    """A number of seconds; ``None`` for no limit; other forms as :func:`seconds` has them."""
    return seconds(text, 1)


_PREEMPTS = {"off": "off", "cancel": "cancel", "requeue": "requeue", "suspend": "suspend", "gang": "", "cluster": ""}


def preempts(text: str) -> str:
    """Treatment of preempted jobs; the words ``GANG`` and ``WITHIN`` beside it are ignored."""
    words = [word for word in text.lower().split(",") if word not in ("gang", "within")]
    if any(word not in _PREEMPTS for word in words):
        raise UnitError(f"one of {', '.join(_PREEMPTS)}")
    return _PREEMPTS[words[0]] if words else ""

"""Times, durations, sizes, resources and states in Slurm's notation.

References
----------
SchedMD, manual pages *sacct(1)* (fields, suffixes of 1024), *sbatch(1)* (time limits) and *burst_buffer.conf(5)*.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from spillway.protocol.limits import LATEST_S
from spillway.workloads.logs.record import CANCELLED, COMPLETED, FAILED, PENDING, REQUEUED, RUNNING, TIMEOUT

UNKNOWN = {"", "unknown", "none", "n/a", "na", "<na>", "nan", "nat", "null", "(null)", "invalid", "-"}
"""Words, in lower case, for a value that is not known."""

_NO_LIMIT = {"unlimited", "infinite"}
_DURATION = re.compile(r"(?:(\d{1,6})-)?(?:(\d{1,9}):)?(\d{1,9}):(\d{1,9})(?:\.\d+)?", re.ASCII)
_SIZE = re.compile(r"(\d{1,18}(?:\.\d{1,9})?)\s*([A-Za-z]*)", re.ASCII)
_COUNTED = re.compile(r"(.+)[:=](\d{1,18})", re.ASCII)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_DAYS_TO_1970 = date(1970, 1, 1).toordinal()
_ZONE = re.compile(
    r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(?:[.,]\d{1,9})?(?:(Z)|([+-])([01]\d|2[0-3])(?::?([0-5]\d))?)?", re.ASCII
)
_A_TIME = "a time such as 2019-01-01T08:55:55, perhaps with +0200 (or Unknown), from 1970 to 2242"
UNKNOWN_DAY = 2 * 86_400
"""A day this long before 1970 stands for one that is not known."""

UNLIMITED = -2
"""Value for no time limit."""

MEGA = 1024**2
"""Bytes of a size without a suffix among Slurm's resources."""


class Resources(NamedTuple):
    """Nodes, processors, bytes of memory, bytes of burst buffers, GPUs (-1: not stated), and licenses."""

    nodes: int
    processors: int
    memory: int
    buffers: int
    gpus: int
    licenses: str = ""


class UnitError(ValueError):
    """A text is no value of this kind; the message says what was expected."""


def time_of(text: str) -> int:
    """Seconds since 1970 of a time such as ``2019-01-01T08:55:55`` (or a whole number of seconds); -1 for unknown.

    A time zone is seldom part of Slurm's times: they are taken as written. One with an offset from UTC (``+0200``,
    ``+02:00``, ``Z``) is moved to UTC; fractions of a second are cut. Slurm writes a time that is not known as second
    0, which is the first day of 1970 or the last of 1969: both are unknown.
    """
    clock = text[11:13] + text[14:16] + text[17:19]
    if len(text) == 19 and clock.isdecimal() and text.isascii() and text[4] == text[7] == "-" and text[10] in "T ":
        hour, minute, second = int(clock[:2]), int(clock[2:4]), int(clock[4:])
        if hour < 24 and minute < 60 and second <= 60:  # a leap second
            return max(_day(text[:10]) + 3600 * hour + 60 * minute + second, -1)
    if text.lower() in UNKNOWN:
        return -1
    zone = _ZONE.fullmatch(text)
    if zone and len(text) > 19:
        sign, hours, minutes = (-1 if zone[3] == "-" else 1), int(zone[4] or 0), int(zone[5] or 0)
        local = time_of(zone[1])
        return local if local < 0 else max(local - sign * (3600 * hours + 60 * minutes), 0)
    number = text.partition(".")[0]
    if text.isascii() and number.isdecimal() and len(number) < 12 and int(number) <= LATEST_S:
        return int(number) or -1
    raise UnitError(_A_TIME)


@lru_cache(maxsize=100_000)
def _day(text: str) -> int:
    try:
        seconds = (date.fromisoformat(text).toordinal() - _DAYS_TO_1970) * 86_400
    except ValueError:
        raise UnitError(_A_TIME) from None
    if seconds > LATEST_S or seconds < -366 * 86_400:
        raise UnitError(_A_TIME)
    return seconds if seconds > 0 else -UNKNOWN_DAY


@lru_cache(maxsize=100_000)
def duration_of(text: str) -> int:
    """Seconds of ``[days-]hours:minutes:seconds`` or ``minutes:seconds``; -1 for unknown, -2 (UNLIMITED) for no limit.

    ``Partition_Limit`` is unknown: the accounts do not state that limit.
    """
    found = _DURATION.fullmatch(text)
    if found:
        days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
        total = days * 86_400 + hours * 3600 + minutes * 60 + seconds
        if total <= LATEST_S:
            return total
    word = text.lower()
    if word in _NO_LIMIT:
        return UNLIMITED
    if word in UNKNOWN or word == "partition_limit":
        return -1
    raise UnitError("a duration such as 1-12:00:00, 30:00, UNLIMITED or Partition_Limit")


@lru_cache(maxsize=100_000)
def seconds_of(text: str) -> int:
    """A number of seconds, rounded; -1 for unknown."""
    if text.lower() in UNKNOWN:
        return -1
    try:
        number = float(text) if text.isascii() and "_" not in text else LATEST_S + 1.0
    except ValueError:
        number = LATEST_S + 1.0
    if number == -1:
        return -1
    if not 0 <= number <= LATEST_S:
        raise UnitError("a number of seconds of at most 272 years")
    return round(number)


@lru_cache(maxsize=100_000)
def minutes_of(text: str) -> int:
    """Seconds of a whole number of minutes; words as :func:`duration_of`."""
    if text.isascii() and text.isdecimal() and len(text) < 10 and int(text) * 60 <= LATEST_S:
        return int(text) * 60
    try:
        return duration_of(text)
    except UnitError:
        raise UnitError("a number of minutes, UNLIMITED or Partition_Limit") from None


def count_of(text: str) -> int:
    """A whole number, also as Slurm shortens it (``1.5K`` = 1500 for counts); -1 for unknown."""
    if text.isascii() and text.isdecimal() and len(text) <= 18:
        return int(text)
    if text.lower() in UNKNOWN:
        return -1
    found = _SIZE.fullmatch(text)
    if found and found[2].lower() in _POWERS:
        count = float(found[1]) * 1000.0 ** _POWERS[found[2].lower()]
        if count < 2**53 and (found[2] or count == int(count)):
            return round(count)
    raise UnitError("a whole number")


def size_of(text: str, unit: int = MEGA) -> int:
    """Bytes of a resource: suffixes K, M, G, T, P are powers of 1024; without one it counts ``unit`` bytes."""
    found = _SIZE.fullmatch(text)
    suffix = found[2].lower().removesuffix("b").removesuffix("i") if found else "?"
    if found is None or suffix not in _POWERS:
        raise UnitError("a size such as 4000M or 1.5T")
    factor = unit if not found[2] else 1 << 10 * _POWERS[suffix]
    return _bytes(found[1], factor)


def capacity_of(text: str) -> int:
    """Bytes of a capacity in a directive: K, KiB = 1024 and KB = 1000, likewise M, G, T, P; without a suffix bytes."""
    found = _SIZE.fullmatch(text)
    suffix = found[2].lower() if found else "?"
    decimal = suffix.endswith("b") and not suffix.endswith("ib")
    letter = suffix.removesuffix("b").removesuffix("i")
    if found is None or letter not in _POWERS:
        raise UnitError("a capacity such as 100GB, 10GiB or 1TiB")
    return _bytes(found[1], (1000 if decimal else 1024) ** _POWERS[letter])


def _bytes(number: str, factor: int) -> int:
    size = int(number) * factor if number.isdecimal() else round(float(number) * factor)
    if size >= 2**62:
        raise UnitError("a size below 2^62 bytes")
    return size


@lru_cache(maxsize=100_000)
def resources_of(text: str) -> Resources:
    """Resources of a job, from a text such as ``cpu=4,mem=8G,node=2,bb/datawarp=100G,gres/gpu=8``.

    Several burst buffers are added up, so are GPUs by kind (``gres/gpu:a100=8``) where ``gres/gpu`` is not stated.
    """
    nodes = processors = memory = buffers = gpus = by_kind = -1
    licenses = []
    text = text.strip('"')
    for item in filter(None, text.split(",")):
        name, equals, value = item.partition("=")
        if not equals:
            raise UnitError("resources such as cpu=4,mem=8G,node=2,bb/datawarp=100G")
        if name == "node":
            nodes = count_of(value)
        elif name == "cpu":
            processors = count_of(value)
        elif name == "mem":
            memory = size_of(value)
        elif name.startswith("bb/"):
            buffers = max(buffers, 0) + size_of(value)
        elif name == "gres/gpu":
            gpus = count_of(value)
        elif name.startswith("gres/gpu:"):
            by_kind = max(by_kind, 0) + count_of(value)
        elif name.startswith("license/"):
            licenses.append(f"{name.removeprefix('license/')}:{count_of(value)}")
    return Resources(nodes, processors, memory, buffers, gpus if gpus >= 0 else by_kind, ",".join(licenses))


@lru_cache(maxsize=100_000)
def licenses_of(text: str) -> str:
    """Licenses as jobs state them, ``name:count`` between commas, from ``matlab@server:2;comp=1`` and ``matlab``."""
    found = []
    for item in filter(None, (part.strip() for part in re.split(r"[,;|]", text))):
        name, count = item, "1"
        if counted := _COUNTED.fullmatch(item):
            name, count = counted[1], counted[2]
        found.append(f"{name}:{count}")
    return ",".join(found)


_STATES: Mapping[str, str] = {
    "COMPLETED": COMPLETED,
    "CANCELLED": CANCELLED,
    "TIMEOUT": TIMEOUT,
    "DEADLINE": TIMEOUT,
    "RUNNING": RUNNING,
    "COMPLETING": RUNNING,
    "SUSPENDED": RUNNING,
    "RESIZING": RUNNING,
    "STAGE_OUT": RUNNING,
    "PENDING": PENDING,
    "CONFIGURING": PENDING,
    "REQUEUED": REQUEUED,
    "REQUEUE_HOLD": REQUEUED,
    "REQUEUE_FED": REQUEUED,
    "SPECIAL_EXIT": REQUEUED,
    "PREEMPTED": REQUEUED,
    "NODE_FAIL": REQUEUED,
    "BOOT_FAIL": REQUEUED,
    "LAUNCH_FAILED": REQUEUED,
    "RECONFIG_FAIL": REQUEUED,
}


@lru_cache(maxsize=10_000)
def state_of(text: str) -> str:
    """State of a job, from ``CANCELLED by 123``, ``OUT_OF_ME+`` (shortened); unknown words are failures."""
    words = text.split()
    word = words[0].rstrip("+").upper() if words else ""
    if words and words[0].endswith("+") and word not in _STATES:
        word = next((name for name in _STATES if name.startswith(word)), word)
    return _STATES.get(word, FAILED) if words and word.lower() not in UNKNOWN else ""

"""Times, durations, sizes, counts, resources and states in Slurm's notation, of logs and of a site's files.

References
----------
SchedMD, manual pages *sacct(1)* (fields, suffixes of 1024), *sbatch(1)* (time limits) and *burst_buffer.conf(5)*.
"""

from __future__ import annotations

import re
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from spillway.base.dates import seconds_since_1970
from spillway.protocol.limits import LATEST_S
from spillway.workloads.logs.record import CANCELLED, COMPLETED, FAILED, PENDING, REQUEUED, RESIZING, RUNNING, TIMEOUT

UNKNOWN = {"", "unknown", "none", "n/a", "na", "<na>", "nan", "nat", "null", "(null)", "invalid", "-"}
"""Words, in lower case, for a value that is not known."""

UNLIMITED = -2
"""Value for no time limit."""

MEGA = 1024**2
"""Bytes of a size without a suffix among Slurm's resources."""

_DURATION = re.compile(r"(?:(\d{1,6})-)?(\d{1,9})(?::(\d{1,9}))?(?::(\d{1,9}))?(\.\d+)?", re.ASCII)
_SIZE = re.compile(r"(\d{1,18}(?:\.\d{1,9})?)\s*([A-Za-z]*)", re.ASCII)
_COUNTED = re.compile(r"(.+)[:=*](\d{1,18})", re.ASCII)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_FIRST_DAY = datetime(1970, 1, 1).toordinal()
_A_TIME = "a time such as 2019-01-01T08:55:55, perhaps with +0200 (or Unknown), from 1970 to 2242"
_PLAYED = ("node", "cpu", "mem", "bb/", "gres/gpu", "license/")
"""Beginnings of the resources that are read from a job's."""


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
    if text.lower() in UNKNOWN:
        return -1
    number, leap = text.partition(".")[0], text[17:19] == "60"
    if text.isascii() and number.isdecimal():
        seconds = int(number)
    else:
        try:
            date = datetime.fromisoformat(f"{text[:17]}59{text[19:]}" if leap else text if ":" in text else "")
        except ValueError:
            raise UnitError(_A_TIME) from None
        seconds = int(seconds_since_1970(date)) + leap
        if date.year >= 1969 and date.toordinal() <= _FIRST_DAY:
            return -1
    if not 0 <= seconds <= LATEST_S:
        raise UnitError(_A_TIME)
    return seconds or -1


@lru_cache(maxsize=100_000)
def duration_of(text: str, unit_s: int = 0) -> int:
    """Seconds of a duration in any of Slurm's forms; -1 for unknown, -2 (UNLIMITED) for no limit.

    The forms: minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes, days-hours:minutes:seconds, and
    a bare number of units, where ``unit_s`` states one. ``Partition_Limit`` is unknown: the accounts do not state it.
    """
    if found := _DURATION.fullmatch(text):
        parts = [int(part) for part in found.group(2, 3, 4) if part]
        scale = (3600, 60, 1) if found[1] or len(parts) == 3 else (60, 1) if len(parts) == 2 else (unit_s,)
        total = 86_400 * int(found[1] or 0) + sum(part * size for part, size in zip(parts, scale, strict=False))
        if total <= LATEST_S and (found[1] or len(parts) > 1 or (unit_s and not found[5])):
            return total
    word = text.lower()
    if word in ("unlimited", "infinite"):
        return UNLIMITED
    if word in UNKNOWN or word == "partition_limit":
        return -1
    raise UnitError("a time such as 90, 1:30:00, 7-0 or UNLIMITED" if unit_s else "a time such as 1:30:00 or UNLIMITED")


def minutes_of(text: str) -> int:
    """Seconds of a number of minutes; other forms as :func:`duration_of`."""
    return duration_of(text, 60)


@lru_cache(maxsize=100_000)
def seconds_of(text: str) -> int:
    """A number of seconds, rounded, or a duration with hours (``1-02:00:00``); -1 for unknown."""
    if text.lower() in UNKNOWN:
        return -1
    if text.count(":") == 2:
        return duration_of(text)
    try:
        number = float(text) if text.isascii() and "_" not in text else LATEST_S + 1.0
    except ValueError:
        number = LATEST_S + 1.0
    if number != -1 and not 0 <= number <= LATEST_S:
        raise UnitError("a number of seconds of at most 272 years")
    return round(number)


def count_of(text: str) -> int:
    """A whole number >= 0, perhaps with a fraction of zeros, or shortened (``1.5K`` = 1500); -1 for unknown."""
    if text.isascii() and text.isdecimal() and len(text) <= 18:
        return int(text)
    if text in ("-1", "-1.0") or text.lower() in UNKNOWN:
        return -1
    found = _SIZE.fullmatch(text)
    if found and found[2].lower() in _POWERS:
        count = float(found[1]) * 1000.0 ** _POWERS[found[2].lower()]
        if count < 2**53 and (found[2] or count == int(count)):
            return round(count)
    raise UnitError("a whole number")


def size_of(text: str, unit: int = MEGA) -> int:
    """Bytes of a resource: suffixes K, M, G, T, P are powers of 1024; without one it counts ``unit`` bytes."""
    return _bytes(text, unit, 1024, "a size such as 4000M or 1.5T")


def capacity_of(text: str) -> int:
    """Bytes of a capacity in a directive: K, KiB = 1024 and KB = 1000, likewise M, G, T, P; without a suffix bytes."""
    return _bytes(text, 1, 1000, "a capacity such as 100GB, 10GiB or 1TiB")


def _bytes(text: str, unit: int, kilobyte: int, words: str) -> int:
    """Bytes of a number with a suffix; ``kilobyte``: factor of KB, where K and KiB are 1024."""
    found = _SIZE.fullmatch(text)
    suffix = found[2].lower() if found else "?"
    power = _POWERS.get(suffix.removesuffix("b").removesuffix("i"))
    if found is None or power is None:
        raise UnitError(words)
    factor = (kilobyte if suffix.endswith("b") and not suffix.endswith("ib") else 1024) ** power if suffix else unit
    size = int(found[1]) * factor if found[1].isdecimal() else round(float(found[1]) * factor)
    if size >= 2**62:
        raise UnitError("a size below 2^62 bytes")
    return size


def amounts_of(text: str, only: tuple[str, ...] = ("",)) -> dict[str, int]:
    """Amounts of resources by name, of ``cpu=4,mem=8G,node=2,gres/gpu=8,bb/datawarp=100G``; memory, buffers: bytes.

    An amount of -1, which lifts a limit, is left out; so are names that do not begin as ``only`` says.
    """
    found: dict[str, int] = {}
    for item in filter(None, text.strip('"').split(",")):
        name, equals, amount = item.strip().partition("=")
        if not equals or not name:
            raise UnitError("resources such as cpu=4,node=2")
        if amount != "-1" and name.startswith(only):
            found[name] = size_of(amount) if name == "mem" or name.startswith("bb/") else count_of(amount)
    return found


@lru_cache(maxsize=100_000)
def resources_of(text: str) -> Resources:
    """Resources of a job; several burst buffers are added up, so are GPUs by kind where ``gres/gpu`` is not stated."""
    found = amounts_of(text, _PLAYED)

    def all_of(begin: str) -> int:
        amounts = [amount for name, amount in found.items() if name.startswith(begin)]
        return sum(amounts) if amounts else -1

    licenses = (f"{name[8:]}:{count}" for name, count in found.items() if name.startswith("license/"))
    get = found.get
    gpus = get("gres/gpu", all_of("gres/gpu:"))
    return Resources(get("node", -1), get("cpu", -1), get("mem", -1), all_of("bb/"), gpus, ",".join(licenses))


def counts_of(text: str) -> dict[str, int]:
    """Counts by name, of ``matlab@server:30,ansys=100`` (older: ``matlab*30``); a name without a count counts 1."""
    found: dict[str, int] = {}
    for item in filter(None, (part.strip() for part in re.split(r"[,;|]", text))):
        counted = _COUNTED.fullmatch(item)
        found[counted[1] if counted else item] = int(counted[2]) if counted else 1
    return found


@lru_cache(maxsize=100_000)
def licenses_of(text: str) -> str:
    """Licenses as jobs state them, ``name:count`` between commas, from ``matlab@server:2;comp=1`` and ``matlab``."""
    return ",".join(f"{name}:{count}" for name, count in counts_of(text).items())


_STATES = {
    word: state
    for state, words in (
        (COMPLETED, "COMPLETED"),
        (CANCELLED, "CANCELLED"),
        (TIMEOUT, "TIMEOUT DEADLINE"),
        (RUNNING, "RUNNING COMPLETING SUSPENDED STAGE_OUT"),
        (RESIZING, "RESIZING"),
        (PENDING, "PENDING CONFIGURING"),
        (REQUEUED, "REQUEUED REQUEUE_HOLD REQUEUE_FED SPECIAL_EXIT PREEMPTED NODE_FAIL BOOT_FAIL LAUNCH_FAILED "
         "RECONFIG_FAIL"),
    )
    for word in words.split()
}  # fmt: skip


@lru_cache(maxsize=10_000)
def state_of(text: str) -> str:
    """State of a job, from ``CANCELLED by 123``, ``OUT_OF_ME+`` (shortened); unknown words are failures."""
    words = text.split()
    word = words[0].rstrip("+").upper() if words else ""
    if words and words[0].endswith("+") and word not in _STATES:
        word = next((name for name in _STATES if name.startswith(word)), word)
    return _STATES.get(word, FAILED) if word.lower() not in UNKNOWN else ""

"""Which fields a profile must have, type by type, as Batsim 4 checks them when it loads a workload."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from spillway.protocol.limits import DEEPEST_PROFILE, MOST_TASKS
from spillway.workloads.errors import WorkloadError

Check = Callable[[Any], str]
"""Takes a value; returns what was expected, or "" where the value is right."""

_LARGEST = 10**300  # whole numbers beyond do not fit a float


def is_number(value: Any) -> bool:
    """Whether a JSON value is a finite number (``true`` is none)."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) < _LARGEST if isinstance(value, int) else math.isfinite(value)


def is_whole(value: Any) -> bool:
    """Whether a JSON value is a whole number of at most 63 bits written as one (1.0 is none)."""
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63


def _at_least_zero(value: Any) -> str:
    return "" if is_number(value) and value >= 0 else "a number >= 0"


def _above_zero(value: Any) -> str:
    return "" if is_number(value) and value > 0 else "a number > 0"


def _amounts(value: Any) -> str:
    right = isinstance(value, list) and len(value) > 0 and all(is_number(item) and item >= 0 for item in value)
    return "" if right else "a non-empty list of numbers >= 0"


def _names(value: Any) -> str:
    right = isinstance(value, list) and len(value) > 0 and all(isinstance(item, str) for item in value)
    return "" if right else "a non-empty list of profile names"


def _text(value: Any) -> str:
    return "" if isinstance(value, str) else "a text"


def _repetitions(value: Any) -> str:
    return "" if is_whole(value) and value >= 1 else "a whole number >= 1"


def _return_code(value: Any) -> str:
    return "" if is_whole(value) and value >= 0 else "a whole number >= 0"


def _message(value: Any) -> str:
    return "" if isinstance(value, dict) else "an object"


_REQUIRED: dict[str, dict[str, Check]] = {
    "delay": {"delay": _above_zero},
    "parallel": {"cpu": _amounts, "com": _amounts},
    "parallel_homogeneous": {"cpu": _at_least_zero, "com": _at_least_zero},
    "parallel_homogeneous_total": {"cpu": _at_least_zero, "com": _at_least_zero},
    "composed": {"seq": _names},
    "parallel_homogeneous_pfs": {},
    "io_stream": {"cpu": _above_zero, "io_bytes": _at_least_zero},
    "data_staging": {"nb_bytes": _at_least_zero, "from": _text, "to": _text},
    "smpi": {"trace": _text},
    "usage_trace": {"trace": _text},
    "send": {"msg": _message},
    "recv": {},
}
_OPTIONAL: dict[str, dict[str, Check]] = {
    "composed": {"repeat": _repetitions},
    "parallel_homogeneous_pfs": {
        "bytes_to_read": _at_least_zero,
        "bytes_to_write": _at_least_zero,
        "storage": _text,
        "host": _text,
    },
    "io_stream": {"storage": _text},
    "send": {"sleeptime": _above_zero},
    "recv": {"regex": _text, "success": _text, "failure": _text, "timeout": _text, "polltime": _above_zero},
}
_EVERYWHERE: dict[str, Check] = {"ret": _return_code, "bb": _at_least_zero}
_AT_LEAST_ONE = {"parallel_homogeneous_pfs": ("bytes_to_read", "bytes_to_write")}
_TRACES = {"smpi", "usage_trace"}
_REFERENCES = {"recv": ("success", "failure", "timeout")}


def check_profile(profile: Any, where: str, folder: Path | None = None) -> None:
    """Check one profile object.

    Parameters
    ----------
    profile
        The JSON value.
    where
        File and JSON path, for the error.
    folder
        Folder of the workload file, where traces are looked for; ``None`` skips that check.

    Raises
    ------
    WorkloadError
        For an unknown type, a missing field, a field of the wrong kind.
    """
    if not isinstance(profile, dict):
        raise WorkloadError(f"a profile must be an object, got {_shown(profile)}", where)
    kind = profile.get("type")
    if not isinstance(kind, str) or kind not in _REQUIRED:
        known = ", ".join(sorted(_REQUIRED))
        raise WorkloadError(f"profile type must be one of {known}; got {_shown(kind)}", f"{where}.type")
    for name, check in _REQUIRED[kind].items():
        if name not in profile:
            raise WorkloadError(f"a profile of type {kind!r} needs the field {name!r}", where)
        _apply(check, profile, name, where)
    for name, check in (_OPTIONAL.get(kind, {}) | _EVERYWHERE).items():
        if name in profile:
            _apply(check, profile, name, where)
    needed = _AT_LEAST_ONE.get(kind, ())
    if needed and not any(name in profile for name in needed):
        raise WorkloadError(f"a profile of type {kind!r} needs {' or '.join(map(repr, needed))}", where)
    if kind in _TRACES and folder is not None and not (folder / profile["trace"]).is_file():
        raise WorkloadError(f"the trace {str(folder / profile['trace'])!r} does not exist", f"{where}.trace")
    if kind == "parallel" and len(profile["com"]) != len(profile["cpu"]) ** 2:
        expected = len(profile["cpu"]) ** 2
        raise WorkloadError(
            f"'com' of a parallel profile for {len(profile['cpu'])} nodes must have {expected} entries, "
            f"got {len(profile['com'])}",
            f"{where}.com",
        )


def check_references(profiles: dict[str, dict[str, Any]], where: str) -> None:
    """Check that profiles named by others exist, and that sequences neither contain themselves nor unfold without end.

    The limits are the simulator's: :data:`spillway.protocol.limits.DEEPEST_PROFILE`,
    :data:`spillway.protocol.limits.MOST_TASKS`.
    """
    uses: dict[str, list[str]] = {}
    for name, profile in profiles.items():
        named = list(profile["seq"]) if profile["type"] == "composed" else []
        named += [profile[key] for key in _REFERENCES.get(profile["type"], ()) if key in profile]
        for other in named:
            if other not in profiles:
                raise WorkloadError(f"the profile {other!r} that this one names does not exist", f"{where}.{name}")
        if named:
            uses[name] = named
    done: dict[str, None] = {}
    for name in uses:
        _walk(name, uses, done, where)
    _refuse_large(profiles, done, where)


def _refuse_large(profiles: dict[str, dict[str, Any]], parts_first: Iterable[str], where: str) -> None:
    """Raise :class:`WorkloadError` for a sequence that is too deep or unfolds to too many tasks."""
    depths: dict[str, int] = {}
    tasks: dict[str, int] = {}
    for name in parts_first:
        profile = profiles[name]
        parts = profile["seq"] if profile["type"] == "composed" else ()
        depths[name] = 1 + max((depths[part] for part in parts), default=0)
        tasks[name] = profile.get("repeat", 1) * sum(tasks[part] for part in parts) if parts else 1
        if depths[name] > DEEPEST_PROFILE:
            raise WorkloadError(f"is nested deeper than {DEEPEST_PROFILE} levels; flatten its 'seq'", f"{where}.{name}")
        if tasks[name] > MOST_TASKS:
            message = f"unfolds to more than {MOST_TASKS:,} tasks; lower its 'repeat'"
            raise WorkloadError(message, f"{where}.{name}")


def _walk(start: str, uses: dict[str, list[str]], done: dict[str, None], where: str) -> None:
    """Depth-first search for a circle, without recursion: files may nest deeply."""
    path: list[tuple[str, int]] = [(start, 0)]
    on_path = {start}
    while path:
        name, position = path.pop()
        followers = uses.get(name, [])
        if name in done or position == len(followers):
            done[name] = None
            on_path.discard(name)
            continue
        path.append((name, position + 1))
        follower = followers[position]
        if follower in on_path:
            raise WorkloadError(f"the profile contains itself through {follower!r}", f"{where}.{follower}")
        if follower not in done:
            on_path.add(follower)
            path.append((follower, 0))


def _apply(check: Check, profile: dict[str, Any], name: str, where: str) -> None:
    expected = check(profile[name])
    if expected:
        raise WorkloadError(f"{name!r} must be {expected}, got {_shown(profile[name])}", f"{where}.{name}")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."

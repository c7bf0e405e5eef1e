"""Checks of the profiles of a workload file: the table of :mod:`spillway.protocol.profiles`, errors with places."""

from __future__ import annotations

import functools
import operator
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from spillway.protocol.fields import AMOUNT, DURATION, INT32, Fields
from spillway.protocol.profiles import PROFILE_FIELDS, PartsFault, parts_first, read_fields, refuse_large
from spillway.workloads.errors import WorkloadError

_WORDS = {"a number of at least 0": "a number >= 0", "a number above 0": "a number > 0"}
_AT_LEAST_ONE = {"parallel_homogeneous_pfs": ("bytes_to_read", "bytes_to_write")}
_TRACES = {"smpi", "usage_trace"}
_REFERENCES = ("success", "failure", "timeout")


class LocatedMembers(Fields):
    """Members of a job or a profile, with errors that name the place in the file."""

    __slots__ = ("what",)

    def __init__(self, data: dict[str, Any], where: str, what: str = "a job") -> None:
        super().__init__(data, where)
        self.what = what

    def required(self, key: str) -> Any:
        """The member, of any kind."""
        if key not in self.data:
            raise WorkloadError(f"{self.what} needs the field {key!r}", self.where)
        return self.data[key]

    def wrong(self, key: str, expected: str, value: Any) -> ValueError:
        """The error for a member with an unexpected kind or value."""
        return self.fault(key, f"must be {_WORDS.get(expected, expected)}, got {_shown(value)}")

    def fault(self, key: str, text: str) -> ValueError:
        """The error for a member with the fault ``text``."""
        return WorkloadError(f"{key!r} {text}", f"{self.where}.{key}")


_TYPES: dict[Any, Any] = {Fields.amount: AMOUNT, Fields.duration: DURATION, Fields.text: str}
"""Types of members by their readers; types of profiles with another reader, or rules of their own, are not plain."""


@functools.cache
def _plain_types() -> Any:
    """Type of all plain profiles by name."""
    common = [("ret", Annotated[int, Meta(ge=0, le=INT32)], 0), ("bb", AMOUNT, 0)]
    types = []
    for kind, fields in PROFILE_FIELDS.items():
        if kind in _AT_LEAST_ONE or kind in _TRACES or not _TYPES.keys() >= {field.read for field in fields}:
            continue
        members = [
            (f"_{field.name}", _TYPES[field.read], msgspec.NODEFAULT if field.default is None else field.default)
            for field in fields
        ]
        names = {f"_{field.name}": field.name for field in fields}
        tagged: dict[str, Any] = {"tag_field": "type", "tag": kind}
        types.append(msgspec.defstruct(kind, [*members, *common], **tagged, rename=names, gc=False, kw_only=True))
    return dict[str, functools.reduce(operator.or_, types)]  # type: ignore[misc]


def are_plain(profiles: dict[str, Any]) -> bool:
    """Whether profiles are of types and values that need no further check; :func:`check_profile` words their faults."""
    try:
        msgspec.convert(profiles, _plain_types())
    except msgspec.ValidationError:
        return False
    return True


OLD_TYPES = {
    "msg_par": "parallel",
    "msg_par_hg": "parallel_homogeneous",
    "msg_par_hg_tot": "parallel_homogeneous_total",
    "msg_par_hg_pfs": "parallel_homogeneous_pfs",
    "msg_par_hg_pfs0": "parallel_homogeneous_pfs",
}
"""Types of older versions of Batsim, and their present names."""


def check_profile(profile: Any, where: str, folder: Path | None = None) -> None:
    """Check one profile object.

    Parameters
    ----------
    profile
        The JSON value.
    where
        File and JSON path, for the error.
    folder
        Folder of the workload file, which is searched for traces; ``None`` skips that check.

    Raises
    ------
    WorkloadError
        For an unknown type, a missing field, a field of the wrong kind.
    """
    if not isinstance(profile, dict):
        raise WorkloadError(f"a profile must be an object, got {_shown(profile)}", where)
    kind = profile.get("type")
    if not isinstance(kind, str) or kind not in PROFILE_FIELDS:
        known = ", ".join(sorted(PROFILE_FIELDS))
        new = OLD_TYPES.get(kind, "") if isinstance(kind, str) else ""
        now = f" (older Batsim: it is called {new} now)" if new else ""
        raise WorkloadError(f"profile type must be one of {known}; got {_shown(kind)}{now}", f"{where}.type")
    fields = LocatedMembers(profile, where, f"a profile of type {kind!r}")
    read_fields(kind, fields)
    if fields.integer("ret", 0) < 0:
        raise fields.wrong("ret", "a whole number >= 0", profile["ret"])
    fields.amount("bb", 0)
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
    parts: dict[str, list[str]] = {}
    named: dict[str, list[str]] = {}
    for name, profile in profiles.items():
        named[name] = [profile[key] for key in _REFERENCES if key in profile] if profile["type"] == "recv" else []
        if profile["type"] == "composed":
            named[name] = parts[name] = profile["seq"]
    try:
        order = list(parts_first(named))
        refuse_large(order, parts, {name: profiles[name].get("repeat", 1) for name in parts})
    except PartsFault as fault:
        text = fault.text
        if fault.other:
            text = f"the profile {fault.other!r} that this one names does not exist"
        if fault.circle:
            text = f"the profile contains itself through {fault.other!r}"
        raise WorkloadError(text, f"{where}.{fault.name}") from None


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."

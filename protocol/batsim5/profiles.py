"""Conversion of profiles between Batsim 5's form and Batsim 4's, which the session and the simulator use."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from spillway.base.errors import LocalProtocolError, shown
from spillway.protocol.messages import JsonObject

_EACH = {"generation_strategy": "DefinedAmountsUsedForEachValue"}
_SPREAD = {"generation_strategy": "DefinedAmountsSpreadUniformly"}


@dataclass(frozen=True)
class _ProfileKind:
    """Batsim 5's name of a type of profile, the names of its members in both versions, and its fixed members.

    ``defaults`` replace missing members of Batsim 4's profile. Types that are not ``writable`` occur only in files.
    """

    name: str
    members: dict[str, str]
    fixed: JsonObject = field(default_factory=dict)
    defaults: JsonObject = field(default_factory=dict)
    writable: bool = True


PROFILES = {
    "delay": _ProfileKind("DelayProfile", {"delay": "delay"}),
    "parallel": _ProfileKind("ParallelTaskProfile", {"cpu": "computation_vector", "com": "communication_matrix"}),
    "parallel_homogeneous": _ProfileKind(
        "ParallelTaskHomogeneousProfile", {"cpu": "computation_amount", "com": "communication_amount"}, _EACH
    ),
    "parallel_homogeneous_total": _ProfileKind(
        "ParallelTaskHomogeneousProfile", {"cpu": "computation_amount", "com": "communication_amount"}, _SPREAD
    ),
    "composed": _ProfileKind(
        "SequentialCompositionProfile", {"repeat": "repetition_count", "seq": "profile_ids"}, defaults={"repeat": 1}
    ),
    "parallel_homogeneous_pfs": _ProfileKind(
        "ParallelTaskOnStorageHomogeneousProfile",
        {"storage": "storage_name", "bytes_to_read": "bytes_to_read", "bytes_to_write": "bytes_to_write"},
        _EACH,
        {"storage": "pfs", "bytes_to_read": 0, "bytes_to_write": 0},
    ),
    "data_staging": _ProfileKind(
        "ParallelTaskDataStagingBetweenStoragesProfile",
        {"nb_bytes": "bytes_to_transfer", "from": "emitter_storage_name", "to": "receiver_storage_name"},
    ),
    "smpi": _ProfileKind("TraceReplayProfile", {"trace": "filename"}, {"trace_type": "SMPI"}, writable=False),
    "usage_trace": _ProfileKind(
        "TraceReplayProfile", {"trace": "filename"}, {"trace_type": "FractionalComputation"}, writable=False
    ),
}
"""Batsim 4's types of profiles in Batsim 5's form."""

_TO_4 = {kind.name: name for name, kind in PROFILES.items() if name != "parallel_homogeneous_total"}


def to_batsim5(profile: JsonObject, workload: str, *, of_file: bool = False) -> tuple[str, JsonObject]:
    """Name and members of the Batsim 5 profile that is equivalent to a Batsim 4 profile object.

    Parameters
    ----------
    workload
        Workload of the profiles that it names.
    of_file
        Whether it is from a workload file, which may have members that no request can have: a return code, a trace.

    Raises
    ------
    LocalProtocolError
        Batsim 5 has no such profile.
    """
    name: Any = profile.get("type")
    kind = PROFILES.get(name)
    if kind is None or not (kind.writable or of_file):
        known = ", ".join(name for name, kind in PROFILES.items() if kind.writable)
        raise LocalProtocolError(f"Batsim 5 has no profile of type {shown(name)}; it has {known}")
    if profile.get("ret") and not of_file:
        raise LocalProtocolError(f"Batsim 5 has no field for the return code {shown(profile['ret'])} of a profile")
    values = kind.defaults | ({"storage": profile["host"]} if "host" in profile else {}) | profile
    try:
        if name == "parallel_homogeneous_total" and profile["com"]:
            # Batsim 4 gives each ordered pair com/n, Batsim 5 com/(n(n-1)), and n is not known here.
            raise LocalProtocolError("a parallel_homogeneous_total profile with 'com' means something else in Batsim 5")
        members = {new: values[old] for old, new in kind.members.items()}
    except KeyError as missing:
        raise LocalProtocolError(f"a profile of type {shown(name)} needs the member {missing}") from None
    if name == "composed":
        members["profile_ids"] = [part if "!" in part else f"{workload}!{part}" for part in members["profile_ids"]]
    return kind.name, members | kind.fixed


def to_batsim4(kind: str, members: JsonObject, workload: str = "") -> JsonObject:
    """Batsim 4's profile object for a Batsim 5 profile; an unknown kind keeps its name and members.

    Parts in the workload ``workload`` lose its name.
    """
    name = _type_of(kind, members)
    if name is None:
        return {"type": kind} | members
    renamed = {old: members[new] for old, new in PROFILES[name].members.items() if members.get(new) is not None}
    return {"type": name} | _completed(name, renamed, workload)


def from_file(profile: JsonObject) -> JsonObject:
    """Batsim 4's profile object for one of a Batsim 5 workload file; others are unchanged.

    In such files types have the new names, and members the old ones, except for traces.
    """
    name = _type_of(profile.get("type"), profile)
    if name is None:
        return profile
    trace = {"trace": profile["filename"]} if "filename" in profile else {}
    given = {key: value for key, value in profile.items() if key not in ("generation_strategy", "filename")}
    return given | trace | {"type": name}


def _type_of(kind: Any, members: JsonObject) -> str | None:
    """Batsim 4's type for a Batsim 5 profile; ``None`` for an unknown one."""
    if (
        kind == "ParallelTaskHomogeneousProfile"
        and members.get("generation_strategy") == _SPREAD["generation_strategy"]
    ):
        return "parallel_homogeneous_total"
    if kind == "TraceReplayProfile" and members.get("trace_type") == "SMPI":
        return "smpi"
    return _TO_4.get(kind) if isinstance(kind, str) else None


def _completed(name: str, values: JsonObject, workload: str) -> JsonObject:
    """Add members that Batsim 5 may omit."""
    if name in ("parallel_homogeneous", "parallel_homogeneous_total"):
        return {"cpu": 0, "com": 0} | values
    if name == "parallel":
        cpu, com = values.get("cpu"), values.get("com")
        size = len(cpu) if isinstance(cpu, list) else math.isqrt(len(com)) if isinstance(com, list) else 0
        return {"cpu": [0.0] * size, "com": [0.0] * size**2} | values
    if name == "composed" and isinstance(values.get("seq"), list):
        own = f"{workload}!"
        return values | {"seq": [it.removeprefix(own) if isinstance(it, str) else it for it in values["seq"]]}
    return values

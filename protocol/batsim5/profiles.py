"""Profiles in Batsim 5's words and back in Batsim 4's, which the session uses.

Nothing here was checked against a running 5.0.0-rc2.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from spillway.base.errors import LocalProtocolError, shown
from spillway.protocol.messages import JsonObject

_EACH = {"generation_strategy": "DefinedAmountsUsedForEachValue"}
_SPREAD = {"generation_strategy": "DefinedAmountsSpreadUniformly"}


@dataclass(frozen=True)
class ProfileKind:
    """What Batsim 5 calls a type of profile, the names of its members in both, and what is written besides.

    ``defaults`` stand where Batsim 4's profile lacks a member. Types that are not ``writable`` stand in files alone.
    """

    name: str
    members: dict[str, str]
    fixed: JsonObject = field(default_factory=dict)
    defaults: JsonObject = field(default_factory=dict)
    writable: bool = True


PROFILES = {
    "delay": ProfileKind("DelayProfile", {"delay": "delay"}),
    "parallel": ProfileKind("ParallelTaskProfile", {"cpu": "computation_vector", "com": "communication_matrix"}),
    "parallel_homogeneous": ProfileKind(
        "ParallelTaskHomogeneousProfile", {"cpu": "computation_amount", "com": "communication_amount"}, _EACH
    ),
    "parallel_homogeneous_total": ProfileKind(
        "ParallelTaskHomogeneousProfile", {"cpu": "computation_amount", "com": "communication_amount"}, _SPREAD
    ),
    "composed": ProfileKind(
        "SequentialCompositionProfile", {"repeat": "repetition_count", "seq": "profile_ids"}, defaults={"repeat": 1}
    ),
    "parallel_homogeneous_pfs": ProfileKind(
        "ParallelTaskOnStorageHomogeneousProfile",
        {"storage": "storage_name", "bytes_to_read": "bytes_to_read", "bytes_to_write": "bytes_to_write"},
        _EACH,
        {"storage": "pfs", "bytes_to_read": 0, "bytes_to_write": 0},
    ),
    "data_staging": ProfileKind(
        "ParallelTaskDataStagingBetweenStoragesProfile",
        {"nb_bytes": "bytes_to_transfer", "from": "emitter_storage_name", "to": "receiver_storage_name"},
    ),
    "smpi": ProfileKind("TraceReplayProfile", {"trace": "filename", "trace_type": "trace_type"}, writable=False),
    "usage_trace": ProfileKind("TraceReplayProfile", {"trace": "filename", "trace_type": "trace_type"}, writable=False),
}
"""Batsim 4's types of profiles in Batsim 5's words."""

_TO_4 = {kind.name: name for name, kind in PROFILES.items() if name != "parallel_homogeneous_total"}


def to_batsim5(profile: JsonObject, workload: str) -> tuple[str, JsonObject]:
    """Name and members of Batsim 5's profile that means the same as a Batsim 4 profile object.

    Raises
    ------
    LocalProtocolError
        Batsim 5 has no such profile.
    """
    name: Any = profile.get("type")
    kind = PROFILES.get(name)
    if kind is None or not kind.writable:
        known = ", ".join(name for name, kind in PROFILES.items() if kind.writable)
        raise LocalProtocolError(f"Batsim 5 has no profile of type {shown(name)}; it has {known}")
    if profile.get("ret"):
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


def to_batsim4(kind: str, members: JsonObject) -> JsonObject:
    """Batsim 4's profile object for a Batsim 5 profile; an unknown kind keeps its name and members."""
    name = _TO_4.get(kind)
    if name is None:
        return {"type": kind} | members
    amounts = {"cpu": 0, "com": 0} if name == "parallel_homogeneous" else {}
    if amounts and members.get("generation_strategy") == _SPREAD["generation_strategy"]:
        name = "parallel_homogeneous_total"
    renamed = {old: members[new] for old, new in PROFILES[name].members.items() if new in members}
    return {"type": name} | amounts | renamed

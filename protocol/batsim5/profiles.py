"""Profiles in Batsim 5's words and back in Batsim 4's, which the session uses.

Nothing here was checked against a running 5.0.0-rc2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spillway.base.errors import LocalProtocolError, shown
from spillway.protocol.messages import JsonObject

_EACH = "DefinedAmountsUsedForEachValue"
_SPREAD = "DefinedAmountsSpreadUniformly"


def to_batsim5(profile: JsonObject, workload: str) -> tuple[str, JsonObject]:
    """Name and members of Batsim 5's profile that means the same as a Batsim 4 profile object.

    Raises
    ------
    LocalProtocolError
        Batsim 5 has no such profile.
    """
    kind = profile.get("type")
    if kind not in _TO_5:
        raise LocalProtocolError(f"Batsim 5 has no profile of type {shown(kind)}; it has {', '.join(_TO_5)}")
    if profile.get("ret"):
        raise LocalProtocolError(f"Batsim 5 has no field for the return code {shown(profile['ret'])} of a profile")
    try:
        return _TO_5[kind](profile, workload)
    except KeyError as missing:
        raise LocalProtocolError(f"a profile of type {shown(kind)} needs the member {missing}") from None


def to_batsim4(kind: str, members: JsonObject) -> JsonObject:
    """Batsim 4's profile object for a Batsim 5 profile; an unknown kind keeps its name and members."""
    translate = _TO_4.get(kind)
    return {"type": kind} | members if translate is None else translate(members)


def _delay_to_5(profile: JsonObject, workload: str) -> tuple[str, JsonObject]:
    return "DelayProfile", {"delay": profile["delay"]}


def _parallel_to_5(profile: JsonObject, workload: str) -> tuple[str, JsonObject]:
    members = {"computation_vector": profile["cpu"], "communication_matrix": profile["com"]}
    return "ParallelTaskProfile", members


def _homogeneous_to_5(profile: JsonObject, workload: str) -> tuple[str, JsonObject]:
    return "ParallelTaskHomogeneousProfile", _amounts(profile, _EACH)


def _total_to_5(profile: JsonObject, workload: str) -> tuple[str, JsonObject]:
    if profile["com"]:
        # Batsim 4 gives each ordered pair com/n, Batsim 5 com/(n(n-1)), and n is not known here.
        raise LocalProtocolError("a parallel_homogeneous_total profile with 'com' means something else in Batsim 5")
    return "ParallelTaskHomogeneousProfile", _amounts(profile, _SPREAD)


def _amounts(profile: JsonObject, strategy: str) -> JsonObject:
    return {
        "computation_amount": profile["cpu"],
        "communication_amount": profile["com"],
        "generation_strategy": strategy,
    }


def _composed_to_5(profile: JsonObject, workload: str) -> tuple[str, JsonObject]:
    children = [name if "!" in name else f"{workload}!{name}" for name in profile["seq"]]
    return "SequentialCompositionProfile", {"repetition_count": profile.get("repeat", 1), "profile_ids": children}


def _pfs_to_5(profile: JsonObject, workload: str) -> tuple[str, JsonObject]:
    members = {
        "storage_name": profile.get("storage", profile.get("host", "pfs")),
        "bytes_to_read": profile.get("bytes_to_read", 0),
        "bytes_to_write": profile.get("bytes_to_write", 0),
        "generation_strategy": _EACH,
    }
    return "ParallelTaskOnStorageHomogeneousProfile", members


def _staging_to_5(profile: JsonObject, workload: str) -> tuple[str, JsonObject]:
    members = {
        "bytes_to_transfer": profile["nb_bytes"],
        "emitter_storage_name": profile["from"],
        "receiver_storage_name": profile["to"],
    }
    return "ParallelTaskDataStagingBetweenStoragesProfile", members


_TO_5: dict[Any, Callable[[JsonObject, str], tuple[str, JsonObject]]] = {
    "delay": _delay_to_5,
    "parallel": _parallel_to_5,
    "parallel_homogeneous": _homogeneous_to_5,
    "parallel_homogeneous_total": _total_to_5,
    "composed": _composed_to_5,
    "parallel_homogeneous_pfs": _pfs_to_5,
    "data_staging": _staging_to_5,
}


def _renamed(kind: str, names: dict[str, str]) -> Callable[[JsonObject], JsonObject]:
    def translate(members: JsonObject) -> JsonObject:
        return {"type": kind} | {names[key]: value for key, value in members.items() if key in names}

    return translate


def _homogeneous_to_4(members: JsonObject) -> JsonObject:
    total = members.get("generation_strategy") == _SPREAD
    kind = "parallel_homogeneous_total" if total else "parallel_homogeneous"
    return {"type": kind, "cpu": members.get("computation_amount", 0), "com": members.get("communication_amount", 0)}


_TO_4: dict[str, Callable[[JsonObject], JsonObject]] = {
    "DelayProfile": _renamed("delay", {"delay": "delay"}),
    "ParallelTaskProfile": _renamed("parallel", {"computation_vector": "cpu", "communication_matrix": "com"}),
    "ParallelTaskHomogeneousProfile": _homogeneous_to_4,
    "SequentialCompositionProfile": _renamed("composed", {"repetition_count": "repeat", "profile_ids": "seq"}),
    "ParallelTaskOnStorageHomogeneousProfile": _renamed(
        "parallel_homogeneous_pfs",
        {"storage_name": "storage", "bytes_to_read": "bytes_to_read", "bytes_to_write": "bytes_to_write"},
    ),
    "ParallelTaskDataStagingBetweenStoragesProfile": _renamed(
        "data_staging",
        {"bytes_to_transfer": "nb_bytes", "emitter_storage_name": "from", "receiver_storage_name": "to"},
    ),
    "TraceReplayProfile": _renamed("usage_trace", {"filename": "trace", "trace_type": "trace_type"}),
}

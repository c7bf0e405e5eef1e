"""One compute phase of a job's profile: its computation divided, its communication in full (thesis code, 4.3)."""

from __future__ import annotations

from collections.abc import Callable

from schedulers.wire.messages import JsonObject


def _divide_cpu(profile: JsonObject, phases: int) -> JsonObject:
    cpu = profile["cpu"]
    part = [value / phases for value in cpu] if isinstance(cpu, list) else cpu / phases
    return {"type": profile["type"], "cpu": part, "com": profile["com"], "ret": 0}


def _divide_delay(profile: JsonObject, phases: int) -> JsonObject:
    return {"type": "delay", "delay": profile["delay"] / phases, "ret": 0}


_SPLITTERS: dict[str, Callable[[JsonObject, int], JsonObject]] = {
    "parallel_homogeneous": _divide_cpu,
    "parallel_homogeneous_total": _divide_cpu,
    "parallel": _divide_cpu,
    "delay": _divide_delay,
}


def split_profile(profile: JsonObject, phases: int) -> JsonObject:
    """The profile of one of ``phases`` equal compute phases.

    Raises
    ------
    ValueError
        The profile's type cannot be divided into phases.
    """
    splitter = _SPLITTERS.get(profile.get("type", ""))
    if splitter is None:
        known = ", ".join(_SPLITTERS)
        raise ValueError(f"a profile of type {profile.get('type')!r} cannot be run in phases; expected one of: {known}")
    return splitter(profile, phases)


def flops_per_node(profile: JsonObject) -> float:
    """Work per node of a profile: what the number of compute phases follows from; 0 where it states none."""
    cpu = profile.get("cpu", 0)
    return float(max(cpu, default=0) if isinstance(cpu, list) else cpu)

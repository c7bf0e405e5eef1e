"""One compute phase of a job's profile: its computation divided, its communication in full (thesis code, 4.3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from spillway.protocol.messages import JsonObject


def _divide_cpu(profile: JsonObject, phases: int) -> JsonObject:
    cpu = profile["cpu"]
    part = [value / phases for value in cpu] if isinstance(cpu, list) else cpu / phases
    return {"type": profile["type"], "cpu": part, "com": profile["com"], "ret": 0}


def _divide_delay(profile: JsonObject, phases: int) -> JsonObject:
    return {"type": "delay", "delay": profile["delay"] / phases, "ret": 0}


SPLITTABLE: Mapping[str, Callable[[JsonObject, int], JsonObject]] = {
    "parallel_homogeneous": _divide_cpu,
    "parallel_homogeneous_total": _divide_cpu,
    "parallel": _divide_cpu,
    "delay": _divide_delay,
}
"""Types of profiles that can be divided into phases, each with its function."""


def split_profile(profile: JsonObject, phases: int) -> JsonObject:
    """Return the profile of one of ``phases`` equal compute phases; its type must be in :data:`SPLITTABLE`."""
    return SPLITTABLE[profile["type"]](profile, phases)

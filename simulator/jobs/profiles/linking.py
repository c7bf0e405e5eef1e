"""Composed profiles of a workload file and their parts: linked, counted and bounded, without recursion or unfolding."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from spillway.core import Profile
from spillway.protocol.profiles import parts_first, refuse_large
from spillway.simulator.jobs.profiles.composed import Sequence


def link_parts(profiles: Mapping[str, Profile | None]) -> None:
    """Link composed profiles with their parts.

    Raises
    ------
    ValueError
        A part does not exist, a profile contains itself, is nested too deeply or unfolds to too many tasks
        (:mod:`spillway.protocol.profiles`).
    """
    sequences = {
        name: sequence
        for name, profile in profiles.items()
        if profile is not None and profile.children and (sequence := _sequence(profile)) is not None
    }
    if not sequences:
        return
    parts = {name: profile.children if profile is not None else () for name, profile in profiles.items()}
    refuse_large(parts_first(parts), parts, {name: work.repeat for name, work in sequences.items()})
    for name, work in sequences.items():
        work.parts = linked = tuple([profile for part in parts[name] if (profile := profiles[part]) is not None])
        whole = profiles[name]
        assert whole is not None
        whole.elastic_parts = bool(linked) and all(part.elastic for part in linked)


def _sequence(profile: Profile) -> Sequence | None:
    """The composed work of a profile; ``None`` if it has another one."""
    program = profile.work.program
    return program if isinstance(program, Sequence) else None


def link_registered(profile: Profile, known: Mapping[str, Profile | None]) -> None:
    """Link a registered profile with its parts, which are linked already; as :func:`link_parts`."""
    family = {profile.name: profile} | {
        name: part for name in profile.children if (part := known.get(name)) is not None and not part.dropped
    }
    waiting = list(family.values())[1:]
    while waiting:
        sequence = _sequence(waiting.pop())
        for part in (sequence is not None and sequence.parts) or ():
            if family.setdefault(part.name, part) is part:
                waiting.append(part)
    link_parts(family)


def with_parts(profiles: Mapping[str, Profile | None], names: Collection[str]) -> set[str]:
    """These profiles and all their parts."""
    found = set(names)
    waiting = list(found)
    while waiting:
        children = {child for name in waiting if (profile := profiles[name]) is not None for child in profile.children}
        waiting = list(children - found)
        found |= children
    return found

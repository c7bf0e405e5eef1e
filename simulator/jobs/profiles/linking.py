"""Composed profiles of a workload file and their parts: linked, counted and bounded, without recursion or unfolding."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from spillway.base.errors import shortened, shown
from spillway.protocol.limits import DEEPEST_PROFILE, MOST_TASKS
from spillway.simulator.jobs.profiles.base import Profile
from spillway.simulator.jobs.profiles.composed import Sequence


def link_parts(profiles: Mapping[str, Profile | None]) -> None:
    """Link composed profiles with their parts.

    Raises
    ------
    ValueError
        A part does not exist, a profile contains itself, is nested deeper than :data:`DEEPEST_PROFILE` levels or
        unfolds to more than :data:`MOST_TASKS` tasks.
    """
    depths: dict[str, int] = {}
    tasks: dict[str, int] = {}
    for name in _parts_first(profiles):
        profile = profiles[name]
        assert profile is not None
        if not isinstance(profile.work, Sequence):
            depths[name] = tasks[name] = 1
            continue
        profile.work.parts = tuple(_existing(profiles, child, name) for child in profile.children)
        depths[name] = 1 + max(depths[child] for child in profile.children)
        tasks[name] = profile.work.repeat * sum(tasks[child] for child in profile.children)
        if depths[name] > DEEPEST_PROFILE:
            raise ValueError(f"profile {shown(name)} is nested deeper than {DEEPEST_PROFILE} levels: flatten its 'seq'")
        if tasks[name] > MOST_TASKS:
            raise ValueError(
                f"profile {shown(name)} unfolds to {tasks[name]:.3g} tasks, more than the {MOST_TASKS} that this "
                "simulator plays for one job: lower 'repeat' (to what fits into the walltime, where that ends it)"
            )


def with_parts(profiles: Mapping[str, Profile | None], names: Collection[str]) -> set[str]:
    """These profiles and all that they are composed of."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        profile = profiles[name]
        assert profile is not None
        waiting.extend(profile.children)
    return found


def _parts_first(profiles: Mapping[str, Profile | None]) -> Iterator[str]:
    """All names, each after those of its parts."""
    done: set[str] = set()
    for first in profiles:
        path: dict[str, Iterator[str]] = {}
        name: str | None = first
        while name is not None or path:
            if name is not None and name not in done:
                above = next(reversed(path), "")
                path[name] = iter(_existing(profiles, name, above).children)
            name = next(reversed(path), None)
            if name is None:
                break
            child = next(path[name], None)
            if child is None:
                del path[name]
                done.add(name)
                yield name
            elif child in path:
                circle = [*list(path)[list(path).index(child) :], child]
                raise ValueError(f"profile {shown(child)} contains itself: {shortened(' > '.join(circle))}")
            name = child


def _existing(profiles: Mapping[str, Profile | None], name: str, above: str) -> Profile:
    profile = profiles.get(name)
    if profile is None:
        raise ValueError(f"profile {shown(above)}: the profile {shown(name)} in its 'seq' does not exist")
    return profile

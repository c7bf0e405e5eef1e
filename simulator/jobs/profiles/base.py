"""Profiles: a name, a return code, and the work of a job.

The core has profiles (:class:`spillway.core.Profile`) and their work: a fixed time or one parallel task of the engine.
What is more is a small program (:meth:`CompoundWork.steps`) that waits for such work one after another.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import spillway.core as core
from spillway.base.errors import shown
from spillway.simulator.world.machines import Machines


class Placement(NamedTuple):
    """Hosts of a program.

    Attributes
    ----------
    executors
        Platform host of each executor; the same host may serve several.
    machine_ids
        The allocation, ascending.
    machines
        All machines.
    """

    executors: tuple[int, ...]
    machine_ids: tuple[int, ...]
    machines: Machines


class ChainTask(NamedTuple):
    """A task of a chain: hosts, flop on each, and bytes from the first to the second."""

    hosts: tuple[int, ...]
    flops: float
    bytes: float = 0.0


@dataclass(slots=True)
class Node:
    """A running task in the tree of a job's tasks, for the progress that a kill reports.

    Attributes
    ----------
    profile
        Profile of the task.
    index
        Number of the running child (counted over repetitions), -1 before the first.
    child
        That child.
    """

    profile: core.Profile
    index: int = -1
    child: Node | None = None


@dataclass(frozen=True, slots=True)
class Sleep:
    """Wait for ``seconds``; the program gets 0, or -1 if the walltime ends first."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Poll:
    """Wait until the scheduler has sent a message, with a poll every ``seconds``; the program gets 0 or -1."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Run:
    """Run another profile; the program gets its return code (-1 if the walltime ends first)."""

    node: Node


@dataclass(frozen=True, slots=True)
class Parallel:
    """Run chains of tasks side by side until all have been reported; the program gets 0 or -1.

    ``reports`` has the message that each chain sends at its end; the job receives one after another.
    """

    chains: tuple[tuple[ChainTask, ...], ...]
    reports: tuple[ChainTask, ...]


@dataclass(frozen=True, slots=True)
class Tell:
    """Send a message to the scheduler; the program gets 0 when the server has received it."""

    message: Any


@dataclass(frozen=True, slots=True)
class Take:
    """Take the oldest message that the scheduler sent to this job; the program gets it, or ``None``."""


Step: TypeAlias = Sleep | Poll | Run | Parallel | Tell | Take
Program: TypeAlias = Generator[Step, Any, int]


class CompoundWork:
    """Work that is a small program."""

    __slots__ = ()

    def steps(self, node: Node, place: Placement, lookup: ProfileLookup) -> Program:
        """The program; it returns the return code, not yet replaced by the profile's own."""
        raise NotImplementedError


_DROPPED = " (it existed, but is dropped: unused in its file, or a job of it has ended without --enable-profile-reuse)"


class ProfileLookup:
    """Profiles of one workload by name.

    Attributes
    ----------
    name
        Name of the workload: ``w0``, ``w1``, ... for files; any name for a workload that the scheduler made.
    profiles
        Profiles by name; ``None`` if the profile existed but cannot be used any more.
    """

    __slots__ = ("name", "profiles")

    def __init__(self, name: str) -> None:
        self.name = name
        self.profiles: dict[str, core.Profile | None] = {}

    def profile(self, name: str) -> core.Profile:
        """The live profile of that name; :class:`ValueError` if it does not exist."""
        found = self.profiles.get(name)
        if found is None or found.dropped:
            raise ValueError(self.missing(name))
        return found

    def missing(self, name: str) -> str:
        """Text of the error for a profile that does not exist, or not any more."""
        gone = _DROPPED if name in self.profiles else ""
        return f"workload {shown(self.name)} has no profile {shown(name)}{gone}"

    def drop_profile(self, name: str) -> None:
        """Make a profile and those it runs unusable for new jobs; jobs that have it keep it."""
        profile = self.profiles.get(name)
        if profile is not None and not profile.dropped:
            profile.dropped = True
            self.profiles[name] = None
            for child in profile.children:
                self.drop_profile(child)


class ParsedProfile(NamedTuple):
    """Result of the reader of one profile type."""

    work: core.Work
    size: int | None = None
    elastic: bool = False
    children: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Origin:
    """Origin of a profile.

    Attributes
    ----------
    folder
        Folder of its workload file; ``None`` if the scheduler registered it.
    reprinted
        Whether Batsim prints it with six decimals before it passes it on (or reads it, if it was registered).
    """

    folder: str | None = None
    reprinted: bool = True

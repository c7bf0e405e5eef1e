"""Profiles: a name, a return code, and the work of a job.

Work comes in three forms, which the executor distinguishes by class:

* :class:`ParallelWork` becomes one parallel task of the engine;
* :class:`DelayWork` is a fixed time;
* :class:`CompoundWork` is a small program (:meth:`CompoundWork.steps`) that waits for such work one after another.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import msgspec

from spillway.base.errors import shown
from spillway.protocol.messages import JsonObject
from spillway.simulator.engines.base import TaskSpec
from spillway.simulator.world.machines import Machines


class Placement(msgspec.Struct, frozen=True, eq=False):
    """Hosts of a task.

    Attributes
    ----------
    executors
        Platform host of each executor; the same host may serve several.
    machine_ids
        The allocation, ascending.
    machines
        All machines (to find storage hosts).
    storage
        Storage machine id by label, as given by the scheduler; empty without a mapping.
    """

    executors: tuple[int, ...]
    machine_ids: tuple[int, ...]
    machines: Machines
    storage: Mapping[str, int]


class ParallelWork:
    """Work that is one parallel task."""

    __slots__ = ()

    def task(self, place: Placement) -> TaskSpec:
        """The task on these hosts; :class:`ValueError` gives the reason if it cannot run there."""
        raise NotImplementedError


class DelayWork:
    """A fixed duration in s, above 0."""

    __slots__ = ("seconds",)

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds


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
    progress
        Done share of a leaf; ``None`` if progress is not defined.
    """

    profile: Profile
    index: int = -1
    child: Node | None = None
    progress: float | None = None


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

    chains: tuple[tuple[TaskSpec, ...], ...]
    reports: tuple[TaskSpec, ...]


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


Work: TypeAlias = ParallelWork | DelayWork | CompoundWork


_DROPPED = " (it existed, but is dropped: unused in its file, or a job of it has ended without --enable-profile-reuse)"


class ProfileLookup:
    """Profiles of one workload by name.

    Attributes
    ----------
    name
        Name of the workload: ``w0``, ``w1``, ... for files; any name for a workload that the scheduler made.
    profiles
        Profiles by name; ``None`` if the profile existed but cannot be used any more.
    local
        Whether its jobs came by :class:`spillway.protocol.messages.RunSubJobs`.
    """

    __slots__ = ("local", "name", "profiles")

    def __init__(self, name: str) -> None:
        self.name = name
        self.local = False
        self.profiles: dict[str, Profile | None] = {}

    def profile(self, name: str) -> Profile:
        """The live profile of that name; :class:`ValueError` if it does not exist."""
        found = self.profiles.get(name)
        if found is None:
            raise ValueError(self.missing(name))
        return found

    def missing(self, name: str) -> str:
        """Text of the error for a profile that does not exist, or not any more."""
        gone = _DROPPED if name in self.profiles else ""
        return f"workload {shown(self.name)} has no profile {shown(name)}{gone}"

    def drop_profile(self, name: str) -> None:
        """Make a profile and those it runs unusable for new jobs; jobs that have it keep it."""
        profile = self.profiles.get(name)
        if profile is not None:
            self.profiles[name] = None
            for child in profile.children:
                self.drop_profile(child)


@dataclass(slots=True)
class Profile:
    """A profile.

    Attributes
    ----------
    name
        Unique in its workload.
    kind
        Batsim's ``type``.
    work
        Work of a job.
    ret
        Return code of a job that is not stopped; 0 is success.
    size
        Number of resources that it is made for, ``None`` for any.
    elastic
        Whether it may run on any number of hosts, independently of the job's request.
    children
        Names of the profiles that it runs.
    source
        The object that described it, as printed.
    """

    name: str
    kind: str
    work: Work
    ret: int = 0
    size: int | None = None
    elastic: bool = False
    children: tuple[str, ...] = ()
    source: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Parsed:
    """Result of the reader of one profile type."""

    work: Work
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


__all__ = [
    "CompoundWork", "DelayWork", "Node", "Origin", "Parallel", "ParallelWork", "Parsed", "Placement", "Poll",
    "Profile", "ProfileLookup", "Program", "Run", "Sleep", "Step", "Take", "Tell", "Work",
]  # fmt: skip

"""Small runs on small machines, and the times of their events."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from spillway.platforms.catalogue import describe
from spillway.platforms.description.generate import build
from spillway.platforms.description.machine import read_description
from spillway.platforms.model import Platform
from spillway.protocol.messages import JobState
from spillway.schedulers.assembly import SessionSpec
from spillway.schedulers.core.observer import Observer
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.model.persistent import PersistentBuffer
from spillway.schedulers.policykit.view import Holding, Running
from tests.kit.play import converse
from tests.properties.buffer_world import RACKS
from tests.properties.outage_world import Change, write_events

GB = 10**9
TINY = "tiny"
"""Eight nodes, two storage nodes of 10 GB."""

TWO_RACKS = RACKS.format(racks=2, nodes=1, size=4, granule=GB)
FOUR_RACKS = RACKS.format(racks=4, nodes=1, size=10, granule=1)


@cache
def machine(description: str) -> Platform:
    """A machine from its description, or ``tiny``."""
    return build(describe(TINY, None) if description == TINY else read_description(description, "small.toml", {}))


class Story(Observer):
    """Times of events by job or name of a persistent buffer (s).

    Attributes
    ----------
    evicted_s
        Losses of burst buffers: time and job.
    waiting
        Jobs that wait in the end.
    """

    def __init__(self) -> None:
        self.held_s: dict[str, float] = {}
        self.started_s: dict[str, float] = {}
        self.created_s: dict[str, float] = {}
        self.evicted_s: list[tuple[float, str]] = []
        self.ends: dict[str, JobState] = {}
        self.reasons: dict[str, str] = {}
        self.waiting = 0

    def held(self, job: Job, holding: Holding, now_s: float) -> None:
        """A waiting job has its buffer."""
        self.held_s[job.name] = now_s

    def evicted(self, job: Job, holding: Holding, now_s: float) -> None:
        """It lost it."""
        self.evicted_s.append((now_s, job.name))

    def started(self, job: Job, allocation: Allocation, now_s: float) -> None:
        """A job has its nodes."""
        self.started_s[job.name] = now_s

    def created(self, buffer: PersistentBuffer, now_s: float) -> None:
        """A persistent buffer is there."""
        self.created_s[buffer.name] = now_s

    def ended(self, running: Running, state: JobState, now_s: float) -> None:
        """A job has ended."""
        self.ends[running.job.name] = state

    def rejected(self, job: Job, reason: str, now_s: float) -> None:
        """A job was refused for good."""
        self.reasons[job.name] = reason


def play(
    description: str,
    spec: SessionSpec,
    jobs: Sequence[dict[str, Any]],
    profiles: dict[str, Any],
    outages: tuple[Path, list[Change]] | None = None,
    *,
    deadlock: bool = False,
) -> Story:
    """Play jobs to their end, with outages; all books agree after every message.

    Parameters
    ----------
    outages
        A file to write them to, and times and machines of the changes.
    deadlock
        Whether jobs may wait in the end; else that is an error.
    """
    story = Story()
    session = spec.session(story)
    data = {"nb_res": 2, "jobs": list(jobs), "profiles": profiles}
    events = () if outages is None else (write_events(*outages),)
    converse(session, machine(description), data, spec=spec, fail_on_deadlock=not deadlock, events=events)
    story.waiting = session.waiting
    return story


def job(name: str, at: float, nodes: int, profile: str, **fields: Any) -> dict[str, Any]:
    """A job."""
    return {"id": name, "subtime": at, "res": nodes, "profile": profile, **fields}

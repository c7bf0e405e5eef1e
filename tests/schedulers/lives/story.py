"""Small runs on small machines, and the times of their events."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from spillway.platforms.catalogue import describe
from spillway.platforms.description.generate import build
from spillway.platforms.description.machine import read_description
from spillway.platforms.model import Platform
from spillway.schedulers.assembly import SessionSpec
from tests.kit.play import converse
from tests.kit.story import Story
from tests.properties.buffer_world import RACKS
from tests.properties.outage_world import Change, write_events

GB = 10**9
TINY = "tiny"
"""Eight nodes, two storage nodes of 10 GB."""
FOUR_RACKS = RACKS.format(racks=4, nodes=1, size=10, granule=1)


@cache
def machine(description: str) -> Platform:
    """A machine from its description, or ``tiny``."""
    return build(describe(TINY, None) if description == TINY else read_description(description, "small.toml", {}))


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
    story = Story("name")
    session = spec.session(story)
    data = {"nb_res": 2, "jobs": list(jobs), "profiles": profiles}
    events = () if outages is None else (write_events(*outages),)
    converse(session, machine(description), data, spec=spec, fail_on_deadlock=not deadlock, events=events)
    story.waiting = session.waiting
    return story


def job(name: str, at: float, nodes: int, profile: str, **fields: Any) -> dict[str, Any]:
    """A job."""
    return {"id": name, "subtime": at, "res": nodes, "profile": profile, **fields}

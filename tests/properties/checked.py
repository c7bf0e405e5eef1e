"""Worlds that are played in this process with everything proven to agree after every message."""

from spillway.platforms.catalogue import platform_from
from spillway.protocol.messages import Reply
from spillway.schedulers.assembly import SessionSpec
from spillway.schedulers.core.observer import Observer
from spillway.schedulers.core.session import Session
from spillway.simulator.reading.registry import Workload
from tests.kit.play import converse

TINY = platform_from("tiny")


def play_checked(
    spec: SessionSpec, workload: Workload, observer: Observer, *, explain: bool = False,
    replies: list[Reply] | None = None,
) -> Session:  # fmt: skip
    """Play a workload on the machine ``tiny``; queue, book and runtime agree after every message.

    All replies are added to ``replies``.
    """
    session = spec.session(observer, explain=explain)
    converse(session, TINY, workload, spec=spec, replies=replies)
    return session

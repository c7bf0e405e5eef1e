"""Worlds that are played in this process with everything proven to agree after every message."""

from __future__ import annotations

from spillway.platforms.catalogue import platform_from
from spillway.protocol.messages import Message, Reply
from spillway.schedulers.assembly import SessionSpec
from spillway.schedulers.core.observer import Observer
from spillway.schedulers.core.session import Session
from spillway.simulator.engines.fluid import FluidEngine
from spillway.simulator.options import SimulationOptions
from spillway.simulator.reading.registry import Workload
from spillway.simulator.wire.broker import Simulation
from spillway.simulator.wire.links import InProcessLink

TINY = platform_from("tiny")


def play_checked(
    spec: SessionSpec, workload: Workload, observer: Observer, *, explain: bool = False,
    replies: list[Reply] | None = None,
) -> Session:  # fmt: skip
    """Play a workload on the machine ``tiny``; queue, book and runtime agree after every message.

    All replies are added to ``replies``.
    """
    needs = spec.needs()
    session = spec.session(observer, explain=explain)

    def handle(message: Message) -> Reply:
        reply = session.handle(message)
        session.check()
        if replies is not None:
            replies.append(reply)
        return reply

    options = SimulationOptions(dynamic_jobs=needs.dynamic_jobs, profile_reuse=needs.profile_reuse)
    with FluidEngine(TINY) as engine:
        Simulation(TINY, [workload], engine, InProcessLink(handle), options).run()
    return session

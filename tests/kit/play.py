"""A session beside the simulator in this process: jobs are played to their end, all books checked at every message."""

from collections.abc import Callable
from typing import Any

from spillway.platforms.model import Platform
from spillway.protocol.messages import Message, Reply
from spillway.schedulers.assembly import SessionSpec
from spillway.simulator.engines.by_name import Engine
from spillway.simulator.engines.native import FluidEngine
from spillway.simulator.options import SimulationOptions
from spillway.simulator.reading.registry import Workload
from spillway.simulator.reading.workload import workload_from_object
from spillway.simulator.wire.broker import Simulation, SimulationResult
from spillway.simulator.wire.links import InProcessLink

MOST_MESSAGES = 20_000
"""A run that has not ended by then would never end."""


def converse(
    session: Any,
    platform: Platform,
    jobs: Workload | dict[str, Any],
    *,
    spec: SessionSpec | None = None,
    engine: Callable[[Platform], Engine] = FluidEngine,
    replies: list[Reply] | None = None,
    check: bool = True,
    after: Callable[[Message, Reply], None] | None = None,
    **options: Any,
) -> SimulationResult:
    """Play jobs to their end.

    Parameters
    ----------
    spec
        What the session was made of: whether jobs and profiles come during the simulation follows from it.
    replies
        Where all replies go.
    check
        Whether queue, book and runtime are proven to agree after every message.
    after
        Called with each message and its reply.
    options
        Of :class:`SimulationOptions`.
    """
    messages = 0

    def handle(message: Message) -> Reply:
        nonlocal messages
        messages += 1
        assert messages < MOST_MESSAGES, f"still going on at {message.now} s"
        reply: Reply = session.handle(message)
        if check:
            session.check()
        if replies is not None:
            replies.append(reply)
        if after is not None:
            after(message, reply)
        return reply

    if spec is not None:
        options = spec.needs().options | options
    workload = workload_from_object(jobs) if isinstance(jobs, dict) else jobs
    with engine(platform) as running:
        return Simulation(platform, [workload], running, InProcessLink(handle), SimulationOptions(**options)).run()

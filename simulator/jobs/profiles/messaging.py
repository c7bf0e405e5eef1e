"""``send`` and ``recv``: jobs that exchange messages with the scheduler."""

from __future__ import annotations

import re
from typing import Any

from spillway.simulator.jobs.profiles.base import (
    CompoundWork,
    Node,
    Placement,
    Poll,
    ProfileLookup,
    Program,
    Run,
    Sleep,
    Take,
    Tell,
)


class Send(CompoundWork):
    """Send ``message`` to the scheduler, then pause."""

    __slots__ = ("message", "pause_s")

    def __init__(self, message: Any, pause_s: float) -> None:
        self.message = message
        self.pause_s = pause_s

    def steps(self, node: Node, place: Placement, lookup: ProfileLookup) -> Program:
        """One message, one pause."""
        yield Tell(self.message)
        code: int = yield Sleep(self.pause_s)
        return code


class Receive(CompoundWork):
    """Wait for a message from the scheduler and run the profile that belongs to it."""

    __slots__ = ("failure", "pattern", "poll_s", "success", "timeout")

    def __init__(self, pattern: re.Pattern[str], success: str, failure: str, timeout: str, poll_s: float) -> None:
        self.pattern = pattern
        self.success = success
        self.failure = failure
        self.timeout = timeout
        self.poll_s = poll_s

    def steps(self, node: Node, place: Placement, lookup: ProfileLookup) -> Program:
        """Wait, unless a profile for the case without message is named."""
        message: str | None = yield Take()
        code: int
        if message is None and not self.timeout:
            code = yield Poll(self.poll_s)
            if code != 0:
                return code
            message = yield Take()
        name = self.timeout
        if message is not None:
            name = self.success if self.pattern.fullmatch(message) else self.failure
        if not name:
            return 0
        node.index = 0
        node.child = Node(lookup.profile(name))
        code = yield Run(node.child)
        return code

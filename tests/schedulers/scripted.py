"""A session that answers from a script, and the messages of a small conversation, for tests of the shell around it."""

from __future__ import annotations

from collections.abc import Callable

from spillway.protocol.messages import (
    ExecuteJob,
    JobCompleted,
    JobState,
    JobSubmitted,
    Message,
    Reply,
    Request,
    ResourceInfo,
    SimulationBegins,
    SimulationEnds,
)

BEGINS = Message(0.0, (SimulationBegins(0.0, (ResourceInfo(0, "n0"), ResourceInfo(1, "n1")), ()),))
SUBMITTED = Message(1.0, (JobSubmitted(1.0, "w0!1", {"id": "w0!1", "subtime": 1, "res": 2, "profile": "p"}),))
COMPLETED = Message(5.5, (JobCompleted(5.5, "w0!1", JobState.COMPLETED_SUCCESSFULLY, 0, (0, 1)),))
ENDS = Message(5.5, (SimulationEnds(5.5),))
CONVERSATION = (BEGINS, SUBMITTED, COMPLETED, ENDS)


class Scripted:
    """Starts every submitted job on nodes 0 and 1, unless a script says otherwise.

    Parameters
    ----------
    on_submitted
        Makes the requests that answer a submission.
    """

    def __init__(self, on_submitted: Callable[[JobSubmitted], tuple[Request, ...]] | None = None) -> None:
        self.finished = False
        self.seen: list[Message] = []
        self._on_submitted = on_submitted or (lambda event: (ExecuteJob(event.timestamp, event.job_id, (0, 1)),))

    def handle(self, message: Message, /) -> Reply:
        """Answer a message."""
        self.seen.append(message)
        requests: list[Request] = []
        for event in message.events:
            if isinstance(event, JobSubmitted):
                requests.extend(self._on_submitted(event))
            self.finished = self.finished or isinstance(event, SimulationEnds)
        return Reply(message.now, tuple(requests))

"""A session that answers from a script, and the messages of a small conversation, for tests of the shell around it."""

from collections.abc import Callable

from spillway.protocol import messages as m

BEGINS = m.Message(0.0, (m.SimulationBegins(0.0, (m.ResourceInfo(0, "n0"), m.ResourceInfo(1, "n1")), ()),))
SUBMITTED = m.Message(1.0, (m.JobSubmitted(1.0, "w0!1", {"id": "w0!1", "subtime": 1, "res": 2, "profile": "p"}),))
COMPLETED = m.Message(5.5, (m.JobCompleted(5.5, "w0!1", m.JobState.COMPLETED_SUCCESSFULLY, 0, (0, 1)),))
ENDS = m.Message(5.5, (m.SimulationEnds(5.5),))
CONVERSATION = (BEGINS, SUBMITTED, COMPLETED, ENDS)


class Scripted:
    """Starts every submitted job on nodes 0 and 1, unless a script says otherwise.

    Parameters
    ----------
    on_submitted
        Makes the requests that answer a submission.
    """

    def __init__(self, on_submitted: Callable[[m.JobSubmitted], tuple[m.Request, ...]] | None = None) -> None:
        self.finished = False
        self.seen: list[m.Message] = []
        self._on_submitted = on_submitted or (lambda event: (m.ExecuteJob(event.timestamp, event.job_id, (0, 1)),))

    def handle(self, message: m.Message, /) -> m.Reply:
        """Answer a message."""
        self.seen.append(message)
        requests: list[m.Request] = []
        for event in message.events:
            if isinstance(event, m.JobSubmitted):
                requests.extend(self._on_submitted(event))
            self.finished = self.finished or isinstance(event, m.SimulationEnds)
        return m.Reply(message.now, tuple(requests))

"""The simulator's errors.

::

    SpillwayError                  (spillway.base.errors)
    +-- InputError
    |   +-- SimulatorInputError    a file or option given to the simulator is wrong (exit code 2)
    +-- RemoteProtocolError
    |   +-- SchedulerFault         a request of the scheduler makes Batsim abort (exit code 1)
    +-- Refused                    the scheduler ended the conversation with a reason (exit code 2)
    +-- Deadlock                   no event can happen any more although jobs are left (exit code 4, only on request)
"""

from __future__ import annotations

from spillway.base.errors import InputError, RemoteProtocolError, SpillwayError, shown


class SimulatorInputError(InputError):
    """A workload, event file, platform role or option that the simulator cannot use."""


class SchedulerFault(RemoteProtocolError):
    """The scheduler broke a rule that Batsim enforces by aborting.

    Parameters
    ----------
    rule
        The rule, and the request that breaks it.
    path
        Place in the reply (``$.events[3]``).
    job
        Full id of the job concerned, or "".
    """

    def __init__(self, rule: str, path: str = "$", job: str = "") -> None:
        super().__init__(f"job {shown(job)}: {rule}" if job else rule, path)
        self.rule = rule
        self.job = job


class SchedulerRefusal(SpillwayError):
    """The scheduler ended the conversation with a reason.

    Parameters
    ----------
    reason
        The scheduler's text.
    """

    exit_code = 2

    def __init__(self, reason: str) -> None:
        super().__init__(f"the scheduler ended the conversation: {reason}")


class Deadlock(SpillwayError):
    """The simulation cannot continue: nothing is running, nothing is scheduled, and jobs are left."""

    exit_code = 4

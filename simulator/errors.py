"""The simulator's errors.

::

    SpillwayError                  (spillway.base.errors)
    +-- InputError
    |   +-- SimulatorInputError    a file or option given to the simulator is wrong (exit code 2)
    |   +-- EngineUnavailable      the chosen engine cannot run on this machine (exit code 2)
    +-- EngineFailed               the engine's own process ended or broke its rules
    +-- RemoteProtocolError
    |   +-- SchedulerFault         a request of the scheduler makes Batsim abort (exit code 1)
    +-- Refused                    the scheduler ended the conversation with a reason (exit code 2)
    +-- Deadlock                   no event can happen any more although jobs are left (exit code 4, only on request)
"""

from __future__ import annotations

from spillway.base.errors import InputError, RemoteProtocolError, SpillwayError, shown


class SimulatorInputError(InputError):
    """A workload, event file, platform role or option that the simulator cannot use."""


class EngineUnavailable(InputError):
    """The chosen engine cannot run on this machine; the message names the package to install."""


class EngineFailed(SpillwayError):
    """The engine's own process ended or broke its rules: a fault of the machine or of spillway, not of the input."""


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

"""A job in the simulator's memory, and what it waits for: the end of its walltime, chains of tasks."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

import msgspec

from spillway.protocol.messages import JobState, JsonObject
from spillway.simulator.engines.base import TaskSpec
from spillway.simulator.jobs.profiles.base import Node, Placement, Profile, ProfileLookup, Program
from spillway.simulator.world.allocation import Allocation

NO_WALLTIME = -1.0


class Job(msgspec.Struct, eq=False):
    """One job, from its registration until it has been reported to the scheduler.

    Attributes
    ----------
    id, name, workload
        ``id`` is ``workload!name``.
    profile
        What it does.
    subtime, res, walltime
        Submission time (s), number of resources, walltime (s, -1 if none).
    source
        Its object as sent with JOB_SUBMITTED; None when it will not be sent.
    group
        The sub-jobs that one request of a scheduler in this process has started together; else None.
    state, metadata, kill_requested
        Where it stands.
    allocation, start, runtime, return_code, energy
        Of its execution; times in s, energy in J (-1 when not measured).
    budget
        Once it runs, what is left of the walltime (s); negative: no limit (any more).
    handle, timer
        Engine task and kernel timer that it waits for; -1 if none.
    limit
        When the walltime ends the task that it runs.
    wait_start, poll
        When its present pause began (s), and how often it polls for a message (s, 0 when it does not).
    task_number
        Place of its task among all timers and tasks.
    root, leaf, stack, plan
        Tree of running tasks for the progress and the leaf that runs; the running programs, outermost first; where they
        run. Only for jobs whose profile is a program.
    chains, live_chains, mailbox
        Chains of tasks that run side by side, how many have not been reported, and those whose reports wait; the
        first is on its way.
    inbox
        Messages from the scheduler not yet taken.
    """

    workload: ProfileLookup
    name: str
    id: str
    profile: Profile
    subtime: float
    res: int
    walltime: float
    source: JsonObject | None = None
    group: Group | None = None
    state: JobState = JobState.NOT_SUBMITTED
    metadata: str = ""
    kill_requested: bool = False
    allocation: Allocation | None = None
    start: float = -1.0
    runtime: float = -1.0
    return_code: int = -1
    energy: float = -1.0
    budget: float = -1.0
    handle: int = -1
    timer: int = -1
    limit: Deadline | None = None
    wait_start: float = 0.0
    poll: float = 0.0
    task_number: int = 0
    root: Node | None = None
    leaf: Node | None = None
    stack: list[tuple[Program, Node]] | None = None
    plan: Placement | None = None
    chains: list[Chain] | None = None
    live_chains: int = 0
    mailbox: deque[Chain] | None = None
    inbox: list[str] | None = None

    @property
    def complete(self) -> bool:
        """Whether it has ended or was rejected."""
        return self.state in _COMPLETE


_COMPLETE = frozenset(
    {
        JobState.COMPLETED_SUCCESSFULLY,
        JobState.COMPLETED_FAILED,
        JobState.COMPLETED_WALLTIME_REACHED,
        JobState.COMPLETED_KILLED,
        JobState.REJECTED,
    }
)


class Group:
    """Sub-jobs that were started together: the number of those whose end has not reached the server."""

    __slots__ = ("left",)

    def __init__(self, left: int) -> None:
        self.left = left


class Deadline(msgspec.Struct, eq=False):
    """Jobs whose walltime ends at the same moment.

    Attributes
    ----------
    time, made
        That moment, and when the tasks started (s).
    number
        Of the kernel's timer.
    jobs, live
        All of them; how many are still watched.
    """

    time: float
    made: float
    number: int
    jobs: list[Job] = msgspec.field(default_factory=list)
    live: int = 0


class Chain:
    """Tasks of a job that run one after another, beside other chains of the same job."""

    __slots__ = ("handle", "job", "report", "tasks")

    def __init__(self, job: Job, tasks: Iterator[TaskSpec], report: TaskSpec) -> None:
        self.job = job
        self.tasks = tasks
        self.report = report
        self.handle = -1


class Errand:
    """A task that belongs to no job."""

    __slots__ = ("done", "handle", "task_number")

    def __init__(self, task_number: int, done: Callable[[], None]) -> None:
        self.task_number = task_number
        self.done = done
        self.handle = -1

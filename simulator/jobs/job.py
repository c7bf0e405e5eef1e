"""Jobs in the simulator's memory, with the ends of their walltimes and their chains of tasks."""

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
        Its work.
    subtime, res, walltime
        Submission time (s), number of resources, walltime (s, -1: no limit).
    source
        Its object as sent with JOB_SUBMITTED; ``None`` if it will not be sent.
    group
        The sub-jobs that one request of a scheduler in this process has started together; else ``None``.
    state, metadata, kill_requested
        Its present state.
    allocation, start, runtime, return_code, energy
        Results of its execution; times in s, energy in J (-1 when not measured).
    budget
        Remaining walltime of a running job (s); negative: no limit (any more).
    handle, timer
        Engine task and kernel timer that it waits for, or -1.
    limit
        End of the walltime, for the task that it runs.
    wait_start, poll
        Start of its present pause (s), and the interval of its polls for a message (s, 0 without polls).
    task_number
        Place of its task among all timers and tasks.
    root, leaf, stack, plan
        Tree of running tasks for the progress, and its running leaf; the running programs, outermost first; their
        placement. Only for jobs with a program as their profile.
    chains, live_chains, mailbox
        Chains of tasks that run side by side, the number of unreported ones, and the chains with waiting reports; the
        first report is on its way.
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
    """Sub-jobs that were started together; ``left``: number of ends that have not reached the server."""

    __slots__ = ("left",)

    def __init__(self, left: int) -> None:
        self.left = left


class Deadline(msgspec.Struct, eq=False):
    """Jobs with walltimes that end at the same moment.

    Attributes
    ----------
    time, made
        That moment, and the start of the tasks (s).
    number
        Number of the kernel's timer.
    jobs, live
        All these jobs; the number of those still watched.
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

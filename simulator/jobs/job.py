"""A job in the simulator's memory, and what it waits for: the end of its walltime, chains of tasks."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from spillway.protocol.messages import JobState, JsonObject
from spillway.simulator.engines.base import TaskSpec
from spillway.simulator.jobs.profiles.base import Node, Placement, Profile, ProfileLookup, Program
from spillway.simulator.world.allocation import Allocation

NO_WALLTIME = -1.0


class Job:
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
    state, metadata, kill_requested
        Where it stands.
    allocation, start, runtime, return_code, energy
        Of its execution; times in s, energy in J (-1 when not measured).
    budget
        What is left of the walltime (s); negative: no limit (any more).
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

    __slots__ = (
        "allocation", "budget", "chains", "energy", "handle", "id", "inbox", "kill_requested", "leaf", "limit",
        "live_chains", "mailbox", "metadata", "name", "plan", "poll", "profile", "res", "return_code", "root",
        "runtime", "source", "stack", "start", "state", "subtime", "task_number", "timer", "wait_start", "walltime",
        "workload",
    )  # fmt: skip

    def __init__(
        self,
        workload: ProfileLookup,
        name: str,
        full_id: str,
        profile: Profile,
        subtime: float,
        res: int,
        walltime: float,
        source: JsonObject | None,
    ) -> None:
        self.id = full_id
        self.name = name
        self.workload = workload
        self.profile = profile
        self.subtime = subtime
        self.res = res
        self.walltime = walltime
        self.source = source
        self.state = JobState.NOT_SUBMITTED
        self.metadata = ""
        self.kill_requested = False
        self.allocation: Allocation | None = None
        self.start = -1.0
        self.runtime = -1.0
        self.return_code = -1
        self.energy = -1.0
        self.budget = walltime
        self.handle = -1
        self.timer = -1
        self.limit: Deadline | None = None
        self.wait_start = 0.0
        self.poll = 0.0
        self.task_number = 0
        self.root: Node | None = None
        self.leaf: Node | None = None
        self.stack: list[tuple[Program, Node]] | None = None
        self.plan: Placement | None = None
        self.chains: list[Chain] | None = None
        self.live_chains = 0
        self.mailbox: deque[Chain] | None = None
        self.inbox: list[str] | None = None

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


class Deadline:
    """Jobs whose walltime ends at the same moment.

    Attributes
    ----------
    time
        That moment (s).
    """

    __slots__ = ("jobs", "live", "made", "number", "time")

    def __init__(self, time: float, made: float) -> None:
        self.time = time
        self.made = made
        self.number = -1
        self.jobs: list[Job] = []
        self.live = 0


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

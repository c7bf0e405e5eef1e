"""Execution of jobs: from their start to their end, their walltime or their kill."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any

import msgspec

from spillway.base.errors import shown
from spillway.protocol.limits import DEEPEST_PROFILE
from spillway.protocol.messages import JobState, TaskProgress
from spillway.simulator.engines.base import Engine, NoComm, TaskError, TaskSpec
from spillway.simulator.errors import SchedulerFault, SimulatorInputError
from spillway.simulator.jobs.deadlines import Deadlines
from spillway.simulator.jobs.job import Chain, Errand, Job
from spillway.simulator.jobs.profiles.base import (
    CompoundWork,
    DelayWork,
    Node,
    Parallel,
    Placement,
    Poll,
    Run,
    Sleep,
    Take,
    Tell,
)
from spillway.simulator.jobs.progress import job_progress
from spillway.simulator.outputs import Outputs
from spillway.simulator.wire.kernel import Kernel
from spillway.simulator.world.allocation import Allocation
from spillway.simulator.world.energy import EnergyMeter
from spillway.simulator.world.machines import Machines
from spillway.simulator.world.placing import check_flops, is_nothing

_OK = 0
TIMEOUT = -1
KILLED = -2

_SHORTEST_RUNTIME_S = 1e-5
"""Replacement of a runtime of 0."""

WORK_PRECISION = 1e-14
"""A task with no more than this share of its work left has ended (SimGrid's precision)."""

_END_STATES = {TIMEOUT: JobState.COMPLETED_WALLTIME_REACHED, KILLED: JobState.COMPLETED_KILLED, _OK: (
    JobState.COMPLETED_SUCCESSFULLY
)}  # fmt: skip


_IDS = attrgetter("allocation.ids")


class Start(msgspec.Struct, frozen=True, eq=False):
    """The start of a job by a message of the scheduler: job, allocation, task (``None``: its profile is not one task).

    ``number`` is the place of its request in the reply.
    """

    job: Job
    allocation: Allocation
    task: TaskSpec | None
    place: Placement | None
    number: int


class Executor:
    """Runs jobs on the engine.

    Parameters
    ----------
    kernel, engine, machines, outputs, meter
        Parts of the simulation that it uses.
    ended
        Called with the jobs that have ended at this instant: on completion, at their walltimes, or with a return code.
    tell
        Called with a job, its message for the scheduler, and a function that resumes the job.
    """

    def __init__(
        self,
        kernel: Kernel,
        engine: Engine,
        machines: Machines,
        outputs: Outputs,
        meter: EnergyMeter | None,
        ended: Callable[[Sequence[Job]], None],
        tell: Callable[[Job, Any, Callable[[], None]], None],
    ) -> None:
        self._kernel = kernel
        self._engine = engine
        self._machines = machines
        self._outputs = outputs
        self._meter = meter
        self._ended = ended
        self._tell = tell
        self._waiting: dict[int, Job | Chain | Errand] = {}
        self._new: list[Job | Chain | Errand] = kernel.starting
        self._new_tasks: list[TaskSpec] = []
        self._deadlines = Deadlines(kernel, self._walltime_reached)
        kernel.before_advance = self.flush
        kernel.tasks_ended = self._tasks_ended
        kernel.task_order = self._task_order

    # ------------------------------------------------------------------ start

    def start(self, starts: Sequence[Start], moments: Sequence[float], handles: Sequence[int] = ()) -> None:
        """Start jobs, each at its moment.

        Parameters
        ----------
        starts
            Starts that the states of the jobs allow; several only if :meth:`tasks_ahead` lets them begin ahead.
        moments
            Seconds, ascending, the last one not after the present.
        handles
            Handles of their tasks, if the engine has these already.
        """
        traced = self._outputs.traced
        if not traced:
            self._machines.occupy(map(_IDS, starts), moments)
        jobs: list[Job] = []
        tasks: list[TaskSpec] = []
        for start, moment in zip(starts, moments, strict=True):
            job, task = start.job, start.task
            job.state = JobState.RUNNING
            job.allocation = start.allocation
            job.start = moment
            job.budget = job.walltime
            if self._meter is not None:
                self._meter.job_starts(job, start.allocation.ids, moment)
            if traced:
                self._machines.occupy((start.allocation.ids,), (moment,))
                self._outputs.job_started(job, moment)
            if task is not None:
                jobs.append(job)
                tasks.append(task)
            else:
                self._begin(job, start.place)
        if jobs:
            self._launch(jobs, tasks, moments, handles)

    def _begin(self, job: Job, place: Placement | None) -> None:
        """Begin a job that is not a parallel task."""
        work = job.profile.work
        if isinstance(work, DelayWork):
            self._sleep(job, work.seconds)
            return
        assert place is not None
        job.root = Node(job.profile)
        job.stack = []
        job.plan = place
        self._enter(job, job.root)

    def _launch(
        self, jobs: Sequence[Job], tasks: Sequence[TaskSpec], moments: Sequence[float], handles: Sequence[int] = ()
    ) -> None:
        """Give parallel tasks to the engine at the end of this instant, unless the engine has them."""
        first = self._kernel.next_number(2 * len(jobs))
        self._deadlines.limit(jobs, moments, first)
        for place, job in enumerate(jobs):
            job.task_number = first + 2 * place + 1
        if handles:
            waiting = self._waiting
            for job, handle in zip(jobs, handles, strict=True):
                job.handle = handle
                waiting[handle] = job
        else:
            self._new += jobs
            self._new_tasks += tasks
        self._settles(tasks[-1])
        if self._meter is not None:
            for job, task in zip(jobs, tasks, strict=True):
                self._meter.task_starts(job, task)

    def _settles(self, task: TaskSpec) -> None:
        """Note whether a task that starts now may end in this very instant."""
        if is_nothing(task):
            self._kernel.instant_end = True
        elif self._engine.ends_at_once:
            self._kernel.unsettled = True

    def run(self, task: TaskSpec, done: Callable[[], None]) -> None:
        """Run a task that belongs to no job, and call ``done`` when it has ended."""
        self._new.append(Errand(self._kernel.next_number(), done))
        self._new_tasks.append(task)
        self._settles(task)

    def flush(self) -> None:
        """Hand the tasks started in this instant to the engine, all at once."""
        if self._new:
            waiting = self._waiting
            for item, handle in zip(self._new, self._engine.start_many(self._new_tasks), strict=True):
                item.handle = handle
                waiting[handle] = item
            self._new.clear()
            self._new_tasks.clear()

    def _task_order(self, handle: int) -> int:
        item = self._waiting[handle]
        return item.job.task_number if isinstance(item, Chain) else item.task_number

    def start_through(
        self, moments: Sequence[float], tasks: Sequence[TaskSpec | None]
    ) -> tuple[int, list[int], list[int]]:
        """Give the engine tasks that start at moments to come (:meth:`..engines.base.Engine.advance_through`)."""
        self.flush()
        return self._engine.advance_through(moments, tasks)

    def tasks_ahead(self, starts: Iterable[Start | None], until: float) -> list[TaskSpec | None]:
        """Tasks of the first starts, up to a start that may have another effect than its task before ``until`` (s)."""
        tasks: list[TaskSpec | None] = []
        short_s = until - self._kernel.clock
        for start in starts:
            if start is None:
                tasks.append(None)
                continue
            task = start.task
            if task is None or 0.0 <= start.job.walltime <= short_s or self._meter is not None:
                break
            if (type(task.comm) is NoComm or len(task.hosts) == 1) and is_nothing(task):
                break
            tasks.append(task)
        return tasks

    # ------------------------------------------------------------------ waiting and resuming

    def _tasks_ended(self, handles: Sequence[int]) -> None:
        """Handle tasks that have ended at this instant."""
        each = self._meter is not None or self._outputs.traced  # they show the machines after each end
        whole: list[Job] = []
        for handle in handles:
            item = self._waiting.pop(handle, None)
            if type(item) is Job and item.stack is None:
                whole.append(item)
                if not each:
                    continue
            if whole:
                self._end_tasks(whole)
                self._end(whole, _OK)
                whole = []
            if type(item) is Job and item.stack is not None:
                self._end_tasks((item,))
                self._resume(item, _OK)
            elif type(item) is Chain:
                self._chain_ended(item)
            elif type(item) is Errand:
                item.done()
            # else it has just ended, or was removed by an earlier event of the same instant
        if whole:
            self._end_tasks(whole)
            self._end(whole, _OK)

    def _end_tasks(self, jobs: Sequence[Job]) -> None:
        """Handle the ends of the parallel tasks of jobs."""
        now = self._kernel.clock
        for job in jobs:
            if self._meter is not None:
                self._meter.task_ends(job, 1.0)
            job.handle = -1
            deadline = job.limit
            if deadline is not None:
                job.budget = max(deadline.time - now, 0.0)
        self._deadlines.release(jobs)

    def _walltime_reached(self, jobs: list[Job]) -> None:
        """Stop tasks at their walltime, unless they end at this very moment: SimGrid prefers the end.

        Real Batsim runs agree: on the thesis's part-4 both one-host jobs with a run time equal to their walltime
        succeed, and the three wider ones, which need the network's latency on top, are stopped. The moment is known up
        to the rounding of the clock.
        """
        noise = 4 * math.ulp(self._kernel.clock)
        for job in jobs:
            done = self._drop_tasks(job)
            missing = (1.0 - done) * job.budget  # (s), if the done share took the whole budget
            in_time = done > 0.0 and missing <= (WORK_PRECISION * job.budget + noise) * done
            job.budget = 0.0
            self._done(job, _OK if in_time else TIMEOUT)

    def _drop_tasks(self, job: Job) -> float:
        """Take a job's tasks from the engine; return the progress of its parallel task."""
        self.flush()
        progress = 0.0
        chains = job.chains
        if chains is not None:
            job.chains = None
            for chain in chains:
                if self._waiting.pop(chain.handle, None) is not None:
                    done = self._cancel(chain.handle)
                    if self._meter is not None:
                        self._meter.task_ends(chain, done)
        elif job.handle >= 0:
            if self._waiting.pop(job.handle, None) is not None:
                progress = self._cancel(job.handle)
            if self._meter is not None:
                self._meter.task_ends(job, progress)
            job.handle = -1
        return progress

    def _cancel(self, handle: int) -> float:
        try:
            return self._engine.cancel(handle)
        except TaskError:  # it ended at this very instant
            return 1.0

    def _sleep(self, job: Job, seconds: float) -> None:
        """Wait, but no longer than the walltime allows; exactly as long is too long."""
        now = self._kernel.clock
        budget = job.budget
        job.wait_start = now
        if budget < 0 or seconds < budget:
            job.timer = self._kernel.at(now + seconds, self._slept, (job, _OK))
            if budget > 0:
                job.budget = budget - seconds
        else:
            job.timer = self._kernel.at(now + budget, self._slept, (job, TIMEOUT))

    def _slept(self, argument: tuple[Job, int]) -> None:
        job, code = argument
        job.timer = -1
        job.poll = 0.0
        if self._meter is not None and job.allocation is not None:
            self._meter.sleep_ends(job.allocation.ids[0])
        self._done(job, code)

    def _poll(self, job: Job, seconds: float) -> None:
        """Wait for a message, without polls until one comes; the walltime may end first."""
        now = self._kernel.clock
        job.wait_start = now
        job.poll = seconds
        if job.budget >= 0:
            job.timer = self._kernel.at(now + job.budget, self._slept, (job, TIMEOUT))

    def message_came(self, job: Job) -> None:
        """Wake a job that waits for a message: it takes it at its next poll, if its walltime allows."""
        if job.poll == 0.0:
            return
        waited = (math.floor((self._kernel.clock - job.wait_start) / job.poll) + 1) * job.poll
        if 0 <= job.budget <= waited:
            return
        if job.budget >= 0:
            self._kernel.forget(job.timer)
            job.budget -= waited
        job.poll = 0.0
        job.timer = self._kernel.at(job.wait_start + waited, self._slept, (job, _OK))

    def _done(self, job: Job, code: int) -> None:
        """End or resume a job after its task or pause."""
        if job.stack is None:
            self._end((job,), code)
        else:
            self._resume(job, code)

    # ------------------------------------------------------------------ programs

    def _enter(self, job: Job, node: Node) -> None:
        """Run a profile that is part of a program."""
        work = node.profile.work
        place = job.plan
        assert place is not None
        assert job.stack is not None
        if isinstance(work, CompoundWork):
            if len(job.stack) >= DEEPEST_PROFILE:
                raise SimulatorInputError(
                    f"job {shown(job.id)}: its profiles run each other more than {DEEPEST_PROFILE} levels deep, up to "
                    f"{shown(node.profile.name)}; does a 'recv' profile name itself?"
                )
            job.stack.append((work.steps(node, place, job.workload), node))
            self._resume(job, None)
            return
        job.leaf = node
        if isinstance(work, DelayWork):
            self._sleep(job, work.seconds)
            return
        task = work.task(place)
        check_flops(task, place)
        self._launch((job,), (task,), (self._kernel.clock,))

    def _resume(self, job: Job, value: Any) -> None:
        """Resume the innermost program with the value that it waited for."""
        try:
            self._run_program(job, value)
        except ValueError as fault:
            raise SchedulerFault(str(fault), job=job.id) from None

    def _run_program(self, job: Job, value: Any) -> None:
        stack = job.stack
        assert stack is not None
        if job.leaf is not None:
            value = value or job.leaf.profile.ret
            job.leaf = None
        while True:
            program, node = stack[-1]
            try:
                step = program.send(value)
            except StopIteration as stop:
                stack.pop()
                value = stop.value or node.profile.ret
                if not stack:
                    self._end((job,), value)
                    return
                continue
            if isinstance(step, Take):
                value = job.inbox.pop(0) if job.inbox else None
                continue
            if isinstance(step, Sleep):
                self._sleep(job, step.seconds)
            elif isinstance(step, Poll):
                self._poll(job, step.seconds)
            elif isinstance(step, Run):
                self._enter(job, step.node)
            elif isinstance(step, Tell):
                self._tell(job, step.message, lambda: self._told(job))
            else:
                self._start_chains(job, step)
            return

    def _told(self, job: Job) -> None:
        if job.state is JobState.RUNNING:
            self._resume(job, _OK)

    def _start_chains(self, job: Job, step: Parallel) -> None:
        job.chains = [Chain(job, iter(tasks), end) for tasks, end in zip(step.chains, step.reports, strict=True)]
        job.mailbox = deque()
        first = self._kernel.next_number(2)
        self._deadlines.limit((job,), (self._kernel.clock,), first)
        job.task_number = first + 1
        job.live_chains = len(job.chains)
        for chain in list(job.chains):
            self._next_in_chain(chain)

    def _next_in_chain(self, chain: Chain) -> None:
        task = next(chain.tasks, None)
        if task is not None:
            self._run_of_chain(chain, task)
            return
        mailbox = chain.job.mailbox
        assert mailbox is not None
        mailbox.append(chain)
        if len(mailbox) == 1:
            self._run_of_chain(chain, chain.report)

    def _run_of_chain(self, chain: Chain, task: TaskSpec) -> None:
        self._new.append(chain)
        self._new_tasks.append(task)
        if self._meter is not None:
            self._meter.task_starts(chain, task)
        self._settles(task)

    def _reported(self, job: Job, mailbox: deque[Chain]) -> None:
        """Handle the report of a chain: the job receives the next one, or resumes."""
        mailbox.popleft()
        job.live_chains -= 1
        if mailbox:
            self._run_of_chain(mailbox[0], mailbox[0].report)
        elif job.live_chains == 0:
            job.chains = None
            if job.limit is not None:
                job.budget = max(job.limit.time - self._kernel.clock, 0.0)
                self._deadlines.release((job,))
            self._resume(job, _OK)

    def _chain_ended(self, chain: Chain) -> None:
        if self._meter is not None:
            self._meter.task_ends(chain, 1.0)
        chain.handle = -1
        mailbox = chain.job.mailbox
        if mailbox and mailbox[0] is chain:
            self._reported(chain.job, mailbox)
        else:
            self._next_in_chain(chain)

    # ------------------------------------------------------------------ end

    def _end(self, jobs: Sequence[Job], code: int) -> None:
        """End jobs at this instant with a return code; 0: with the return codes of their profiles."""
        for job in jobs:
            job.return_code = own = code or job.profile.ret
            state = _END_STATES.get(own)
            job.state = JobState.COMPLETED_FAILED if state is None else state
        self._close(jobs, stopped=jobs[0].return_code < 0)
        self._ended(jobs)

    def _close(self, jobs: Sequence[Job], stopped: bool) -> None:
        """Free the machines and record the runtimes."""
        now = self._kernel.clock
        places: list[tuple[int, ...]] = []
        for job in jobs:
            assert job.allocation is not None
            places.append(job.allocation.ids)
        self._machines.leave(places, now)
        for job, ids in zip(jobs, places, strict=True):
            if self._outputs.traced:
                self._outputs.job_ended(job, now, stopped)
            job.runtime = now - job.start or _SHORTEST_RUNTIME_S
            if self._meter is not None:
                self._meter.job_ends(job, ids, now)
            job.stack = job.root = job.plan = job.leaf = None

    def stop(self, job: Job) -> TaskProgress:
        """Kill a running job now; return its progress as it is reported."""
        self.flush()
        in_parallel_task = job.handle >= 0
        share = self._drop_tasks(job)
        self._deadlines.release((job,))
        job.poll = 0.0
        if job.timer >= 0:
            self._kernel.forget(job.timer)
            job.timer = -1
        progress = job_progress(job, share, self._kernel.clock)
        job.state = JobState.COMPLETED_KILLED
        job.return_code = KILLED if in_parallel_task else TIMEOUT
        self._close((job,), stopped=in_parallel_task)
        return progress

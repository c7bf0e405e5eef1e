"""Jobs of several parts: programs that wait for one part after another, and tasks that run side by side."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import spillway.core as core
from spillway.base.errors import shown
from spillway.protocol.limits import DEEPEST_PROFILE
from spillway.protocol.messages import TaskProgress
from spillway.simulator.errors import SchedulerFault, SimulatorInputError
from spillway.simulator.jobs.profiles.base import (
    ChainTask,
    CompoundWork,
    Node,
    Parallel,
    Placement,
    Poll,
    ProfileLookup,
    Program,
    Run,
    Sleep,
    Take,
    Tell,
)
from spillway.simulator.world.machines import Machines


class _Chain:
    """Tasks of a job that run one after another, beside other chains of the same job; last its report."""

    __slots__ = ("errand", "job", "report", "tasks")

    def __init__(self, job: core.SimulatedJob, tasks: Iterator[ChainTask], report: ChainTask) -> None:
        self.job = job
        self.tasks = tasks
        self.report = report
        self.errand: core.Errand | None = None


class _RunningJob:
    """A job with a program.

    Attributes
    ----------
    root, leaf, stack
        Tree of running parts for the progress, and its running leaf; the running programs, outermost first.
    place, lookup
        The placement of its parts; the profiles that its parts may name.
    chains, live_chains, mailbox
        Chains of tasks that run side by side, the number of unreported ones, and the chains with waiting reports; the
        first report is on its way.
    """

    __slots__ = ("chains", "leaf", "live_chains", "lookup", "mailbox", "place", "root", "stack")

    def __init__(self, root: Node, place: Placement, lookup: ProfileLookup) -> None:
        self.root = root
        self.leaf: Node | None = None
        self.stack: list[tuple[Program, Node]] = []
        self.place = place
        self.lookup = lookup
        self.chains: list[_Chain] = []
        self.live_chains = 0
        self.mailbox: deque[_Chain] = deque()


class Programs:
    """Runs the programs of jobs by the loop's means: pauses, tasks, and messages.

    Parameters
    ----------
    loop
        The simulation.
    machines
        Hosts of traces.
    lookup
        Finds the profiles of a job's workload.
    later
        Notes what to call when something has ended; returns the number for the loop.
    tell
        Sends a job's message to the scheduler.
    """

    def __init__(
        self,
        loop: core.Loop,
        machines: Machines,
        lookup: Callable[[core.SimulatedJob], ProfileLookup],
        later: Callable[[Callable[[], None]], int],
        tell: Callable[[core.SimulatedJob, Any], None],
    ) -> None:
        self._loop = loop
        self._machines = machines
        self._lookup = lookup
        self._later = later
        self._tell = tell
        self._running: dict[str, _RunningJob] = {}
        self._inboxes: dict[str, list[str]] = {}

    # ------------------------------------------------------------------ what the loop calls

    def begin(self, job: core.SimulatedJob) -> None:
        """Begin a job whose profile is a program."""
        assert job.alloc is not None
        place = Placement(job.executors, job.alloc, self._machines)
        root = Node(job.profile)
        self._running[job.id] = _RunningJob(root, place, self._lookup(job))
        self._enter(job, root)

    def resume(self, job: core.SimulatedJob, value: Any) -> None:
        """Resume the innermost program with the value that it waited for."""
        try:
            self._run_program(job, value)
        except ValueError as fault:
            raise SchedulerFault(str(fault), job=job.id) from None

    def told(self, job: core.SimulatedJob) -> None:
        """Resume a job whose message the server has received."""
        if job.running:
            self.resume(job, 0)

    def cancel_chains(self, job: core.SimulatedJob) -> None:
        """Take the tasks that run side by side from the engine."""
        running = self._running[job.id]
        chains, running.chains = running.chains, []
        for chain in chains:
            if chain.errand is not None:
                self._loop.cancel(chain.errand)

    def end(self, job: core.SimulatedJob) -> None:
        """Drop an ended job's program."""
        del self._running[job.id]

    def forget(self, job: core.SimulatedJob) -> None:
        """Drop messages that a job has never taken."""
        self._inboxes.pop(job.id, None)

    def message(self, job: core.SimulatedJob, text: str) -> None:
        """Give a message of the scheduler to a job."""
        self._inboxes.setdefault(job.id, []).append(text)
        self._loop.message_came(job)

    def progress(self, job: core.SimulatedJob, share: float) -> TaskProgress:
        """Progress of a running job, as a kill reports it.

        Parameters
        ----------
        job
            The job, before it is removed.
        share
            Done share of its running parallel task, if any.

        Returns
        -------
        TaskProgress
            A leaf has its share; a program the index of its running part and that part's progress, or -1 if no part
            runs.
        """
        running = self._running[job.id]

        def tree(node: Node) -> TaskProgress:
            if node is running.leaf:
                done, work = share, node.profile.work
                if work.kind is core.WorkKind.DELAY:
                    done = (self._loop.clock - job.wait_start) / work.seconds
                return TaskProgress(node.profile.name, round(done, 6))
            if node.child is None:
                return TaskProgress(node.profile.name, None, -1)
            return TaskProgress(node.profile.name, None, node.index, tree(node.child), len(node.profile.children))

        return tree(running.root)

    # ------------------------------------------------------------------ programs

    def _enter(self, job: core.SimulatedJob, node: Node) -> None:
        """Run a profile that is part of a program."""
        running, work = self._running[job.id], node.profile.work
        if work.kind is not core.WorkKind.PROGRAM:
            running.leaf = node
            self._loop.run_part(job, work)
            return
        if len(running.stack) >= DEEPEST_PROFILE:
            raise SimulatorInputError(
                f"job {shown(job.id)}: its profiles run each other more than {DEEPEST_PROFILE} levels deep, up to "
                f"{shown(node.profile.name)}; does a 'recv' profile name itself?"
            )
        program = work.program
        assert isinstance(program, CompoundWork)
        running.stack.append((program.steps(node, running.place, running.lookup), node))
        self.resume(job, None)

    def _run_program(self, job: core.SimulatedJob, value: Any) -> None:
        running = self._running[job.id]
        if running.leaf is not None:
            value = value or running.leaf.profile.ret
            running.leaf = None
        while True:
            program, node = running.stack[-1]
            try:
                step = program.send(value)
            except StopIteration as stop:
                running.stack.pop()
                value = stop.value or node.profile.ret
                if not running.stack:
                    self._loop.end(job, value)
                    return
                continue
            if isinstance(step, Take):
                inbox = self._inboxes.get(job.id)
                value = inbox.pop(0) if inbox else None
                continue
            if isinstance(step, Sleep):
                self._loop.sleep(job, step.seconds)
            elif isinstance(step, Poll):
                self._loop.poll(job, step.seconds)
            elif isinstance(step, Run):
                self._enter(job, step.node)
            elif isinstance(step, Tell):
                self._tell(job, step.message)
            else:
                self._start_chains(job, running, step)
            return

    # ------------------------------------------------------------------ tasks side by side

    def _start_chains(self, job: core.SimulatedJob, running: _RunningJob, step: Parallel) -> None:
        running.chains = [
            _Chain(job, iter(tasks), report) for tasks, report in zip(step.chains, step.reports, strict=True)
        ]
        running.mailbox = deque()
        self._loop.begin_chains(job)
        running.live_chains = len(running.chains)
        for chain in list(running.chains):
            self._next_in_chain(running, chain)

    def _next_in_chain(self, running: _RunningJob, chain: _Chain) -> None:
        task = next(chain.tasks, None)
        if task is not None:
            self._run_of_chain(running, chain, task)
            return
        running.mailbox.append(chain)
        if len(running.mailbox) == 1:
            self._run_of_chain(running, chain, chain.report)

    def _run_of_chain(self, running: _RunningJob, chain: _Chain, task: ChainTask) -> None:
        token = self._later(lambda: self._chain_ended(running, chain))
        chain.errand = self._loop.run_errand(token, task.hosts, task.flops, task.bytes, chain.job)

    def _chain_ended(self, running: _RunningJob, chain: _Chain) -> None:
        chain.errand = None
        if running.mailbox and running.mailbox[0] is chain:
            self._reported(running, chain.job)
        else:
            self._next_in_chain(running, chain)

    def _reported(self, running: _RunningJob, job: core.SimulatedJob) -> None:
        """Handle the report of a chain: the job receives the next one, or resumes."""
        running.mailbox.popleft()
        running.live_chains -= 1
        if running.mailbox:
            following = running.mailbox[0]
            self._run_of_chain(running, following, following.report)
        elif running.live_chains == 0:
            running.chains = []
            self._loop.end_chains(job)
            self.resume(job, 0)

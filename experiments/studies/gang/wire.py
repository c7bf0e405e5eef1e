"""A gang-scheduled workload through the protocol, quantum by quantum: session, guard, messages, embedded simulator."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from spillway.experiments.studies.gang.play import Ran, drawn, measures, policy_of, workload_of
from spillway.experiments.studies.points import Point, Values
from spillway.platforms.catalogue import platform_from
from spillway.protocol.messages import ExecuteJob, JobState, Message, Reply, Request
from spillway.schedulers.assembly import Settings, assemble
from spillway.schedulers.core.observer import Observer
from spillway.schedulers.model.decisions import Arrange
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.policykit.view import Policy, Running
from spillway.schedulers.timesharing.slices import to_us
from spillway.simulator.engines.native import FixedEngine
from spillway.simulator.options import SimulationOptions
from spillway.simulator.reading.workload import workload_from_object
from spillway.simulator.wire.broker import Simulation
from spillway.simulator.wire.links import InProcessLink, Link
from spillway.workloads.gang import GangJob, as_workload

PLATFORM = "serverless"


def play_by_product(point: Point) -> Values:
    """Play a point of the study with session, guard, messages and simulator, quantum by quantum."""
    options, policy = workload_of(point), policy_of(point)
    jobs = drawn(options)
    return measures(jobs, run_on_wire(jobs, policy), policy, options.nodes)


class _Diary(Observer):
    """Records the start of each job in the matrix, its end, and whether it ended on its file's nodes."""

    def __init__(self, jobs: Sequence[GangJob]) -> None:
        self._jobs = jobs
        self._hosts: dict[str, tuple[int, ...]] = {}
        self.start_us = [0] * len(jobs)
        self.end_us = [0] * len(jobs)
        self.local = [False] * len(jobs)

    def started(self, job: Job, allocation: Allocation, now_s: float) -> None:
        """Record the start."""
        self.start_us[int(job.name)] = to_us(now_s)

    def ended(self, running: Running, state: JobState, now_s: float) -> None:
        """Record the end and the place."""
        assert state is JobState.COMPLETED_SUCCESSFULLY, f"job {running.job.id} was stopped: {state.value}"
        number = int(running.job.name)
        self.end_us[number] = to_us(now_s)
        self.local[number] = self._hosts[running.job.id] == tuple(self._jobs[number].file_nodes)

    def executed(self, machine: Machine, requests: Iterable[Request]) -> None:
        """Record the nodes of jobs: a job that has yet to migrate may end before."""
        for request in requests:
            if isinstance(request, ExecuteJob):
                owner = request.job_id.rsplit("!", 1)[0].replace("%", "!", 1)
                self._hosts[owner] = tuple(sorted(machine.node_index[host] for host in request.alloc))


class _Moves:
    """A policy with a count of its moves to other columns."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self.count = 0

    def sharing(self) -> Any:
        """Time sharing as set by the policy."""
        return self._policy.sharing()  # type: ignore[attr-defined]

    def __call__(self, view: Any) -> Any:
        """Pass decisions on, and count moves."""
        width = view.machine.width
        held = {entry.job.id: {node % width for node in entry.allocation.nodes} for entry in view.running}
        for decision in self._policy(view):
            if isinstance(decision, Arrange):
                self.count += sum(
                    held[job.id] != {node % width for node in allocation.nodes} for job, allocation in decision.places
                )
            yield decision


def run_on_wire(jobs: Sequence[GangJob], policy: Policy, platform: str = PLATFORM) -> Ran:
    """Play a workload under a gang policy through the protocol, in this process.

    Parameters
    ----------
    jobs
        Jobs in order of submission.
    policy
        One of the gang policies.
    platform
        A machine whose network takes no time, so that events are reported at their instants.
    """
    machine = platform_from(platform)
    width = sum(host.properties.get("role", "") in ("", "compute_node") for host in machine.hosts)
    diary, moves = _Diary(jobs), _Moves(policy)
    session = assemble(moves, Settings(), observer=diary)
    workload = as_workload(list(jobs), width)
    data = {
        "nb_res": workload.nb_res,
        "jobs": [{**job.to_object(), "id": str(job.id)} for job in workload.jobs],
        "profiles": workload.profiles,
    }

    def handle(message: Message) -> Reply:
        reply = session.handle(message)
        diary.executed(session.machine, reply.events)
        return reply

    with FixedEngine(machine) as engine:
        link: Link = InProcessLink(handle)
        options = SimulationOptions(dynamic_jobs=True, fail_on_deadlock=True)
        Simulation(machine, [workload_from_object(data)], engine, link, options).run()
    return Ran(diary.start_us, diary.end_us, diary.local, moves.count)

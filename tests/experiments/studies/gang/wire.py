"""A gang-scheduled workload through the protocol, quantum by quantum: session, guard, messages, embedded simulator."""

from collections.abc import Iterator, Sequence
from typing import Any

from spillway.experiments.studies.gang.play import JobResults
from spillway.experiments.studies.simulation import platform, simulate
from spillway.protocol.messages import ExecuteJob, JobState, Message, Reply
from spillway.schedulers.assembly import Settings, assemble
from spillway.schedulers.core.observer import Observer
from spillway.schedulers.model.decisions import Arrange
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.policies.gang import Gang
from spillway.schedulers.policykit.view import Running
from spillway.schedulers.timesharing.slices import to_us
from spillway.simulator.engines.native import FixedEngine
from spillway.workloads.models.gang import GangJob, as_workload

MACHINE = "serverless"
"""A machine whose network takes no time, so that events are reported at their instants."""


class _Watched(Observer):
    """A gang policy, with a record of starts in the matrix, ends, last nodes and moves to other columns."""

    def __init__(self, policy: Gang, jobs: Sequence[GangJob]) -> None:
        self._policy, self._jobs = policy, jobs
        self.sharing = policy.sharing
        self.hosts: dict[str, tuple[int, ...]] = {}
        self.ran = JobResults([0] * len(jobs), [0] * len(jobs), [False] * len(jobs), 0)
        self.moves = 0

    def started(self, job: Job, allocation: Allocation, now_s: float) -> None:
        """Record the start."""
        self.ran.start_us[int(job.name)] = to_us(now_s)

    def ended(self, running: Running, state: JobState, now_s: float) -> None:
        """Record the end and the place."""
        assert state is JobState.COMPLETED_SUCCESSFULLY, f"job {running.job.id} was stopped: {state.value}"
        number = int(running.job.name)
        self.ran.end_us[number] = to_us(now_s)
        self.ran.local[number] = self.hosts[running.job.id] == tuple(self._jobs[number].file_nodes)

    def __call__(self, view: Any) -> Iterator[Any]:
        """Pass decisions on, and count moves."""
        width = view.machine.width
        held = {entry.job.id: {node % width for node in entry.allocation.nodes} for entry in view.running}
        for decision in self._policy(view):
            if isinstance(decision, Arrange):
                self.moves += sum(
                    held[job.id] != {node % width for node in allocation.nodes} for job, allocation in decision.places
                )
            yield decision


def run_on_wire(jobs: Sequence[GangJob], policy: Gang) -> JobResults:
    """Play jobs, in order of submission, under a gang policy through the protocol, in this process."""
    machine = platform(MACHINE)
    width = sum(host.properties.get("role", "") in ("", "compute_node") for host in machine.hosts)
    watched = _Watched(policy, jobs)
    session = assemble(watched, Settings(), observer=watched)

    def handle(message: Message) -> Reply:
        reply = session.handle(message)
        for request in reply.events:
            if isinstance(request, ExecuteJob):  # the nodes that count: a job that has yet to migrate may end before
                owner = request.job_id.rsplit("!", 1)[0].replace("%", "!", 1)
                watched.hosts[owner] = tuple(sorted(session.machine.node_index[host] for host in request.alloc))
        return reply

    simulate(handle, as_workload(list(jobs), width), machine, FixedEngine(machine), dynamic_jobs=True)
    return watched.ran._replace(migrations=watched.moves)

"""The interface of job models: pure programs of a few operations, which one runtime plays.

A job model describes the work of a started job: it computes, moves bytes, gives nodes back. A model is a frozen
dataclass; its fields are its options. For each job it yields *operations*, one after another, and gets a :class:`Done`
back for each; it names no sub-job, no message, no clock and no gate. The runtime
(:mod:`spillway.schedulers.jobmodels.runtime`) names and registers sub-jobs, kills, watches walltimes, uses the I/O
gate, and ends jobs.

==================  =================================================================================================
operation           meaning
==================  =================================================================================================
:class:`Submitted`  run the job as it was submitted, as one job of the simulator
:class:`Compute`    run a profile on the job's nodes, with transfers beside it where stated
:class:`Transfer`   move bytes between nodes, burst buffers and the parallel file system (through the I/O gate)
:class:`GiveBack`   give back some nodes, or the nodes and keep the burst buffer, or the other way round
:class:`Publish`    show a state to controllers and to the job's record
:class:`Report`     notify controllers of an event
:class:`Wait`       let time pass while the job keeps its allocation
==================  =================================================================================================
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Generator, Iterator, Mapping, Set
from dataclasses import dataclass, make_dataclass
from typing import Any, ClassVar, NamedTuple, NoReturn, Protocol, TypeAlias, runtime_checkable

from spillway.base.errors import OptionError, returned, shown
from spillway.core import Compute as Compute
from spillway.core import Done as Done
from spillway.core import Resource
from spillway.core import Transfer as Transfer
from spillway.schedulers.core.demand import Demand
from spillway.schedulers.jobmodels.record import Checkpoints as Checkpoints
from spillway.schedulers.jobmodels.record import JobRecord
from spillway.schedulers.model.job import Allocation, Job, Lives
from spillway.schedulers.model.machine import Machine
from spillway.schedulers.model.rules import Rules
from spillway.schedulers.model.staging import staging_of


class FileSystem(enum.Enum):
    """A model's need for a host of the parallel file system."""

    NO = "no"
    WITH_BURST_BUFFERS = "with burst buffers"
    YES = "yes"


@dataclass(frozen=True, slots=True)
class Needs:
    """Requirements of a model on the simulator: one source for options of the simulator, codecs and error texts.

    Attributes
    ----------
    dynamic_jobs
        Jobs are registered while the simulation runs (Batsim 4: ``--enable-dynamic-jobs``).
    profile_reuse
        Their profiles are used more than once (Batsim 4: ``--enable-profile-reuse``); not required, but saves messages.
    file_system
        Whether the platform must have a parallel file system.
    gate
        Whether its transfers pass the I/O gate, so that the settings of the gate matter.
    """

    dynamic_jobs: bool = True
    profile_reuse: bool = True
    file_system: FileSystem = FileSystem.NO
    gate: bool = False

    @property
    def options(self) -> dict[str, Any]:
        """Options of the simulator for it, by name."""
        return {"dynamic_jobs": self.dynamic_jobs, "profile_reuse": self.profile_reuse}


class Place(enum.Enum):
    """Source or destination of a transfer."""

    NODES = "nodes"
    BURST_BUFFER = "burst buffer"
    PFS = "parallel file system"


@dataclass(frozen=True, slots=True)
class Submitted:
    """Run the job as it was submitted; ``stream_bytes`` per node go to the file system beside it."""

    stream_bytes: float = 0.0


@dataclass(frozen=True, slots=True)
class GiveBack:
    """Give resources back for good, and continue with the rest.

    Attributes
    ----------
    nodes
        Node indices, ascending; ``None`` for all. Burst buffers and bandwidth are named by the nodes that they were
        granted for.
    covering
        The nodes with all their resources, or only some kinds of resources.
    """

    nodes: tuple[int, ...] | None = None
    covering: Resource = Resource.ALL


@dataclass(frozen=True, slots=True)
class Publish:
    """Publish a state to controllers (:meth:`spillway.core.ProgramRuntime.published`)."""

    state: Any


@runtime_checkable
class Shrinks(Protocol):
    """A published state of a job that can continue with fewer nodes."""

    def lose(self, nodes: Set[int]) -> bool:
        """Plan to continue without these nodes from the next operation on; false, with no plan, if it cannot."""
        ...


@dataclass(frozen=True, slots=True)
class Report:
    """Notify controllers of an event (:meth:`spillway.core.ProgramRuntime.take_reports`)."""

    what: Any


@dataclass(frozen=True, slots=True)
class Wait:
    """Let ``seconds`` pass (above 0), which are added to a ``stage`` in the job's record."""

    seconds: float
    stage: str


_FIELDS = "__dataclass_fields__"
for _native in (Transfer, Compute):  # `dataclasses.replace` takes them
    setattr(_native, _FIELDS, getattr(make_dataclass(_native.__name__, _native.__match_args__), _FIELDS))

Operation: TypeAlias = Submitted | Compute | Transfer | GiveBack | Publish | Report | Wait


Program = Generator[Operation, Done, None]


def program_of(model: Any, method: str, found: Any) -> Program:
    """A method's result as a generator; any other iterator of operations is one, too.

    Raises
    ------
    OptionError
        It is no iterator; names the class, its file and its line.
    """
    if isinstance(found, Generator):
        return found
    if isinstance(found, Iterator):
        return _operations(found)
    code = getattr(getattr(type(model), method), "__code__", None)
    where = f" ({code.co_filename.rpartition('/')[2]}, line {code.co_firstlineno})" if code is not None else ""
    raise OptionError(
        f"job model {type(model).__name__}: {method}() must be a generator that yields operations, its call returned "
        f"{returned(found)}{where}"
    )


_EXPECTED: Mapping[type, str] = {
    Wait: "a Wait of a number of seconds, at least 0, and a text as its stage",
    Compute: "a Compute of a profile with its 'type'",
    GiveBack: "a GiveBack of indices of nodes, or None, and resources",
}


def refuse_operation(program: Any, found: Any, fault: Any) -> NoReturn:
    """Refuse an object that a program yielded: raise :class:`OptionError` with its class, its file and its line.

    Parameters
    ----------
    program, found
        The program, which waits, and the object that it yielded last.
    fault
        The fault that the core found.
    """
    frame = getattr(program, "gi_frame", None)
    who = "" if frame is None or "self" not in frame.f_locals else f" {type(frame.f_locals['self']).__name__}"
    where = "" if frame is None else f" ({frame.f_code.co_filename.rpartition('/')[2]}, line {frame.f_lineno})"
    expected = _EXPECTED.get(type(found), "an operation: Compute, Transfer, Wait, GiveBack, Submitted, Publish, Report")
    raise OptionError(f"job model{who}: its program must yield {expected}; got {shown(found)}{where}") from (
        fault if isinstance(fault, Exception) else None
    )


def _operations(found: Iterator[Operation]) -> Program:
    for operation in found:  # noqa: UP028 - a plain iterator takes no results
        yield operation


def stages_of(program: Program) -> tuple[float, float]:
    """Bytes per request of a stage-in or stage-out, and its seconds if its transfers took no time."""
    size = seconds = 0.0
    done: Done | None = None
    while True:
        try:
            operation = program.send(done)  # type: ignore[arg-type]  # None begins a generator
        except StopIteration:
            return size, seconds
        if isinstance(operation, Transfer):
            size += operation.bytes_per_node
        elif isinstance(operation, Wait):
            seconds += operation.seconds
        done = Done(0.0, 0.0, 0.0)


def waited(least_s: float, stage: str, transfer: Transfer | None = None) -> Program:
    """Yield a transfer, if there is one, and a wait up to ``least_s`` seconds (not counting the wait for its turn)."""
    taken_s = 0.0
    if transfer is not None:
        done = yield transfer
        taken_s = done.ended_s - done.began_s
    if taken_s < least_s:
        yield Wait(least_s - taken_s, stage)


class Granted(NamedTuple):
    """A started job's allocation, its start, and its surviving checkpoints (``None``: it begins at the beginning)."""

    allocation: Allocation
    start_s: float
    resumed: Checkpoints | None = None


class JobModel:
    """Base of all job models: frozen dataclasses with a :meth:`program`.

    Attributes
    ----------
    needs
        Requirements on the simulator.
    fields, job_fields
        Own fields that it plays, of a job or its profile, or only of a job; other models refuse jobs that have them.
    only_with_fields
        Whether it plays jobs without these fields as the rigid model does, so that it has no use for a workload without
        them.
    stages
        Stages of its jobs, in the order of the columns of ``jobs.csv``; empty for jobs of one piece.
    moved
        Stages for which bytes are counted.
    columns
        Columns of its own (:meth:`cells`).
    source
        Paper and section.
    literal
        Options that differ where the published experiment is followed to the letter.
    restarts
        Whether its jobs write checkpoints (:meth:`checkpoints`) and resume from them (:attr:`Granted.resumed`).
    shrinks
        Whether its jobs continue with fewer nodes if some become unavailable (:class:`Shrinks`).
    cut
        Whether a running job can be ended at any time, and the rest of its profile be run later as a job of its own.
    shares_nodes
        Whether its jobs take turns on nodes, as a gang policy arranges them.
    """

    needs: ClassVar[Needs] = Needs()
    fields: ClassVar[tuple[str, ...]] = ()
    job_fields: ClassVar[tuple[str, ...]] = ()
    only_with_fields: ClassVar[bool] = False
    stages: ClassVar[tuple[str, ...]] = ("compute",)
    moved: ClassVar[tuple[str, ...]] = ()
    columns: ClassVar[tuple[str, ...]] = ()
    source: ClassVar[str] = ""
    literal: ClassVar[Mapping[str, Any]] = {}
    restarts: ClassVar[bool] = False
    shrinks: ClassVar[bool] = False
    shares_nodes: ClassVar[bool] = False
    cut: ClassVar[bool] = False

    def rules(self) -> Rules:
        """Needs of its options on policy, settings and lives of burst buffers, and traits that it lacks."""
        return Rules()

    def fewest_nodes(self) -> Callable[[Job], int] | None:
        """Function that gives the fewest nodes on which a job may start; ``None``: on all that it requests."""
        return None

    def program(self, job: Job, granted: Granted, machine: Machine) -> Program:
        """Yield the operations of a job, in order."""
        raise NotImplementedError

    def stage_in(self, job: Job) -> Program:
        """Fill a job's burst buffer before its program, without nodes if the buffer has a life of its own."""
        return waited(staging_of(job).in_s, "stage_in")

    def stage_out(self, job: Job) -> Program:
        """Empty a job's burst buffer after its program."""
        return waited(staging_of(job).out_s, "stage_out")

    def refuses(self, job: Job) -> str | None:
        """Return why a job cannot be played, apart from fields of other models; ``None`` if it can.

        Raises
        ------
        RemoteProtocolError
            The job's description is malformed (names the field).
        """
        return None

    def demand(self) -> Demand | None:
        """Bandwidth that its jobs need besides the bandwidth that they state; ``None`` for no bandwidth."""
        return None

    def alone(self) -> JobModel | None:
        """Return the model that plays an uncontended job, to find its time without contention.

        ``None`` if that time is meaningless: its jobs move no bytes, or their work depends on other jobs (they change
        their nodes, take turns, begin again).
        """
        return None

    def moves(self, job: Job) -> bool:
        """Whether a job moves bytes, so that its time without contention is meaningful."""
        return True

    def lives(self, job: Job) -> Lives | None:
        """Lives of a job's burst buffers and bandwidth, around its nodes; ``None``: they are held with its nodes."""
        return None

    def checkpoints(self, record: JobRecord) -> Checkpoints:
        """Checkpoints of a killed attempt, including those that it resumed from."""
        return Checkpoints()

    def cells(self, record: JobRecord) -> Mapping[str, str]:
        """Texts of :attr:`columns` for a job that has ended."""
        return {}

"""Neutral messages of the two sides of a Batsim conversation, independent of the wire format.

The session, the execution layer and the embedded simulator exchange these frozen structs; only a codec
(:mod:`spillway.protocol.batsim4.codec`) defines their JSON form. Times are simulated seconds, sizes bytes.
Resource ids are Batsim's integers: compute hosts first, storage hosts after them.

Two directions, two unions: :data:`Event` (simulator to scheduler) and :data:`Request` (scheduler to simulator),
carried by :class:`Message` and :class:`Reply`.
"""

from __future__ import annotations

import enum
from typing import Any

import msgspec

JsonObject = dict[str, Any]
"""A JSON object as received (user fields included); numbers are ``int`` or ``float``."""


class JobState(enum.Enum):
    """State of a job in Batsim's vocabulary (the values are the words used on the wire and in ``_jobs.csv``)."""

    NOT_SUBMITTED = "NOT_SUBMITTED"
    SUBMITTED = "SUBMITTED"
    RUNNING = "RUNNING"
    COMPLETED_SUCCESSFULLY = "COMPLETED_SUCCESSFULLY"
    COMPLETED_FAILED = "COMPLETED_FAILED"
    COMPLETED_WALLTIME_REACHED = "COMPLETED_WALLTIME_REACHED"
    COMPLETED_KILLED = "COMPLETED_KILLED"
    REJECTED = "REJECTED"


class NotifyKind(enum.Enum):
    """Kinds of NOTIFY that both sides have; forwarded user events carry their own text instead."""

    NO_MORE_STATIC_JOB_TO_SUBMIT = "no_more_static_job_to_submit"
    NO_MORE_EXTERNAL_EVENT_TO_OCCUR = "no_more_external_event_to_occur"
    MACHINE_UNAVAILABLE = "event_machine_unavailable"
    MACHINE_AVAILABLE = "event_machine_available"
    REGISTRATION_FINISHED = "registration_finished"
    CONTINUE_REGISTRATION = "continue_registration"
    GENERIC = "generic"
    """Events of the user; the only external events that Batsim 5 has."""


class Struct(msgspec.Struct, frozen=True, gc=False):
    """Base of all messages: immutable."""


# --------------------------------------------------------------------------- simulator -> scheduler


class ResourceInfo(Struct, frozen=True):
    """One host as SIMULATION_BEGINS lists it; only Batsim 5 states cores, power state and speeds (flop/s, by state)."""

    id: int
    name: str
    state: str = "idle"
    properties: dict[str, str] = {}
    zone_properties: dict[str, str] = {}
    cores: int = 1
    pstate: int = 0
    speeds: tuple[float, ...] = ()


class BatsimConfig(Struct, frozen=True):
    """The ``config`` object of SIMULATION_BEGINS; unknown members are kept in ``extras``."""

    redis_enabled: bool = False
    redis_hostname: str = "127.0.0.1"
    redis_port: int = 6379
    redis_prefix: str = "default"
    profiles_forwarded_on_submission: bool = False
    dynamic_jobs_enabled: bool = False
    dynamic_jobs_acknowledged: bool = False
    profile_reuse_enabled: bool = False
    sched_config: str = ""
    forward_unknown_events: bool = False
    extras: JsonObject = {}
    by_handshake: bool = False
    """Whether the scheduler itself requests these features in a handshake (Batsim 5)."""

    @property
    def dynamic_jobs_remedy(self) -> str:
        """Remedy where dynamic jobs are needed and not enabled."""
        if self.by_handshake:
            return (
                "Batsim 5 enables them where the scheduler's hello requests dynamic_registration, which it did not: "
                "make the codec with dynamic_jobs=True, as spillway serve does for models that need them"
            )
        return "start Batsim with --enable-dynamic-jobs"


class SimulationBegins(Struct, frozen=True):
    """First event of every conversation: the machine and the workloads' profiles.

    Only Batsim 5 sends its command line (``arguments``), its ``context`` (endpoint and prefix of the results) and the
    files of its external events by name (``event_lists``).
    """

    timestamp: float
    compute_resources: tuple[ResourceInfo, ...]
    storage_resources: tuple[ResourceInfo, ...]
    config: BatsimConfig = BatsimConfig()
    allow_compute_sharing: bool = False
    allow_storage_sharing: bool = True
    workloads: dict[str, str] = {}
    profiles: dict[str, dict[str, JsonObject]] = {}
    arguments: tuple[str, ...] = ()
    context: JsonObject = {}
    event_lists: dict[str, str] = {}


class SimulationEnds(Struct, frozen=True):
    """Last event of a conversation; it must still be answered."""

    timestamp: float


class JobSubmitted(Struct, frozen=True):
    """A job entered the queue. ``job`` is the workload's own object with its full id (``w0!12``)."""

    timestamp: float
    job_id: str
    job: JsonObject
    profile: JsonObject | None = None


class JobCompleted(Struct, frozen=True):
    """A job ended on its own, by its walltime, or by a kill. ``alloc``: sorted resource ids."""

    timestamp: float
    job_id: str
    state: JobState
    return_code: int
    alloc: tuple[int, ...]


class TaskProgress(Struct, frozen=True):
    """Progress of a killed job: a leaf has ``progress`` in [0, 1]; a sequence an index and its current task.

    The index counts over repetitions of ``tasks`` tasks each; in Batsim 5, which leaves ``tasks`` 0, within one.
    """

    profile_name: str
    progress: float | None = None
    current_task_index: int | None = None
    current_task: TaskProgress | None = None
    tasks: int = 0


class JobKilled(Struct, frozen=True):
    """Acknowledgement of a kill; ``progress`` only has the jobs that were running at that instant."""

    timestamp: float
    job_ids: tuple[str, ...]
    progress: dict[str, TaskProgress]


class ResourceStateChanged(Struct, frozen=True):
    """All hosts of a power-state request have reached ``state`` (a pstate number); ``power`` as in the request."""

    timestamp: float
    resources: tuple[int, ...]
    state: int
    power: bool = False


class RequestedCall(Struct, frozen=True):
    """The wake-up that an earlier :class:`CallMeLater` requested, its ``name``, and whether it is the ``last``.

    Batsim 4 sends neither.
    """

    timestamp: float
    name: str = ""
    last: bool = True


class EnergyAnswer(Struct, frozen=True):
    """Answer to :class:`QueryEnergy`: joules of all hosts since t = 0."""

    timestamp: float
    consumed_energy: float


class EstimateQuery(Struct, frozen=True):
    """Batsim's (never sent in 4.x) question for a job's expected waiting time."""

    timestamp: float
    job_id: str
    job: JsonObject


class Notify(Struct, frozen=True):
    """A notification: ``resources`` for machine availability, ``data`` the whole object of a forwarded user event."""

    timestamp: float
    kind: str
    resources: tuple[int, ...] = ()
    data: JsonObject = {}


class FromJobMsg(Struct, frozen=True):
    """A message that a job's ``send`` profile emitted."""

    timestamp: float
    job_id: str
    msg: Any


Event = (
    SimulationBegins
    | SimulationEnds
    | JobSubmitted
    | JobCompleted
    | JobKilled
    | ResourceStateChanged
    | RequestedCall
    | EnergyAnswer
    | EstimateQuery
    | Notify
    | FromJobMsg
)


class Message(Struct, frozen=True):
    """A message of the simulator: the time, and the events since the last message (maybe before ``now``)."""

    now: float
    events: tuple[Event, ...]


# --------------------------------------------------------------------------- scheduler -> simulator


class AdditionalIoJob(Struct, frozen=True):
    """I/O merged into an executed job: its own allocation and profile (registered with it when given)."""

    alloc: tuple[int, ...]
    profile_name: str
    profile: JsonObject | None = None


class ExecuteJob(Struct, frozen=True):
    """Start a submitted job on ``alloc``. At most one of the three options may be given (Batsim 4's rule)."""

    timestamp: float
    job_id: str
    alloc: tuple[int, ...]
    mapping: dict[int, int] | None = None
    storage_mapping: dict[str, int] | None = None
    additional_io_job: AdditionalIoJob | None = None


class RejectJob(Struct, frozen=True):
    """Refuse a submitted job for good."""

    timestamp: float
    job_id: str


class KillJob(Struct, frozen=True):
    """Kill running jobs."""

    timestamp: float
    job_ids: tuple[str, ...]


class CallMeLater(Struct, frozen=True):
    """Request a :class:`RequestedCall` at ``at`` (in Batsim 4 strictly in the future).

    Where ``period_s`` is above 0, calls come at its multiples instead (Batsim 5), ``times`` of them (0: without end).
    """

    timestamp: float
    at: float
    name: str = ""
    period_s: float = 0.0
    times: int = 0


class StopCalls(Struct, frozen=True):
    """End the periodic calls of a name (Batsim 5)."""

    timestamp: float
    name: str


class StopSimulation(Struct, frozen=True):
    """End the simulation at once, whatever runs or waits (Batsim 5)."""

    timestamp: float


class RegisterProfile(Struct, frozen=True):
    """Add a profile to a workload (dynamic jobs must be enabled)."""

    timestamp: float
    workload_name: str
    profile_name: str
    profile: JsonObject


class RegisterJob(Struct, frozen=True):
    """Add a job; ``job`` has id, subtime, res, profile and maybe walltime."""

    timestamp: float
    job_id: str
    job: JsonObject


class NotifyRegistration(Struct, frozen=True):
    """Announce that no more dynamic jobs will come (``finished``), or that they may come again."""

    timestamp: float
    finished: bool = True


class SetResourceState(Struct, frozen=True):
    """Switch hosts to a power state; ``power`` where that is turning them on or off in Batsim 5."""

    timestamp: float
    resources: tuple[int, ...]
    state: int
    power: bool = False


class SetJobMetadata(Struct, frozen=True):
    """Attach a text (without double quotes) to a live job; it reaches ``_jobs.csv``."""

    timestamp: float
    job_id: str
    metadata: str


class ChangeJobState(Struct, frozen=True):
    """Force a job's state (in 4.2.1 only SUBMITTED to RUNNING works)."""

    timestamp: float
    job_id: str
    state: JobState


class QueryEnergy(Struct, frozen=True):
    """Request the energy consumed so far."""

    timestamp: float


class AnswerEstimate(Struct, frozen=True):
    """Answer to :class:`EstimateQuery`."""

    timestamp: float
    job_id: str
    estimated_waiting_time: float


class ToJobMsg(Struct, frozen=True):
    """A text for a job's ``recv`` profile."""

    timestamp: float
    job_id: str
    msg: str


Request = (
    ExecuteJob
    | RejectJob
    | KillJob
    | CallMeLater
    | StopCalls
    | StopSimulation
    | RegisterProfile
    | RegisterJob
    | NotifyRegistration
    | SetResourceState
    | SetJobMetadata
    | ChangeJobState
    | QueryEnergy
    | AnswerEstimate
    | ToJobMsg
)


class Reply(Struct, frozen=True):
    """A reply of the scheduler: the time (not before the message's) and its requests in order."""

    now: float
    events: tuple[Request, ...]

"""Words of the core's codes: refused decisions and illegal messages. The only place where these texts are.

The codes and their numbers come from ``core/session/faults.hpp``.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from typing import NamedTuple

from spillway.base.errors import DecisionRefused, RemoteProtocolError, shown
from spillway.protocol.limits import LONGEST_NAME, time_fault
from spillway.protocol.messages import JobState
from spillway.schedulers.core.book import Book, given_fault
from spillway.schedulers.core.feasible import in_gigabytes
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.model.machine import Machine

SHORTEST_CALL_S = 1e-6
"""Batsim's clock may be this far past the rounded ``now`` that it prints: an earlier call may be in its past."""


class RefusalCode(enum.IntEnum):
    """Reasons for refusing a decision, by their number in the core."""

    NONE = 0
    NOT_WAITING = enum.auto()
    HOLDS_NODES = enum.auto()
    NODE_COUNT = enum.auto()
    NODE_OUT = enum.auto()
    NODE_HELD = enum.auto()
    NODE_UNKNOWN = enum.auto()
    NODE_TWICE = enum.auto()
    NODES_DESCEND = enum.auto()
    NO_ONE_PARTITION = enum.auto()
    NODE_OUTSIDE = enum.auto()
    BUFFER_SIZE = enum.auto()
    STORAGE_COUNT = enum.auto()
    STRIPING = enum.auto()
    STRIPES_SHARE = enum.auto()
    STORAGE_AWAY = enum.auto()
    STORAGE_UNKNOWN = enum.auto()
    STORAGE_OUT = enum.auto()
    STORAGE_FULL = enum.auto()
    OTHER_BUFFER = enum.auto()
    OTHER_RATE = enum.auto()
    LINK_FULL = enum.auto()
    LAYERS = enum.auto()
    POOL_AMOUNT = enum.auto()
    POOL_FULL = enum.auto()
    ROW_TASKS = enum.auto()
    ROW_COLUMNS = enum.auto()
    BUFFER_FIRST = enum.auto()
    STILL_FILLING = enum.auto()
    HOLD_NOT_WAITING = enum.auto()
    HOLD_ALREADY = enum.auto()
    HOLD_NOTHING = enum.auto()
    HOLD_WITH_NODES = enum.auto()
    HOLD_PAST = enum.auto()
    REJECT_NOT_WAITING = enum.auto()
    EVICT_NOTHING = enum.auto()
    KILL_NOT_RUNNING = enum.auto()
    WAKE_TIME = enum.auto()
    MOVE_REFUSED = enum.auto()
    GIVEN_NOTHING = enum.auto()
    GIVEN_EXTRA = enum.auto()
    GIVEN_UNKNOWN = enum.auto()
    HOST_CLOSED = enum.auto()
    NOT_SUBMITTED = enum.auto()
    NOT_REJECTABLE = enum.auto()
    NOT_KILLABLE = enum.auto()
    NO_DYNAMIC_JOBS = enum.auto()
    METADATA_OF_NONE = enum.auto()
    METADATA_QUOTE = enum.auto()
    PAUSES = enum.auto()


class Numbers(NamedTuple):
    """Numbers that came with a code; ``book``, ``job`` and ``allocation`` are those that the decision is about."""

    book: Book
    now_s: float
    remedy: str
    a: int
    b: int
    c: int
    x: float
    text: str
    job: Job
    allocation: Allocation

    @property
    def machine(self) -> Machine:
        """The machine."""
        return self.book.machine

    def node(self, index: int) -> str:
        """Name of a node."""
        return self.machine.nodes[index].name

    def storage(self, index: int) -> str:
        """Name of a storage node, or its number where there is no such storage node."""
        storages = self.machine.storages
        return storages[index].name if 0 <= index < len(storages) else str(index)

    @property
    def partitions(self) -> str:
        """Names of the job's partitions."""
        return ", ".join(self.machine.partitions[place].name for place in self.job.partitions)

    @property
    def per(self) -> str:
        """The part of a job with a request of its own."""
        return "stripe" if self.job.stripes else "node"


def _storage_full(n: Numbers) -> str:
    drained = n.book.drained.get(n.a, 0)
    gone = f" ({in_gigabytes(drained)} are drained)" if drained else ""
    left, size = in_gigabytes(n.b), in_gigabytes(n.c)
    return f"storage {n.storage(n.a)} has {left} left{gone}, the allocation takes {size}"


def _other_buffer(n: Numbers) -> str:
    held = n.book.parts_of(n.job.id)
    assert held is not None
    size, storages = held.storage.bb_bytes, held.storage.storages
    return (
        f"it holds {in_gigabytes(size)} on each of the storages {sorted(storages)} and must be started on just these, "
        f"the allocation has {in_gigabytes(n.allocation.bb_bytes)} on {sorted(n.allocation.storages)}"
    )


def _storage_count(n: Numbers) -> str:
    per = "stripe" if n.job.stripes else "node with a burst buffer"
    return f"it needs {n.a} storages (one per {per}), the allocation has {n.b}"


_REFUSED: Mapping[RefusalCode, Callable[[Numbers], str]] = {
    RefusalCode.NOT_WAITING: lambda n: "it is not waiting (unknown, already started, or rejected)",
    RefusalCode.HOLDS_NODES: lambda n: f"the job already holds {n.a} nodes",
    RefusalCode.NODE_COUNT: lambda n: f"it requests {n.a} nodes, the allocation has {n.b}",
    RefusalCode.NODE_OUT: lambda n: f"node {n.node(n.a)} is unavailable",
    RefusalCode.NODE_HELD: lambda n: f"node {n.node(n.a)} is held by job {shown(n.text)}",
    RefusalCode.NODE_UNKNOWN: lambda n: f"unknown node index {n.a}: the machine has nodes 0 to {n.b - 1}",
    RefusalCode.NODE_TWICE: lambda n: f"node {n.node(n.a)} is listed twice",
    RefusalCode.NODES_DESCEND: lambda n: "the allocation's nodes must ascend",
    RefusalCode.NO_ONE_PARTITION: lambda n: f"its nodes must all belong to one of its partitions ({n.partitions})",
    RefusalCode.NODE_OUTSIDE: lambda n: f"node {n.node(n.a)} belongs to no partition of the job ({n.partitions})",
    RefusalCode.BUFFER_SIZE: lambda n: (
        f"it requests {in_gigabytes(n.a)} of burst buffer per {n.per}, the allocation has {in_gigabytes(n.b)}"
    ),
    RefusalCode.STORAGE_COUNT: _storage_count,
    RefusalCode.STRIPING: lambda n: (
        f"its burst buffer is one per {n.per}: the allocation must have striped={n.job.stripes > 0}"
    ),
    RefusalCode.STRIPES_SHARE: lambda n: (
        f"its {n.a} stripes must lie on storages that all differ, got {sorted(n.allocation.storages)}"
    ),
    RefusalCode.STORAGE_AWAY: lambda n: (
        f"storage {n.storage(n.b)} is not in the rack of node {n.node(n.a)}, which storage_order=rack demands"
    ),
    RefusalCode.STORAGE_UNKNOWN: lambda n: f"unknown storage index {n.a}: the machine has {n.b} storage nodes",
    RefusalCode.STORAGE_OUT: lambda n: f"storage {n.storage(n.a)} is unavailable",
    RefusalCode.STORAGE_FULL: _storage_full,
    RefusalCode.OTHER_BUFFER: _other_buffer,
    RefusalCode.OTHER_RATE: lambda n: (
        f"its I/O rate is {in_gigabytes(n.a)}/s per node, the allocation books {in_gigabytes(n.b)}/s"
    ),
    RefusalCode.LINK_FULL: lambda n: (
        f"link {n.machine.links[n.a].name} has {in_gigabytes(n.b)}/s left, the allocation takes {in_gigabytes(n.c)}/s"
    ),
    RefusalCode.LAYERS: lambda n: n.text,
    RefusalCode.POOL_AMOUNT: lambda n: f"it holds {n.b} of {n.machine.pools[n.a].name}, the allocation has {n.c}",
    RefusalCode.POOL_FULL: lambda n: (
        f"{n.machine.pools[n.a].name}: {n.b} left of {n.machine.pools[n.a].count}, the allocation takes {n.c}"
    ),
    RefusalCode.ROW_TASKS: lambda n: f"all its {n.job.nodes} tasks must be in one row (and in each row of a replica)",
    RefusalCode.ROW_COLUMNS: lambda n: "its replicas must have the same columns as its home row",
    RefusalCode.BUFFER_FIRST: lambda n: (
        f"its burst buffer must be held {n.job.lives.storage_lead_s if n.job.lives else 0.0} s before its nodes: yield "
        "a Hold first, then start it on that buffer"
    ),
    RefusalCode.STILL_FILLING: lambda n: "its burst buffer is still being filled (stage-in): it can start after that",
    RefusalCode.HOLD_NOT_WAITING: lambda n: (
        "it is not waiting (unknown, already started, or rejected): no buffer can be held"
    ),
    RefusalCode.HOLD_ALREADY: lambda n: "the job already holds its burst buffer, or runs",
    RefusalCode.HOLD_NOTHING: lambda n: "it requests no burst buffer that could be held",
    RefusalCode.HOLD_WITH_NODES: lambda n: (
        f"a buffer that is held before the nodes has neither nodes nor bandwidth, got {n.allocation}"
    ),
    RefusalCode.HOLD_PAST: lambda n: f"a burst buffer must be held beyond now ({n.now_s} s), not until {n.x} s",
    RefusalCode.REJECT_NOT_WAITING: lambda n: "only a waiting job can be rejected",
    RefusalCode.EVICT_NOTHING: lambda n: "only a waiting job that holds a burst buffer can be evicted from it",
    RefusalCode.KILL_NOT_RUNNING: lambda n: "only a running job can be killed",
    RefusalCode.WAKE_TIME: lambda n: (
        f"wake-up at {n.x} s must be a finite time at least {SHORTEST_CALL_S} s after now ({n.now_s} s)"
    ),
    RefusalCode.MOVE_REFUSED: lambda n: "jobs can only be moved where they share nodes in time (gang scheduling)",
    RefusalCode.HOST_CLOSED: lambda n: f"EXECUTE_JOB on host {n.a}, which is out",
    RefusalCode.NOT_SUBMITTED: lambda n: "EXECUTE_JOB needs a submitted job that was not started or rejected yet",
    RefusalCode.NOT_REJECTABLE: lambda n: "REJECT_JOB needs a submitted job that was not started or rejected yet",
    RefusalCode.NOT_KILLABLE: lambda n: "KILL_JOB needs a running job",
    RefusalCode.NO_DYNAMIC_JOBS: lambda n: (
        f"{n.text} needs dynamic jobs: {'its registration is finished' if n.a else n.remedy}"
    ),
    RefusalCode.METADATA_OF_NONE: lambda n: "SET_JOB_METADATA needs a live job",
    RefusalCode.METADATA_QUOTE: lambda n: f"metadata must not hold a double quote, got {shown(n.text)}",
    RefusalCode.PAUSES: lambda n: "the policy pauses, but the player of this session needs its decisions at once",
}


def refusal(code: int, job_id: str, numbers: Numbers) -> DecisionRefused:
    """The error of a refused decision."""
    known = RefusalCode(code)
    if RefusalCode.GIVEN_NOTHING <= known <= RefusalCode.GIVEN_UNKNOWN:
        return DecisionRefused(job_id, given_fault(known - RefusalCode.GIVEN_NOTHING, numbers.a, job_id))
    return DecisionRefused(job_id, _REFUSED[known](numbers))


class MessageFault(enum.IntEnum):
    """Faults of messages, by their number in the core."""

    AFTER_END = 0
    ORDER = enum.auto()
    SECOND_BEGIN = enum.auto()
    MESSAGE_TIME = enum.auto()
    EVENT_TIME = enum.auto()
    EVENT_AFTER = enum.auto()
    ID_LENGTH = enum.auto()
    ID_FORM = enum.auto()
    ID_USED = enum.auto()
    REGISTRATION_OVER = enum.auto()
    NOT_REGISTERED = enum.auto()
    NOT_RUNNING = enum.auto()
    END_UNKNOWN = enum.auto()
    RESOURCE_UNKNOWN = enum.auto()


def illegal(code: int, text: str, a: int, times: tuple[float, float], resources: int) -> RemoteProtocolError:
    """The error of an illegal message.

    Parameters
    ----------
    code, text, a, times
        The code, and what came with it.
    resources
        Number of the machine's hosts.
    """
    known = MessageFault(code)
    if known is MessageFault.MESSAGE_TIME:
        return RemoteProtocolError(f"the message's time {_time_fault(*times, 'the last message')}", "$.now")
    if known is MessageFault.EVENT_TIME:
        time_s, before_s = times
        fault = _time_fault(time_s, before_s, "the event before it")
        return RemoteProtocolError(f"the event's time {fault}", f"$.events[{a}].timestamp")
    if known is MessageFault.EVENT_AFTER:
        fault = f"must be at most the message's now = {times[1]!r}, got {times[0]!r}"
        return RemoteProtocolError(f"the event's time {fault}", f"$.events[{a}].timestamp")
    words, path = _ILLEGAL[known]
    return RemoteProtocolError(
        words.format(text=shown(text), most=LONGEST_NAME, number=a, resources=resources), path.format(text=text)
    )


_ILLEGAL: Mapping[MessageFault, tuple[str, str]] = {
    MessageFault.AFTER_END: ("nothing may follow SIMULATION_ENDS", "$"),
    MessageFault.SECOND_BEGIN: ("a second SIMULATION_BEGINS", "$"),
    MessageFault.ID_LENGTH: ("expected the id of a job of 1 to {most} characters, got {text}", "$.job_id"),
    MessageFault.ID_FORM: ("expected a job id of the form workload!name, got {text}", "$.job_id"),
    MessageFault.ID_USED: ("job {text} was submitted before; ids are used once", "$.job_id"),
    MessageFault.REGISTRATION_OVER: (
        "job {text} was submitted after no_more_static_job_to_submit, when all jobs had ended and the registration of "
        "dynamic jobs was finished",
        "$.job_id",
    ),
    MessageFault.NOT_REGISTERED: (
        "job {text} has the form of a sub-job, but it was not registered, or has ended", "$.job_id",
    ),
    MessageFault.NOT_RUNNING: ("JOB_COMPLETED of {text}, which does not run", "$.job_id"),
    MessageFault.END_UNKNOWN: ("the end of {text}, which does not run", "$"),
    MessageFault.RESOURCE_UNKNOWN: ("expected ids of the machine's {resources} resources, got {number}", "$.{text}"),
}  # fmt: skip


def _time_fault(time_s: float, before_s: float, what: str) -> str:
    fault = time_fault(time_s)
    return fault if fault is not None else f"must not lie before that of {what}, {before_s!r} s, got {time_s!r} s"


def end_reason(code: int, number: float, machine: Machine) -> str:
    """The reason for which the runtime ends a job or its stage-in without a request (``core/session/step.hpp``)."""
    return _WORDS[code](number, machine)


def _host_out(host: float, machine: Machine) -> str:
    return f"its next operation needs {machine.name_of(int(host))}, which is unavailable"


def _stage_in_ended(state: float, machine: Machine) -> str:
    return f"its stage-in ended as {tuple(JobState)[int(state)].value}"


def _stage_in_timed_out(limit_s: float, machine: Machine) -> str:
    return f"its stage-in had not ended after {limit_s:g} s"


_WORDS: Mapping[int, Callable[[float, Machine], str]] = {1: _host_out, 2: _stage_in_ended, 3: _stage_in_timed_out}

"""One job of any log, and the kind of knowledge of each of its fields."""

from __future__ import annotations

import enum

import msgspec


class Mark(enum.IntEnum):
    """Kind of knowledge of a field."""

    ABSENT = 0
    """The log does not have it."""

    MEASURED = 1
    """Recorded by the system as it happened."""

    REQUESTED = 2
    """Stated by the user."""

    IMPUTED = 3
    """Made up by the conversion, by a rule or a random draw that the notes name."""


class LogRecord(msgspec.Struct, frozen=True, gc=False):
    """One job of a log. -1 (or "") everywhere means "not known". Times in whole seconds.

    Attributes
    ----------
    number
        Job number, >= 0.
    submit_s
        Submission: since 1970, or since the start of the log.
    eligible_s, start_s, end_s
        Eligible time (no hold, dependency or begin time keeps it back any more), start and end: same clock.
    run_s
        Duration of its execution.
    requested_s
        Wall clock time that the user requested.
    nodes
        Compute nodes that it got, else those that were requested.
    requested_processors, allocated_processors
        Processors that the user requested, and that the job got.
    burst_buffer_bytes
        Burst-buffer capacity that the whole job requested; 0: no request.
    memory_bytes
        Main memory of the whole job.
    read_bytes, written_bytes
        Bytes that the whole job read and wrote.
    gpus
        GPUs of the whole job.
    marks
        Kind of knowledge of nodes and memory, where a log has different kinds, as bits.
    part
        Part of the job's id after the number: ``_4`` (task of an array), ``+1`` (component of a heterogeneous job).
    user, partition
        Names, or numbers that stand for names.
    state
        One of :data:`STATES`.
    dependency
        Its dependency, as the log states it.
    account
        Account charged for it: a name, or the number of a group.
    qos
        Quality of service.
    licenses
        Requested licenses, ``name:count`` between commas.
    reservation
        Advance reservation that it requested.
    nice
        Reduction of its priority by its user, a whole number as text.
    cluster
        Name of the cluster, where a log has several.
    node_list
        Names of its nodes (:mod:`spillway.base.hostlist`).
    """

    number: int
    submit_s: int
    eligible_s: int = -1
    start_s: int = -1
    end_s: int = -1
    run_s: int = -1
    requested_s: int = -1
    nodes: int = -1
    requested_processors: int = -1
    allocated_processors: int = -1
    burst_buffer_bytes: int = -1
    memory_bytes: int = -1
    read_bytes: int = -1
    written_bytes: int = -1
    gpus: int = -1
    marks: int = 0
    part: str = ""
    user: str | int = ""
    partition: str | int = ""
    state: str = ""
    dependency: str | int = ""
    account: str | int = ""
    qos: str = ""
    licenses: str = ""
    nice: str = ""
    reservation: str = ""
    cluster: str = ""
    node_list: str = ""


NODES_REQUESTED = 1
"""Bit of :attr:`LogRecord.marks`: the node count is the user's request (else: the allocation)."""

MEMORY_REQUESTED = 2
"""Bit of :attr:`LogRecord.marks`: the memory is the user's request (else: the memory that the job used)."""

NUMBERS = tuple(name for name in LogRecord.__struct_fields__[:16])
"""Fields that are whole numbers."""

TEXTS = LogRecord.__struct_fields__[16:]
"""Fields that are names: a table keeps them as codes."""

COMPLETED, FAILED, CANCELLED, TIMEOUT, PIECE, RUNNING, PENDING, REQUEUED = (
    "completed",
    "failed",
    "cancelled",
    "timeout",
    "piece",
    "running",
    "pending",
    "requeued",
)
STATES = ("", COMPLETED, FAILED, CANCELLED, TIMEOUT, PIECE, RUNNING, PENDING, REQUEUED)
"""States of jobs. ``piece``: a part of a checkpointed job, with its summary elsewhere in the log; ``requeued``: of an
attempt after which the job may have come again (tables have it only while they are read)."""

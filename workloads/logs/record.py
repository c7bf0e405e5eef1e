"""The fields of a log's jobs, and the kind of knowledge of each."""

from __future__ import annotations

import enum
from collections.abc import Mapping


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


NUMBERS: Mapping[str, str] = {
    "number": "job number, >= 0",
    "submit_s": "submission: since 1970, or since the start of the log",
    "eligible_s": "time from which no hold, dependency or begin time kept it back, on the same clock",
    "start_s": "start, on the same clock",
    "end_s": "end, on the same clock",
    "run_s": "duration of its execution",
    "requested_s": "wall clock time that the user requested",
    "nodes": "compute nodes that it got, else those that were requested",
    "requested_processors": "processors that the user requested",
    "allocated_processors": "processors that the job got",
    "burst_buffer_bytes": "burst-buffer capacity that the whole job requested; 0: no request",
    "memory_bytes": "main memory of the whole job",
    "read_bytes": "bytes that the whole job read",
    "written_bytes": "bytes that the whole job wrote",
    "gpus": "GPUs of the whole job",
    "marks": "bits: NODES_REQUESTED, MEMORY_REQUESTED",
}
"""Fields that are whole numbers (times in seconds), with their meanings; -1: not known."""

TEXTS: Mapping[str, str] = {
    "part": "of the id after the number: ``_4`` (task of an array), ``+1`` (component of a heterogeneous job)",
    "user": "name, or a number that stands for one",
    "partition": "partition or queue, likewise",
    "state": "one of STATES",
    "dependency": "its dependency, as the log states it",
    "account": "account charged for it: a name, or the number of a group",
    "qos": "quality of service",
    "licenses": "requested licenses, ``name:count`` between commas",
    "nice": "reduction of its priority by its user, a whole number as text",
    "reservation": "advance reservation that it requested",
    "cluster": "name of the cluster, where a log has several",
    "node_list": "names of its nodes (:mod:`spillway.base.hostlist`)",
}
"""Fields that are names, which a table keeps as codes; "" or -1: not known."""

NODES_REQUESTED = 1
"""Bit of ``marks``: the node count is the user's request (else: the allocation)."""

MEMORY_REQUESTED = 2
"""Bit of ``marks``: the memory is the user's request (else: the memory that the job used)."""

STATES = ("", "completed", "failed", "cancelled", "timeout", "piece", "running", "pending", "requeued", "resizing")
"""States of jobs. ``piece``: a part of a checkpointed job, with its summary elsewhere in the log; ``requeued``: of an
attempt after which the job may have come again, ``resizing``: before a job changed its size (tables have these two only
while they are read)."""

COMPLETED, FAILED, CANCELLED, TIMEOUT, PIECE, RUNNING, PENDING, REQUEUED, RESIZING = STATES[1:]
OF_PIECES = "piece of a checkpointed job (its summary line is used)"
"""Reason to leave a line of the state ``PIECE`` out."""

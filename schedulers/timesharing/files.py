"""Location of a job's file, from the job's description on the wire.

A job may state ``io_blocks``, the number of blocks of a file that it reads and writes over its life, and
``file_nodes``, the nodes that hold the file's partitions: one node per task, by its number in the scheduler's order of
nodes (by location, then by the number in the name), from 0.
"""

from __future__ import annotations

from spillway.base.errors import RemoteProtocolError, shown
from spillway.schedulers.model.job import Job, JobField
from spillway.schedulers.timesharing.columns import mask_of

BLOCKS_FIELD = "io_blocks"
_MOST_BLOCKS = 10**9
NODES_FIELD = "file_nodes"

FIELDS = (
    JobField(
        BLOCKS_FIELD, "job", "whole number, at least 0", "blocks of its file that it reads and writes over its life"
    ),
    JobField(
        NODES_FIELD, "job", "list of as many node numbers as it has tasks", "nodes that hold its file's partitions"
    ),
)
"""Own fields of jobs whose files lie on the nodes."""


def file_columns(job: Job, width: int) -> int:
    """Mask of the nodes of a job's file; 0 without the field.

    Parameters
    ----------
    width
        Nodes of the machine.

    Raises
    ------
    RemoteProtocolError
        The field is no list of as many different nodes of the machine as the job has tasks.
    """
    nodes = job.extras.get(NODES_FIELD, ())
    good = isinstance(nodes, list | tuple) and all(
        isinstance(node, int) and not isinstance(node, bool) and 0 <= node < width for node in nodes
    )
    if not good or len(set(nodes)) != len(nodes) or len(nodes) not in (0, job.nodes):
        raise RemoteProtocolError(
            f"job {shown(job.id)}: {NODES_FIELD!r} must list {job.nodes} different nodes from 0 to "
            f"{width - 1}, as many as "
            f"the job has tasks; got {str(nodes)[:60]}",
            f"$.job.{NODES_FIELD}",
        )
    return mask_of(nodes)


def block_count(job: Job) -> int:
    """Blocks that a job reads and writes; 0 without the field.

    Raises
    ------
    RemoteProtocolError
        The field is no whole number >= 0.
    """
    blocks = job.extras.get(BLOCKS_FIELD, 0)
    if isinstance(blocks, bool) or not isinstance(blocks, int) or not 0 <= blocks <= _MOST_BLOCKS:
        raise RemoteProtocolError(
            f"job {shown(job.id)}: {BLOCKS_FIELD!r} must be a whole number >= 0, at most {_MOST_BLOCKS}, "
            f"got {shown(blocks)}",
            f"$.job.{BLOCKS_FIELD}",
        )
    return blocks

"""Time sharing of nodes under a policy, read where sessions are assembled: slices, costs, start of migrations.

References
----------
Zhang et al. 2003, sections 2.3 (blocks) and 3.6 (migration).
"""

from __future__ import annotations

import enum
from typing import NamedTuple, Protocol, runtime_checkable

from spillway.schedulers.timesharing.slices import Slices


class Costs(NamedTuple):
    """Costs in microseconds.

    Attributes
    ----------
    local_us, remote_us
        Costs of a block on the task's own node, and on another one.
    migration_us
        Checkpoint and restart of a job that changes nodes; its work continues only after that.
    """

    local_us: int = 30_000
    remote_us: int = 90_000
    migration_us: int = 20_000_000

    def length_us(self, cpu_us: int, blocks: int, *, local: bool) -> int:
        """Execution time of a whole job on a dedicated machine (section 2.3, item 3)."""
        return cpu_us + blocks * (self.local_us if local else self.remote_us)

    def at_home_us(self, left_us: int, cpu_us: int, blocks: int) -> int:
        """Time left of a remote job once it is local; its blocks are spread evenly over its life."""
        remote = self.length_us(cpu_us, blocks, local=False)
        local = self.length_us(cpu_us, blocks, local=True)
        return max((left_us * local + remote // 2) // remote, 1)


class MigrationStart(enum.Enum):
    """Times at which a job that was moved to other nodes begins to restart there."""

    NEXT_QUANTUM = "next-quantum"
    """At the beginning of the next time slice, as published. In the rest of the running slice the job continues on its
    old nodes, unless another job received them in this slice."""
    AT_ONCE = "at-once"
    """At the decision, inside the running slice."""

    def begins_us(self, now_us: int, slices: Slices) -> int:
        """Instant from which a job that is moved now belongs to its new nodes (microseconds).

        A decision at the very beginning of a slice is in time for that slice.
        """
        return now_us if self is MigrationStart.AT_ONCE else slices.begin_us(now_us)


class Sharing(NamedTuple):
    """Rows and quantum; costs of blocks and migrations; start of migrations."""

    slices: Slices
    costs: Costs
    migration_start: MigrationStart = MigrationStart.NEXT_QUANTUM


@runtime_checkable
class NodeSharingPolicy(Protocol):
    """A policy whose jobs take turns on nodes."""

    def sharing(self) -> Sharing:
        """Parameters of its time sharing."""
        ...

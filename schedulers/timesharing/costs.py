"""Costs of a job's blocks by its place, and of its migration, in whole microseconds.

References
----------
Zhang et al. 2003, sections 2.3 (blocks) and 3.6 (migration).
"""

from __future__ import annotations

from typing import NamedTuple


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

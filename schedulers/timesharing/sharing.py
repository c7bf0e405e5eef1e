"""Time sharing of nodes under a policy, read where sessions are assembled."""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

from spillway.schedulers.timesharing.costs import Costs
from spillway.schedulers.timesharing.migration import MigrationStart
from spillway.schedulers.timesharing.slices import Slices


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

"""How nodes are shared in time under a policy: read by the one place that assembles sessions."""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

from spillway.schedulers.timesharing.costs import Costs
from spillway.schedulers.timesharing.migration import MigrationStart
from spillway.schedulers.timesharing.slices import Slices


class Sharing(NamedTuple):
    """Rows and quantum; what blocks and moves cost; when moves begin."""

    slices: Slices
    costs: Costs
    migration_start: MigrationStart = MigrationStart.NEXT_QUANTUM


@runtime_checkable
class SharesNodes(Protocol):
    """A policy whose jobs take turns on nodes."""

    def sharing(self) -> Sharing:
        """How they do."""
        ...

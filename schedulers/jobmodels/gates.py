"""Gates in front of the I/O nodes, which decide when running jobs may use the file system.

A gate is a pure state machine: the runtime *requests* a turn before a transfer, *releases* it when the transfer has
ended, and gets back the turns that may begin now. Time only comes as an argument. A turn is one I/O operation of a job
on one I/O node, and is not interrupted. With several I/O nodes a job takes a turn at each.

========== ==========================================================================================================
gate       rule
========== ==========================================================================================================
shared     every turn begins at once; concurrent transfers contend as the platform lets them
exclusive  one turn at a time per I/O node, never preempted; an order decides which is next (:class:`IoOrder`)
========== ==========================================================================================================

No turn waits while it holds another one of the same request, so gates cannot deadlock. They are compiled
(``core/session/gate.hpp``).

References
----------
Jeannot, Pallez, Vidal, *IO-aware Job-Scheduling*, IJHPCA 2023 (DOI 10.1177/10943420231175854), section "Machine Model":
exclusive, not preempted, first come first served; Gainaru et al., IPDPS 2015 (DOI 10.1109/IPDPS.2015.116): the other
orders' ideas.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping

from spillway.core import Exclusive as Exclusive
from spillway.core import Gate as Gate
from spillway.core import Shared as Shared


class IoControl(enum.Enum):
    """Kinds of gates."""

    SHARED = "shared"
    EXCLUSIVE = "exclusive"


class IoOrder(enum.Enum):
    """Order of the turns at an exclusive gate; ties are broken first come, first served."""

    FIFO = "fifo"
    """First come first served."""
    SHORTEST = "shortest"
    """Fewest bytes first."""
    STARVED = "starved"
    """Longest total wait first."""
    STRETCH = "stretch"
    """Largest stretch by waiting first."""


def make_gate(control: IoControl, order: IoOrder = IoOrder.FIFO) -> Gate:
    """Make a gate; the order only matters to an exclusive one."""
    return _MAKERS[control](order)


_MAKERS: Mapping[IoControl, Callable[[IoOrder], Gate]] = {
    IoControl.SHARED: lambda _: Shared(),
    IoControl.EXCLUSIVE: Exclusive,
}

"""Fair share: users with the least recent usage start first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from spillway.base.options import option
from spillway.schedulers.model.decisions import Decision
from spillway.schedulers.policykit.fairness import decayed_usage
from spillway.schedulers.policykit.history import Usage
from spillway.schedulers.policykit.passes import fill, serve_first
from spillway.schedulers.policykit.view import View

NONE = Usage()


@dataclass(frozen=True)
class FairShare:
    """Jobs of users with the least recent usage first; the first that waits keeps a reservation, gaps are filled."""

    source: ClassVar[str] = "an example"

    half_life_s: float = option(
        604_800.0, unit="s", low=1.0, help="time after which a node-second counts half in a user's usage"
    )

    def __call__(self, view: View) -> Iterable[Decision]:
        """Run one pass."""
        usage = decayed_usage(view, self.half_life_s)
        queue = sorted(view.queue, key=lambda job: (usage.get(job.user, NONE).node_seconds, job.number))
        # Start in this order up to the first job that does not fit, and reserve for this job only ...
        started = 0
        for place, job in enumerate(queue):
            waiting = yield from serve_first(view, [job])
            started = place + 1
            if waiting:
                break
        # ... then whatever fits beside the reservation.
        yield from fill(view, queue[started:])

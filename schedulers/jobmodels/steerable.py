"""Running malleable applications as controllers get them, and agreements on changes of their size."""

from __future__ import annotations

from collections.abc import Sequence

from spillway.schedulers.controllers.prediction import Step
from spillway.schedulers.controllers.running_application import AppView
from spillway.schedulers.controllers.scene import IoEnded
from spillway.schedulers.jobmodels.runtime import ProgramRuntime
from spillway.schedulers.model.job import Allocation


class Applications:
    """The applications of a runtime that plays :class:`spillway.schedulers.jobmodels.malleable.Malleable`."""

    def __init__(self, runtime: ProgramRuntime) -> None:
        self._runtime = runtime

    def views(self) -> tuple[AppView, ...]:
        """The running applications, in order of their starts."""
        return tuple([app.view for app in self._runtime.published()])

    def take_ended_phases(self) -> tuple[IoEnded, ...]:
        """I/O phases that ended since the last call."""
        return self._runtime.take_reports()

    def agree(self, job_id: str, steps: Sequence[Step], gained: Allocation | None, now_s: float) -> None:
        """Agree on further changes of size, checked before; ``gained`` are nodes that the job holds for them."""
        self._runtime.shown(job_id).agree(steps, () if gained is None else gained.nodes, now_s)

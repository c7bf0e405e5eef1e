"""Between the session and the controllers: shows them a scene when something has happened, checks what they ask for."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Protocol

from schedulers.controllers.prediction import Step
from schedulers.controllers.running import AppView
from schedulers.controllers.scene import Controller, IoEnded, Resize, Scene, Wish
from schedulers.core.job import Allocation, Job
from schedulers.errors import DecisionRefused


class Steerable(Protocol):
    """What an execution model offers whose jobs can be resized (:class:`schedulers.jobmodels.malleable.Malleable`)."""

    def views(self) -> Sequence[AppView]:
        """The running applications."""
        ...

    def take_ended_phases(self) -> Sequence[IoEnded]:
        """I/O phases that ended since this was last asked."""
        ...

    def agree(self, job_id: str, steps: Sequence[Step], gained: Allocation | None, now_s: float) -> None:
        """Agree on changes of size; ``gained`` are nodes that the job holds from now on."""
        ...


class Steering:
    """One conversation's controllers.

    Parameters
    ----------
    controller
        Decides.
    applications
        The execution model.

    Attributes
    ----------
    dropped
        Intentions that could not be met: too few free nodes with their burst buffers and bandwidth.
    """

    def __init__(self, controller: Controller, applications: Steerable) -> None:
        self._controller = controller
        self._applications = applications
        self._last: tuple[int, tuple[int, ...], int] | None = None
        self.dropped = 0

    def decide(self, now_s: float, idle: int, queue: Collection[Job]) -> Iterator[Resize]:
        """Ask the controller, if an I/O phase has ended or what is idle, waiting or running has changed.

        Raises
        ------
        DecisionRefused
            It asked for what an application cannot do.
        """
        ended = self._applications.take_ended_phases()
        views = self._applications.views()
        if not views:
            return
        waiting = tuple(job.nodes for job in queue)
        state = (idle, waiting, len(views))
        if not ended and state == self._last:
            return
        self._last = state
        scene = Scene(now_s, views, ended, idle, tuple(map(Wish, waiting)))
        known = {view.id: view for view in views}
        for resize in self._controller(scene):
            check_resize(known.get(resize.id), resize)
            yield resize

    def enact(self, resize: Resize, gained: Allocation | None, now_s: float) -> None:
        """Tell the execution model what was agreed on."""
        self._applications.agree(resize.id, resize.steps, gained, now_s)

    def drop(self, resize: Resize) -> None:
        """An intention cannot be met."""
        self.dropped += 1


def check_resize(view: AppView | None, resize: Resize) -> None:
    """Refuse to resize what does not run, where there is no control point, or to a size that it cannot have."""
    if view is None:
        raise DecisionRefused(resize.id, "it is no running malleable application")
    application = view.application
    if not resize.steps:
        raise DecisionRefused(resize.id, "a resize needs at least one step")
    last = 0
    for step in resize.steps:
        if not max(view.next_control, last) <= step.iteration < application.iterations:
            raise DecisionRefused(
                resize.id,
                f"a step at iteration {step.iteration}: expected one from its next control point {view.next_control} "
                f"on, in order, and before its end at {application.iterations}",
            )
        if step.iteration % application.control_every:
            raise DecisionRefused(resize.id, f"iteration {step.iteration} is no control point")
        last = step.iteration
    size = view.nodes
    steps = sorted((*view.steps, *resize.steps), key=lambda step: step.iteration)
    for place, step in enumerate(steps):
        size += step.change
        together = place + 1 < len(steps) and steps[place + 1].iteration == step.iteration
        if not together and not application.minimum <= size <= application.maximum:
            raise DecisionRefused(
                resize.id, f"{size} nodes: the application runs on {application.minimum} to {application.maximum}"
            )

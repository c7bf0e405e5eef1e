"""Link between the session and the controllers: gives them a scene after changes, and checks their intentions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial

from spillway.base.errors import DecisionRefused, shown
from spillway.core import ProgramRuntime
from spillway.schedulers.controllers.running_application import AppView
from spillway.schedulers.controllers.scene import Controller, IoEnded, Resize, Scene, WaitingRequest
from spillway.schedulers.model.job import Allocation, Job


class Steering:
    """The controllers of one conversation.

    Parameters
    ----------
    controller
        Decides.
    runtime
        Plays the applications (:class:`spillway.schedulers.jobmodels.malleable.Malleable`).
    always
        Whether the controller is always called; else only while an application runs that requests changes itself.

    Attributes
    ----------
    dropped
        Intentions that could not be met: too few free nodes with their burst buffers and bandwidth.
    """

    def __init__(self, controller: Controller, runtime: ProgramRuntime, *, always: bool = True) -> None:
        self._controller = controller
        self._runtime = runtime
        self._always = always
        self._last: tuple[int, tuple[int, ...], int, tuple[tuple[str, int], ...]] | None = None
        self._known: Mapping[str, AppView] = {}
        self.dropped = 0

    def decide(
        self,
        now_s: float,
        idle: int,
        queue: Collection[Job],
        fits: Callable[[Job, Mapping[str, Collection[int]]], bool] | None = None,
    ) -> Iterator[Resize]:
        """Call the controller if an I/O phase has ended, or idle nodes, waiting jobs or running jobs have changed.

        An application that requests changes itself counts as changed at every control point.

        Parameters
        ----------
        fits
            Whether a waiting job could start now if running jobs held only these of their nodes; ``None``: counting
            nodes is enough.

        Raises
        ------
        DecisionRefused
            The controller decided on a change that an application cannot make.
        """
        ended: Sequence[IoEnded] = self._runtime.take_reports()
        views: Sequence[AppView] = tuple([app.view for app in self._runtime.published()])
        requests = tuple((view.id, view.iteration) for view in views if view.application.requests)
        if not views or not (self._always or requests):
            return
        waiting = tuple(job.nodes for job in queue)
        state = (idle, waiting, len(views), requests)
        if not ended and state == self._last:
            return
        self._last = state
        self._known = {view.id: view for view in views}
        first = next(iter(queue), None)
        admits = None
        if fits is not None and first is not None:
            admits = partial(_admits, fits, first, views)
        scene = Scene(now_s, views, ended, idle, tuple(map(WaitingRequest, waiting)), admits)
        changed = set[str]()
        for resize in self._controller(scene):
            if not isinstance(resize, Resize):
                raise DecisionRefused("", f"a controller must yield Resize, got {shown(resize)}")
            check_resize(self._known.get(resize.id), resize)
            if resize.id in changed:
                raise DecisionRefused(resize.id, "it is resized twice at once: controllers must change it once")
            changed.add(resize.id)
            yield resize

    def left_by(self, resize: Resize) -> tuple[int, ...]:
        """Nodes that an application gives up for good by this change (:attr:`Resize.leaving`): its last ones."""
        places = self._known[resize.id].places
        return places[len(places) - resize.leaving :]

    def enact(self, resize: Resize, gained: Allocation | None, now_s: float) -> None:
        """Pass the agreed changes to the execution model."""
        nodes = () if gained is None else gained.nodes
        self._runtime.shown(resize.id).agree(resize.steps, nodes, now_s)

    def drop(self, resize: Resize) -> None:
        """Count an intention that cannot be met."""
        self.dropped += 1


def _admits(
    fits: Callable[[Job, Mapping[str, Collection[int]]], bool],
    job: Job,
    views: Sequence[AppView],
    given_up: Mapping[str, int],
) -> bool:
    """Whether a job fits after all agreed changes, if applications give up these numbers of further nodes."""
    kept = {}
    for view in views:
        size = view.settled_nodes - given_up.get(view.id, 0)
        if size < view.held and size <= view.nodes:
            kept[view.id] = view.places[:size]
    return fits(job, kept)


def check_resize(view: AppView | None, resize: Resize) -> None:
    """Refuse to resize an application that does not run, without a control point, or to an impossible size."""
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

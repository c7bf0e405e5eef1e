"""The controllers' turn: they get a scene after changes, their intentions are checked, booked and carried out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from spillway.base.errors import DecisionRefused, shown
from spillway.core import ProgramRuntime
from spillway.schedulers.controllers.running_application import AppView
from spillway.schedulers.controllers.scene import Controller, IoEnded, Resize, Scene, WaitingRequest
from spillway.schedulers.core.allocation import find_growth, fits_beside, without
from spillway.schedulers.core.book import Book
from spillway.schedulers.core.layers import growable
from spillway.schedulers.model.job import Allocation, Job


class Steering:
    """The controllers of one conversation: they resize running jobs with resources that the policy left free.

    Parameters
    ----------
    controller
        Decides.
    runtime
        Plays the applications (:class:`spillway.schedulers.jobmodels.malleable.Malleable`).
    always
        Whether the controller is always called; else only while an application runs that requests changes itself.
    """

    def __init__(self, controller: Controller, runtime: ProgramRuntime, *, always: bool = True) -> None:
        self._controller = controller
        self._runtime = runtime
        self._always = always
        self._last: tuple[int, tuple[int, ...], int, tuple[tuple[str, int], ...]] | None = None

    def turn(self, session: Any) -> None:
        """Call the controller if an I/O phase has ended, or idle nodes, waiting jobs or running jobs have changed.

        An application that requests changes itself counts as changed at every control point. Intentions that cannot be
        met (too few free nodes with their burst buffers and bandwidth) are dropped.

        Raises
        ------
        DecisionRefused
            The controller decided on a change that an application cannot make.
        """
        book, queue, now_s = session.book, session.queue, session.now_s
        book.advance(now_s)
        ended: Sequence[IoEnded] = self._runtime.take_reports()
        views: Sequence[AppView] = tuple([app.view for app in self._runtime.published()])
        requests = tuple((view.id, view.iteration) for view in views if view.application.requests)
        if not views or not (self._always or requests):
            return
        idle, waiting = len(book.free_nodes()), tuple(job.nodes for job in queue)
        state = (idle, waiting, len(views), requests)
        if not ended and state == self._last:
            return
        self._last = state
        first = next(iter(queue), None)
        admits = None if first is None else partial(_admits, book, first, views)
        scene = Scene(now_s, views, ended, idle, tuple(map(WaitingRequest, waiting)), admits)
        known, changed = {view.id: view for view in views}, set[str]()
        for resize in self._controller(scene):
            if not isinstance(resize, Resize):
                raise DecisionRefused("", f"a controller must yield Resize, got {shown(resize)}")
            view = known.get(resize.id)
            check_resize(view, resize)
            assert view is not None, "checked"
            if resize.id in changed:
                raise DecisionRefused(resize.id, "it is resized twice at once: controllers must change it once")
            changed.add(resize.id)
            gained = _growth(book, resize.id, resize.growth) if resize.growth else None
            if gained is not None:
                session.observer.resized(book.expand(resize.id, gained, now_s, resize.until_s), now_s)
            elif resize.growth:
                continue
            elif resize.leaving:  # its last nodes, for good
                book.give_up(resize.id, view.places[len(view.places) - resize.leaving :], now_s, resize.until_s)
            nodes = () if gained is None else gained.nodes
            self._runtime.shown(resize.id).agree(resize.steps, nodes, now_s)


def _growth(book: Book, job_id: str, nodes: int) -> Allocation | None:
    """Find further nodes for a running job, with all that belongs to them; ``None`` if too few are free."""
    job, held = book.running[job_id].job, book.running[job_id].allocation
    free_bytes, bandwidth = book.timeline.free_storage_now(), book.timeline.free_bandwidth_now()
    free = book.machine.usable(job.partitions, book.free_nodes(), held.nodes)
    if job.pools:
        free = growable(book.machine, job, held.pools, free)
    return find_growth(book.timeline, held, nodes, free, free_bytes, bandwidth)


def _admits(book: Book, job: Job, views: Sequence[AppView], given_up: Mapping[str, int]) -> bool:
    """Whether a job fits after all agreed changes, if applications give up these numbers of further nodes."""
    left = []
    for view in views:
        size = view.settled_nodes - given_up.get(view.id, 0)
        if size < view.held and size <= view.nodes:
            left.append(book.there(without(book.running[view.id].allocation, view.places[:size])))
    bandwidth = book.timeline.free_bandwidth_now()
    return fits_beside(book.timeline, job, book.free_nodes(), book.left_storage(), bandwidth, left)


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

"""The global performance controller: hand idle nodes to running applications, take them back when a job waits for them.

References
----------
Singh & Carretero 2019 (DOI 10.1016/j.jss.2018.11.006), section 4.3, Algorithms 5 and 6; section 4.4 for the return.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from schedulers.controllers.prediction import Step
from schedulers.controllers.scene import AppView, Reason, Resize, Scene
from schedulers.controllers.sharing import SHARING, Expansion


@dataclass(frozen=True)
class Expand:
    """Share idle nodes among the applications that can be resized and have nothing agreed.

    Attributes
    ----------
    expansion
        How they are shared.
    weight
        Exponent of the I/O ratio in :func:`schedulers.controllers.sharing.balance`.
    profit
        An application is enlarged only where that saves more than this many times the seconds of two
        reconfigurations until its end, >= 0.
    """

    expansion: Expansion = Expansion.SPEEDUP
    weight: float = 1.0
    profit: float = 1.0

    def __call__(self, scene: Scene) -> Iterator[Resize]:
        """Share what is idle."""
        if self.expansion is Expansion.NONE or scene.idle < 1:
            return
        views = [view for view in scene.applications if view.willing and view.nodes < view.application.maximum]
        candidates = [view.candidate for view in views]
        for view, extra in zip(views, SHARING[self.expansion](candidates, scene.idle, self.weight), strict=True):
            if extra and self._pays(view, extra):
                yield Resize(view.id, (Step(view.next_control, extra),), Reason.EXPAND, view.returnable_s)

    def _pays(self, view: AppView, extra: int) -> bool:
        application, model = view.application, view.application.model
        left = application.iterations - view.next_control
        saved_s = left * (model.iteration_s(view.nodes) - model.iteration_s(view.nodes + extra))
        return saved_s > 2 * self.profit * application.overhead_s


@dataclass(frozen=True, slots=True)
class Collection:
    """Nodes that are collected for a waiting job.

    Attributes
    ----------
    wanted
        Nodes that the first waiting job asks for that could start if lent nodes came back; 0: there is none.
    missing
        Of them, those that are neither idle nor on their way back.
    lenders
        Applications that could give nodes back, the soonest first.
    """

    wanted: int
    missing: int
    lenders: tuple[AppView, ...]


def collection(scene: Scene) -> Collection:
    """Find the waiting job that nodes are collected for; what fits into the idle nodes is the policy's business."""
    if not scene.waiting:
        return Collection(0, 0, ())
    coming = sum(view.held - view.settled_nodes for view in scene.applications if view.held > view.settled_nodes)
    lenders = [view for view in scene.applications if view.settled_nodes > view.base and _can_return(view)]
    there = scene.idle + coming
    most = there + sum(view.settled_nodes - view.base for view in lenders)
    wanted = next((wish.nodes for wish in scene.waiting if scene.idle < wish.nodes <= most), 0)
    lenders.sort(key=lambda view: view.control_s)
    return Collection(wanted, max(0, wanted - there), tuple(lenders))


def give_back(collected: Collection) -> Iterator[Resize]:
    """Take lent nodes back that a waiting job misses.

    They are taken where they are free first; nobody goes below the size that it was submitted with.
    """
    missing = collected.missing
    for view in collected.lenders:
        if missing <= 0:
            return
        taken = min(missing, view.settled_nodes - view.base)
        missing -= taken
        yield Resize(view.id, (Step(view.next_control, -taken),), Reason.RETURN)


def _can_return(view: AppView) -> bool:
    """Whether it passes another control point, and no shift is under way, which gives its nodes back by itself."""
    shifting = any(step.change < 0 for step in view.steps)
    return not shifting and view.next_control < view.application.iterations

"""The global performance controller: it gives idle nodes to running applications and takes them back for waiting jobs.

References
----------
Singh & Carretero 2019 (DOI 10.1016/j.jss.2018.11.006), section 4.3, Algorithms 5 and 6; section 4.4 for the return.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np

from spillway.schedulers.controllers.prediction import Step, io_duration_s
from spillway.schedulers.controllers.running_application import AppView
from spillway.schedulers.controllers.scene import Reason, Resize, Scene
from spillway.schedulers.controllers.sharing import SHARING, Candidate, Expansion


@dataclass(frozen=True)
class Expand:
    """Share idle nodes among the applications that can be resized and have no agreed changes.

    Attributes
    ----------
    expansion
        Rule by which they are shared.
    weight
        Exponent of the I/O ratio in :func:`spillway.schedulers.controllers.sharing.balance`.
    profit
        An application is enlarged only where that saves more than this many times the seconds of two
        reconfigurations until its end, >= 0.
    """

    expansion: Expansion = Expansion.SPEEDUP
    weight: float = 1.0
    profit: float = 1.0

    def __call__(self, scene: Scene, taken: int = 0, touched: Collection[str] = ()) -> Iterator[Resize]:
        """Share the idle nodes.

        Parameters
        ----------
        taken, touched
            Idle nodes that another controller has just taken, and applications that it has resized.
        """
        idle = scene.idle - taken
        if self.expansion is Expansion.NONE or idle < 1:
            return
        outlook = scene.outlook
        able = outlook.willing & (outlook.nodes < outlook.maximum)
        if touched:
            able &= np.array([view.id not in touched for view in scene.applications], np.bool_)
        views = [scene.applications[place] for place in np.flatnonzero(able).tolist()]
        given = SHARING[self.expansion](list(map(_candidate, views)), idle, self.weight)
        for view, extra in zip(views, given, strict=True):
            if extra and self._pays(view, extra):
                yield Resize(view.id, (Step(view.next_control, extra),), Reason.EXPAND, view.returnable_s)

    def _pays(self, view: AppView, extra: int) -> bool:
        """Whether ``extra`` more nodes save enough time until the application's end."""
        model, left = view.application.model, view.application.iterations - view.next_control
        saved_s = left * (model.iteration_s(view.nodes) - model.iteration_s(view.nodes + extra))
        return saved_s > 2 * self.profit * view.application.overhead_s


def _candidate(view: AppView) -> Candidate:
    application = view.application
    io_s = io_duration_s(application, view.observed, view.nodes)
    return Candidate(application.model, view.nodes, application.io_every, io_s)


@dataclass(frozen=True, slots=True)
class NodeCollection:
    """Nodes that are collected for a waiting job.

    Attributes
    ----------
    wanted
        Nodes requested by the first waiting job that could start if extra nodes came back; 0: no such job.
    missing
        Those of them that are neither idle nor about to come back.
    expanded
        Applications that could give nodes back, the soonest first.
    """

    wanted: int
    missing: int
    expanded: tuple[AppView, ...]


def collection(scene: Scene) -> NodeCollection:
    """Find the waiting job for which nodes are collected; jobs that fit into the idle nodes are left to the policy."""
    if not scene.waiting:
        return NodeCollection(0, 0, ())
    outlook = scene.outlook
    surplus = outlook.settled - outlook.base
    there = scene.idle + int(np.maximum(outlook.held - outlook.settled, 0.0).sum())
    most = there + int(surplus[outlook.expanded].sum())
    wanted = next((wish.nodes for wish in scene.waiting if scene.idle < wish.nodes <= most), 0)
    places = np.flatnonzero(outlook.expanded)
    soonest = places[np.argsort(outlook.control_s[places], kind="stable")].tolist()
    return NodeCollection(wanted, max(0, wanted - there), tuple(scene.applications[place] for place in soonest))


def give_back(collected: NodeCollection) -> Iterator[Resize]:
    """Take back the extra nodes that a waiting job still lacks.

    Applications that can return nodes soonest come first; no application shrinks below its submitted size.
    """
    missing = collected.missing
    for view in collected.expanded:
        if missing <= 0:
            return
        taken = min(missing, view.settled_nodes - view.base)
        missing -= taken
        yield Resize(view.id, (Step(view.next_control, -taken),), Reason.RETURN)

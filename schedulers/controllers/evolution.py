"""Evolving applications: changes of size that an application itself requests (field ``requests``).

A request is answered in the interval before its iteration: the application leaves the nodes that it gives up, and
receives those requested nodes that are idle. It continues without nodes that are not granted by that iteration.
"""

from __future__ import annotations

from collections.abc import Iterator

from spillway.schedulers.controllers.prediction import Step
from spillway.schedulers.controllers.running_application import AppView
from spillway.schedulers.controllers.scene import Reason, Resize, Scene


def due_change(view: AppView) -> int:
    """Change in nodes that an application requests at its next control point; 0 without a request."""
    wanted = view.application.requested_nodes(view.next_control)
    return 0 if wanted is None or not view.willing else wanted - view.nodes


def granted(scene: Scene, *, growing: bool = True) -> Iterator[Resize]:
    """Grant the requested changes, in order of the applications' starts.

    Parameters
    ----------
    growing
        Whether idle nodes may be given; they may not while nodes are collected for a waiting job.
    """
    idle = scene.idle
    for view in scene.applications:
        if not view.application.requests:
            continue
        change = due_change(view)
        if change > 0:
            change = min(change, idle) if growing else 0
            idle -= change
        if change:
            until_s = view.deadline_s if change > 0 else view.left_s
            yield Resize(view.id, (Step(view.next_control, change),), Reason.REQUEST, until_s)

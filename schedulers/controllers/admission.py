"""Shrink to admit: running applications give up nodes of their own so that the first waiting job can start.

The first waiting job is the oldest; no later job is admitted in this way before it. As few applications as possible
shrink, at their next control points, those with the most surplus nodes first, and each by no more nodes than needed. No
application shrinks below its minimum, or so far that it would exceed its walltime. Nothing is requested unless the
waiting job then fits, with its nodes, burst buffers and bandwidth.
"""

from __future__ import annotations

import enum
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence

from spillway.schedulers.controllers.prediction import Step
from spillway.schedulers.controllers.running_application import AppView
from spillway.schedulers.controllers.scene import Reason, Resize, Scene


class Shrink(enum.Enum):
    """Rules for shrinking running applications below the size that they were started with."""

    NONE = "none"
    TO_ADMIT = "to-admit"


def smallest_size(view: AppView) -> int:
    """Fewest nodes with which an application is expected to end within its walltime; at most its present size."""
    sizes = range(view.application.minimum, view.nodes)
    return next((nodes for nodes in sizes if view.end_s(nodes) <= view.deadline_s), view.nodes)


def awaited(scene: Scene) -> bool:
    """Whether the first waiting job fits once applications have left the nodes that they are about to leave."""
    return bool(scene.waiting) and scene.coming > 0 and scene.admits({})


def admission(scene: Scene) -> Iterator[Resize]:
    """Shrink applications so that the first waiting job fits; yield nothing if that is impossible or unnecessary."""
    if not scene.waiting:
        return
    wanted = scene.waiting[0].nodes
    surplus = {view.id: view.nodes - smallest_size(view) for view in scene.applications if view.willing}
    able = sorted((view for view in scene.applications if surplus.get(view.id)), key=lambda view: -surplus[view.id])
    everything = {view.id: surplus[view.id] for view in able}
    if wanted > scene.idle + scene.coming + sum(everything.values()) or not scene.admits(everything):
        return
    if scene.admits({}):
        return  # it fits, now or after the agreed changes: the policy decides whether it starts
    chosen = _needed(scene, [view.id for view in able], everything)
    for view in able:
        if chosen.get(view.id):
            yield Resize(view.id, (Step(view.next_control, -chosen[view.id]),), Reason.ADMIT, view.left_s)


def _needed(scene: Scene, names: Sequence[str], surplus: Mapping[str, int]) -> dict[str, int]:
    """Take as few applications as possible from the front, and from each of them as few nodes as possible."""

    def first(count: int) -> dict[str, int]:
        return {name: surplus[name] for name in names[:count]}

    count = bisect_left(range(1, len(names)), True, key=lambda count: scene.admits(first(count))) + 1
    chosen = first(count)
    for name in reversed(names[:count]):  # first the smallest surplus is reduced to as few nodes as possible
        others = {other: nodes for other, nodes in chosen.items() if other != name}
        fewest = bisect_left(range(chosen[name]), True, key=lambda nodes: scene.admits({**others, name: nodes}))
        chosen = {**others, name: fewest} if fewest else others
    return chosen

"""The combination of all controllers, with their options.

A request is answered in the interval before its iteration: the application leaves the nodes that it gives up, and
receives those requested nodes that are idle. It continues without nodes that are not granted by that iteration.

The first waiting job is the oldest; no later job is admitted in this way before it. As few applications as possible
shrink, at their next control points, those with the most surplus nodes first, and each by no more nodes than needed. No
application shrinks below its minimum, or so far that it would exceed its walltime. Nothing is requested unless the
waiting job then fits, with its nodes, burst buffers and bandwidth.
"""

from __future__ import annotations

import enum
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from spillway.base.entry_points import find
from spillway.base.options import build, option
from spillway.base.plugins import split_spec
from spillway.schedulers.controllers.expansion import Expand, collection, give_back
from spillway.schedulers.controllers.interference import Conflict, Interference, Strategy
from spillway.schedulers.controllers.prediction import Step
from spillway.schedulers.controllers.running_application import AppView
from spillway.schedulers.controllers.sampling import Predictor, Sampling
from spillway.schedulers.controllers.scene import Controller, Reason, Resize, Scene
from spillway.schedulers.controllers.sharing import Expansion


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


@dataclass(frozen=True)
class Control:
    """Options of the controllers."""

    interference: Strategy = option(
        Strategy.NONE, help="reaction to predicted collisions of I/O phases (Singh & Carretero 2019, 4.2)"
    )
    expansion: Expansion = option(
        Expansion.NONE,
        help="rule by which running malleable applications expand onto idle nodes (Singh & Carretero 2019, 4.3)",
    )
    predictor: Predictor = option(
        Predictor.OFFLINE,
        help="source of an application's model: its job's description, or measurements on larger sizes at its "
        "beginning (Singh & Carretero 2019, 4.1)",
    )
    sampled_sizes: int = option(3, low=1, high=1000, help="sizes besides its own that predictor online measures")
    sampled_intervals: int = option(2, low=1, high=1000, help="intervals that it measures with each size")
    io_uncertainty: float = option(
        2.0, unit="s", low=0.0, high=1e6, help="added to predicted durations and to shifts, for errors of prediction"
    )
    io_sigmas: float = option(
        0.0, low=0.0, high=100.0, help="margin in standard errors of a prediction, where longer than io_uncertainty"
    )
    equal_periods: float = option(0.02, low=0.0, high=1.0, help="relative difference of I/O periods called equal")
    similar_periods: float = option(0.2, low=0.0, high=1.0, help="relative difference of I/O periods called similar")
    coupling_tolerance: float = option(0.01, low=0.0, high=1.0, help="tolerated relative difference of coupled periods")
    io_weight: float = option(
        1.0, low=0.0, high=100.0, help="exponent of the I/O ratio against the gain in speed-up, for expansion io"
    )
    expansion_profit: float = option(
        1.0, low=0.0, high=1e6, help="expansions must save this many times the seconds of two reconfigurations"
    )
    shrink: Shrink = option(
        Shrink.NONE, help="whether running malleable applications shrink so that the first waiting job can start"
    )
    controller: str = option(
        "", help="a further controller, as FILE.py:CLASS[:key=value,...]; it decides in addition to the others"
    )

    @property
    def active(self) -> bool:
        """Whether any controller is active."""
        built_in = (self.interference is not Strategy.NONE, self.expansion is not Expansion.NONE)
        others = (self.shrink is not Shrink.NONE, bool(self.controller), self.predictor is not Predictor.OFFLINE)
        return any(built_in) or any(others)


@dataclass(frozen=True)
class Controllers:
    """Collect nodes for a waiting job, grant applications' requests, resolve collisions, share remaining idle nodes.

    While nodes are collected, no application receives any: nodes that have come back must not be given away again.

    Attributes
    ----------
    interference, expand
        The two controllers of the paper.
    shrink
        Whether applications shrink below the size that they were started with to admit a waiting job.
    outside
        The user's controller, or ``None``. It decides after the interference controller, on a scene that includes the
        changes agreed there; expansion shares the nodes that both leave idle.
    sampling
        Measures applications with an unknown model, before the controllers of the paper; ``None``: all are known.
    """

    interference: Interference
    expand: Expand
    shrink: Shrink = Shrink.NONE
    outside: Controller | None = None
    sampling: Sampling | None = None

    def __call__(self, scene: Scene) -> Iterator[Resize]:
        """Call the controllers in turn; nodes taken by one are not idle for the next, no application changes twice."""
        collecting, given_up = self._collect(scene)
        yield from given_up
        if scene.evolving:
            requested = list(granted(scene.after(given_up), growing=not collecting))
            yield from requested
            scene = scene.after(requested)
        if collecting:
            return
        if self.sampling is not None:
            sampled = list(self.sampling(scene))
            yield from sampled
            scene = scene.after(sampled)
        agreed = []
        for resize in self.interference(scene):
            agreed.append(resize)
            yield resize
        if self.outside is not None:
            for resize in self.outside(scene.after(agreed)):
                agreed.append(resize)
                yield resize
        yield from self.expand(scene, sum(resize.growth for resize in agreed), {resize.id for resize in agreed})

    def _collect(self, scene: Scene) -> tuple[bool, Sequence[Resize]]:
        """Whether nodes are collected for a waiting job, and the changes by which applications give up nodes now."""
        if self.shrink is Shrink.TO_ADMIT:
            if awaited(scene):
                return True, ()
            given_up = list(admission(scene))
            if given_up:
                return True, given_up
        collected = collection(scene)
        return collected.wanted > 0, list(give_back(collected))


def make_controllers(control: Control, tell: Callable[[Conflict], None] | None = None) -> Controllers:
    """Make the controllers from their options; ``tell`` is called with every predicted collision.

    Raises
    ------
    OptionError
        The user's controller cannot be loaded, or its options are wrong.
    """
    return Controllers(
        Interference(
            control.interference,
            control.io_uncertainty,
            control.io_sigmas,
            control.equal_periods,
            control.similar_periods,
            control.coupling_tolerance,
            tell,
        ),
        Expand(control.expansion, control.io_weight, control.expansion_profit),
        control.shrink,
        _outside(control.controller) if control.controller else None,
        Sampling(control.sampled_sizes, control.sampled_intervals) if control.predictor is Predictor.ONLINE else None,
    )


def controller_class(text: str) -> type:
    """The class of a user's controller.

    Parameters
    ----------
    text
        ``FILE.py:CLASS``, ``MODULE:CLASS``, or a name that an installed package registers in the group
        ``spillway.controllers``; ``FILE.py`` where the file has just one. Options may follow; they are ignored.

    Raises
    ------
    OptionError
        The name is unknown, or its class cannot be loaded.
    """
    name, _ = split_spec(text)
    found: type = find(name, "controller", {}, ("__call__",))
    return found


def _outside(text: str) -> Controller:
    controller: Controller = build(controller_class(text), split_spec(text)[1])
    return controller


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

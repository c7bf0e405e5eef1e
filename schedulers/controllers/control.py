"""The combination of all controllers, with their options."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from spillway.base.entry_points import load, unknown
from spillway.base.options import build, option
from spillway.base.plugins import split_spec
from spillway.schedulers.controllers.admission import Shrink, admission, awaited
from spillway.schedulers.controllers.evolution import granted
from spillway.schedulers.controllers.expansion import Expand, collection, give_back
from spillway.schedulers.controllers.interference import Conflict, Interference, Strategy
from spillway.schedulers.controllers.sampling import Predictor, Sampling
from spillway.schedulers.controllers.scene import Controller, Resize, Scene
from spillway.schedulers.controllers.sharing import Expansion


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
    found = load(name, "controller", (), ("__call__",))
    if found is None:
        raise unknown(name, "controller", ())
    return found


def _outside(text: str) -> Controller:
    controller: Controller = build(controller_class(text), split_spec(text)[1])
    return controller

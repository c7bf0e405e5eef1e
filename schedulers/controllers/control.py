"""The controllers put together, with their options."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from schedulers.controllers.expansion import Expand, collection, give_back
from schedulers.controllers.interference import Conflict, Interference, Strategy
from schedulers.controllers.scene import Resize, Scene
from schedulers.controllers.sharing import Expansion
from schedulers.options import option


@dataclass(frozen=True)
class Control:
    """Options of the controllers."""

    interference: Strategy = option(
        Strategy.NONE, help="what to do when I/O phases are predicted to collide (Singh & Carretero 2019, 4.2)"
    )
    expansion: Expansion = option(
        Expansion.NONE, help="how idle nodes are lent to running malleable applications (Singh & Carretero 2019, 4.3)"
    )
    io_uncertainty: float = option(
        2.0, unit="s", low=0.0, high=1e6, help="added to predicted durations and to shifts, for errors of prediction"
    )
    io_sigmas: float = option(
        0.0, low=0.0, high=100.0, help="standard errors of a prediction that are allowed for where they are more"
    )
    equal_periods: float = option(0.02, low=0.0, high=1.0, help="relative difference of I/O periods called equal")
    similar_periods: float = option(0.2, low=0.0, high=1.0, help="relative difference of I/O periods called similar")
    coupling_tolerance: float = option(
        0.01, low=0.0, high=1.0, help="relative difference of coupled periods that is left alone"
    )
    io_weight: float = option(
        1.0, low=0.0, high=100.0, help="exponent of the I/O ratio against the gain in speed-up, for expansion io"
    )
    expansion_profit: float = option(
        1.0, low=0.0, high=1e6, help="expansions must save this many times the seconds of two reconfigurations"
    )

    @property
    def active(self) -> bool:
        """Whether anything is to be controlled."""
        return self.interference is not Strategy.NONE or self.expansion is not Expansion.NONE


@dataclass(frozen=True)
class Controllers:
    """Resolve collisions, then share what is left idle; but collect nodes for a waiting job before all else.

    While nodes are collected nothing is lent: what has come back already must not go out again.

    Attributes
    ----------
    interference, expand
        The two controllers.
    """

    interference: Interference
    expand: Expand

    def __call__(self, scene: Scene) -> Iterator[Resize]:
        """Ask each in turn; what one takes is not idle for the next, and an application is asked of one thing."""
        collected = collection(scene)
        if collected.wanted:
            yield from give_back(collected)
            return
        taken, touched = 0, set[str]()
        for resize in self.interference(scene):
            taken += resize.growth
            touched.add(resize.id)
            yield resize
        yield from self.expand(scene, taken, touched)


def make_controllers(control: Control, tell: Callable[[Conflict], None] | None = None) -> Controllers:
    """Put the controllers together; ``tell`` is told of every predicted collision."""
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
    )

"""What a controller gets, and what it may request.

The session shows a :class:`Scene` after the policy's pass; the controller answers with :class:`Resize` intentions. The
guard checks them, the session finds and books the nodes, the execution model does it at the control points.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

from msgspec import Struct

from spillway.schedulers.controllers.outlook import Outlook
from spillway.schedulers.controllers.prediction import Step, most_taken
from spillway.schedulers.controllers.running_application import AppView


class IoEnded(Struct, frozen=True, gc=False):
    """An application's I/O phase has ended: the moment at which decisions about it are taken.

    Attributes
    ----------
    id
        The application.
    asked_s, begin_s, end_s
        When it was ready to write, when it was let, when it had written.
    """

    id: str
    asked_s: float
    begin_s: float
    end_s: float


class Wish(Struct, frozen=True, gc=False):
    """A waiting job: the nodes that it requests."""

    nodes: int


class Reason(enum.Enum):
    """Why a size should change."""

    SHIFT = "shift"
    COUPLE = "couple"
    EXPAND = "expand"
    RETURN = "return"
    ADMIT = "admit"
    REQUEST = "request"
    SAMPLE = "sample"


class Resize(Struct, frozen=True, gc=False):
    """An intention: change an application's size at these control points.

    Attributes
    ----------
    id
        The application.
    steps
        Changes in order; every size in between must be one that the application can have.
    reason
        What for.
    until_s
        When nodes that it is given are expected back at the latest, if they are needed elsewhere; for ``ADMIT`` and
        ``REQUEST`` when nodes that it gives up are free.
    """

    id: str
    steps: tuple[Step, ...]
    reason: Reason
    until_s: float = 0.0

    @property
    def growth(self) -> int:
        """Nodes that it takes at most beyond what the application holds."""
        return most_taken(self.steps)

    @property
    def leaving(self) -> int:
        """Nodes of its own that the application gives up for good: policies may plan with them from ``until_s`` on."""
        return -self.steps[0].change if self.reason in _FOR_GOOD and len(self.steps) == 1 and not self.growth else 0


_FOR_GOOD = (Reason.ADMIT, Reason.REQUEST)


@dataclass(frozen=True)
class Scene:
    """One look at the machine.

    Attributes
    ----------
    now_s
        Time in seconds.
    applications
        Running applications in order of their starts.
    ended
        I/O phases that have ended since the last look.
    idle
        Free nodes.
    waiting
        Waiting jobs in order of submission, after the policy's pass.
    fits
        Whether the first waiting job could start, burst buffer and bandwidth included, if applications gave up so many
        more of their nodes and all agreed changes had been made; ``None``: only nodes are counted.
    """

    now_s: float
    applications: Sequence[AppView]
    ended: Sequence[IoEnded] = ()
    idle: int = 0
    waiting: Sequence[Wish] = ()
    fits: Callable[[Mapping[str, int]], bool] | None = None

    @cached_property
    def outlook(self) -> Outlook:
        """The applications as arrays, made on first use."""
        return Outlook.of(self.applications)

    @cached_property
    def evolving(self) -> bool:
        """Whether any application requests changes itself."""
        return any(view.application.requests for view in self.applications)

    @cached_property
    def coming(self) -> int:
        """Nodes that applications are about to leave: held, but not in use after all agreed changes."""
        return sum(max(0, view.held - view.settled_nodes) for view in self.applications)

    def after(self, agreed: Sequence[Resize]) -> Scene:
        """The scene when these changes have been agreed on: fewer idle nodes, and applications that have steps."""
        if not agreed:
            return self
        changes = {resize.id: resize for resize in agreed}
        applications = [_agreed(view, changes[view.id]) if view.id in changes else view for view in self.applications]
        return replace(self, applications=applications, idle=self.idle - sum(resize.growth for resize in agreed))

    def admits(self, given_up: Mapping[str, int]) -> bool:
        """Whether the first waiting job could start if applications gave up so many more nodes."""
        if self.fits is not None:
            return self.fits(given_up)
        return self.waiting[0].nodes <= self.idle + self.coming + sum(given_up.values())


def _agreed(view: AppView, resize: Resize) -> AppView:
    steps = tuple(sorted((*view.steps, *resize.steps), key=lambda step: step.iteration))
    return replace(view, steps=steps, held=view.held + resize.growth)


class Controller(Protocol):
    """Decides which running applications change their size: a pure function of the scene."""

    def __call__(self, scene: Scene) -> Iterable[Resize]:
        """Yield intentions, in order; one that cannot be met (no nodes with burst buffers left) is dropped."""
        ...


Rule = Callable[[Scene], Iterable[Resize]]
"""A part of a controller."""

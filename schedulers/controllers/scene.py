"""What a controller sees, and what it may ask for.

The session shows a :class:`Scene` after the policy's pass; the controller answers with :class:`Resize` intentions. The
guard checks them, the session finds and books the nodes, the execution model does it at the control points.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from msgspec import Struct

from schedulers.controllers.outlook import Outlook
from schedulers.controllers.prediction import Step, most_taken
from schedulers.controllers.running import AppView


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
    """A waiting job: the nodes that it asks for."""

    nodes: int


class Reason(enum.Enum):
    """Why a size should change."""

    SHIFT = "shift"
    COUPLE = "couple"
    EXPAND = "expand"
    RETURN = "return"


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
        When nodes that it is given are expected back at the latest, if somebody needs them.
    """

    id: str
    steps: tuple[Step, ...]
    reason: Reason
    until_s: float = 0.0

    @property
    def growth(self) -> int:
        """Nodes that it takes at most beyond what the application holds."""
        return most_taken(self.steps)


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
        Nodes that nobody holds.
    waiting
        Waiting jobs in order of submission, after the policy's pass.
    """

    now_s: float
    applications: Sequence[AppView]
    ended: Sequence[IoEnded] = ()
    idle: int = 0
    waiting: Sequence[Wish] = ()

    @cached_property
    def outlook(self) -> Outlook:
        """The applications as arrays, made when first asked for."""
        return Outlook.of(self.applications)


class Controller(Protocol):
    """Decides which running applications change their size: a pure function of the scene."""

    def __call__(self, scene: Scene) -> Iterable[Resize]:
        """Yield intentions, in order; one that cannot be met (no nodes with burst buffers left) is dropped."""
        ...


Rule = Callable[[Scene], Iterable[Resize]]
"""A part of a controller."""

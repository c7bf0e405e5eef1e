"""The scene that a controller receives, and the changes that it may request.

The session passes a :class:`Scene` to the controller after the policy's pass; the controller returns :class:`Resize`
intentions. The guard checks them, the session finds and books the nodes, and the job model makes the changes at the
control points.

A decision about a thousand applications needs the same few numbers of each. Each view computes its own
(:attr:`spillway.schedulers.controllers.running_application.AppView.facts`); decisions use arrays of all.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import chain
from typing import Protocol

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from spillway.schedulers.controllers.prediction import Step, most_taken
from spillway.schedulers.controllers.running_application import AppView


class IoEnded(Struct, frozen=True, gc=False):
    """An application's I/O phase has ended: the moment at which decisions about it are taken.

    Attributes
    ----------
    id
        The application.
    asked_s, begin_s, end_s
        Times at which it requested its turn to write, received it, and had written.
    """

    id: str
    asked_s: float
    begin_s: float
    end_s: float


class WaitingRequest(Struct, frozen=True, gc=False):
    """A waiting job: the nodes that it requests."""

    nodes: int


class Reason(enum.Enum):
    """Reasons for a change of size."""

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
        Reason for the change.
    until_s
        Latest time at which nodes that it receives are expected back, if they are needed elsewhere; for nodes that it
        gives up (``ADMIT``, ``REQUEST``), the time at which they are free.
    """

    id: str
    steps: tuple[Step, ...]
    reason: Reason
    until_s: float = 0.0

    @property
    def growth(self) -> int:
        """Most nodes that it takes beyond the application's present size."""
        return most_taken(self.steps)

    @property
    def leaving(self) -> int:
        """Nodes of its own that the application gives up for good; policies may plan with them from ``until_s`` on."""
        return -self.steps[0].change if self.reason in _FOR_GOOD and len(self.steps) == 1 and not self.growth else 0


_FOR_GOOD = (Reason.ADMIT, Reason.REQUEST)


@dataclass(frozen=True)
class Scene:
    """State of the machine at one moment.

    Attributes
    ----------
    now_s
        Time in seconds.
    applications
        Running applications in order of their starts.
    ended
        I/O phases that have ended since the last scene.
    idle
        Free nodes.
    waiting
        Waiting jobs in order of submission, after the policy's pass.
    fits
        Whether the first waiting job could start, burst buffer and bandwidth included, after all agreed changes and if
        applications gave up these numbers of further nodes, by id; ``None``: only nodes are counted.
    """

    now_s: float
    applications: Sequence[AppView]
    ended: Sequence[IoEnded] = ()
    idle: int = 0
    waiting: Sequence[WaitingRequest] = ()
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
        """Return the scene after these changes are agreed: fewer idle nodes, and applications with steps."""
        if not agreed:
            return self
        changes = {resize.id: resize for resize in agreed}
        applications = [_agreed(view, changes[view.id]) if view.id in changes else view for view in self.applications]
        return replace(self, applications=applications, idle=self.idle - sum(resize.growth for resize in agreed))

    def admits(self, given_up: Mapping[str, int]) -> bool:
        """Whether the first waiting job could start if applications gave up these numbers of further nodes, by id."""
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


Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Outlook:
    """Running applications as arrays, with one entry per application, in their order; each is of ``AppView.facts``.

    Attributes
    ----------
    starts_s, durations_s, periods_s, errors_s
        Their next I/O phases (:class:`spillway.schedulers.controllers.prediction.Phase`); where no phase is left, one
        of no duration that starts at infinity.
    nodes, base, held, settled
        Present size, submitted size, nodes held, and size after all agreed changes.
    maximum
        Largest size that they can have.
    control_s
        Expected time of the next control point.
    willing
        Whether they can be resized and have no agreed changes.
    expanded
        Whether they have more nodes than they were submitted with and can give them back.
    """

    starts_s: Floats
    durations_s: Floats
    periods_s: Floats
    errors_s: Floats
    nodes: Floats
    base: Floats
    held: Floats
    settled: Floats
    maximum: Floats
    control_s: Floats
    willing: Flags
    expanded: Flags

    @classmethod
    def of(cls, views: Sequence[AppView]) -> Outlook:
        """Collect the facts of all views."""
        rows, width = [view.facts for view in views], len(fields(cls))
        table = np.fromiter(chain.from_iterable(rows), np.float64, len(rows) * width)
        columns = np.ascontiguousarray(table.reshape(-1, width).T)
        flags = columns[-2:] > 0
        return cls(*columns[:-2], *flags)

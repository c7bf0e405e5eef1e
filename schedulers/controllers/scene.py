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

from schedulers.applications.application import Application
from schedulers.controllers.observed import Observed
from schedulers.controllers.prediction import Phase, Step, io_duration_s, predict
from schedulers.controllers.sharing import Candidate


class Activity(enum.Enum):
    """What an application is doing."""

    COMPUTE = "compute"
    WAIT = "wait"
    """Waiting for its turn at the file system."""
    IO = "io"
    RESIZE = "resize"


@dataclass(frozen=True)
class AppView:
    """A running application, as far as it has been observed. A new value replaces it whenever something happens.

    Attributes
    ----------
    id
        The job's full id.
    application
        What the user registered: iterations, control points, model.
    observed
        What has been seen of it.
    activity
        What it is doing.
    iteration, since_s
        The last control point that it passed, and when the interval after it began or is expected to begin (after the
        I/O phase or the reconfiguration that still runs).
    nodes
        Its size in that interval.
    base
        The size that it was submitted with.
    held
        Nodes that it holds: those in use, those that it was given and will use, those that it is about to leave.
    steps
        Agreed changes that have not been made, in order.
    """

    id: str
    application: Application
    observed: Observed
    activity: Activity
    iteration: int
    since_s: float
    nodes: int
    base: int
    held: int
    steps: tuple[Step, ...] = ()

    @cached_property
    def next_phase(self) -> Phase | None:
        """Prediction of its next I/O phase, agreed changes included; ``None`` when none is left or known."""
        return predict(
            self.application,
            self.observed,
            iteration=self.iteration,
            since_s=self.since_s,
            nodes=self.nodes,
            steps=self.steps,
        )

    @cached_property
    def settled_nodes(self) -> int:
        """Size after all agreed changes."""
        return self.nodes + sum(step.change for step in self.steps)

    @cached_property
    def next_control(self) -> int:
        """The control point at which the next change can be made."""
        return self.application.next_control(self.iteration)

    @cached_property
    def interval_s(self) -> float:
        """How long an interval between two control points takes with its present size, as far as observed."""
        return self.application.control_every * self.observed.iteration(self.nodes, self.application.model).mean

    @property
    def control_s(self) -> float:
        """When that control point is expected."""
        return self.since_s + (self.next_control - self.iteration) / self.application.control_every * self.interval_s

    @cached_property
    def returnable_s(self) -> float:
        """When nodes given to it now could be back at the latest, if they were asked for at once.

        They come into use at the next control point and leave at the one after it; both take a reconfiguration.
        """
        return self.control_s + 2 * self.application.overhead_s + self.interval_s

    @cached_property
    def willing(self) -> bool:
        """Whether it can be resized and nothing is agreed yet; the last control point is its end."""
        return self.application.resizable and not self.steps and self.next_control < self.application.iterations

    @cached_property
    def candidate(self) -> Candidate:
        """It as one that may get idle nodes."""
        application = self.application
        io_s = io_duration_s(application, self.observed, self.nodes)
        return Candidate(application.model, self.nodes, application.io_every, io_s, application.maximum)


@dataclass(frozen=True, slots=True)
class IoEnded:
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


@dataclass(frozen=True, slots=True)
class Wish:
    """A waiting job: the nodes that it asks for."""

    nodes: int


class Reason(enum.Enum):
    """Why a size should change."""

    SHIFT = "shift"
    COUPLE = "couple"
    EXPAND = "expand"
    RETURN = "return"


@dataclass(frozen=True, slots=True)
class Resize:
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
        total = most = 0
        for step in self.steps:
            total += step.change
            most = max(most, total)
        return most


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


class Controller(Protocol):
    """Decides which running applications change their size: a pure function of the scene."""

    def __call__(self, scene: Scene) -> Iterable[Resize]:
        """Yield intentions, in order; one that cannot be met (no nodes with burst buffers left) is dropped."""
        ...


Rule = Callable[[Scene], Iterable[Resize]]
"""A part of a controller."""

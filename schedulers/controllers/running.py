"""A running application as far as it has been observed."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from functools import cached_property

from schedulers.applications.application import Application
from schedulers.controllers.observed import Observed
from schedulers.controllers.prediction import Phase, Step, predict


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
    def facts(self) -> tuple[float, ...]:
        """What :class:`schedulers.controllers.outlook.Outlook` is made of, in the order of its table's first rows."""
        application, nodes, steps = self.application, self.nodes, self.steps
        model, seen, io = application.model, self.observed.per_iteration, self.observed.io
        # The size that was seen last is nearly always the present one.
        mean = seen[-1][1] if seen and seen[-1][0] == nodes else self.observed.iteration(nodes, model)
        return (
            self.since_s,
            self.iteration,
            nodes,
            self.base,
            self.held,
            nodes + sum([step.change for step in steps]) if steps else nodes,
            bool(steps),
            bool(steps) and any(step.change < 0 for step in steps),
            mean.count,
            mean.mean,
            mean.squares,
            io.mean if io.count else model.io_s.item(nodes - model.minimum),
            application.iterations,
            application.io_every,
            application.control_every,
            application.overhead_s,
            model.minimum,
            model.minimum + len(model.cpu_s) - 1,
        )

"""A running application as far as it has been observed."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from functools import cached_property

from spillway.schedulers.applications.application import Application
from spillway.schedulers.controllers.observations import Observed
from spillway.schedulers.controllers.prediction import Phase, Step, io_duration_s, predict


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
    deadline_s
        When its walltime is over; infinity without one.
    places
        Indices of the nodes in use, those that came last at the end: they leave first.
    known
        Whether its model is known; until then it is not resized but to find that out.
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
    deadline_s: float = math.inf
    places: tuple[int, ...] = ()
    known: bool = True

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

    @property
    def settled_nodes(self) -> int:
        """Size after all agreed changes."""
        return self.nodes + sum([step.change for step in self.steps]) if self.steps else self.nodes

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

    @property
    def returnable_s(self) -> float:
        """When nodes given to it now could be back at the latest, if they were called back at once.

        They come into use at the next control point and leave at the one after it; both take a reconfiguration.
        """
        return self.control_s + 2 * self.application.overhead_s + self.interval_s

    @property
    def left_s(self) -> float:
        """When nodes that it gives up now are free: after its next control point's I/O phase and reconfiguration."""
        return self.control_s + self._io_s(self.next_control) + self.application.overhead_s

    def end_s(self, nodes: int) -> float:
        """When it is expected to end if it goes on with so many nodes from its next control point on."""
        application, control = self.application, self.next_control
        left_s = (application.iterations - control) * self.observed.iteration(nodes, application.model).mean
        every = application.io_every
        phases = application.iterations // every - control // every if every else 0
        return self.left_s + left_s + phases * io_duration_s(application, self.observed, nodes)

    def _io_s(self, iteration: int) -> float:
        """Duration of the I/O phase that follows an iteration; 0 if none."""
        application = self.application
        return io_duration_s(application, self.observed, self.nodes) if application.io_due(iteration) else 0.0

    @property
    def willing(self) -> bool:
        """Whether it can be resized and nothing is agreed yet; the last control point is its end."""
        able = self.application.resizable and not self.steps and self.known
        return able and self.next_control < self.application.iterations

    @cached_property
    def facts(self) -> tuple[float, ...]:
        """What a decision needs, in the order of :data:`spillway.schedulers.controllers.outlook.FACTS`.

        A decision reads those of all applications at once; they may be worked out before, where a view is made.
        """
        application, steps, phase = self.application, self.steps, self.next_phase
        giving = any(step.change < 0 for step in steps)
        expanded = self.settled_nodes > self.base
        return (
            *((phase.start_s, phase.duration_s, phase.period_s, phase.error_s) if phase else _NEVER),
            self.observed.iteration(self.nodes, application.model).mean,
            io_duration_s(application, self.observed, self.nodes),
            self.nodes,
            self.base,
            self.held,
            self.settled_nodes,
            application.minimum,
            application.maximum,
            application.iterations,
            application.io_every,
            application.overhead_s,
            self.next_control,
            (application.next_io(self.iteration) or 0) - application.control_every,
            self.control_s,
            self.returnable_s,
            self.willing,
            expanded and not giving and self.next_control < application.iterations,
        )


_NEVER = (math.inf, 0.0, math.inf, 0.0)
"""The next I/O phase of an application that has none left."""

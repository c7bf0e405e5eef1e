"""The observed state of a running application."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from functools import cached_property

from spillway.schedulers.applications.application import Application
from spillway.schedulers.controllers.observations import Observations
from spillway.schedulers.controllers.prediction import Phase, Step, io_duration_s, predict


class Activity(enum.Enum):
    """Activities of a running application."""

    COMPUTE = "compute"
    WAIT = "wait"
    """Waiting for its turn at the file system."""
    IO = "io"
    RESIZE = "resize"


@dataclass(frozen=True)
class AppView:
    """The observed state of a running application. A new value replaces it at every event.

    Attributes
    ----------
    id
        The job's full id.
    application
        Its description by the user: iterations, control points, model.
    observed
        Observations of it.
    activity
        Its present activity.
    iteration, since_s
        The last control point that it passed, and the actual or expected start of the interval after it (once an I/O
        phase or a reconfiguration that still runs has ended).
    nodes
        Its size in that interval.
    base
        The size that it was submitted with.
    held
        Nodes that it holds: those in use, those received but not yet in use, and those that it is about to leave.
    steps
        Agreed changes that have not been made, in order.
    deadline_s
        End of its walltime; infinity without one.
    places
        Indices of the nodes in use; those added last are at the end and leave first.
    known
        Whether its model is known; until then it is resized only to measure it.
    """

    id: str
    application: Application
    observed: Observations
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
        """Prediction of its next I/O phase, agreed changes included; ``None`` when no phase is left."""
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
        """Mean seconds of an interval between two control points with its present size, from observations."""
        return self.application.control_every * self.observed.iteration(self.nodes, self.application.model).mean

    @property
    def control_s(self) -> float:
        """Expected time of the next control point."""
        return self.since_s + (self.next_control - self.iteration) / self.application.control_every * self.interval_s

    @property
    def returnable_s(self) -> float:
        """Latest time at which nodes given to it now could be back, if they were called back at once.

        They come into use at the next control point and leave at the one after it; both take a reconfiguration.
        """
        return self.control_s + 2 * self.application.overhead_s + self.interval_s

    @property
    def left_s(self) -> float:
        """Time at which nodes given up now are free: after the next control point's I/O phase and reconfiguration."""
        return self.control_s + self._io_s(self.next_control) + self.application.overhead_s

    def end_s(self, nodes: int) -> float:
        """Expected end, if it continues with ``nodes`` nodes from its next control point on."""
        application, control = self.application, self.next_control
        left_s = (application.iterations - control) * self.observed.iteration(nodes, application.model).mean
        every = application.io_every
        phases = application.iterations // every - control // every if every else 0
        return self.left_s + left_s + phases * io_duration_s(application, self.observed, nodes)

    def _io_s(self, iteration: int) -> float:
        """Duration of the I/O phase that follows an iteration; 0 without one."""
        application = self.application
        return io_duration_s(application, self.observed, self.nodes) if application.io_due(iteration) else 0.0

    @property
    def willing(self) -> bool:
        """Whether it can be resized: model known, no change agreed, and a control point left before its end."""
        able = self.application.resizable and not self.steps and self.known
        return able and self.next_control < self.application.iterations

    @cached_property
    def facts(self) -> tuple[float, ...]:
        """Its numbers for decisions, in the order of :class:`spillway.schedulers.controllers.scene.Outlook`.

        A decision reads those of all applications at once; they may be computed in advance, when a view is made.
        """
        phase, giving = self.next_phase, any(step.change < 0 for step in self.steps)
        expanded = self.settled_nodes > self.base
        return (
            *((phase.start_s, phase.duration_s, phase.period_s, phase.error_s) if phase else _NEVER),
            self.nodes,
            self.base,
            self.held,
            self.settled_nodes,
            self.application.maximum,
            self.control_s,
            self.willing,
            expanded and not giving and self.next_control < self.application.iterations,
        )


_NEVER = (math.inf, 0.0, math.inf, 0.0)
"""The next I/O phase of an application without further I/O."""

"""The on-line predictor: an application runs with several sizes at its beginning; the measurements become its model.

References
----------
Singh & Carretero 2019 (DOI 10.1016/j.jss.2018.11.006), section 4.1: the application is reconfigured for a range of
sizes, several measurements are made with each, the initial size is restored, and the sizes in between are interpolated.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass, replace

from spillway.schedulers.applications.application import Application
from spillway.schedulers.applications.performance import Measurement, from_measurements
from spillway.schedulers.controllers.observations import Observations
from spillway.schedulers.controllers.prediction import Step
from spillway.schedulers.controllers.running_application import AppView
from spillway.schedulers.controllers.scene import Reason, Resize, Scene


class Predictor(enum.Enum):
    """Sources of an application's model."""

    OFFLINE = "offline"
    """Measured before: the job describes it."""
    ONLINE = "online"


@dataclass(frozen=True)
class Sampling:
    """Run each application with an unknown model on some larger sizes, while idle nodes allow them.

    Attributes
    ----------
    sizes
        Sizes besides its own, >= 1, evenly spread up to the largest that the idle nodes allow.
    intervals
        Intervals between control points that are measured with each, >= 1.
    """

    sizes: int = 3
    intervals: int = 2

    def __call__(self, scene: Scene) -> Iterator[Resize]:
        """Give idle nodes to the applications in turn; they come back after the last measurement."""
        idle = scene.idle
        for view in scene.applications:
            if not view.known and not view.steps:
                steps = self._steps(view, idle)
                if steps:
                    measured_s = len(steps) * (self.intervals * view.interval_s + view.application.overhead_s)
                    resize = Resize(view.id, steps, Reason.SAMPLE, view.control_s + measured_s)
                    idle -= resize.growth
                    yield resize

    def _steps(self, view: AppView, idle: int) -> tuple[Step, ...]:
        """Steps to larger and larger sizes, and back; empty without idle nodes, or where the run is too short."""
        application, every = view.application, self.intervals * view.application.control_every
        room = min(idle, application.maximum - view.nodes)
        fitting = (application.iterations - 1 - view.next_control) // every
        count = min(self.sizes, room, fitting)
        extra = [room * (place + 1) // count for place in range(count)] if count > 0 else []
        ups = [Step(view.next_control + place * every, more - less)
               for place, (less, more) in enumerate(zip([0, *extra], extra, strict=False))]  # fmt: skip
        return (*ups, Step(view.next_control + count * every, -room)) if ups else ()


def learned(application: Application, observed: Observations) -> Application:
    """The application with a model from measurements: sizes in between are interpolated, those beyond scale perfectly.

    ``observed`` has at least one interval. Computation and communication are not distinguished.
    """
    io_s = observed.io.mean if observed.io.count else 0.0
    rows = [Measurement(nodes, mean.mean, 0.0, io_s) for nodes, mean in observed.per_iteration]
    return replace(application, model=from_measurements(rows, application.minimum, application.maximum))

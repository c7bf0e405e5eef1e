"""Predicted start and duration of an application's next I/O phase, with the standard error of its start.

References
----------
Singh & Carretero 2019 (DOI 10.1016/j.jss.2018.11.006), section 4.2: I/O is periodic, so that the averages of the
previous periods and durations are extrapolated from the last event.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from msgspec import Struct

from spillway.schedulers.applications.application import Application
from spillway.schedulers.controllers.observations import Observations


class Step(Struct, frozen=True, gc=False):
    """An agreed change of size: ``change`` more (negative: fewer) nodes from the control point ``iteration`` on."""

    iteration: int
    change: int


def most_taken(steps: Iterable[Step]) -> int:
    """Most nodes that these steps, one after another, take beyond the present size."""
    total = most = 0
    for step in steps:
        total += step.change
        most = max(most, total)
    return most


class Phase(Struct, frozen=True, gc=False):
    """A predicted I/O phase.

    Attributes
    ----------
    start_s, duration_s
        Its start, and its uncontended duration.
    period_s
        Time between the starts of two I/O phases with the size that the application has then.
    error_s
        Standard error of ``start_s``, from the spread of the observations.
    """

    start_s: float
    duration_s: float
    period_s: float
    error_s: float = 0.0

    @property
    def end_s(self) -> float:
        """Its end."""
        return self.start_s + self.duration_s

    def widened(self, seconds: float) -> Phase:
        """The same phase, longer by a margin for errors (paper, section 5.1: 10.49 s instead of 8.49 s)."""
        return Phase(self.start_s, self.duration_s + seconds, self.period_s, self.error_s)


def predict(
    application: Application,
    observed: Observations,
    *,
    iteration: int,
    since_s: float,
    nodes: int,
    steps: Sequence[Step] = (),
) -> Phase | None:
    """Predict the next I/O phase.

    Parameters
    ----------
    application
        Its iterations and control points, and its model (for sizes that were not observed).
    observed
        Observations of it.
    iteration, since_s
        The last control point that was passed, and the start of the interval after it.
    nodes
        Present size.
    steps
        Agreed changes of size, in order; each costs a reconfiguration.

    Returns
    -------
    Phase or None
        ``None`` when no I/O phase is left.
    """
    at = application.next_io(iteration)
    if at is None:
        return None
    model, every, begin, size = application.model, application.control_every, iteration, nodes
    start_s, variance, mean = since_s, 0.0, observed.iteration(size, model)  # the variance of sums of intervals' means
    for step in steps:
        if step.iteration >= at:
            break
        if step.iteration > begin:
            start_s += (step.iteration - begin) * mean.mean
            variance += mean.variance_of_sum((step.iteration - begin) / every)
            begin = step.iteration
        size += step.change
        mean = observed.iteration(size, model)
        start_s += application.overhead_s
    start_s += (at - begin) * mean.mean
    variance += mean.variance_of_sum((at - begin) / every)
    duration_s = io_duration_s(application, observed, size)
    period_s = application.io_every * mean.mean + duration_s  # paper, Eq. 1
    return Phase(start_s, duration_s, period_s, math.sqrt(variance) * every)


def io_duration_s(application: Application, observed: Observations, nodes: int) -> float:
    """Mean duration of the observed I/O phases; before the first, the model's duration."""
    return observed.io.mean if observed.io.count else application.model.at(nodes).io_s

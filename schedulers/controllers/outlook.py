"""Data of many running applications for one decision, as arrays.

A decision about a thousand applications needs the same few numbers of each. Each view computes its own
(:attr:`spillway.schedulers.controllers.running_application.AppView.facts`); decisions use arrays of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from spillway.schedulers.controllers.running_application import AppView

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

FACTS = (
    "starts_s", "durations_s", "periods_s", "errors_s", "mean_s", "io_s", "nodes", "base", "held", "settled", "minimum",
    "maximum", "iterations", "io_every", "overhead_s", "next_control", "last_control", "control_s", "returnable_s",
    "willing", "expanded",
)  # fmt: skip
"""Attributes of :class:`Outlook`, and entries of
:attr:`spillway.schedulers.controllers.running_application.AppView.facts`."""


@dataclass(frozen=True, slots=True, eq=False)
class Outlook:
    """Running applications as arrays, with one entry per application, in their order.

    Attributes
    ----------
    starts_s, durations_s, periods_s, errors_s
        Their next I/O phases (:class:`spillway.schedulers.controllers.prediction.Phase`); where no phase is left, one
        of no duration that starts at infinity.
    mean_s
        Mean seconds of an iteration with the present size, from observations.
    io_s
        Duration of an I/O phase.
    nodes, base, held, settled
        Present size, submitted size, nodes held, and size after all agreed changes.
    minimum, maximum
        Smallest and largest size that they can have.
    iterations, io_every, overhead_s
        As in :class:`spillway.schedulers.applications.application.Application`.
    next_control, last_control
        The next control point, and the last one before the next I/O phase, as iterations.
    control_s, returnable_s
        Expected time of the next control point, and latest time at which nodes given now could be back.
    willing
        Whether they can be resized and have no agreed changes.
    expanded
        Whether they have more nodes than they were submitted with and can give them back.
    """

    starts_s: Floats
    durations_s: Floats
    periods_s: Floats
    errors_s: Floats
    mean_s: Floats
    io_s: Floats
    nodes: Floats
    base: Floats
    held: Floats
    settled: Floats
    minimum: Floats
    maximum: Floats
    iterations: Floats
    io_every: Floats
    overhead_s: Floats
    next_control: Floats
    last_control: Floats
    control_s: Floats
    returnable_s: Floats
    willing: Flags
    expanded: Flags

    @classmethod
    def of(cls, views: Sequence[AppView]) -> Outlook:
        """Collect the facts of all views."""
        rows = [view.facts for view in views]
        table = np.fromiter(chain.from_iterable(rows), np.float64, len(rows) * len(FACTS))
        columns = np.ascontiguousarray(table.reshape(-1, len(FACTS)).T)
        flags = columns[-2:] > 0
        return cls(*columns[:-2], *flags)

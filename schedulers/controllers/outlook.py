"""Everything that a decision needs of many running applications, as arrays.

A decision about a thousand applications asks each for the same few numbers. They are worked out here for all at once;
application by application the properties of :class:`schedulers.controllers.running.AppView` say the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from schedulers.controllers.running import AppView

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

_FACTS = (
    "since_s", "iteration", "nodes", "base", "held", "settled", "agreed", "shifting", "count", "mean_s", "squares",
    "io_s", "iterations", "io_every", "control_every", "overhead_s", "minimum", "maximum",
)  # fmt: skip
"""Entries of :attr:`schedulers.controllers.running.AppView.facts`."""


@dataclass(frozen=True, slots=True, eq=False)
class Outlook:
    """Running applications as arrays, with one entry per application, in their order.

    Attributes
    ----------
    starts_s, durations_s, periods_s, errors_s
        Their next I/O phases (:class:`schedulers.controllers.prediction.Phase`); where none is left or known, one of
        no duration that starts at infinity.
    mean_s
        Seconds of an iteration with the present size, as far as observed.
    io_s
        Duration of an I/O phase.
    nodes, base, held, settled
        Present size, submitted size, nodes held, and size after all agreed changes.
    minimum, maximum
        Sizes that they can have.
    iterations, io_every, overhead_s
        Of the applications.
    next_control, last_control
        The next control point, and the last one before the next I/O phase, as iterations.
    control_s, returnable_s
        When the next control point comes, and when nodes given now could be back at the latest.
    willing
        Whether they can be resized and nothing is agreed.
    lending
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
    lending: Flags

    @classmethod
    def of(cls, views: Sequence[AppView]) -> Outlook:
        """Look ahead from what was observed."""
        rows = [view.facts for view in views]
        table = np.fromiter(chain.from_iterable(rows), np.float64, len(rows) * len(_FACTS))
        facts = dict(zip(_FACTS, np.ascontiguousarray(table.reshape(-1, len(_FACTS)).T), strict=True))
        io_at = (facts["iteration"] // np.maximum(facts["io_every"], 1.0) + 1.0) * facts["io_every"]
        next_control = np.minimum(
            (facts["iteration"] // facts["control_every"] + 1.0) * facts["control_every"], facts["iterations"]
        )
        interval_s = facts["control_every"] * facts["mean_s"]
        waits = next_control - facts["iteration"]
        control_s = facts["since_s"] + waits / facts["control_every"] * interval_s
        moving = (facts["agreed"] == 0) & (next_control < facts["iterations"])
        steady = (facts["shifting"] == 0) & (next_control < facts["iterations"])
        starts_s, durations_s, periods_s, errors_s = _phases(views, facts, io_at)
        return cls(
            starts_s=starts_s,
            durations_s=durations_s,
            periods_s=periods_s,
            errors_s=errors_s,
            mean_s=facts["mean_s"],
            io_s=facts["io_s"],
            nodes=facts["nodes"],
            base=facts["base"],
            held=facts["held"],
            settled=facts["settled"],
            minimum=facts["minimum"],
            maximum=facts["maximum"],
            iterations=facts["iterations"],
            io_every=facts["io_every"],
            overhead_s=facts["overhead_s"],
            next_control=next_control,
            last_control=io_at - facts["control_every"],
            control_s=control_s,
            returnable_s=control_s + 2 * facts["overhead_s"] + interval_s,
            willing=moving & (facts["maximum"] > facts["minimum"]),
            lending=steady & (facts["settled"] > facts["base"]),
        )


def _phases(views: Sequence[AppView], facts: dict[str, Floats], io_at: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Starts, durations, periods and errors of the next I/O phases, which come after the iterations ``io_at``.

    Where changes of size are agreed, the phase depends on each of them and is worked out by itself.
    """
    over = (facts["io_every"] == 0) | (io_at > facts["iterations"])
    parts = np.where(over, 0.0, (io_at - facts["iteration"]) / facts["control_every"])
    variance = facts["squares"] / np.maximum(facts["count"] - 1.0, 1.0)
    variance_of_sum = parts * variance + parts * parts * variance / np.maximum(facts["count"], 1.0)
    errors_s = np.sqrt(variance_of_sum) * facts["control_every"]
    starts_s = facts["since_s"] + (io_at - facts["iteration"]) * facts["mean_s"]
    durations_s = facts["io_s"].copy()
    periods_s = facts["io_every"] * facts["mean_s"] + facts["io_s"]
    starts_s[over], durations_s[over], periods_s[over], errors_s[over] = np.inf, 0.0, np.inf, 0.0
    for place in np.flatnonzero((facts["agreed"] > 0) & ~over).tolist():
        phase = views[place].next_phase
        if phase is not None:
            starts_s[place], durations_s[place] = phase.start_s, phase.duration_s
            periods_s[place], errors_s[place] = phase.period_s, phase.error_s
    return starts_s, durations_s, periods_s, errors_s

"""Use cases A to D of Table 1 and the two writers of section 2: one simulation each, and its measures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from statistics import fmean, median

from spillway.experiments.studies.malleable import worked_examples
from spillway.experiments.studies.malleable.jacobi import (
    FILE_BYTES,
    LARGE_FILE_BYTES,
    LARGE_WRITE_S,
    SLOTS,
    Case,
    case_of,
    two_writers,
    workload_of,
)
from spillway.experiments.studies.malleable.play import SimulationResults, slots
from spillway.experiments.studies.malleable.play import play as simulate
from spillway.experiments.studies.points import Point, Values
from spillway.schedulers.controllers.interference import Conflict
from spillway.schedulers.jobmodels.app_record import AppRecord

CONTROLS: Mapping[str, Mapping[str, str]] = {
    "watch": {"io_control": "shared", "interference": "watch"},
    "baseline": {"io_control": "shared"},
    "blocking": {"io_control": "exclusive"},
    "shifting": {"io_control": "exclusive", "interference": "phase-shifting"},
    "coupling": {"io_control": "exclusive", "interference": "period-coupling"},
}
"""Section 5.1: the baseline has no control; I/O blocking is CLARISSE's; the others are used with it. ``watch`` predicts
collisions and does nothing."""

APART, SMALL_APART = "apart ", "small apart "
"""Names of the cases of section 2, files of 24.4 and of 11.9 GB: seconds between two writes follow."""

WORKED = "worked"
"""The paper's own worked examples."""

_EIGHTH = 7
"""Index of the I/O phase of use case A that the paper follows, at about 903 s."""

_SHIFTED: Mapping[str, int] = {"B": 6}
"""Index of the I/O phase whose shift the paper describes (in B at 782.4 s); elsewhere the first that is shifted."""


def run(point: Point) -> SimulationResults:
    """Simulate a point."""
    case = _described(point)
    settings = dict(CONTROLS[point.text("control")])
    return simulate(slots(SLOTS, case.io_bytes / case.io_s), workload_of(case, point.whole("seed")), settings)


def play(point: Point) -> Values:
    """Simulate a point and measure it; compute the worked examples, which need no simulation."""
    name = point.text("case")
    if name == WORKED:
        return worked_examples.numbers()
    return dict(measured(run(point), _SHIFTED.get(name)))


def measured(played: SimulationResults, shifted: int | None = None) -> Iterator[tuple[str, float]]:
    """The paper's measures of two applications, by name; ``_1`` and ``_2`` are the applications.

    Parameters
    ----------
    shifted
        Index of the I/O phase whose shift is described, if it was shifted; ``None``: the first that was.
    """
    both = [played.records[name] for name in ("1", "2")]
    for place, record in enumerate(both, start=1):
        transfer_s = sum(phase.end_s - phase.begin_s for phase in record.phases)
        delay_s = sum(_delays(record, 0.0))
        yield f"transfer_{place}", transfer_s
        yield f"delay_{place}", delay_s
        yield f"io_{place}", transfer_s + delay_s
        yield f"cpu_{place}", record.compute_s + record.resize_s
        yield f"run_{place}", record.end_s - record.start_s
        yield f"size_{place}", record.sizes[-1][1]
        if len(record.phases) > 2:
            yield f"period_{place}", _undisturbed_period_s(record)
    yield "delay", sum(sum(_delays(record, 0.0)) for record in both)
    yield "io", sum(phase.end_s - phase.asked_s for record in both for phase in record.phases)
    yield "run", sum(record.end_s - record.start_s for record in both)
    yield "uneven", 100 * abs((both[1].end_s - both[1].start_s) / (both[0].end_s - both[0].start_s) - 1)
    yield "conflicts", len(played.conflicts)
    yield from _eighth(both, played.conflicts)
    yield from _shifts(both, [conflict for conflict in played.conflicts if conflict.outcome == "shift"], shifted)


def _described(point: Point) -> Case:
    name = point.text("case")
    if name.startswith(SMALL_APART):
        return two_writers(float(name.removeprefix(SMALL_APART)), point.number("write"), FILE_BYTES)
    if name.startswith(APART):
        return two_writers(float(name.removeprefix(APART)), LARGE_WRITE_S, LARGE_FILE_BYTES)
    return case_of(point)


def _eighth(both: list[AppRecord], conflicts: list[Conflict]) -> Iterator[tuple[str, float]]:
    """Predictions of the eighth I/O phases, their mean error, and the time at which their collision was predicted."""
    if min(len(record.phases) for record in both) <= _EIGHTH:
        return
    phases = [record.phases[_EIGHTH] for record in both]
    predicted = [phase.predicted.start_s for phase in phases if phase.predicted is not None]
    yield from ((f"predicted_{place}", start_s) for place, start_s in enumerate(predicted, start=1))
    yield "error", fmean(abs(phase.asked_s - start_s) for phase, start_s in zip(phases, predicted, strict=True))
    found = [conflict.time_s for conflict in conflicts if abs(conflict.start_s - predicted[_place(conflict)]) < 1.0]
    yield from ((name, found[-1]) for name in ("detected",) if found)


def _place(conflict: Conflict) -> int:
    return int(_name(conflict.first)) - 1


def _shifts(both: list[AppRecord], shifts: list[Conflict], shifted: int | None) -> Iterator[tuple[str, float]]:
    """Number of phase shifts, and the costs and effects of one of them."""
    yield "shifts", len(shifts)
    yield "overlaps_after", _colliding_phases(both, shifts[-1].time_s if shifts else 0.0)
    described = [shift for shift in shifts if shifted in (None, _phase(both, shift))]
    if not described:
        return
    first = described[0]
    chosen = both[int(_name(first.chosen)) - 1]
    predicted_s = first.start_s if first.chosen == first.first else first.other_s
    begin_s, end_s = [time_s for time_s, _ in chosen.sizes if time_s > first.time_s][:2]
    yield "decided", first.time_s
    yield "chosen", int(_name(first.chosen))
    yield "extra", first.extra
    yield "least_extra", min(shift.extra for shift in shifts)
    yield "most_extra", max(shift.extra for shift in shifts)
    yield "expected", predicted_s
    yield "advanced", predicted_s - next(phase.asked_s for phase in chosen.phases if phase.asked_s > first.time_s)
    yield "held", end_s - begin_s
    yield "delay_after", sum(sum(_delays(record, begin_s)) for record in both)


def _phase(both: list[AppRecord], shift: Conflict) -> int:
    """Index of the I/O phase that a shift brings forward."""
    return sum(phase.asked_s <= shift.time_s for phase in both[int(_name(shift.chosen)) - 1].phases)


def _name(id: str) -> str:
    return id.split("!")[-1]


def _delays(record: AppRecord, after_s: float) -> Iterator[float]:
    """Waits for the file system in phases requested after a time."""
    return (phase.begin_s - phase.asked_s for phase in record.phases if phase.asked_s > after_s)


def _colliding_phases(both: list[AppRecord], after_s: float) -> int:
    """Number of pairs of I/O phases, including their waits, that overlap after a time."""
    first, second = ([phase for phase in record.phases if phase.asked_s > after_s] for record in both)
    return sum(max(phase.asked_s, two.asked_s) < min(phase.end_s, two.end_s) for phase in first for two in second)


def _undisturbed_period_s(record: AppRecord) -> float:
    """Median time from the end of an I/O phase to the next one's request, in the second half of the run."""
    phases = record.phases
    gaps = [later.asked_s - phase.end_s for phase, later in pairwise(phases)]
    return float(median(gaps[len(gaps) // 2 :]))

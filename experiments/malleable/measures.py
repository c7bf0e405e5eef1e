"""From the results of the cells to the measures that the paper states: one number each, averaged over the seeds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, median
from typing import Any

from experiments.malleable.cells import Cell
from experiments.malleable.four import ORDERS, TABLE_2

EIGHTH = 7
"""Place of the I/O phase of use case A that the paper follows, at about 903 s."""

Results = Mapping[Cell, Any]


def case_results(results: Results, case: str, scenario: str) -> list[dict[str, Any]]:
    """Results of a use case under a scenario, by seed."""
    found = [
        (cell.get("seed"), result)
        for cell, result in results.items()
        if cell.kind == "case" and (cell.get("case"), cell.get("scenario")) == (case, scenario)
    ]
    return [result for _, result in sorted(found, key=lambda pair: pair[0])]


def measures(results: Results) -> dict[str, float]:
    """All measures that the results allow, by name."""
    found: dict[str, float] = {}
    for part in (_case_a, _case_b, _case_c, _drifting, _case_d, _four):
        found.update(part(results))
    return found


def _case_a(results: Results) -> Iterator[tuple[str, float]]:
    runs = case_results(results, "A", "watch")
    if not runs:
        return
    for place in (0, 1):
        yield f"A.predicted_{place + 1}", fmean(run["applications"][place]["predicted_s"][EIGHTH] for run in runs)
    yield (
        "A.error",
        max(abs(app["asked_s"][EIGHTH] - app["predicted_s"][EIGHTH]) for run in runs for app in run["applications"]),
    )


def _case_b(results: Results) -> Iterator[tuple[str, float]]:
    runs = case_results(results, "B", "shifting")
    if not runs:
        return
    shifts = [_shifts(run) for run in runs]
    yield "B.shifts", median(map(len, shifts))
    first = [found[0] for found in shifts if found]
    if first:
        yield "B.extra", fmean(shift["extra"] for shift in first)
        yield "B.shift_s", fmean(shift["shift_s"] for shift in first)
    yield "B.overlaps_after", sum(
        colliding_phases(run, found[-1]["time_s"] if found else 0.0)
        for run, found in zip(runs, shifts, strict=True)
    )  # fmt: skip


def _case_c(results: Results) -> Iterator[tuple[str, float]]:
    base = case_results(results, "C", "baseline")
    for scenario, name in (("blocking", "blocking"), ("shifting", "combined")):
        runs = case_results(results, "C", scenario)
        if not runs or not base:
            return
        for place in (0, 1):
            before, after = (fmean(io_s(run, place) for run in group) for group in (base, runs))
            yield f"C.io_{name}_{place + 1}", 100 * (after / before - 1)
        yield f"C.delay_{name}", fmean(map(delay_s, runs))
    runs = case_results(results, "C", "shifting")
    yield "C.shifts", median(len(_shifts(run)) for run in runs)
    shifted = [run for run in runs if _shifts(run)]
    if shifted:
        spans = [_enlarged(run) for run in shifted]
        yield "C.extra", fmean(_shifts(run)[0]["extra"] for run in shifted)
        yield "C.held", fmean(end_s - begin_s for begin_s, end_s in spans)
        yield (
            "C.delay_after",
            fmean(delay_after(run, begin_s) for run, (begin_s, _) in zip(shifted, spans, strict=True)),
        )


def _drifting(results: Results) -> Iterator[tuple[str, float]]:
    for scenario, name in (("blocking", "blocking"), ("shifting", "combined")):
        runs = case_results(results, "C drifting", scenario)
        if runs:
            yield f"C drifting.delay_{name}", fmean(delay_s(run) for run in runs)


def _case_d(results: Results) -> Iterator[tuple[str, float]]:
    for scenario in ("blocking", "shifting", "coupling"):
        runs = case_results(results, "D", scenario)
        if runs:
            yield f"D.delay_{scenario}", fmean(delay_s(run) for run in runs)
    shifts = [_shifts(run) for run in case_results(results, "D", "shifting")]
    extras = [shift["extra"] for found in shifts for shift in found]
    if extras:
        yield "D.shifts", fmean(map(len, shifts))
        yield "D.least_extra", min(extras)
        yield "D.most_extra", max(extras)
    coupled = case_results(results, "D", "coupling")
    if coupled:
        yield "D.coupled", fmean(run["applications"][1]["sizes"][-1][1] for run in coupled)
        yield "D.coupling_shifts", fmean(len(_shifts(run)) for run in coupled)
        for place in (0, 1):
            yield f"D.period_{place + 1}", fmean(_undisturbed_period_s(run, place) for run in coupled)


def _four(results: Results) -> Iterator[tuple[str, float]]:
    table = four_table(results)
    totals = sorted({total for total, *_ in table})
    if not totals:
        return
    smallest = table.get((totals[0], "io, weight 1", ORDERS[0]))
    if smallest is not None:
        yield "four.first", smallest["processes"][0] - TABLE_2[0].processes
    for order, suffix in zip(ORDERS, ("", "_shortest"), strict=True):
        rows = [[table[total, rule, order] for rule in ("fair", "speedup", "io")] for total in totals]
        yield f"four.order{suffix}", sum(fair["flops"] < speedup["flops"] < io["flops"] for fair, speedup, io in rows)
        yield f"four.delay{suffix}", sum(io["delay_s"] < fair["delay_s"] for fair, _, io in rows)
        yield f"four.gain_fair{suffix}", max(100 * (io["flops"] / fair["flops"] - 1) for fair, _, io in rows)
        yield f"four.gain_speedup{suffix}", max(100 * (io["flops"] / speedup["flops"] - 1) for _, speedup, io in rows)


def four_table(results: Results) -> dict[tuple[int, str, str], dict[str, Any]]:
    """Means over the seeds by (total, rule, order): processes per application, FLOPS, delays."""
    grouped: dict[tuple[int, str, str], list[dict[str, Any]]] = {}
    for cell, result in results.items():
        if cell.kind == "four":
            key = (int(cell.get("total")), str(cell.get("rule")), str(cell.get("order")))
            grouped.setdefault(key, []).append(result)
    return {key: _mean_of_four(runs) for key, runs in grouped.items()}


def _mean_of_four(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    applications = range(len(TABLE_2))
    return {
        "processes": [runs[0]["applications"][place]["processes"] for place in applications],
        "delays_s": [fmean(run["applications"][place]["mean_delay_s"] for run in runs) for place in applications],
        "flops": fmean(run["flops"] for run in runs),
        "delay_s": fmean(run["delay_s"] for run in runs),
    }


def _shifts(run: dict[str, Any]) -> list[dict[str, Any]]:
    return [conflict for conflict in run["conflicts"] if conflict["outcome"] == "shift"]


def _enlarged(run: dict[str, Any]) -> tuple[float, float]:
    """From when to when the application of the first shift had more processes."""
    chosen = next(app for app in run["applications"] if app["name"] == _shifts(run)[0]["chosen"])
    times = [time_s for time_s, _ in chosen["sizes"]]
    return times[1], times[2]


def io_s(run: dict[str, Any], place: int) -> float:
    """I/O time of an application, delays included."""
    application = run["applications"][place]
    return float(application["transfer_s"] + application["delay_s"])


def delay_s(run: dict[str, Any]) -> float:
    """Delays of both applications."""
    return float(sum(application["delay_s"] for application in run["applications"]))


def delay_after(run: dict[str, Any], time_s: float) -> float:
    """Delays of both applications in phases that they were ready for after a time."""
    return float(
        sum(
            delay
            for application in run["applications"]
            for asked, delay in zip(application["asked_s"], application["delays_s"], strict=True)
            if asked > time_s
        )
    )


def colliding_phases(run: dict[str, Any], after_s: float) -> int:
    """How many pairs of I/O phases, waiting included, overlap after a time."""
    first, second = (
        [span for span in zip(app["asked_s"], app["ended_s"], strict=True) if span[0] > after_s]
        for app in run["applications"]
    )
    return sum(max(one[0], two[0]) < min(one[1], two[1]) for one in first for two in second)


def _undisturbed_period_s(run: dict[str, Any], place: int) -> float:
    """Median time from the end of an I/O phase to the next one's request, in the second half of the run."""
    application = run["applications"][place]
    gaps = [asked - ended for ended, asked in zip(application["ended_s"][:-1], application["asked_s"][1:], strict=True)]
    return float(median(gaps[len(gaps) // 2 :]))

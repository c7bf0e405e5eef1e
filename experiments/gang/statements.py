"""What the paper states, and whether it holds in our runs: each verdict is computed.

References
----------
Zhang et al., JSSPP 2003, sections 3.4.2, 3.5, 3.6, 3.7 and 4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from experiments.gang.measure import Estimate, Table, arithmetic, geometric
from experiments.gang.run import MIGRATE, MIXED_NAME, POLICY_NAMES

GS, IOGS, ADAPTIVE, _ = POLICY_NAMES
SMALL = 1.25
""""Very close", "very small": at most this ratio."""
NEGLIGIBLE = 1.05
""""Negligible": at most this ratio."""

HOLDS, FAILS, OPEN = "holds", "does not hold", "not run"


@dataclass(frozen=True)
class Verdict:
    """One statement: where it is from, its text, what we found, and whether that agrees."""

    section: str
    published: str
    ours: str
    verdict: str


def verdicts(table: Table, metric: str = "slowdown") -> list[Verdict]:
    """All statements, judged by a slowdown: ``slowdown`` or ``slowdown_from_start``."""
    return [verdict for judge in (_rivals, _adaptive, _locals, _migration, _sensitivity, _mixed) for verdict in judge(
        table, metric
    )]  # fmt: skip


def _rivals(table: Table, metric: str) -> Iterator[Verdict]:
    high = [time for time in table.grid.times_s if time >= 2000]
    very_high = [time for time in table.grid.times_s if time >= 2600]
    yield _ratios(
        table, "3.4.2", "intensity 0.5: IOGS at least 100 % better than GS in slowdown at every load",
        "0.5", table.grid.times_s, _pair(table, metric, GS, IOGS, "0.5"), 2.0,
    )  # fmt: skip
    yield _ratios(
        table, "3.4.2", "intensity 0.5: IOGS over 200 % better than GS in slowdown from 2,000 s on",
        "0.5", high, _pair(table, metric, GS, IOGS, "0.5"), 3.0,
    )  # fmt: skip
    yield _ratios(
        table, "3.4.2", "intensity 0.5: IOGS waits clearly less than GS from 2,600 s on",
        "0.5", very_high, _pair(table, "wait_s", GS, IOGS, "0.5"), SMALL,
    )  # fmt: skip
    for mix in ("0.33", "0.1"):
        for name, words in ((metric, "slowdown"), ("wait_s", "wait")):
            yield _ratios(
                table, "3.4.2", f"intensity {mix}: GS always better than IOGS in {words}",
                mix, table.grid.times_s, _pair(table, name, IOGS, GS, mix), 1.0,
            )  # fmt: skip


def _adaptive(table: Table, metric: str) -> Iterator[Verdict]:
    low = [time for time in table.grid.times_s if time <= 2500]
    for mix, times, words in (("0.33", table.grid.times_s, "at every load"), ("0.5", low, "up to 2,500 s")):
        yield _ratios(
            table, "3.5", f"intensity {mix}: Adaptive-IOGS best of the three in slowdown {words}",
            mix, times, _best(table, metric, ADAPTIVE, (GS, IOGS), mix), 1.0,
        )  # fmt: skip
    yield _ratios(
        table, "3.5", "intensity 0.1: Adaptive-IOGS very close to the best in slowdown (taken: at most 25 % worse)",
        "0.1", table.grid.times_s, _best(table, metric, ADAPTIVE, (GS, IOGS), "0.1"), 1 / SMALL,
    )  # fmt: skip


_LOCAL_JOBS = ((ADAPTIVE, 1800, 9101), (GS, 1800, 20), (ADAPTIVE, 3000, 831), (GS, 3000, 5), (MIGRATE, 3000, 6524))
"""Local jobs of 10,000 at intensity 0.5 (sections 3.5, 3.7); the paper calls 3,000 s its highest load."""


def _locals(table: Table, metric: str) -> Iterator[Verdict]:
    for policy, named_s, count in _LOCAL_JOBS:
        time = table.near(named_s) if named_s < 3000 else table.grid.times_s[-1]
        words = f"intensity 0.5, {named_s:,} s: {count:,} of 10,000 jobs local under {policy}"
        if not table.has(policy, time, "0.5"):
            yield Verdict("3.5" if policy != MIGRATE else "3.7", words, "", OPEN)
            continue
        scale = 10_000 / table.grid.jobs
        found = arithmetic([scale * value for value in table.values("local", policy, time, "0.5")])
        close = found.value / 2 <= count <= 2 * found.value if count < 100 else abs(found.value - count) <= 0.1 * count
        agrees = HOLDS if close else FAILS
        interval = f" ({found.low:,.0f} to {found.high:,.0f})" if found.low != found.high else ""
        ours = f"{found.value:,.0f}{interval} at {time:,} s"
        yield Verdict("3.5" if policy != MIGRATE else "3.7", words, ours, agrees)


def _migration(table: Table, metric: str) -> Iterator[Verdict]:
    high = [time for time in table.grid.times_s if time >= 2480]
    others = (GS, IOGS, ADAPTIVE)
    for mix, times, least, words in (
        ("0.5", high, 2.0, "at least 100 % better than the second best from 2,500 s on"),
        ("0.33", table.grid.times_s, 1.6, "at least 60 % better than the second best"),
    ):
        for name, label in ((metric, "slowdown"), ("wait_s", "wait"), ("response_s", "response")):
            yield _ratios(
                table, "3.7", f"intensity {mix}: Migrate-IOGS {words} in {label}",
                mix, times,
                _best(table, name, MIGRATE, others, mix), least,
            )  # fmt: skip
    yield _ratios(
        table, "3.7", "intensity 0.1: Migrate-IOGS hardly worse than GS (taken: at most 25 %)",
        "0.1", table.grid.times_s, _pair(table, metric, GS, MIGRATE, "0.1"), 1 / SMALL,
    )  # fmt: skip


def _sensitivity(table: Table, metric: str) -> Iterator[Verdict]:
    time, grid = table.grid.times_s[-1], table.grid

    def at(mix: str, **others: float | int) -> list[float]:
        return table.values(metric, MIGRATE, time, mix, **others)

    if not all(table.has(MIGRATE, time, "0.5", limit=limit) for limit in grid.limits):
        yield Verdict("3.6", "figure 8: cost and limit of migration", "", OPEN)
        return
    for mix in ("0.5", "0.33", "0.1"):
        means = [geometric(at(mix, cost_s=cost)).value for cost in grid.costs_s]
        spread = max(means) / min(means)
        words = f"intensity {mix}: cost of 0 to 30 s negligible (taken: 5 %)"
        yield Verdict("3.6", words, f"{100 * (spread - 1):.1f} %", HOLDS if spread <= NEGLIGIBLE else FAILS)
    gain = geometric([none / free for none, free in zip(at("0.5", limit=0), at("0.5", limit=320), strict=True)])
    yield Verdict(
        "3.6", "intensity 0.5: no limit at least 90 % better than no migration", _percent(gain),
        HOLDS if gain.value >= 1.9 else FAILS,
    )  # fmt: skip
    for mix in ("0.5", "0.33"):
        none, some, free = (geometric(at(mix, limit=limit)).value for limit in (0, 64, 320))
        share = (none - some) / (none - free) if none > free else float("nan")
        yield Verdict(
            "3.6", f"intensity {mix}: most of the benefit at Q = 64", f"{100 * share:.0f} % of it",
            HOLDS if share > 0.5 else FAILS,
        )  # fmt: skip
    some, *more = (geometric(at("0.1", limit=limit)).value for limit in (64, 128, 256, 320))
    changes = ", ".join(f"{100 * (value / some - 1):+.1f} %" for value in more)
    yield Verdict(
        "3.6", "intensity 0.1: more than Q = 64 makes it worse (128, 256, 320)", changes,
        HOLDS if min(more) > some else FAILS,
    )  # fmt: skip


def _mixed(table: Table, metric: str) -> Iterator[Verdict]:
    for name, label in ((metric, "slowdown"), ("wait_s", "wait")):
        yield _ratios(
            table, "4", f"mixed intensities: Migrate-IOGS best of all in {label}",
            MIXED_NAME, table.grid.times_s,
            _best(table, name, MIGRATE, (GS, IOGS, ADAPTIVE), MIXED_NAME), 1.0,
        )  # fmt: skip


def _pair(table: Table, metric: str, worse: str, better: str, mix: str) -> Callable[[int], Estimate]:
    """By load, how many times as large the metric is under ``worse``."""
    return lambda time: table.ratio(metric, worse, better, time, mix)


def _best(table: Table, metric: str, policy: str, others: Sequence[str], mix: str) -> Callable[[int], Estimate]:
    """By load, how many times as large the metric is under the best of the others."""

    def ratio(time: int) -> Estimate:
        return min((table.ratio(metric, other, policy, time, mix) for other in others), key=lambda found: found.value)

    return ratio


def _ratios(
    table: Table,
    section: str,
    words: str,
    mix: str,
    times: Sequence[int],
    ratio: Callable[[int], Estimate],
    least: float,
) -> Verdict:
    """A statement on ratios at several loads: it holds where the ratio is at least so large."""
    times = [time for time in times if all(table.has(policy, time, mix) for policy in POLICY_NAMES)]
    if not times:
        return Verdict(section, words, "", OPEN)
    found = {time: ratio(time) for time in times}
    good = [time for time, estimate in found.items() if estimate.value >= least]
    ours = "; ".join(f"{time:,} s {_percent(estimate)}" for time, estimate in _ends(found))
    verdict = HOLDS if len(good) == len(found) else f"holds at {len(good)} of {len(found)} loads" if good else FAILS
    return Verdict(section, words, ours, verdict)


def _ends(found: dict[int, Estimate]) -> list[tuple[int, Estimate]]:
    """First, middle and last load."""
    items = list(found.items())
    return items if len(items) <= 3 else [items[0], items[len(items) // 2], items[-1]]


def _percent(estimate: Estimate) -> str:
    """Improvement in per cent with its interval."""
    low, value, high = (round(100 * (part - 1)) + 0 for part in (estimate.low, estimate.value, estimate.high))
    return f"{value:+,} % ({low:+,} to {high:+,})" if low != high else f"{value:+,} %"

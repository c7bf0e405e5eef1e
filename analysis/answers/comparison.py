"""The answer of a comparison in a few plain sentences: significant differences, or the reason for their absence."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from spillway.analysis.measures.compare import CONFIDENCE, PairedComparison, compare_runs
from spillway.analysis.measures.fairness import starved
from spillway.analysis.measures.metrics import bounded_slowdown
from spillway.analysis.measures.units import FEWEST_RUNS, SHORTEST
from spillway.analysis.tables.jobs import Floats, JobTable
from spillway.base.units import duration, number

METRICS = 2
"""Metrics in which the answer compares: waiting time and slowdown."""

Runs = Mapping[str, Sequence[JobTable]]
"""Runs by policy, on the same inputs in the same order, each with the same jobs in order of submission."""


@dataclass(frozen=True)
class MetricComparison:
    """Comparison of policies in one metric; smaller is better.

    Attributes
    ----------
    means
        Mean over all jobs by policy, the smallest first.
    unbeaten
        Policies for which no other one is certainly better.
    beaten
        The other policies, each with a policy that beats it and their comparison: its own values over those of the
        better one.
    over
        Units that the intervals are over (``5 runs``); "" without intervals.
    comparisons
        Number of comparisons that hold together with 95 %.
    """

    means: Mapping[str, float]
    unbeaten: Sequence[str]
    beaten: Mapping[str, tuple[str, PairedComparison]]
    over: str
    comparisons: int


def answer(runs: Mapping[str, Mapping[tuple[str, str], JobTable]], tau_s: float) -> list[str]:
    """Sentences on waiting times and slowdowns of policies.

    Parameters
    ----------
    runs
        Runs by policy, then by workload and seed. Only jobs that ran under all policies are compared, on inputs that
        all policies have.
    tau_s
        Bound of the bounded slowdown.

    Each pair of policies is compared in both metrics, and all these intervals hold together with at least 95 %
    (Bonferroni's correction), whichever of them the sentences quote.
    """
    same, notes = _in_common(runs)
    if len(same) < 2:
        return [*notes, "There is nothing to compare."]
    notes += _reserving(same)
    comparisons = METRICS * math.comb(len(same), 2)
    waits = standing(same, lambda table: table.wait_s, comparisons)
    price = _price(same, next(iter(waits.means))) if not waits.over or len(waits.unbeaten) == 1 else ""
    lines = [_sentence(waits, "mean waiting time", duration).removesuffix(".") + f"{price}."]
    if not waits.over:
        return [*notes, *lines, _why_open(same)]
    slowed = standing(same, lambda table: bounded_slowdown(table, tau_s), comparisons)
    return [*notes, *lines, _sentence(slowed, "mean bounded slowdown", number)]


_RESERVED, _UNRESERVED = "easy", "easy-no-bb"
"""EASY that reserves burst buffers as it does nodes, and ordinary EASY."""


def _reserving(runs: Runs) -> list[str]:
    """A sentence on the reservation of burst buffers, a question of its own, where both policies are among the runs."""
    if _RESERVED not in runs or _UNRESERVED not in runs:
        return []
    waits = {policy: [table.wait_s for table in runs[policy]] for policy in (_UNRESERVED, _RESERVED)}
    ratio = compare_runs(waits[_UNRESERVED], waits[_RESERVED]).ratio
    means = [duration(float(np.concatenate(several).mean())) for several in waits.values()]
    longest = [duration(float(np.mean([wait_s.max() for wait_s in several]))) for several in waits.values()]
    band = f" (95 % interval {_times(ratio.low)} to {_times(ratio.high)} times)" if ratio.is_known else ""
    chance = ", which may be chance" if ratio.low <= 1 <= ratio.high else ""
    return [
        f"Without a reservation of burst buffers ({_UNRESERVED}) jobs wait {means[0]} on average, with ({_RESERVED}) "
        f"{means[1]}{band}{chance}; the longest wait is {longest[0]} without it, {longest[1]} with it."
    ]


def _in_common(runs: Mapping[str, Mapping[tuple[str, str], JobTable]]) -> tuple[Runs, list[str]]:
    """Runs of the jobs that ran under every policy, and notes; a policy that ran no job is left out and noted."""
    ran = {policy: {key: table.ran() for key, table in found.items()} for policy, found in runs.items()}
    idle = [policy for policy, found in ran.items() if not any(map(len, found.values()))]
    left = {policy: found for policy, found in ran.items() if policy not in idle}
    notes = [f"{policy} rejected every job." for policy in idle]
    inputs = [key for key in next(iter(left.values()), {}) if all(key in found for found in left.values())]
    same: dict[str, list[JobTable]] = {policy: [] for policy in left}
    compared = 0
    for key in inputs:
        names = {
            policy: list(zip(found[key].workload, found[key].job_id, strict=True)) for policy, found in left.items()
        }
        shared = reduce(set.intersection, map(set, names.values()))
        if not shared:
            continue
        compared += len(shared)
        for policy, found in left.items():
            rows = np.array([row for row, name in enumerate(names[policy]) if name in shared], dtype=np.intp)
            order = sorted(rows.tolist(), key=lambda row: (found[key].submit_s[row], names[policy][row]))
            same[policy].append(found[key].take(np.array(order, dtype=np.intp)))
    most = max((sum(len(found[key]) for key in inputs) for found in left.values()), default=0)
    if compared < most:
        notes.append(f"The comparison covers the {compared:,} of {most:,} jobs that ran under every policy.")
    return ({policy: tables for policy, tables in same.items() if tables}, notes)


def standing(runs: Runs, metric: Callable[[JobTable], Floats], comparisons: int) -> MetricComparison:
    """Compare each pair of policies, with intervals that hold together for this number of comparisons."""
    confidence = 1 - (1 - CONFIDENCE) / comparisons
    values = {policy: [metric(table) for table in tables] for policy, tables in runs.items()}
    means = {policy: float(np.concatenate(columns).mean()) for policy, columns in values.items()}
    order = sorted(means, key=lambda policy: means[policy])
    found = {
        (worse, better): compare_runs(values[worse], values[better], confidence=confidence)
        for worse in order
        for better in order
        if worse != better
    }
    lost = {
        worse: [better for better in order if (worse, better) in found and found[worse, better].ratio.low > 1]
        for worse in order
    }
    unbeaten = [policy for policy in order if not lost[policy]]
    beaten = {}
    for policy in order:
        if lost[policy]:
            by = next((name for name in unbeaten if name in lost[policy]), lost[policy][0])
            beaten[policy] = by, found[policy, by]
    over = next((paired.over for paired in found.values() if paired.ratio.is_known), "")
    return MetricComparison({policy: means[policy] for policy in order}, unbeaten, beaten, over, comparisons)


def _sentence(found: MetricComparison, what: str, shown: Callable[[float], str]) -> str:
    best = next(iter(found.means))
    if not found.over:
        shortest = ", ".join(f"{policy} {shown(mean)}" for policy, mean in found.means.items())
        return f"In these runs {best} has the smallest {what}: {shortest}."
    if len(found.unbeaten) == 1:
        (alone,) = found.unbeaten
        first = f"{alone} has the smallest {what}, {shown(found.means[alone])}"
    elif found.beaten:
        names = _listed([f"{policy} ({shown(found.means[policy])})" for policy in found.unbeaten])
        first = f"{_capital(what)}: it is open which of {names} is best"
    else:
        names = _listed([f"{policy} ({shown(mean)})" for policy, mean in found.means.items()])
        return f"{_capital(what)}: {names} do not differ significantly ({_level(found)})."
    worse = "; ".join(_loss(policy, by, paired) for policy, (by, paired) in found.beaten.items())
    return f"{first}; larger: {worse} ({_level(found)})."


def _price(runs: Runs, best: str) -> str:
    """Price of the best policy's mean: a longer maximum wait, more jobs that wait for more than a week."""
    longest = {policy: max(float(table.wait_s.max()) for table in tables) for policy, tables in runs.items()}
    late = {policy: sum(map(starved, tables)) for policy, tables in runs.items()}
    parts = []
    kindest = min(longest, key=lambda policy: longest[policy])
    if longest[best] > longest[kindest]:
        parts.append(
            f"its longest wait is {duration(longest[best])} instead of {duration(longest[kindest])} ({kindest})"
        )
    fewest = min(late, key=lambda policy: late[policy])
    if late[best] > late[fewest]:
        parts.append(f"{late[best]:,} of its jobs wait for more than a week instead of {late[fewest]:,} ({fewest})")
    return f"; the price: {' and '.join(parts)}" if parts else ""


def _level(found: MetricComparison) -> str:
    return f"95 % intervals over {found.over}; the {found.comparisons} comparisons of this answer hold together"


def _loss(policy: str, by: str, paired: PairedComparison) -> str:
    ratio = paired.ratio
    return f"{policy}, {_times(ratio.value)} times {by}'s ({_times(ratio.low)} to {_times(ratio.high)})"


def _why_open(runs: Runs) -> str:
    tables = next(iter(runs.values()))
    jobs = sum(map(len, tables))
    these = f"{len(tables)} run{'s' if len(tables) > 1 else ''} of each policy with {jobs:,} jobs in all"
    give = "gives" if len(tables) == 1 else "give"
    if jobs >= SHORTEST:
        return (
            f"Whether this holds elsewhere is open: {these} {give} no interval, because waiting times "
            f"are correlated even over long periods. {FEWEST_RUNS} seeds, or as many parts of the log, give one."
        )
    return (
        f"Whether this holds elsewhere is open: {these} {give} no interval, because jobs of one "
        f"queue delay each other. {FEWEST_RUNS} seeds, or"
        f" as many parts of a log, give one; a single log of {SHORTEST:,} jobs or more can."
    )


def _times(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio < 9.95 else f"{ratio:,.0f}"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]

"""Findings of a comparison, in plain sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spillway.analysis.answers.ratios import Wording
from spillway.analysis.measures.compare import PairedComparison
from spillway.analysis.tables.jobs import JobTable


@dataclass(frozen=True)
class Finding:
    """One sentence; ``certain`` when its interval does not contain equality."""

    text: str
    certain: bool


_LEVEL = Wording("lower", "higher", "times that")


def finding(policy: str, baseline: str, metric: str, paired: PairedComparison) -> Finding:
    """Compare a policy with a baseline in words: ``plan: the mean wait is 35 % lower than under easy ...``.

    Parameters
    ----------
    policy, baseline
        Names.
    metric
        Name of the compared metric (``mean wait``).
    paired
        The comparison; the sentence states its ratio.
    """
    ratio, jobs = paired.ratio, f"{paired.pairs:,} jobs"
    if not math.isfinite(ratio.value):
        return Finding(
            f"{policy}: the {metric} cannot be compared with that under {baseline}, which is 0 ({jobs}).", False
        )
    change = _LEVEL.change(ratio.value, f"under {baseline}")
    if not ratio.is_known:
        return Finding(
            f"{policy}: the {metric} is {change} for these {jobs}. Whether that holds for others is open: there is no "
            "interval, because jobs of one queue delay each other (five seeds or a longer log give one).",
            False,
        )
    certain = ratio.high < 1 or ratio.low > 1
    return Finding(
        f"{policy}: the {metric} is {change}{'' if certain else ', which is not significant'} (95 % interval: "
        f"{_LEVEL.span(ratio.low, ratio.high)}; {paired.over}, {jobs}).",
        certain,
    )


def no_comparison(policy: str, baseline: str, without: Sequence[tuple[JobTable, JobTable]], runs: int) -> Finding:
    """State that no job ran under both policies, and the number of jobs that each policy rejected.

    Parameters
    ----------
    without
        Runs of the policy and of the baseline on the same workload and seed that have no job in common.
    runs
        Number of all pairs of runs, these included.
    """
    counts = []
    for name, tables in zip((policy, baseline), zip(*without, strict=True), strict=True):
        jobs, ran = sum(map(len, tables)), sum(int(table.executed.sum()) for table in tables)
        counts.append(f"{name} rejected {jobs - ran:,} of {jobs:,} jobs")
    where = f" in {len(without)} of {runs} runs" if runs > 1 else ""
    return Finding(
        f"{policy} and {baseline} cannot be compared{where}: no job ran under both ({', '.join(counts)}).", True
    )


def by_class(policy: str, baseline: str, pairs: Mapping[str, PairedComparison]) -> list[Finding]:
    """A sentence where a policy is certainly better than the baseline for some classes of jobs and worse for others."""
    better = [name for name, paired in pairs.items() if name != "all" and paired.ratio.high < 1]
    worse = [name for name, paired in pairs.items() if name != "all" and paired.ratio.low > 1]
    found = []
    if better and worse:
        text = f"{policy} serves {' and '.join(better)} jobs better than {baseline}, {' and '.join(worse)} jobs worse."
        found.append(Finding(text, True))
    return found

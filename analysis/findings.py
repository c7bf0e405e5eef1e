"""What a comparison found, in plain sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spillway.analysis.compare import Paired
from spillway.analysis.ratios import Wording
from spillway.analysis.tables import JobTable


@dataclass(frozen=True)
class Finding:
    """One sentence; ``certain`` when its interval does not contain equality."""

    text: str
    certain: bool


_LEVEL = Wording("lower", "higher", "times that")


def finding(policy: str, baseline: str, metric: str, paired: Paired) -> Finding:
    """How a policy compares with a baseline: ``plan: the mean wait is 35 % lower than under easy ...``.

    Parameters
    ----------
    policy, baseline
        Names.
    metric
        What is compared (``mean wait``).
    paired
        The comparison; its ratio is what is stated.
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
    """Say that no job ran under both policies, and how many each of them rejected.

    Parameters
    ----------
    without
        Runs of the policy and of the baseline on the same workload and seed that have no job in common.
    runs
        How many such pairs of runs there are in all.
    """
    counts = []
    for name, tables in zip((policy, baseline), zip(*without, strict=True), strict=True):
        jobs, ran = sum(map(len, tables)), sum(int(table.executed.sum()) for table in tables)
        counts.append(f"{name} rejected {jobs - ran:,} of {jobs:,} jobs")
    where = f" in {len(without)} of {runs} runs" if runs > 1 else ""
    return Finding(
        f"{policy} and {baseline} cannot be compared{where}: no job ran under both ({', '.join(counts)}).", True
    )


def by_class(policy: str, baseline: str, pairs: Mapping[str, Paired]) -> list[Finding]:
    """A sentence on the classes of jobs for which a policy is certainly better or worse than the baseline."""
    better = [name for name, paired in pairs.items() if name != "all" and paired.ratio.high < 1]
    worse = [name for name, paired in pairs.items() if name != "all" and paired.ratio.low > 1]
    found = []
    if better and worse:
        text = f"{policy} serves {' and '.join(better)} jobs better than {baseline}, {' and '.join(worse)} jobs worse."
        found.append(Finding(text, True))
    return found

"""What a comparison found, in plain sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spillway.analysis.compare import Interval, Paired
from spillway.analysis.tables import JobTable


@dataclass(frozen=True)
class Finding:
    """One sentence; ``certain`` when its interval does not contain equality."""

    text: str
    certain: bool


def finding(policy: str, baseline: str, what: str, paired: Paired) -> Finding:
    """How a policy compares with a baseline: ``plan waits 35 % less than easy (95 % interval 29 to 41 %)``.

    Parameters
    ----------
    policy, baseline
        Names.
    what
        Verb for the metric (``waits``, ``is slowed down``).
    paired
        The comparison; its ratio is what is stated.
    """
    ratio = paired.ratio
    certain = ratio.high < 1 or ratio.low > 1
    if not ratio.is_known:
        text = (
            f"{policy} {what} {ratio.value:.2f} times as much as {baseline} here; whether it does elsewhere is open: "
            "there is no interval, for waiting times of one queue depend on each other (five seeds or a longer log "
            "give one)"
        )
    elif not certain:
        text = (
            f"{policy} and {baseline} do not differ significantly: {policy} {what} {ratio.value:.2f} times as much "
            f"(95 % interval {ratio.low:.2f} to {ratio.high:.2f})"
        )
    else:
        amount, interval = _words(ratio)
        text = f"{policy} {what} {amount} {baseline} (95 % interval {interval})"
    over = f", over {paired.over}" if paired.over else ""
    return Finding(f"{text}{over}, {paired.pairs:,} jobs.", certain)


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


def _words(ratio: Interval) -> tuple[str, str]:
    """Amount and interval of a ratio that certainly is not 1."""
    if ratio.value < 1:
        return f"{_percent(1 - ratio.value)} less than", f"{_percent(1 - ratio.high)} to {_percent(1 - ratio.low)}"
    if ratio.value < 2:
        return f"{_percent(ratio.value - 1)} more than", f"{_percent(ratio.low - 1)} to {_percent(ratio.high - 1)}"
    return f"{ratio.value:.1f} times as much as", f"{ratio.low:.1f} to {ratio.high:.1f} times"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def by_class(policy: str, baseline: str, pairs: Mapping[str, Paired]) -> list[Finding]:
    """A sentence on the classes of jobs for which a policy is certainly better or worse than the baseline."""
    better = [name for name, paired in pairs.items() if name != "all" and paired.ratio.high < 1]
    worse = [name for name, paired in pairs.items() if name != "all" and paired.ratio.low > 1]
    found = []
    if better and worse:
        text = f"{policy} serves {' and '.join(better)} jobs better than {baseline}, {' and '.join(worse)} jobs worse."
        found.append(Finding(text, True))
    return found

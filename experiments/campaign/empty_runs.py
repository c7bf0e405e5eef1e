"""Runs in which no job ran: named below the results, with the reasons."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from spillway.experiments.campaign.summary import Row
from spillway.experiments.run.terminal import say


def remind(rows: Sequence[Row], root: Path, console: Console) -> None:
    """Print below the results the runs that have rejected every job, and the most frequent reason of each.

    Such a run has finished: rejections by a machine or a policy are its result, so the exit code stays 0.
    """
    for row in rows:
        if row["jobs"] or not row["rejected"]:
            continue
        reasons = _reasons(root / row["run"] / "rejections.csv")
        (reason, count), others = reasons.most_common(1)[0], len(reasons) - 1
        more = f" ({count} times; other reasons: {others})" if others else ""
        text = f"note: {row['run']}: all {row['rejected']:.0f} jobs were rejected: {reason}{more}"
        say(console, text)


def _reasons(path: Path) -> Counter[str]:
    with path.open(encoding="utf-8", newline="") as file:
        return Counter(row["reason"] for row in csv.DictReader(file))

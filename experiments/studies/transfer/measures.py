"""Measures of this study's goals besides ratios: runs of a period beside others on the same jobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spillway.experiments.studies.points import Value
from spillway.experiments.studies.results import Results
from spillway.experiments.studies.statistics import Sample, geometric
from spillway.experiments.studies.transfer.play import LITERAL

WAIT = "mean_wait_s"


@dataclass(frozen=True)
class ShareOfBetterRuns:
    """Share of a period's runs in which a policy waits less than the baseline."""

    policy: str

    def __call__(self, results: Results) -> Sample:
        """One share per period."""
        pairs = _beside(results, self.policy, (LITERAL,))
        return Sample(tuple(sum(own < least for own, least in runs) / len(runs) for runs in pairs))


@dataclass(frozen=True)
class RatioToBest:
    """Mean wait over that of the best of some policies in each run, known only afterwards: one ratio per period."""

    policy: str
    others: tuple[str, ...]

    def __call__(self, results: Results) -> Sample:
        """Geometric means over the runs of a period."""
        pairs = _beside(results, self.policy, self.others)
        return Sample(tuple(geometric([own / least for own, least in runs]) for runs in pairs), ratios=True)


def _beside(results: Results, policy: str, others: Sequence[str]) -> list[list[tuple[float, float]]]:
    """By period, the mean wait of each run of a policy, and the least mean wait of some others on the same jobs."""
    runs: dict[Value, list[tuple[float, float]]] = {}
    for point in results.points({"policy": policy}):
        least = min(results.metric(WAIT, point.replaced(policy=other)) for other in others)
        runs.setdefault(point[results.unit], []).append((results.metric(WAIT, point), least))
    return list(runs.values())

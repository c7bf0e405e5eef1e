"""How close the reproduced values come to the published ones."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from experiments.thesis.inputs import FULL as FULL_WORKLOAD
from experiments.thesis.inputs import PARTS
from experiments.thesis.models import Model
from experiments.thesis.published import METRICS, Key, Value, is_sound
from experiments.thesis.results import Results
from experiments.thesis.variants import BASELINE, BEST, FULL, RATIO_TOLERANCE, SPLIT, tolerance_of

Published = Mapping[Key, Value]

UNJUDGED = "mean_slowdown"
"""The metric whose intervals the thesis itself finds as wide as its values (section 4.6)."""

EQUAL: Mapping[str, float] = {
    "killed": 0.0,
    "mean_waiting_time_s": 0.1,
    "mean_turnaround_time_s": 0.1,
    "mean_slowdown": 0.1,
    "mean_bounded_slowdown": 0.001,
    "makespan_s": 0.1,
}
"""Largest difference from the published scheduler's own run at which two schedules count as the same."""

ALL_PARTS = "parts"
"""Workload of a key that sums up the parts."""


class Group(enum.Enum):
    """What is compared; the value is its name in the report."""

    MEAN = "mean over the parts"
    RATIO = f"median over the parts, normalised to {BASELINE}"
    PART = "single part"
    FULL = "full workload"
    MEASURED = "published scheduler under the real Batsim"


class Verdict(enum.Enum):
    """How a comparison ends."""

    MET = "met"
    MISSED = "missed"
    WITHIN = "within"
    BEYOND = "beyond"


@dataclass(frozen=True)
class Check:
    """One published value and its reproduction.

    Attributes
    ----------
    group
        What is compared.
    key
        Which value.
    figure
        Figure of the thesis, "" for none.
    published, reproduced
        The two values.
    deviation
        Relative to the published value; absolute where ``absolute``.
    tolerance
        Largest deviation that counts as close.
    absolute
        Whether the deviation is a difference.
    judged
        Whether the tolerance is a requirement; else it is only reported whether the value is within it.
    """

    group: Group
    key: Key
    figure: str
    published: float
    reproduced: float
    deviation: float
    tolerance: float
    absolute: bool
    judged: bool

    @property
    def verdict(self) -> Verdict:
        """Whether the tolerance is kept."""
        close = abs(self.deviation) <= self.tolerance + 1e-12
        return _VERDICTS[self.judged, close]


_VERDICTS = {
    (True, True): Verdict.MET,
    (True, False): Verdict.MISSED,
    (False, True): Verdict.WITHIN,
    (False, False): Verdict.BEYOND,
}


def compare_all(results: Results, published: Published, measured: Published, *, original: bool) -> list[Check]:
    """Compare everything that was run with everything that was published.

    Parameters
    ----------
    results
        The finished runs.
    published
        The thesis's values.
    measured
        Values of the published scheduler under the real Batsim.
    original
        Whether the runs had the published inputs. If not, single values cannot agree: only means and normalised
        medians are compared, and none is judged.
    """
    checks: list[Check] = []
    for model in Model:
        parts = [f"part-{number}" for number in range(PARTS) if _ran_any(results, model.value, f"part-{number}")]
        checks += _means(results, published, model.value, parts, original)
        checks += _ratios(results, published, model.value, parts, original)
        if original:
            checks += _singles(results, published, model.value, parts)
            checks += _full(results, published, model)
    return checks + (list(_measured(results, measured)) if original else [])


def ratios(
    results: Results, published: Published, model: str, policy: str, metric: str, parts: Sequence[str]
) -> tuple[list[float], list[float]]:
    """Reproduced and published means of the parts, each divided by the baseline's on the same part."""
    ours, theirs = [], []
    for part in common_parts(results, published, model, policy, metric, parts):
        base = results.value(model, part, BASELINE, metric)
        if base:
            value = results.value(model, part, policy, metric)
            assert value is not None, "only parts that ran"
            ours.append(value / base)
            theirs.append(
                published[Key(model, part, policy, metric)].value / published[Key(model, part, BASELINE, metric)].value
            )
    return ours, theirs


def _means(results: Results, published: Published, model: str, parts: Sequence[str], original: bool) -> Iterator[Check]:
    for policy in SPLIT:
        for metric in METRICS:
            common = common_parts(results, published, model, policy, metric, parts)
            if not common:
                continue
            ours = [results.value(model, part, policy, metric) or 0.0 for part in common]
            theirs = [published[Key(model, part, policy, metric)].value for part in common]
            yield _relative(
                Group.MEAN,
                Key(model, ALL_PARTS, policy, metric),
                published[Key(model, common[0], policy, metric)].figure,
                fmean(theirs),
                fmean(ours),
                tolerance_of(policy).mean,
                judged=original and len(parts) == PARTS and metric != UNJUDGED,
            )


def _ratios(
    results: Results, published: Published, model: str, parts: Sequence[str], original: bool
) -> Iterator[Check]:
    for policy in BEST:
        for metric in METRICS:
            ours, theirs = ratios(results, published, model, policy, metric, parts)
            if policy == BASELINE or not ours:
                continue
            key = Key(model, ALL_PARTS, policy, f"median_normalised_{metric.removeprefix('mean_')}")
            figure = published[key].figure if key in published else ""
            before, after = median(theirs), median(ours)
            yield Check(
                Group.RATIO,
                key,
                figure,
                before,
                after,
                after - before,
                RATIO_TOLERANCE,
                absolute=True,
                judged=original and len(parts) == PARTS and metric != UNJUDGED,
            )


def _singles(results: Results, published: Published, model: str, parts: Sequence[str]) -> Iterator[Check]:
    for part in parts:
        for policy in SPLIT:
            for metric in METRICS:
                yield from _single(Group.PART, results, published, Key(model, part, policy, metric))


def _full(results: Results, published: Published, model: Model) -> Iterator[Check]:
    for key in published:
        known = key.policy in FULL[model] and key.metric != "scheduler_s"
        if (key.model, key.workload) == (model.value, FULL_WORKLOAD) and known:
            yield from _single(Group.FULL, results, published, key)


def _single(group: Group, results: Results, published: Published, key: Key) -> Iterator[Check]:
    given = published.get(key)
    value = results.value(key.model, key.workload, key.policy, key.metric)
    if given is None or value is None or not given.value or not is_sound(key.model, key.workload, key.policy):
        return
    yield _relative(group, key, given.figure, given.value, value, tolerance_of(key.policy).single, judged=False)


def _measured(results: Results, measured: Published) -> Iterator[Check]:
    for key, given in measured.items():
        value = results.value(key.model, key.workload, key.policy, key.metric)
        if value is not None:
            tolerance = EQUAL[key.metric]
            difference = value - given.value
            yield Check(Group.MEASURED, key, "", given.value, value, difference, tolerance, absolute=True, judged=True)


def _relative(
    group: Group, key: Key, figure: str, published: float, reproduced: float, tolerance: float, *, judged: bool
) -> Check:
    deviation = reproduced / published - 1
    return Check(group, key, figure, published, reproduced, deviation, tolerance, absolute=False, judged=judged)


def common_parts(
    results: Results, published: Published, model: str, policy: str, metric: str, parts: Iterable[str]
) -> list[str]:
    """Parts that have run and whose published value is sound."""
    return [
        part
        for part in parts
        if results.has(model, part, policy)
        and is_sound(model, part, policy)
        and Key(model, part, policy, metric) in published
    ]


def _ran_any(results: Results, model: str, part: str) -> bool:
    return any(results.has(model, part, policy) for policy in SPLIT)

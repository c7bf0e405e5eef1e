"""Every published value as a claim, with the tolerance that follows from the source of the value.

There are four kinds, all with the published schedules, literally by the published code: means over the parts and
medians of the parts' ratios to a baseline (figures 4.10 to 4.25, 4.42 to 4.61); the values of single parts in the same
figures, of which the largest deviation counts; each value of the whole log; and runs of the published scheduler under
the real Batsim, whose values are known to all digits.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import nan
from statistics import fmean, median

from spillway.experiments.studies.claims import Claim, Region, at_most, within
from spillway.experiments.studies.points import Point, Value
from spillway.experiments.studies.results import Results
from spillway.experiments.studies.statistics import Sample
from spillway.experiments.studies.thesis.inputs import FULL, PARTS
from spillway.experiments.studies.thesis.published import MEASURED, METRICS, Key, is_sound, read_published
from spillway.experiments.studies.thesis.schedules import BASELINE, BEST, SPLIT, is_random

MODELS = {"rigid": "Alloc-Only", "io": "IO-Aware"}
"""The thesis's names of the job models."""

PRECISION = 0.001
"""Relative tolerance of deterministic values. The figures are vector graphics, read to 1e-4 of the value; the tolerance
is ten times that, for an instant that falls on the other side of a limit."""

SPREAD: Mapping[str, float] = {
    "mean_waiting_time_s": 0.022,
    "mean_turnaround_time_s": 0.01,
    "mean_slowdown": 0.075,
    "mean_bounded_slowdown": 0.03,
}
"""Relative standard deviation of the mean over the parts between draws of an annealed schedule: from three seeds of
plan-square-0 (170 of 8,330 s and 176 of 7,295 s; 0.17 of 5.63 and 0.12 of 5.10), turnaround times from the same
seconds. The value for slowdowns is assumed: in the thesis their intervals are as wide as their values."""

OF_MEANS, OF_PARTS = 2.0, 12.0
"""Tolerances of random schedules, in such deviations: two for a mean over the sixteen parts; a single part has four
times the deviation, and three of those are allowed, as all sixteen must lie within. A published value is one draw.
``window-1`` has no seed here, but any of Z3's models is as good, so that its values are draws, too."""

OF_MEDIANS = {True: 0.05, False: 0.005}
"""Tolerances of the medians of the parts' ratios, random and deterministic: two deviations of a part's ratio (8 %) over
the root of sixteen, and the rounding of figures with two decimals."""

_FULL_WIDEST = 1.0
"""For the whole log, whose original burst buffers are lost: a published value is judged if the interval of a single
draw of them is no wider than the value (set knowing the values of one draw)."""

_FULL_METRICS: Mapping[str, str] = {
    **METRICS,
    "mean_bounded_slowdown_60s": "bounded slowdown (60 s)",
    "median_waiting_time_s": "median waiting time",
    "max_waiting_time_s": "longest waiting time",
    "makespan_s": "makespan",
    "compute_utilisation": "utilisation",
}

EQUAL: Mapping[str, float] = {
    "killed": 0.0,
    "mean_waiting_time_s": 0.1,
    "mean_turnaround_time_s": 0.1,
    "mean_slowdown": 0.1,
    "mean_bounded_slowdown": 0.001,
    "makespan_s": 0.1,
}
"""Largest difference from the published scheduler's own run at which two schedules count as the same: a tenth of a
second, as latencies may be summed in another order."""


@dataclass(frozen=True)
class _PartMean:
    """A value of the parts that were played, except those with an unsound published value: one per seed."""

    metric: str
    model: str
    policy: str

    def __call__(self, results: Results) -> Sample:
        """Our values by seed."""
        return Sample(tuple(map(self.value, self.parts(results, self.policy).values())))

    def value(self, parts: Mapping[str, float]) -> float:
        """Our value of some parts beside the published one."""
        raise NotImplementedError

    def parts(self, results: Results, policy: str) -> dict[Value, dict[str, float]]:
        """Values of a schedule by seed and part."""
        found: dict[Value, dict[str, float]] = defaultdict(dict)
        for point in results.points({"scale": "part", "model": self.model, "policy": policy}):
            part = point.text("workload")
            if is_sound(self.model, part, policy):
                found[point["seed"]][part] = results.metric(self.metric, point)
        return found

    def published(self, part: str) -> float:
        """The published value of a part."""
        return _published(self.model, part, self.policy, self.metric)


class MeanOverParts(_PartMean):
    """Mean over the parts, as a share of the published mean over the same parts."""

    def value(self, parts: Mapping[str, float]) -> float:
        """See :meth:`_PartMean.value`."""
        return fmean(parts.values()) / fmean(map(self.published, parts))


class MedianOverParts(_PartMean):
    """Median of the parts' ratios to the baseline, less the published one of the same parts."""

    def __call__(self, results: Results) -> Sample:
        """Our values by seed."""
        differences = [
            median(ratios.values()) - median(self.published_ratios(ratios).values()) if ratios else nan
            for ratios in self.ratios(results).values()
        ]
        return Sample(tuple(differences))

    def ratios(self, results: Results) -> dict[Value, dict[str, float]]:
        """Our ratios by seed and part; a part without a ratio to the baseline's 0 is left out."""
        [base] = self.parts(results, BASELINE).values()
        return {
            seed: {part: value / base[part] for part, value in values.items() if base.get(part, 0) > 0}
            for seed, values in self.parts(results, self.policy).items()
        }

    def published_ratios(self, parts: Iterable[str]) -> dict[str, float]:
        """The published ratios of the parts with sound values."""
        return {
            part: self.published(part) / _published(self.model, part, BASELINE, self.metric)
            for part in parts
            if is_sound(self.model, part, self.policy)
        }


class _FurthestPart(_PartMean):
    """The largest deviation of a part's value from the published one, to either side, as a share."""

    def value(self, parts: Mapping[str, float]) -> float:
        """See :meth:`_PartMean.value`."""
        return max(abs(value / self.published(part) - 1) for part, value in parts.items())


@dataclass(frozen=True)
class _PublishedShare:
    """Values of draws of the whole log as shares of the published ones of the same schedule: one per draw."""

    metric: str
    axes: Mapping[str, Value]

    def __call__(self, results: Results) -> Sample:
        """Our values by draw."""
        points = results.points(self.axes)
        return Sample(tuple(results.metric(self.metric, point) / self._published(point) for point in points))

    def _published(self, point: Point) -> float:
        return _published(point.text("model"), FULL, point.text("policy"), self.metric)


@dataclass(frozen=True)
class _MeasuredDifference:
    """Differences from the published scheduler's own run: one per seed."""

    metric: str
    axes: Mapping[str, Value]

    def __call__(self, results: Results) -> Sample:
        """Our values by seed."""
        measured = read_published(MEASURED)
        differences = []
        for point in results.points(self.axes):
            key = Key(point.text("model"), point.text("workload"), point.text("policy"), self.metric)
            differences.append(results.metric(self.metric, point) - measured[key].value)
        return Sample(tuple(differences))


def _published(model: str, workload: str, policy: str, metric: str) -> float:
    return read_published()[Key(model, workload, policy, metric)].value


def _words(metric: str, policy: str, model: str) -> str:
    return f"{_FULL_METRICS[metric]} of {policy}, {MODELS[model]}"


def _around(centre: float, tolerance: float, published: float) -> Region:
    """The published value, with the range for our share of it or our difference from it."""
    shown = f"{published:,.0f}" if abs(published) >= 1000 else f"{published:.6g}"
    return replace(within(centre, tolerance), published=f"{shown} ({centre:g} ± {tolerance:g})")


def _part_claims() -> Iterator[Claim]:
    """Means over the parts, single parts, medians of ratios: in the order of the models and schedules."""
    for model, policy, metric in itertools.product(MODELS, SPLIT, METRICS):
        words, model_words = _words(metric, policy, model), MODELS[model]
        drawn = is_random(policy) or policy.startswith("window")
        given = [read_published()[Key(model, part, policy, metric)] for part in PARTS if is_sound(model, part, policy)]
        place, exact = f"figure {given[0].figure}", not is_random(policy)
        within_means, within_parts = (n * SPREAD[metric] if drawn else PRECISION for n in (OF_MEANS, OF_PARTS))
        yield Claim(
            f"mean {words}", place, f"{words}: our mean over the parts as a share of the published one",
            _around(1.0, within_means, fmean(published.value for published in given)),
            MeanOverParts(metric, model, policy),
            group=f"means over the parts, {model_words}", exact=exact,
        )  # fmt: skip
        yield Claim(
            f"parts' {words}", place, f"{words}: largest deviation of a part from its published value, as a share",
            at_most(within_parts), _FurthestPart(metric, model, policy),
            group=f"single parts, {model_words}", exact=exact,
        )  # fmt: skip
        if policy in BEST and policy != BASELINE:
            measure = MedianOverParts(metric, model, policy)
            key = Key(model, "parts", policy, f"median_normalised_{metric.removeprefix('mean_')}")
            yield Claim(
                f"median {words}", f"figure {read_published()[key].figure}",
                f"{words}: median over the parts of the ratio to {BASELINE}, less the published one",
                _around(0.0, OF_MEDIANS[drawn], median(measure.published_ratios(PARTS).values())), measure,
                group=f"medians of ratios, {model_words}", exact=exact,
            )  # fmt: skip


def _full_claims() -> Iterator[Claim]:
    """The whole log: a claim for each published value, so that all played are judged; a value of 0 has no share."""
    for key, given in read_published().items():
        if key.workload == FULL and key.metric in _FULL_METRICS and given.value:
            words = _words(key.metric, key.policy, key.model)
            yield Claim(
                name=f"whole log: {words}",
                place=f"figure {given.figure}" if given.figure else "published notebooks",
                statement=f"whole log, {words}: our share of the published value",
                region=_around(1.0, PRECISION, given.value),
                measure=_PublishedShare(key.metric, {"scale": FULL, "model": key.model, "policy": key.policy}),
                group=f"whole log, {MODELS[key.model]}",
                one_run=_FULL_WIDEST,
            )


def _measured_claims() -> Iterator[Claim]:
    """Equality with the published scheduler under the real Batsim."""
    places: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for key in read_published(MEASURED):
        places[key.model, key.workload, key.metric].append(key.policy)
    for (model, workload, metric), policies in places.items():
        words = _FULL_METRICS.get(metric, "jobs killed")
        yield Claim(
            name=f"equal {words}, {workload}, {MODELS[model]}",
            place="published scheduler under the real Batsim",
            statement=f"{words}, {workload}, {MODELS[model]}: difference from the published scheduler's own run",
            region=within(0.0, EQUAL[metric]),
            measure=_MeasuredDifference(metric, {"model": model, "workload": workload}),
            group="published scheduler under the real Batsim",
            each={"policy": tuple(policies)},
            exact=True,
        )


VALUES = (*_part_claims(), *_full_claims(), *_measured_claims())

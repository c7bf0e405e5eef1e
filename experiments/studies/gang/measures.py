"""Measures of this study's claims besides means and ratios."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from spillway.experiments.studies.gang.play import LIMIT
from spillway.experiments.studies.points import Value
from spillway.experiments.studies.results import Results
from spillway.experiments.studies.statistics import Sample

_WITHOUT_LIMIT = 320


@dataclass(frozen=True)
class ShareOfGain:
    """Gain in slowdown by migration at the published limit, as a share of the gain without a limit.

    Attributes
    ----------
    axes
        The points.
    """

    axes: Mapping[str, Value]

    def __call__(self, results: Results) -> Sample:
        """One value per unit; undefined if migration gains nothing."""
        here = results.at(self.axes)
        none, some, free = (here.mean("slowdown", {"limit": limit}).values for limit in (0, LIMIT, _WITHOUT_LIMIT))
        return Sample(tuple((n - s) / (n - f) if n > f else math.nan for n, s, f in zip(none, some, free, strict=True)))

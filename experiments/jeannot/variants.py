"""Modelling choices that the paper's text leaves open, or that could decide a verdict; each against the same claims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from experiments.jeannot.run import Point
from workloads.jeannot import FAMILIES

MIRA, UNIFORM, BINORMAL = ("M-BN", "M-No"), ("U-BN", "U-No"), ("M-BN", "U-BN")


@dataclass(frozen=True, slots=True)
class Variant:
    """One choice made differently.

    Attributes
    ----------
    text
        What is different.
    changes
        Fields of :class:`experiments.jeannot.run.Point`.
    families
        Families that it changes; the others are as chosen.
    """

    text: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    families: tuple[str, ...] = FAMILIES

    def apply(self, point: Point) -> Point:
        """The same point under this choice."""
        return msgspec.structs.replace(point, **self.changes) if point.family in self.families else point


VARIANTS: Mapping[str, Variant] = {
    "as chosen": Variant("the experiment's own choices, on the variants' fewer loads and draws"),
    "list greedy": Variant(
        "LS starts whatever fits, in order, and reserves nothing", {"list_options": ("depth=0",)}
    ),
    "list plain": Variant(
        "LS without backfilling: no job overtakes", {"list_options": ("backfilling=false", "depth=0")}
    ),
    "packs plain": Variant("packs without backfilling", {"pack_options": ("backfilling=false",)}),
    "packs strict": Variant("packs under the strict constraint", {"pack_options": ("constraint=strict",)}),
    "proportional": Variant("U: volumes as printed, v = X w Q / P", {"volume": "proportional"}, UNIFORM),
    "whole": Variant("M: volumes v = X w", {"volume": "whole"}, MIRA),
    "sizes alike": Variant("U: all powers of two alike, whatever the load", {"sizes": "uniform"}, UNIFORM),
    "steered": Variant("BN: kinds chosen in order, steering the load to alpha", {"kinds": "steered"}, BINORMAL),
    "printed load": Variant("volumes as the formulas give them: the load is not alpha", {"literal": True}),
    "shared": Variant("bandwidth is shared instead of exclusive", {"io_control": "shared"}),
    "shortest": Variant("exclusive, fewest bytes first", {"io_order": "shortest"}),
    "200 jobs": Variant("M: twice as many jobs", {"jobs": 200}, MIRA),
}  # fmt: skip

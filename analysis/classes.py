"""Classes of jobs: short and long, narrow and wide; and what a policy gains in each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.compare import Paired, align, compare_pairs
from analysis.tables import JobTable, Mask

SHORT_S = 3600.0
"""Jobs that request at most this time are short (s)."""

NARROW_NODES = 8
"""Jobs that request at most so many nodes are narrow."""


@dataclass(frozen=True)
class Borders:
    """Where short ends (s of requested time) and narrow ends (nodes)."""

    short_s: float = SHORT_S
    narrow_nodes: int = NARROW_NODES


CLASSES = ("short narrow", "short wide", "long narrow", "long wide")


def split(table: JobTable, borders: Borders | None = None) -> dict[str, Mask]:
    """Which jobs belong to each class; every job to exactly one. A job without requested time counts as long."""
    borders = borders or Borders()
    short = table.walltime_s <= borders.short_s
    narrow = table.nodes <= borders.narrow_nodes
    return dict(zip(CLASSES, (short & narrow, short & ~narrow, ~short & narrow, ~short & ~narrow), strict=True))


def compare_by_class(
    policy: JobTable, baseline: JobTable, borders: Borders | None = None, *, seed: int = 0
) -> dict[str, Paired]:
    """Compare waiting times of the same jobs under two policies, class by class; classes without jobs are left out.

    Raises
    ------
    AnalysisError
        No job ran under both.
    """
    ours, theirs = align(policy, baseline)
    masks = {"all": np.ones(len(ours), dtype=np.bool_)} | split(ours, borders)
    return {
        name: compare_pairs(ours.wait_s[mask], theirs.wait_s[mask], seed=seed)
        for name, mask in masks.items()
        if mask.any()
    }

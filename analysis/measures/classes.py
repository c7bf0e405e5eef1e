"""Classes of jobs (short or long, narrow or wide), and comparisons of policies in each class."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spillway.analysis.measures.compare import PairedComparison, compare_runs
from spillway.analysis.tables.jobs import JobTable, Mask

_SHORT_S = 3600.0
"""Jobs that request at most this time are short (s)."""

_NARROW_NODES = 8
"""Jobs that request at most this number of nodes are narrow."""


_CLASSES = ("short narrow", "short wide", "long narrow", "long wide")


def split(table: JobTable) -> dict[str, Mask]:
    """Masks of the jobs of each class; every job is in exactly one. A job without requested time counts as long."""
    short = table.walltime_s <= _SHORT_S
    narrow = table.nodes <= _NARROW_NODES
    return dict(zip(_CLASSES, (short & narrow, short & ~narrow, ~short & narrow, ~short & ~narrow), strict=True))


def compare_by_class(pairs: Sequence[tuple[JobTable, JobTable]]) -> dict[str, PairedComparison]:
    """Compare waiting times of the same jobs under two policies, class by class; classes without jobs are left out.

    Parameters
    ----------
    pairs
        Runs of the policy and of the baseline, aligned (:func:`spillway.analysis.measures.compare.in_order`).
    """
    ours, theirs = [run.wait_s for run, _ in pairs], [run.wait_s for _, run in pairs]
    masks = [{"all": np.ones(len(run), dtype=np.bool_)} | split(run) for run, _ in pairs]
    return {
        name: compare_runs(ours, theirs, [of_run[name] for of_run in masks])
        for name in masks[0]
        if any(of_run[name].any() for of_run in masks)
    }

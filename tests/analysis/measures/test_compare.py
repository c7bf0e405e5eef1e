"""Paired comparison."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from spillway.analysis.errors import AnalysisError
from spillway.analysis.measures import compare
from spillway.analysis.tables.jobs import JobTable


def test_pairs_by_hand() -> None:
    """Half of every value: ratio exactly 0.5, won everywhere except at the tie."""
    baseline = np.array([10.0, 20.0, 30.0, 0.0])
    paired = compare.compare_runs([baseline / 2], [baseline])
    assert paired.ratio.value == 0.5
    assert paired.difference.value == -7.5
    assert (paired.win, paired.loss, paired.pairs) == (0.75, 0.0, 4)
    assert paired.effect == pytest.approx(-7.5 / np.std([5, 10, 15, 0], ddof=1))


def test_pairs_must_match() -> None:
    """Runs of different length, or without jobs, are refused."""
    for policy, baseline in ((np.ones(1), np.ones(2)), (np.ones(0), np.ones(0))):
        with pytest.raises(AnalysisError, match="the same jobs, and at least one"):
            compare.compare_runs([policy], [baseline])


def test_align_by_job(table: JobTable) -> None:
    """Tables written in different orders are matched job by job; jobs missing in one are left out."""
    first, second = compare.align(table, table.take(np.array([3, 2, 0])))
    assert list(first.job_id) == list(second.job_id) == ["a", "c"]
    assert second.start_s.tolist() == [0, 50]


def test_align_refuses_different_workloads(table: JobTable) -> None:
    """Nothing in common is an error, not an empty table."""
    other = dataclasses.replace(table, workload=["w9"] * 4)
    with pytest.raises(AnalysisError, match="same workload"):
        compare.align(table, other)


def test_zero_baseline() -> None:
    """A baseline of zeros has no ratio, but a difference."""
    paired = compare.compare_runs([np.ones(3)], [np.zeros(3)])
    assert np.isnan(paired.ratio.value)
    assert paired.difference.value == 1.0

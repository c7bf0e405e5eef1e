"""Job classes and their sentences."""

from collections.abc import Sequence

import numpy as np
import pytest

from spillway.analysis.answers.findings import Finding, by_class, finding
from spillway.analysis.answers.ratios import Wording
from spillway.analysis.document.html import to_html
from spillway.analysis.measures.classes import compare_by_class, split
from spillway.analysis.measures.compare import compare_runs, in_order
from spillway.analysis.report.build import class_table
from spillway.base.units import NONE
from tests.analysis.samples import make_table


def test_every_job_in_one_class() -> None:
    """Limits belong to the short and to the narrow side."""
    jobs = make_table([(0, 0, 8, 10), (0, 0, 9, 10), (0, 0, 8, 10), (0, 0, 9, 10)], walltimes=[3600, 3600, 3601, 3601])
    masks = split(jobs)
    assert {name: mask.tolist() for name, mask in masks.items()} == {
        "short narrow": [True, False, False, False],
        "short wide": [False, True, False, False],
        "long narrow": [False, False, True, False],
        "long wide": [False, False, False, True],
    }


def test_comparison_by_class() -> None:
    """Narrow jobs win, wide ones lose; all classes have their own intervals."""
    waits = np.arange(1, 41) * 10.0
    nodes = np.where(np.arange(40) % 2, 1, 16)
    baseline = make_table([(0, w, n, 5) for w, n in zip(waits, nodes, strict=True)])
    policy = make_table([(0, w * (0.5 if n == 1 else 2), n, 5) for w, n in zip(waits, nodes, strict=True)])
    pairs = compare_by_class([in_order(policy, baseline)] * 5)
    assert pairs["short narrow"].ratio.value == pytest.approx(0.5)
    assert pairs["short wide"].ratio.value == pytest.approx(2.0)
    assert set(pairs) == {"all", "short narrow", "short wide"}
    (sentence,) = by_class("new", "old", pairs)
    assert sentence.text == "new serves short narrow jobs better than old, short wide jobs worse."


def test_sentences() -> None:
    """Lower, higher, many times, and no significant difference."""
    rng = np.random.default_rng(0)
    base = [rng.exponential(100, 500) + 1 for _ in range(5)]

    def said(factors: Sequence[float]) -> Finding:
        ours = [run * factor for run, factor in zip(base, factors, strict=True)]
        return finding("new", "old", "mean wait", compare_runs(ours, base))

    assert said([0.65] * 5).text == (
        "new: the mean wait is 35 % lower than under old (95 % interval: 35 to 35 % lower; 5 runs, 2,500 jobs)."
    )
    assert "the mean wait is 20 % higher than under old (95 % interval: 20 to 20 % higher;" in said([1.2] * 5).text
    assert "the mean wait is 10.0 times that under old (95 % interval: 10.0 to 10.0 times;" in said([10] * 5).text
    assert "is 0.4 % lower than under old (95 % interval: 0.4 to 0.4 % lower;" in said([0.996] * 5).text
    assert "is 99.7 % lower than" in said([0.003] * 5).text
    assert "0 % lower to 0 % higher" in Wording("lower", "higher", "times").span(0.9999, 1.0001)
    unsure = said([0.5, 2, 0.8, 1.3, 1])
    assert not unsure.certain
    assert " under old, which is not significant (95 % interval: " in unsure.text


def test_one_short_run_says_why_there_is_no_interval() -> None:
    """Nothing is certain, and nothing called so."""
    run = np.random.default_rng(0).exponential(100, 500)
    found = finding("new", "old", "mean wait", compare_runs([run / 2], [run]))
    assert not found.certain
    assert found.text == (
        "new: the mean wait is 50 % lower than under old for these 500 jobs. Whether that holds for others is open: "
        "there is no interval, because jobs of one queue delay each other (five seeds or a longer log give one)."
    )


def test_a_baseline_without_waits_is_said_to_have_none() -> None:
    """There is no ratio to 0."""
    found = finding("new", "old", "mean wait", compare_runs([np.ones(3)], [np.zeros(3)]))
    assert found.text == "new: the mean wait cannot be compared with that under old, which is 0 (3 jobs)."


def test_no_wait_under_the_baseline_has_no_ratio() -> None:
    """The page shows the sign for "none", not nan."""
    paired = compare_runs([np.ones(3)], [np.zeros(3)])
    page = to_html([class_table({"easy": {"all": paired}})])
    assert "nan" not in page
    assert NONE in page

"""Verdicts: what was published meets itself, and deviations are found where they are."""

from __future__ import annotations

import pytest

from experiments.thesis.cells import comparison_csv, tally
from experiments.thesis.checks import Check, Group, Verdict, compare_all
from experiments.thesis.published import METRICS, Key, Value, is_sound, read_published
from tests.experiments.thesis.stub import StubResults

PUBLISHED = read_published()


@pytest.fixture(scope="module")
def exact() -> list[Check]:
    """Comparisons of the published values with themselves."""
    return compare_all(StubResults.of(PUBLISHED), PUBLISHED, {}, original=True)


def test_published_values_agree_with_themselves(exact: list[Check]) -> None:
    """No deviation anywhere: all that is judged is met, all else is within its tolerance."""
    assert all(abs(check.deviation) < 1e-12 for check in exact)
    assert {check.verdict for check in exact} == {Verdict.MET, Verdict.WITHIN}


def test_everything_is_compared(exact: list[Check]) -> None:
    """Two models, nine schedules, four metrics, sixteen parts but one (unsound) run; medians of five schedules."""
    count = {group: sum(check.group is group for check in exact) for group in Group}
    assert count[Group.MEAN] == 2 * 9 * 4
    assert count[Group.RATIO] == 2 * 5 * 4
    assert count[Group.PART] == 2 * 9 * 4 * 16 - 4
    assert count[Group.FULL] > 150


def test_medians_are_those_of_the_figures(exact: list[Check]) -> None:
    """Ratios computed from the bar figures give the medians of the box figures."""
    checked = 0
    for check in exact:
        given = PUBLISHED.get(check.key)
        if check.group is Group.RATIO and given and is_sound(check.key.model, "part-13", check.key.policy):
            assert check.published == pytest.approx(given.value, abs=0.002)
            assert check.figure
            checked += 1
    assert checked == 36


def test_slowdown_is_told_not_judged(exact: list[Check]) -> None:
    """The thesis finds its mean slowdowns unreliable; so do we."""
    judged = {check.key.metric for check in exact if check.group is Group.MEAN and check.judged}
    assert judged == set(METRICS) - {"mean_slowdown"}


def test_deviations_beyond_the_tolerance_are_missed() -> None:
    """Four percent are too much for a mean over the parts, but not for filler; ratios do not change."""
    checks = compare_all(StubResults.of(PUBLISHED, 1.04), PUBLISHED, {}, original=True)
    missed = {(check.group, check.key.policy) for check in checks if check.verdict is Verdict.MISSED}
    assert {group for group, _ in missed} == {Group.MEAN}
    assert {"filler", "no-future-1"}.isdisjoint({policy for _, policy in missed})
    assert len(missed) == 7


def test_own_draws_are_not_judged() -> None:
    """Without the published inputs only means and medians are compared, and nothing is required."""
    checks = compare_all(StubResults.of(PUBLISHED, 2.0), PUBLISHED, {}, original=False)
    assert {check.group for check in checks} == {Group.MEAN, Group.RATIO}
    assert not any(check.judged for check in checks)


def test_some_parts_are_not_judged() -> None:
    """A mean over two parts is compared with the same parts' published mean, and only reported."""
    few = {key: value for key, value in PUBLISHED.items() if key.workload in ("part-4", "part-9")}
    checks = compare_all(StubResults.of(few), PUBLISHED, {}, original=True)
    assert all(abs(check.deviation) < 1e-12 and not check.judged for check in checks)


def test_measured_values_must_be_equal() -> None:
    """The published scheduler's own run: a tenth of a second is the most, one killed job too many is a miss."""
    wait, killed = (Key("alloc", "part-4", "fcfs", metric) for metric in ("mean_waiting_time_s", "killed"))
    measured = {wait: Value(100.0), killed: Value(24)}
    checks = compare_all(StubResults({wait: [100.05], killed: [25.0]}), {}, measured, original=True)
    assert [check.verdict for check in checks] == [Verdict.MET, Verdict.MISSED]


def test_tables(exact: list[Check]) -> None:
    """The tally counts every value once; the CSV has a row for each."""
    assert sum(int(row[4]) for row in tally(exact).rows) == len(exact)
    assert len(comparison_csv(exact).splitlines()) == len(exact) + 1

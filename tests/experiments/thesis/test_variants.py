"""The thesis's schedules: each published name gives a policy that can be built."""

from __future__ import annotations

import pytest

from experiments.policies import build_policy
from experiments.thesis.figures import FULL_FIGURES, PART_FIGURES, RATIO_FIGURES
from experiments.thesis.models import Model
from experiments.thesis.published import METRICS, read_published
from experiments.thesis.variants import ALIASES, CONTENDERS, FULL, SPLIT, TO_BEAT, is_random, spec_of, tolerance_of


@pytest.mark.parametrize("name", FULL[Model.IO])
def test_every_schedule_can_be_built(name: str) -> None:
    """Names carry depth and balance factor; all follow the published code."""
    spec = spec_of(name)
    build_policy(spec)
    assert spec.literal
    assert spec.label == ALIASES.get(name, name)


def test_options_from_names() -> None:
    """The last number is the reservation depth, the one before it the balance factor."""
    assert spec_of("maxutil-1.5-1").options == {"balance": 1.5, "depth": 1}
    assert spec_of("backfill-sjf-3").options == {"depth": 3}
    assert spec_of("filler").options == {}
    assert spec_of("plan-start-0") == spec_of("plan-sum-0")


def test_unknown_schedule() -> None:
    """What the thesis does not have is a KeyError."""
    with pytest.raises(KeyError):
        spec_of("conservative-1")


def test_what_is_to_beat() -> None:
    """The best published schedule, to the letter; ours are ours."""
    assert TO_BEAT.literal
    assert spec_of("plan-square-0") == TO_BEAT
    for spec in CONTENDERS:
        build_policy(spec)
        assert not spec.literal


def test_only_annealing_is_random() -> None:
    """Seeds matter for plan-based schedules only."""
    assert [name for name in SPLIT if is_random(name)] == ["plan-square-0", "plan-cube-0"]
    assert tolerance_of("filler").mean > tolerance_of("fcfs").mean


def test_figures_agree_with_the_published_table() -> None:
    """Schedules and numbers of the figure families are those of the table of published values."""
    published = read_published()
    figures = {(key.model, value.figure) for key, value in published.items()}
    for family in (*FULL_FIGURES, *PART_FIGURES, *RATIO_FIGURES):
        shared = {"4.38", "4.50"} | {f"4.{n}" for n in (41, *range(50, 54))}
        for metric, number in family.numbers.items():
            assert metric in METRICS
            assert (family.model.value, number) in figures or number in shared

"""The thesis's schedules: each published name gives a policy that can be built."""

from __future__ import annotations

import pytest

from spillway.experiments.run.sessions import build_policy
from spillway.experiments.studies.thesis import STUDY
from spillway.experiments.studies.thesis.schedules import ALIASES, CORRECTED, SPLIT, is_random, spec_of

NAMES = sorted({point.text("policy") for point in STUDY.points(whole=True)})


@pytest.mark.parametrize("name", [name for name in NAMES if not name.endswith(CORRECTED)])
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
    """A schedule that the thesis does not have is a KeyError."""
    with pytest.raises(KeyError):
        spec_of("conservative-1")


def test_only_annealing_is_random() -> None:
    """Seeds matter for plan-based schedules only."""
    assert [name for name in SPLIT if is_random(name)] == ["plan-square-0", "plan-cube-0"]

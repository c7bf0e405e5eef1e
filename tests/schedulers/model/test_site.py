"""Values of a site: weights that are none."""

from __future__ import annotations

import pytest

from spillway.base.errors import OptionError
from spillway.schedulers.model.site import parse_site


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ('"age":-1', r"Expected `int` >= 0 - at `\$.weights.age`"),
        ('"period_s":0', r"Expected `float` > 0.0 - at `\$.weights.period_s`"),
        ('"tres":{"bb":4294967296}', "Expected `int` <= 4294967295"),
        ('"billing":{"gpu":1}', "Invalid enum value 'gpu'"),
    ],
)
def test_weights_that_are_none(weights: str, words: str) -> None:
    """They are refused with their place."""
    with pytest.raises(OptionError, match=words):
        parse_site(f'{{"weights":{{{weights}}}}}')

"""Values of a site: invalid weights."""

import pytest

from spillway.base.errors import OptionError
from spillway.schedulers.model.site import parse_site


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ('"age":-1', r"Expected `int` >= 0 - at `\$.weights.age`"),
        ('"period_s":0', r"Expected `float` >= 0.001 - at `\$.weights.period_s`"),
        ('"tres":{"bb":4294967296}', "Expected `int` <= 4294967295"),
        ('"billing":{"gpu":1}', "Invalid enum value 'gpu'"),
    ],
)
def test_weights_that_are_none(weights: str, words: str) -> None:
    """They are refused with their place."""
    with pytest.raises(OptionError, match=words):
        parse_site(f'{{"weights":{{{weights}}}}}')


@pytest.mark.parametrize("key", ["longest_s", "default_s"])
def test_times_of_partitions_are_above_0(key: str) -> None:
    """A job that states no walltime would have one of 0 s: policies started others on its nodes, and the run broke."""
    with pytest.raises(OptionError, match=rf"Expected `float` >= 0.001 - at `\$.partitions\[0\].{key}`"):
        parse_site(f'{{"partitions":[{{"name":"p","{key}":0}}]}}')

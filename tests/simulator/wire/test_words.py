"""Every rule of the loop has words."""

from spillway.core import Rule
from spillway.simulator.wire import words


def test_every_rule_has_words() -> None:
    """None is missing from the table, and none is in it that the loop does not have."""
    assert set(words._RULES) == set(Rule)

"""Near misses: the one function that finds them."""

import pytest

from spillway.base.near import near, nearest


@pytest.mark.parametrize(
    ("name", "found"),
    [("EASY", "easy"), ("esay", "easy"), ("Plan-Sqare", "plan-square"), ("gangs", "gang"), ("zzz", ""), ("", "")],
)
def test_the_nearest_name_whatever_its_case(name: str, found: str) -> None:
    """The result has the spelling of the list."""
    assert nearest(name, ["fcfs", "easy", "plan-square", "gang"]) == found


def test_words_for_the_end_of_an_error() -> None:
    """Nothing where no name is near."""
    assert near("Easy", ["easy"]) == "; did you mean 'easy'?"
    assert near("nothing", ["easy"]) == ""

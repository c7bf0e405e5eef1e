"""Lists of host names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillway.base.hostlist import compressed, expanded


@pytest.mark.parametrize(("text", "names"), [
    ("", ()),
    ("compute-04", ("compute-04",)),
    ("compute-[01-03]", ("compute-01", "compute-02", "compute-03")),
    ("n[9-11,14]", ("n9", "n10", "n11", "n14")),
    ("n[1-2]x,m", ("n1x", "n2x", "m")),
    ("r[1-2]n[08-09],r3", ("r1n08", "r1n09", "r2n08", "r2n09", "r3")),
    ("n[1][2]x[3]", ("n12x3",)),
    ("n[098-101]", ("n098", "n099", "n100", "n101")),
])  # fmt: skip
def test_expanded(text: str, names: tuple[str, ...]) -> None:
    """Ranges count upwards; leading zeros stay; all other text is unchanged."""
    assert expanded(text) == names


@pytest.mark.parametrize(
    "text", ["n[1-", "n[]", "n[2-1]", "a,,b", ",a", "a,", "n[1]]", "n[x]", "a b", "n[1][x]", "n[[1]]"]
)
def test_no_list(text: str) -> None:
    """A text that is no list is an error that quotes it."""
    with pytest.raises(ValueError, match="expected host names such as"):
        expanded(text)


def test_bounds() -> None:
    """Each name occurs once, and a short text cannot expand to endless names."""
    with pytest.raises(ValueError, match="names 'n2' twice"):
        expanded("n[1-3],n2")
    with pytest.raises(ValueError, match="names more than 1,000,000 hosts"):
        expanded("n[1-999999999999999999]")
    with pytest.raises(ValueError, match="names more than 1,000,000 hosts"):
        expanded("n[1-1000]x[1-1000]y[1-1000]")


@given(st.lists(st.from_regex(r"[a-c]-?[0-9]{0,3}x?", fullmatch=True), unique=True, max_size=12))
def test_round_trip(names: list[str]) -> None:
    """A compressed list expands to the same names in the same order."""
    assert expanded(compressed(names)) == tuple(names)

"""Interval sets: lenient reading, canonical writing, no exhausted memory."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillway.protocol.intervals import MAX_IDS, format_intervals, parse_intervals

CASES = [
    ("", ()),
    ("0", (0,)),
    ("0-3 5", (0, 1, 2, 3, 5)),
    ("5 0-3", (0, 1, 2, 3, 5)),
    ("0-2 1-4", (0, 1, 2, 3, 4)),
    ("0 1", (0, 1)),
    ("3-3", (3,)),
    ("  7   9 ", (7, 9)),
    ("007", (7,)),
]


@pytest.mark.parametrize(("text", "ids"), CASES, ids=[text or "empty" for text, _ in CASES])
def test_reads(text: str, ids: tuple[int, ...]) -> None:
    """Unsorted, overlapping and padded sets are read as sorted ids."""
    assert parse_intervals(text) == ids


@pytest.mark.parametrize(
    ("ids", "text"), [((), ""), ((4,), "4"), ((0, 1), "0-1"), ((5, 3, 3, 4, 9), "3-5 9"), ((1, 3, 5), "1 3 5")]
)
def test_writes_canonically(ids: tuple[int, ...], text: str) -> None:
    """Ids are written sorted, merged, singles without hyphen."""
    assert format_intervals(ids) == text


@pytest.mark.parametrize(
    "text", ["a", "1-", "-1", "3-1", "1,2", "1-2-3", "0x1", "1.0", "²", "12345678901", "4294967296"]
)
def test_refuses(text: str) -> None:
    """A text that is no interval set is refused and quoted."""
    with pytest.raises(ValueError, match="expected") as caught:
        parse_intervals(text)
    assert repr(text) in str(caught.value)


def test_a_huge_range_is_refused_before_memory_is_used() -> None:
    """Two billion ids in a few bytes are garbage."""
    with pytest.raises(ValueError, match=f"at most {MAX_IDS}"):
        parse_intervals("5 0-2147483647")
    assert len(parse_intervals(f"0-{MAX_IDS - 1}")) == MAX_IDS


@given(st.frozensets(st.integers(0, 1000)))
def test_round_trip(ids: frozenset[int]) -> None:
    """A written set is read back, and its text is its own canonical form."""
    text = format_intervals(ids)
    assert parse_intervals(text) == tuple(sorted(ids))
    assert format_intervals(parse_intervals(text)) == text

"""Drained bytes of storage nodes over an interval."""

from __future__ import annotations

from pathlib import Path

import pytest

from spillway.analysis.tables.drains import most_drained

ROWS = """time_s,storage,drained_bytes,left_bytes
10.000000,bb0,40,60
10.000000,bb1,5,95
20.000000,bb0,70,30
30.000000,bb0,10,90
40.000000,bb0,0,100
"""


@pytest.mark.parametrize(
    ("start_s", "end_s", "expected"),
    [
        (0.0, 10.0, {}),
        (0.0, 15.0, {"bb0": 40, "bb1": 5}),
        (12.0, 18.0, {"bb0": 40, "bb1": 5}),
        (12.0, 35.0, {"bb0": 70, "bb1": 5}),
        (25.0, 35.0, {"bb0": 70, "bb1": 5}),
        (30.0, 35.0, {"bb0": 10, "bb1": 5}),
        (40.0, 99.0, {"bb1": 5}),
    ],
)
def test_the_most_at_once(start_s: float, end_s: float, expected: dict[str, int], tmp_path: Path) -> None:
    """A drain from before the interval counts until it is replaced."""
    assert most_drained(tmp_path, start_s, end_s) == {}, "no such table"
    (tmp_path / "drains.csv").write_text(ROWS)
    assert most_drained(tmp_path, start_s, end_s) == expected

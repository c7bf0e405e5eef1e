"""False alarms and findings of a what-if's band, counted on a few small logs."""

from __future__ import annotations

import pytest

from spillway.analysis.measures.compare import Interval
from tools import whatif_coverage
from tools.whatif_coverage import LARGE, NOTHING, SMALL, Count, count


def test_rows_count_sides() -> None:
    """A band above 1 means longer, one below shorter, one that holds 1 nothing."""
    bands = [Interval(1.2, 1.1, 1.3), Interval(0.9, 0.8, 0.95), Interval(1.0, 0.9, 1.1)]
    assert Count(bands, [1.2, 0.9, 1.01]).row("x") == ["x", "3", "+0.0 %", "20 %", "1", "1", "2"]


@pytest.mark.slow
def test_a_few_logs() -> None:
    """More load makes waits longer on two of three logs, another seed of the shakes on no log.

    On the second log waits are shorter with more load: few jobs meet in another order, and the band is about this log.
    """
    found = count(range(3), 120, 0.9)
    assert set(found) == {NOTHING, SMALL, LARGE}
    assert [band.low <= 1 <= band.high for band in found[NOTHING].bands] == [True] * 3
    for change in (SMALL, LARGE):
        assert [band.low > 1 for band in found[change].bands] == [True, False, True]


def test_the_table_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """One line a change below the headings."""
    assert whatif_coverage.main(["--pairs", "1", "--jobs", "30"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert "says longer" in lines[0]
    assert NOTHING in lines[1]

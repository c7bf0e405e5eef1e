"""False alarms and findings of a what-if's band, counted on a few small logs."""

import pytest

from tools import whatif_coverage
from tools.whatif_coverage import NOTHING


def test_the_table_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """One line a change below the headings."""
    assert whatif_coverage.main(["--pairs", "1", "--jobs", "30"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert "says longer" in lines[0]
    assert NOTHING in lines[1]

"""The page's example runs as written."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "learning.md"


def test_the_example_of_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    """It plays an episode of 64 jobs; the return is minus the mean wait."""
    [code] = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    exec(compile(code, str(PAGE), "exec"), {})
    printed = re.fullmatch(r"64 jobs, mean wait (\S+) h, return -(\S+)\n", capsys.readouterr().out)
    assert printed is not None
    assert printed[1] == printed[2]

"""The README is short, and its Python runs."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"


def test_it_is_short() -> None:
    """A newcomer reads it to its end."""
    assert len(README.read_text().split()) <= 600


def test_its_python_runs() -> None:
    """As written there: a line for each run, and the reason why a job waited."""
    (code,) = re.findall(r"^```python\n(.*?)^```", README.read_text(), re.DOTALL | re.MULTILINE)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, str(README), "exec"), {"__name__": "readme"})
    lines = printed.getvalue().splitlines()
    named = {line.rsplit(maxsplit=2)[0] for line in lines[:-1]}
    assert (len(lines), named) == (7, {"easy", "sjf-easy depth=2"})
    assert "It ran" in lines[-1]

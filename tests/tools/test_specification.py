"""``python -m tools.specification`` prints the numbers of what was compared, and the first world that differs."""

from __future__ import annotations

import pytest

from tests.reference import specification
from tools.specification import main


def test_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    """Lines of the specification, passes and starts compared."""
    assert main(["--brief", "--kind", "plain", "--worlds", "5"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("specification.py: ")
    assert "plain: 5 worlds, " in printed
    assert " passes compared (" in printed


def test_a_pass_that_differs(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A specification in which jobs start in another order differs from the product; the world is named."""
    monkeypatch.setitem(specification.ORDERS, "fcfs", lambda job: -job.number)
    assert main(["--brief", "--kind", "plain", "--worlds", "60"]) == 1
    assert "differs: plain world " in capsys.readouterr().out

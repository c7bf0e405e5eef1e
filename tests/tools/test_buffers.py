"""A few worlds of ``python -m tools.buffers``, and what it prints of a finding."""

from __future__ import annotations

import pytest

from spillway.schedulers.core.book import Book
from tools.buffers import main


def test_a_few_worlds(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is found in them."""
    assert main(["--worlds", "6", "--seed", "3"]) == 0
    assert "\n0 findings\n" in capsys.readouterr().out


def test_a_leak_is_found(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A book that forgets to take back what an ended job held: the finding names the command that plays it again."""
    monkeypatch.setattr(Book, "_free_nodes", lambda self, nodes: None)
    assert main(["--worlds", "3", "--seed", "3"]) == 1
    printed = capsys.readouterr().out
    assert "play again: python -m tools.buffers --seed 3 --first" in printed

"""The five steps of docs/own-log.md print the output shown there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from spillway.experiments.cli import main
from tests.kit.runs import played_here

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "own-log.md").read_text(encoding="utf-8")
SITE = ROOT / "tests" / "workloads" / "data" / "site-sacct.txt"


def steps() -> list[str]:
    """The code blocks of the section."""
    section = PAGE.partition("in five steps\n")[2].partition("\n## ")[0]
    return re.findall(r"^```\n(.*?)^```", section, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize(("place", "more"), [(1, ()), (4, ("--no-plots", "--out", "out"))])
def test_a_step_prints_what_the_page_shows(
    place: int,
    more: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Line by line, in this order; a run of the what-if question prints more."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / SITE.name).write_bytes(SITE.read_bytes())
    with played_here():
        assert main([*steps()[place].split()[1:], *more]) == 0
    printed = capsys.readouterr().out
    for line in steps()[place + 1].splitlines():
        assert line in printed
        printed = printed.partition(line)[2]

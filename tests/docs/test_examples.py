"""Examples of README, pages and notebooks run as printed."""

import contextlib
import io
import re
from pathlib import Path

import nbformat
import pytest

from docs.tools.notebooks import NOTEBOOKS, answers, executed
from spillway.experiments.cli import main
from tests.kit.runs import played_here

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


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path: Path, tmp_path: Path) -> None:
    """Every cell runs; the answers are those that are kept in it (``python -m docs.tools.notebooks``)."""
    given = answers(executed(path, tmp_path))
    assert given
    assert {code for code in given if code.isdecimal()} <= {"0"}  # exit codes of commands
    assert given == answers(nbformat.read(path, as_version=4))


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

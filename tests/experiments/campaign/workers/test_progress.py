"""Messages to the user while a campaign runs."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from spillway.experiments.campaign.workers.pool import Progress, RunEnd, RunFailure, RunStart
from spillway.experiments.campaign.workers.progress import BarDisplay, LineDisplay, make_display
from spillway.experiments.campaign.workers.runner import run_all
from spillway.experiments.run.spec import RunSpec, Task
from tests.experiments.campaign.test_grid import runs_of


class Script:
    """An executor that plays news instead of running anything."""

    def __init__(self, news: list[object]) -> None:
        self.news = news

    def run(self, tasks):  # type: ignore[no-untyped-def]
        """Play the news for every task."""
        for task in tasks:
            for item in self.news:
                yield task, item


def console(*, terminal: bool) -> Console:
    """A console that keeps its output."""
    return Console(file=io.StringIO(), force_terminal=terminal, width=200, force_interactive=terminal)


def printed(target: Console) -> str:
    """The output of a console."""
    file = target.file
    assert isinstance(file, io.StringIO)
    return file.getvalue()


def test_lines_without_a_terminal() -> None:
    """One line per ended run, with its place in the campaign, and its cause if it failed."""
    runs = runs_of()
    target = console(terminal=False)
    display = make_display(target, runs[:2])
    assert isinstance(display, LineDisplay)
    with display:
        for run, end in ((runs[0], RunEnd()), (runs[1], RunFailure("out of order"))):
            display.started(run, 10)
            display.heard(run, Progress(86_400, 5, 10, 2))
            display.heard(run, end)
    lines = printed(target).splitlines()
    assert lines[0].startswith("[1/2] part-0: fcfs: ")
    assert lines[0].endswith(" left")
    assert lines[1] == "[2/2] part-0: easy depth=2: FAILED: out of order"


def test_bars_on_a_terminal() -> None:
    """Overall and per run: jobs done and in all, simulated time, queue, rate; a failure stays on the screen."""
    run = runs_of()[0]
    target = console(terminal=True)
    display = make_display(target, [run])
    assert isinstance(display, BarDisplay)
    with display:
        display.started(run, 10)
        for done in (1, 5):
            display.heard(run, Progress(172_800, done, 10, 3))
        display._bars.refresh()
        display.heard(run, RunFailure("out of order"))
    text = printed(target)
    assert "part-0: fcfs" in text
    assert "5/10" in text
    assert "t = 2.0 days, 5 jobs done, 3 waiting" in text
    assert "jobs/s" in text
    assert "out of order" in text


@pytest.mark.parametrize("width", [40, 80, 100, 160])
def test_bars_at_any_width(width: int) -> None:
    """Names (cut, if they must be) and counts are whole, each bar has one line; from 70 characters there is a bar."""
    run = runs_of()[0]
    target = Console(file=io.StringIO(), force_terminal=True, width=width, color_system=None)
    with BarDisplay(target, [run] * 2_500) as display:
        display.started(run, 30_000)
        display.heard(run, Progress(172_800_000, 15_000, 30_000, 12_345))
        shown = Console(file=io.StringIO(), width=width, color_system=None)
        shown.print(display._bars.get_renderable())
    lines = printed(shown).splitlines()
    assert len(lines) == 2
    assert max(map(len, lines)) <= width
    assert lines[0].startswith("runs ")
    assert "0/2500" in lines[0].replace(" ", "")
    assert lines[1].startswith("part-0: fcfs")
    assert "15000/30000" in lines[1]
    assert ("\N{BOX DRAWINGS HEAVY HORIZONTAL}" in lines[1]) == (width >= 70)
    assert "\N{HORIZONTAL ELLIPSIS}" not in "".join(lines)


def test_outcome_of_a_campaign(tmp_path: Path) -> None:
    """A process that died leaves its cause in the run's folder; the outcome names it."""
    run: RunSpec = runs_of()[0]
    task = Task(run, tmp_path)
    outcome = run_all([task], Script([RunStart(), RunFailure("killed")]), console(terminal=False))
    assert outcome.failed == {run.id: "killed"}
    assert '"cause": "killed"' in (task.folder / "run.json").read_text()

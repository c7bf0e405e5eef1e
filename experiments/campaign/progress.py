"""What is shown while a campaign runs: bars on a terminal, one line in a notebook, plain lines elsewhere."""

from __future__ import annotations

import html
import io
import math
import time
from types import TracebackType
from typing import Any, Protocol, Self

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    ProgressColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bars
from rich.progress import Task as RichTask
from rich.table import Column
from rich.text import Text

from spillway.experiments.campaign.pool import Failed, News, Progress
from spillway.experiments.run.spec import RunSpec

PLAIN_EVERY_S = 30.0


class Display(Protocol):
    """Shows a campaign's progress."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def started(self, run: RunSpec, jobs: int) -> None:
        """A run begins; ``jobs`` is how many its workload has (0: unknown)."""

    def heard(self, run: RunSpec, news: News) -> None:
        """A run moved on, or ended."""


class NotebookConsole(Console):
    """Keeps what is printed in :attr:`file`; only progress is shown, in the output of the notebook's cell."""

    def __init__(self) -> None:
        super().__init__(file=io.StringIO(), width=160, force_jupyter=False)


def make_display(console: Console, total: int) -> Display:
    """Bars where the console is a terminal, one line in a notebook, else lines."""
    if isinstance(console, NotebookConsole):
        return NotebookDisplay(console, total)
    return BarDisplay(console, total) if console.is_terminal else LineDisplay(console, total)


class LineDisplay:
    """One line per ended run; one in half a minute for runs that take long."""

    def __init__(self, console: Console, total: int) -> None:
        self._console = console
        self._total = total
        self._done = 0
        self._begun: dict[str, float] = {}
        self._said: dict[str, float] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing is open."""

    def started(self, run: RunSpec, jobs: int) -> None:
        """Remember when a run began."""
        self._begun[run.id] = self._said[run.id] = time.monotonic()

    def heard(self, run: RunSpec, news: News) -> None:
        """Print a line when there is something worth it."""
        now = time.monotonic()
        if isinstance(news, Progress):
            if now - self._said[run.id] >= PLAIN_EVERY_S:
                self._said[run.id] = now
                self._say(f"  ... {run.id}: {_state(news)}")
            return
        self._done += 1
        took = now - self._begun[run.id]
        outcome = f"FAILED: {news.cause}" if isinstance(news, Failed) else f"{took:.1f} s"
        self._say(f"[{self._done}/{self._total}] {run.workload.name}: {run.policy.label}, seed {run.seed}: {outcome}")

    def _say(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)


class NotebookDisplay:
    """One line in the output of a notebook's cell, written anew: a bar, how many runs have ended, what is under way."""

    def __init__(self, console: Console, total: int) -> None:
        self._console = console
        self._total = total
        self._done = 0
        self._under_way: dict[str, str] = {}
        self._said = -math.inf

    def __enter__(self) -> Self:
        from IPython.display import display

        self._handle = display(self._html(), display_id=True)  # type: ignore[no-untyped-call]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the last state."""
        self._under_way.clear()
        self._handle.update(self._html())

    def started(self, run: RunSpec, jobs: int) -> None:
        """Remember its name."""
        self._under_way[run.id] = f"{run.workload.name} {run.policy.label}, seed {run.seed}"

    def heard(self, run: RunSpec, news: News) -> None:
        """Write the line anew, at most twice a second."""
        if not isinstance(news, Progress):
            self._done += 1
            self._under_way.pop(run.id, None)
            if isinstance(news, Failed):
                self._console.print(f"failed {run.id}: {news.cause}", markup=False, highlight=False, soft_wrap=True)
        if time.monotonic() - self._said >= 0.5:
            self._said = time.monotonic()
            self._handle.update(self._html())

    def _html(self) -> Any:
        from IPython.display import HTML

        now = html.escape("; ".join(self._under_way.values()))
        bar = f'<progress value="{self._done}" max="{self._total}"></progress>'
        words = f"{self._done} of {self._total} runs{f': {now}' if now else ''}"
        return HTML(f"{bar} {words}")  # type: ignore[no-untyped-call]


class RateColumn(ProgressColumn):
    """Jobs per second (runs have jobs, the campaign has none)."""

    def render(self, task: RichTask) -> Text:
        """Text of the rate of one bar."""
        return Text(f"{task.speed:,.0f} jobs/s" if task.speed and task.fields["state"] else "")


def columns(width: int) -> list[ProgressColumn]:
    """What of a run is shown on a terminal of so many characters, so that each column has the place that it needs.

    Below 70 there is no bar, below 145 neither the rate nor the state of the run. Long names are cut.
    """

    def text(field: str, most: int) -> TextColumn:
        return TextColumn(field, table_column=Column(no_wrap=True, overflow="ellipsis", max_width=most))

    count = MofNCompleteColumn(table_column=Column(no_wrap=True))
    name = "{task.description}"
    if width < 70:
        return [text(name, max(8, width - 16)), count]
    if width < 145:
        return [text(name, width - 48), BarColumn(bar_width=16), count, TimeElapsedColumn(), TimeRemainingColumn()]
    return [
        text(name, 32),
        BarColumn(bar_width=24),
        count,
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        RateColumn(table_column=Column(no_wrap=True)),
        text("{task.fields[state]}", width - 104),
    ]


class BarDisplay:
    """A bar for the campaign and one for each run under way."""

    def __init__(self, console: Console, total: int) -> None:
        self._bars = Bars(*columns(console.width), console=console, transient=True)
        self._all = self._bars.add_task("[bold]runs", total=total, state="")
        self._tasks: dict[str, TaskID] = {}
        self._console = console

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def started(self, run: RunSpec, jobs: int) -> None:
        """Add a bar."""
        name = escape(f"{run.workload.name} {run.policy.label}")
        self._tasks[run.id] = self._bars.add_task(name, total=jobs or None, state="starting")

    def heard(self, run: RunSpec, news: News) -> None:
        """Move a run's bar, or take it away and move the campaign's."""
        task = self._tasks[run.id]
        if isinstance(news, Progress):
            self._bars.update(task, completed=news.done, state=_state(news))
            return
        self._bars.remove_task(task)
        self._bars.advance(self._all)
        if isinstance(news, Failed):
            self._console.print(f"[red]failed[/] {escape(run.id)}: {escape(news.cause)}")


def _state(news: Progress) -> str:
    return f"t = {news.time_s / 86_400:.1f} days, {news.done} jobs done, {news.waiting} waiting"

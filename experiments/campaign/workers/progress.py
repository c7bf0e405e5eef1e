"""Display of a campaign's progress: bars on a terminal, one line in a notebook, plain lines elsewhere."""

from __future__ import annotations

import io
import math
import time
from collections.abc import Sequence
from typing import Any, Self

from markupsafe import Markup
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

from spillway.analysis.document.terminal import WIDE, Terminal, say
from spillway.base.errors import visible
from spillway.base.units import duration
from spillway.experiments.campaign.workers.pool import News, Progress, RunFailure
from spillway.experiments.run.spec import RunSpec

_PLAIN_EVERY_S = 30.0
MANY_RUNS, MANY_EVERY_S = 24, 5.0
"""With more runs than this, one ended run in this many seconds gets a line, besides failed runs and the last."""


class _Display:
    """Shows a campaign's progress."""

    def __init__(self, console: Console, runs: Sequence[RunSpec]) -> None:
        self._console = console
        self._names = _names_of(runs)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is open."""

    def started(self, run: RunSpec, jobs: int) -> None:
        """A run begins; ``jobs`` is the number of jobs of its workload (0: unknown)."""

    def heard(self, run: RunSpec, news: News) -> None:
        """A run made progress, or ended."""


class NotebookConsole(Terminal):
    """Keeps printed lines in :attr:`file`; only progress is shown, in the output of the notebook's cell."""

    def __init__(self) -> None:
        super().__init__(file=io.StringIO(), width=WIDE, force_jupyter=False)


def make_display(console: Console, runs: Sequence[RunSpec]) -> _Display:
    """Bars where the console is a terminal, one line in a notebook, else lines."""
    if isinstance(console, NotebookConsole):
        return _NotebookDisplay(console, runs)
    return BarDisplay(console, runs) if console.is_terminal else LineDisplay(console, runs)


def _names_of(runs: Sequence[RunSpec]) -> dict[str, str]:
    """Displayed name of each run, by id: workload, policy, and whichever of machine, model and seed differ."""
    kinds = ({r.platform.name for r in runs}, {r.model.label for r in runs}, {r.seed for r in runs})
    machines, models, seeds = (len(found) > 1 for found in kinds)
    names = {}
    for run in runs:
        parts = [run.policy.label, *([run.platform.name] if machines else []), *([run.model.label] if models else [])]
        names[run.id] = f"{run.workload.name}: {', '.join(parts)}" + (f", seed {run.seed}" if seeds else "")
    return names


class LineDisplay(_Display):
    """One line per ended run; one in half a minute for runs that take long."""

    def __init__(self, console: Console, runs: Sequence[RunSpec]) -> None:
        super().__init__(console, runs)
        self._total = len(runs)
        self._done = 0
        self._first, self._last = math.inf, -math.inf
        self._begun: dict[str, float] = {}
        self._said: dict[str, float] = {}

    def started(self, run: RunSpec, jobs: int) -> None:
        """Remember when a run began."""
        self._begun[run.id] = self._said[run.id] = time.monotonic()
        self._first = min(self._first, self._begun[run.id])

    def heard(self, run: RunSpec, news: News) -> None:
        """Print a line when a run has ended, and every half minute while it plays."""
        now = time.monotonic()
        if isinstance(news, Progress):
            if now - self._said[run.id] >= _PLAIN_EVERY_S:
                self._said[run.id] = now
                say(self._console, f"  ... {self._names[run.id]}: {_state(news)}")
            return
        self._done += 1
        cause = news.cause if isinstance(news, RunFailure) else None
        if self._total > MANY_RUNS and self._done < self._total and now - self._last < MANY_EVERY_S and cause is None:
            return
        self._last = now
        outcome = f"FAILED: {cause}" if cause is not None else f"{now - self._begun[run.id]:.1f} s"
        left_s = (now - self._first) / self._done * (self._total - self._done)
        left = f", about {duration(max(1.0, round(left_s)))} left" if self._done < self._total else ""
        say(self._console, f"[{self._done}/{self._total}] {self._names[run.id]}: {outcome}{left}")


class _NotebookDisplay(_Display):
    """One line in the output of a notebook's cell, rewritten: a bar, the number of ended runs, the runs under way."""

    def __init__(self, console: Console, runs: Sequence[RunSpec]) -> None:
        super().__init__(console, runs)
        self._done = 0
        self._under_way: dict[str, str] = {}
        self._said = -math.inf

    def __enter__(self) -> Self:
        from IPython.display import display

        self._handle = display(self._html(), display_id=True)  # type: ignore[no-untyped-call]
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the last state."""
        self._under_way.clear()
        self._handle.update(self._html())

    def started(self, run: RunSpec, jobs: int) -> None:
        """Remember its name."""
        self._under_way[run.id] = self._names[run.id]

    def heard(self, run: RunSpec, news: News) -> None:
        """Write the line anew, at most twice a second."""
        if not isinstance(news, Progress):
            self._done += 1
            self._under_way.pop(run.id, None)
            if isinstance(news, RunFailure):
                say(self._console, f"failed {run.id}: {news.cause}")
        if time.monotonic() - self._said >= 0.5:
            self._said = time.monotonic()
            self._handle.update(self._html())

    def _html(self) -> Any:
        from IPython.display import HTML

        now = f": {visible('; '.join(self._under_way.values()))}" if self._under_way else ""
        line = Markup('<progress value="{done}" max="{all}"></progress> {done} of {all} runs{now}')
        return HTML(line.format(done=self._done, all=len(self._names), now=now))  # type: ignore[no-untyped-call]


class _RateColumn(ProgressColumn):
    """Jobs per second of a run; empty in the campaign's bar."""

    def render(self, task: RichTask) -> Text:
        """Text of the rate of one bar."""
        return Text(f"{task.speed:,.0f} jobs/s" if task.speed and task.fields["state"] else "")


def columns(width: int) -> list[ProgressColumn]:
    """Columns of a run on a terminal of this width (characters), each with the space that it needs.

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
        _RateColumn(table_column=Column(no_wrap=True)),
        text("{task.fields[state]}", width - 104),
    ]


class BarDisplay(_Display):
    """A bar for the campaign and one for each run under way."""

    def __init__(self, console: Console, runs: Sequence[RunSpec]) -> None:
        super().__init__(console, runs)
        self._bars = Bars(*columns(console.width), console=console, transient=True)
        self._all = self._bars.add_task("[bold]runs", total=len(runs), state="")
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def started(self, run: RunSpec, jobs: int) -> None:
        """Add a bar."""
        name = escape(self._names[run.id])
        self._tasks[run.id] = self._bars.add_task(name, total=jobs or None, state="starting")

    def heard(self, run: RunSpec, news: News) -> None:
        """Advance a run's bar, or remove it and advance the campaign's."""
        task = self._tasks[run.id]
        if isinstance(news, Progress):
            self._bars.update(task, completed=news.done, state=_state(news))
            return
        self._bars.remove_task(task)
        self._bars.advance(self._all)
        if isinstance(news, RunFailure):
            self._console.print(f"[red]failed[/] {escape(run.id)}: {escape(news.cause)}")


def _state(news: Progress) -> str:
    return f"t = {news.time_s / 86_400:.1f} days, {news.done} jobs done, {news.waiting} waiting"

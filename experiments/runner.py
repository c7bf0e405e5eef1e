"""Runs a campaign: skips what is finished, spreads the rest over worker processes, goes on when one fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console

from experiments import folders, provenance
from experiments.errors import Interrupted
from experiments.pool import Failed, Finished, Pool, Report
from experiments.progress import make_display
from experiments.single import Task, execute
from experiments.spec import RunSpec

Work = Callable[[Task, Report], None]


@dataclass
class Outcome:
    """How a campaign went.

    Attributes
    ----------
    finished, skipped
        Runs done now; runs that were already there.
    failed
        Causes of the failed runs by id.
    """

    finished: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)


def run_all(
    runs: Sequence[RunSpec],
    root: Path,
    *,
    tau_s: float,
    simulator: tuple[str, ...] = (),
    explain: bool = False,
    workers: int,
    console: Console,
    work: Work = execute,
    jobs: Callable[[RunSpec], int] = lambda _: 0,
) -> Outcome:
    """Run all runs whose folders are not finished.

    Parameters
    ----------
    runs
        The grid.
    root
        The campaign's folder.
    tau_s
        Bound of the bounded slowdown.
    simulator
        Command of a simulator in processes of its own; empty: in the runs' own.
    explain
        Whether runs keep why their jobs waited.
    workers
        How many runs at a time, at least 1.
    console
        Where progress is shown.
    work
        What does one run.
    jobs
        Number of jobs of a run's workload, for the progress bars.

    Raises
    ------
    Interrupted
        The user pressed Ctrl-C; all processes have been ended.
    """
    outcome = Outcome()
    todo: list[Task] = []
    for run in runs:
        if folders.is_finished(root / run.id):
            outcome.skipped.append(run.id)
        else:
            todo.append(Task(run, root, tau_s, simulator, explain))
    if outcome.skipped:
        console.print(f"{len(outcome.skipped)} of {len(runs)} runs are already there", highlight=False)
    if not todo:
        return outcome
    with make_display(console, len(todo)) as display:

        def begin(task: Task) -> Task:
            display.started(task.run, jobs(task.run))
            return task

        pool: Pool[Task] = Pool(work, min(workers, len(todo)))
        try:
            with closing(pool.run(begin(task) for task in todo)) as news_of:
                for task, news in news_of:
                    display.heard(task.run, news)
                    if isinstance(news, Finished):
                        outcome.finished.append(task.run.id)
                    elif isinstance(news, Failed):
                        outcome.failed[task.run.id] = news.cause
                        _keep_cause(task, news)
        except KeyboardInterrupt:
            left = len(todo) - len(outcome.finished)
            raise Interrupted(
                f"stopped; {len(outcome.finished) + len(outcome.skipped)} runs are finished, {left} are left: "
                f"repeat the command to go on"
            ) from None
    return outcome


def _keep_cause(task: Task, news: Failed) -> None:
    """A process that was killed could not write its own obituary."""
    task.folder.mkdir(parents=True, exist_ok=True)
    if folders.read_json(task.folder / folders.RUN_FILE).get("status") != folders.FAILED:
        outcome = {"status": folders.FAILED, "cause": news.cause}
        folders.write_json(task.folder / folders.RUN_FILE, outcome | provenance.describe(task.run))

"""Plays a campaign: skips finished runs, spreads the others over worker processes, and continues after failures.

A single remaining run is played in this process.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial

from rich.console import Console

from spillway.base.arguments import how
from spillway.experiments.campaign.folder import reuse
from spillway.experiments.campaign.folder.reuse import KeptResult
from spillway.experiments.campaign.workers import signals
from spillway.experiments.campaign.workers.pool import Executor, News, Pool, RunEnd, RunFailure, RunStart
from spillway.experiments.campaign.workers.progress import make_display
from spillway.experiments.run.errors import ClusterLost, Interruption
from spillway.experiments.run.single import keep_cause
from spillway.experiments.run.spec import RunSpec, Task


@dataclass
class Outcome:
    """Outcome of a campaign.

    Attributes
    ----------
    finished, skipped
        Runs done now; runs that were already there.
    failed
        Causes of the failed runs by id.
    old
        Kept results of other code.
    """

    finished: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    old: list[KeptResult] = field(default_factory=list)


def run_all(
    tasks: Sequence[Task],
    executor: Executor[Task],
    console: Console,
    jobs: Callable[[RunSpec], int] = lambda _: 0,
    *,
    rerun: bool = False,
) -> Outcome:
    """Do all tasks that have no result in their folders.

    Parameters
    ----------
    tasks
        The campaign's runs.
    executor
        Plays the runs: :class:`spillway.experiments.campaign.workers.pool.Pool`,
        :class:`spillway.experiments.campaign.workers.dask_pool.DaskPool`.
    console
        Shows progress.
    jobs
        Number of jobs of a run's workload, for the progress bars.
    rerun
        Whether to repeat runs that other code made (:mod:`spillway.experiments.campaign.folder.reuse`).

    Raises
    ------
    Interruption
        A signal arrived (Ctrl-C, SIGTERM, SIGHUP); all runs have been ended.
    ClusterLost
        The executor's cluster is gone; unfinished runs are left undone.
    """
    outcome = Outcome()
    found = {task.run.id: reuse.look_at_run(task.folder, task.run) for task in tasks}
    missing = set(reuse.choose(found, console, rerun=rerun))
    todo = [task for task in tasks if task.run.id in missing]
    outcome.skipped = [task.run.id for task in tasks if task.run.id not in missing]
    outcome.old = reuse.left(found, missing)
    if not todo:
        return outcome
    try:
        with make_display(console, [task.run for task in todo]) as display:

            def hear(task: Task, news: News) -> None:
                if isinstance(news, RunStart):
                    display.started(task.run, jobs(task.run))
                else:
                    display.heard(task.run, news)
                _note(outcome, task, news)

            if len(todo) == 1 and isinstance(executor, Pool):
                executor.run_here(todo[0], partial(hear, todo[0]))
                return outcome
            with closing(executor.run(todo)) as news_of:
                for task, news in news_of:
                    hear(task, news)
    except KeyboardInterrupt as stop:
        number = signals.number_of(stop)
        raise Interruption(f"{how(number)}; {_state(outcome, tasks)}", number) from None
    except ClusterLost as lost:
        raise ClusterLost(f"{lost}; {_state(outcome, tasks)}") from None
    return outcome


def _note(outcome: Outcome, task: Task, news: News) -> None:
    """Record the end of a run."""
    if isinstance(news, RunEnd):
        outcome.finished.append(task.run.id)
    elif isinstance(news, RunFailure):
        outcome.failed[task.run.id] = news.cause
        with contextlib.suppress(OSError):  # a full disk cannot keep even the cause
            keep_cause(task, news.cause)


def _state(outcome: Outcome, tasks: Sequence[Task]) -> str:
    done = len(outcome.finished) + len(outcome.skipped)
    return f"{done} runs are finished, {len(tasks) - done} are left: repeat the command to go on"

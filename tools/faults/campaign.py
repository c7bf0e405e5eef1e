"""A small campaign in this process, so that faults can be put into it."""

from __future__ import annotations

import io
from collections.abc import Generator, Iterable
from pathlib import Path

from rich.console import Console

from spillway.experiments.campaign.campaign import run_grids
from spillway.experiments.campaign.comparison import campaign_of
from spillway.experiments.campaign.workers.pool import News, RunEnd, RunFailure, RunStart, describe
from spillway.experiments.cli import parser_of
from spillway.experiments.run.single import execute
from spillway.experiments.run.spec import Task

SMALL = ["run", "--workload", "kth-like:jobs=20", "--platform", "tiny", "--no-plots"]
ARGUMENTS = [*SMALL, "--policy", "fcfs", "--policy", "easy"]


class Serial:
    """Runs tasks one after the other in this process."""

    def run(self, tasks: Iterable[Task]) -> Generator[tuple[Task, News], None, None]:
        """See :class:`spillway.experiments.campaign.workers.pool.Executor`."""
        for task in tasks:
            yield task, RunStart()
            try:
                execute(task)
            except Exception as error:
                yield task, RunFailure(describe(error))
            else:
                yield task, RunEnd()


def play(root: Path, arguments: Iterable[str] = ARGUMENTS) -> tuple[int, str]:
    """Run the campaign; return its exit code and its output."""
    said = io.StringIO()
    campaign = campaign_of(parser_of("run").parse_args(list(arguments)[1:]))
    code = run_grids([campaign], root, Serial(), Console(file=said, width=500))
    return code, said.getvalue()


def run_of(root: Path, policy: str) -> Path:
    """Folder of the run of a policy."""
    (folder,) = root.glob(f"*_{policy}_*")
    return folder


def schedules(root: Path) -> dict[str, bytes]:
    """Tables of a finished campaign, which must be the same after any fault."""
    files = [root / "results.csv", *sorted(root.glob("*/jobs.csv")), *sorted(root.glob("*/allocations.csv"))]
    return {str(path.relative_to(root)): path.read_bytes() for path in files}

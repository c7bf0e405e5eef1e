"""Common options of the command lines that play many runs: place of the runs, folder of the results."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spillway.base.arguments import Parser as Parser
from spillway.base.arguments import UsageError, add_declared, complain, given, natural, place, positive
from spillway.base.options import build
from spillway.experiments.run.errors import SpecError

if TYPE_CHECKING:
    from spillway.experiments.campaign.workers.pool import Executor
    from spillway.experiments.run.spec import Conduct, Task

RESULTS = Path("results")
"""Folder below which results are kept if no other is given."""


def add_logs(group: argparse._ArgumentGroup, several: str = "") -> None:
    """Add the logs, as arguments or as ``--workload``; ``several``: words on more than one log, if allowed."""
    group.add_argument(
        "logs",
        nargs="*",
        metavar="LOG",
        help="Batsim workload (.json), log (SWF, sacct and others), both also .xz or .gz; a quoted pattern of them; "
        "'ARCHIVE.tar.xz!MEMBER' with a pattern of members; a generator such as kth-like:jobs=500; or a public log's "
        f"name (spillway workload list){several}",
    )
    group.add_argument("-w", "--workload", action="append", default=[], metavar="LOG", help="the same as an option")
    group.add_argument("--first", type=positive, default=None, metavar="N", help="only the first N records of each log")


def logs_of(options: argparse.Namespace, most: int | None = None) -> list[str]:
    """The logs to be played.

    Raises
    ------
    UsageError
        No log is given, or more than ``most``.
    """
    found = [*options.logs, *options.workload]
    if not found:
        raise UsageError("missing: LOG (a file, a generator such as kth-like:jobs=500, or a public log's name)")
    if most is not None and len(found) > most:
        raise UsageError(f"expected {most} log, got {len(found)}: {', '.join(found)}")
    return found


def add_seeds(group: argparse._ArgumentGroup, words: str) -> None:
    """Add the first seed and the number of seeds."""
    group.add_argument(
        "--seed", type=natural, default=0, metavar="N", help="first seed of everything random (%(default)s)"
    )
    group.add_argument("--seeds", type=positive, default=None, metavar="N", help=words)


def add_conduct(parser: Parser, *, limits: bool = True) -> None:
    """Add the options of :class:`spillway.experiments.run.spec.Conduct`, and the folder of the results."""
    from spillway.experiments.run.spec import Conduct

    names = ("workers", "dask", "dask_tls", "dask_jobqueue", "dask_patience_s")
    add_declared(parser.add_argument_group("workers"), Conduct, *names)
    group = parser.add_argument_group("results")
    group.add_argument(
        "--out",
        type=place,
        metavar="DIR",
        help=f"folder of the results, one comparison each (a new one below {RESULTS}/ that is named by workload and "
        "question: the same command continues in it)",
    )
    add_declared(group, Conduct, "rerun", *(("notes",) if limits else ()))
    if limits:
        add_declared(parser.add_argument_group("limits"), Conduct, "max_runs", "force")


def conduct_of(options: argparse.Namespace) -> Conduct:
    """The conduct that a command line states."""
    from spillway.experiments.run.spec import Conduct

    return build(Conduct, given(options, Conduct))


def load_early(conduct: Conduct) -> None:
    """Load the modules of runs in another process, if the runs take place on this machine.

    See :func:`spillway.experiments.campaign.workers.pool.begin_loading`.
    """
    if not conduct.elsewhere:
        from spillway.experiments.campaign.workers.pool import begin_loading

        begin_loading()


def executor_of(conduct: Conduct) -> Executor[Task]:
    """The executor of a campaign's runs.

    Raises
    ------
    SpecError
        Options do not fit together.
    """
    if conduct.dask and conduct.dask_jobqueue:
        raise SpecError("give --dask (an existing cluster) or --dask-jobqueue (a batch system), not both")
    if conduct.dask_tls and not conduct.dask:
        raise SpecError("--dask-tls is for --dask; clusters of a batch system take theirs from Dask's configuration")
    workers = conduct.workers or available_cores()
    if not conduct.elsewhere:
        from spillway.experiments.campaign.workers.pool import Pool
        from spillway.experiments.run.single import execute

        return Pool(execute, workers)
    from spillway.experiments.campaign.workers.dask_pool import DaskPool

    return DaskPool.of(conduct, workers, _note)


def _note(text: str) -> None:
    complain(text, is_error=False)


def available_cores() -> int:
    """Processor cores that this process may use."""
    affinity: Any = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1

"""Common options of the command lines that play many runs: place of the runs, folder of the results."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spillway.base.arguments import Parser as Parser
from spillway.base.arguments import UsageError, complain, natural, place, positive
from spillway.base.limits import RUNS
from spillway.experiments.run.errors import SpecError

if TYPE_CHECKING:
    from spillway.experiments.campaign.pool import Executor
    from spillway.experiments.run.single import Task

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


def add_common(parser: Parser) -> None:
    """Add the options of all campaigns: place of the runs, folder of the results."""
    add = parser.add_argument_group("workers").add_argument
    add("--workers", type=positive, default=available_cores(), metavar="N", help="runs at a time (%(default)s)")
    add("--dask", metavar="ADDRESS", help="run on the Dask cluster of the scheduler at this address")
    add(
        "--dask-tls",
        type=_three_files,
        default=(),
        metavar="CA,CERT,KEY",
        help="files (PEM) for a Dask cluster at tls://HOST:PORT; without them the traffic is not "
        "encrypted, and whoever reaches the scheduler runs code as its user",
    )
    add("--dask-jobqueue", metavar="KIND", help="request --workers Dask workers from a batch system (slurm, pbs ...)")
    add(
        "--dask-patience",
        type=positive,
        default=300,
        metavar="SECONDS",
        help="time without any worker of a Dask cluster after which the command ends (%(default)s)",
    )
    group = parser.add_argument_group("results")
    group.add_argument(
        "--out",
        type=place,
        metavar="DIR",
        help=f"folder of the results, one comparison each (a new one below {RESULTS}/ that is named by workload and "
        "question: the same command continues in it)",
    )
    _add_rerun(group)


def add_max_runs(parser: Parser) -> None:
    """Add the limits: the number of runs of a campaign, and ``--force``."""
    group = parser.add_argument_group("limits")
    group.add_argument(
        RUNS.option, type=positive, default=RUNS.most, metavar="N", help="refuse campaigns of more runs (%(default)s)"
    )
    group.add_argument(
        "--force",
        action="store_true",
        help="play a log also where the machine cannot be its own: above 1.5 times its nodes requested, or more than "
        "2%% of the jobs rejected",
    )


def add_notes(parser: Parser) -> None:
    """Add ``--notes``: whether the assumptions on machine and jobs are printed."""
    words = "print all notes on machine and jobs: omissions and assumptions (else their number)"
    parser.add_argument_group("results").add_argument("--notes", action="store_true", help=words)


def _add_rerun(parser: argparse._ActionsContainer) -> None:
    """Add ``--rerun``, for results that other code made."""
    parser.add_argument(
        "--rerun",
        action="store_true",
        help="repeat runs that other code made (an edited policy, for example); else they are kept, named and marked",
    )


def load_early(options: argparse.Namespace) -> None:
    """Load the modules of runs in another process, if the runs take place on this machine.

    See :func:`spillway.experiments.campaign.pool.begin_loading`.
    """
    if not options.dask and not options.dask_jobqueue:
        from spillway.experiments.campaign.pool import begin_loading

        begin_loading()


def executor_of(options: argparse.Namespace) -> Executor[Task]:
    """The executor of a campaign's runs.

    Raises
    ------
    SpecError
        Options do not fit together.
    """
    if options.dask and options.dask_jobqueue:
        raise SpecError("give --dask (an existing cluster) or --dask-jobqueue (a batch system), not both")
    if options.dask_tls and not options.dask:
        raise SpecError("--dask-tls is for --dask; clusters of a batch system take theirs from Dask's configuration")
    if not options.dask and not options.dask_jobqueue:
        from spillway.experiments.campaign.pool import Pool
        from spillway.experiments.run.single import execute

        return Pool(execute, options.workers)
    from spillway.experiments.campaign.dask_pool import DaskPool

    if options.dask:
        for file in options.dask_tls:
            if not Path(file).is_file():
                raise SpecError(f"--dask-tls: there is no file {file!r}; expected CA,CERT,KEY, three files (PEM)")
        return DaskPool.at(options.dask, options.dask_patience, _note, options.dask_tls)
    return DaskPool.from_jobqueue(options.dask_jobqueue, options.workers, options.dask_patience, _note)


def _three_files(text: str) -> tuple[str, ...]:
    files = tuple(text.split(","))
    if len(files) != 3:
        raise argparse.ArgumentTypeError(f"expected three files, CA,CERT,KEY, got {text!r}")
    return files


def _note(text: str) -> None:
    complain(text, is_error=False)


def available_cores() -> int:
    """Processor cores that this process may use."""
    affinity: Any = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1

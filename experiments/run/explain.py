"""``spillway explain RUN JOB``: the history of one job of a run, with the reasons why it waited."""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys
import tempfile
import textwrap
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import msgspec

from spillway.analysis.answers.story import find_job, tell
from spillway.analysis.tables.jobs import read_run
from spillway.base import durable
from spillway.base.arguments import Parser
from spillway.base.arguments import tell as say
from spillway.base.errors import OptionError, printable, shown
from spillway.base.plugins import without_outside
from spillway.experiments.campaign.folder.lock import results_folder
from spillway.experiments.run import folders, manifest, prepared_input
from spillway.experiments.run.batsim import simulator_command
from spillway.experiments.run.errors import SpecError
from spillway.experiments.run.provenance import SOURCES
from spillway.experiments.run.reasons import PRIORITIES, REASONS
from spillway.experiments.run.single import execute
from spillway.experiments.run.spec import Playing, RunSpec, Task

HELP = "the reasons why a job waited"
DESCRIPTION = "Print the reasons why a job waited. A run that kept no reasons (--explain) is repeated first."
EXAMPLES = """
spillway explain results/mine-1a2b3c4/mine_easy_fluid-rigid_s0_5d6e7f80 12
"""


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("run", type=Path, metavar="RUN", help="folder of a finished run")
    parser.add_argument("job", metavar="JOB", help="job id: 12, or w0!12")
    words = "let code that the folder names (a policy's FILE.py:CLASS) run, where the run is repeated"
    parser.add_argument("--trust", action="store_true", help=words)


def command(options: argparse.Namespace) -> int:
    """Print the reasons."""
    for line in explain(options.run, options.job, lambda text: say(text, to=sys.stderr), trust=options.trust):
        say(textwrap.fill(printable(line), 100))
    return 0


def explain(
    folder: Path, job_id: str, say: Callable[[str], None] = lambda _: None, *, trust: bool = False
) -> list[str]:
    """Return a job's history in lines; if the run kept no reasons, repeat it with the same outcome and keep them.

    Parameters
    ----------
    folder
        A finished run's folder.
    job_id
        ``12`` or ``w0!12``.
    say
        Receives a line before a long step.
    trust
        Whether code from outside (``FILE.py:CLASS``) that the folder names may run, to repeat the run.

    Raises
    ------
    SpecError
        The folder holds no finished run, is damaged, its inputs are gone, or it names a file outside of its campaign.
    OptionError
        It names code or an image from outside, and is not trusted.
    AnalysisError
        There is no such job.
    """
    if any(os.path.lexists(folder / name) for name in (folders.RUN_FILE, folders.MANIFEST)):
        manifest.refuse_damage(folder)
    if not folders.is_finished(folder):
        raise SpecError(f"{folder}: not the folder of a finished run (a folder with a run.json, under a campaign's)")
    find_job(read_run(folder), job_id)
    if not (folder / REASONS).exists():
        say("repeating the run to learn why its jobs waited ...")
        loading = nullcontext() if trust else without_outside(_untrusted(folder))
        with results_folder(folder.resolve().parent), loading:
            keep_reasons(folder, trust=trust)
    return tell(folder, job_id)


def _untrusted(folder: Path) -> str:
    return f"{folder} names it, and --trust lets it run"


def keep_reasons(folder: Path, *, trust: bool) -> None:
    """Repeat a run with the same outcome, and keep its reasons; the caller holds the folder of results.

    Raises
    ------
    SpecError, OptionError
        As :func:`explain`.
    """
    record = folders.read_json(folder / folders.RUN_FILE)
    run = msgspec.convert(record["configuration"], RunSpec)
    if run.image and not trust:
        raise OptionError(
            f"the image {shown(run.image)} is code from outside: {folder} names it, and --trust lets it run"
        )
    root = folder.parent
    if run.id != folder.resolve().name:
        raise SpecError(f"{folder}: its {folders.RUN_FILE} is of another run ({shown(run.id)})")
    sources = msgspec.convert(record.get(SOURCES, {}), dict[str, str])
    inputs = [run.workload, run.platform, *([run.events] if run.events is not None else [])]
    files = [name.partition(":")[0] for name in sources.values()]
    for name in (*files, *(prepared.path for prepared in inputs)):
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise SpecError(f"{folder}: its {folders.RUN_FILE} names an input outside of its campaign ({shown(name)})")
        if not (root / name).exists():
            raise SpecError(f"{root / name} is gone: the run cannot be repeated")
    for prepared in inputs:
        if fault := prepared_input.damage(root, prepared):
            raise SpecError(manifest.damaged(root, f"{prepared.path}: {fault}"))
    run = _with_copies(run, {name: str(root / copy) for name, copy in sources.items()})
    with tempfile.TemporaryDirectory() as temporary:
        scratch = Path(temporary)
        (scratch / folders.INPUTS).symlink_to((root / folders.INPUTS).resolve())
        execute(Task(run, scratch, Playing(explain=True, uncontended=False), simulator_command(run)))
        again = scratch / run.id
        if (again / "jobs.csv").read_bytes() != (folder / "jobs.csv").read_bytes():
            raise SpecError(
                f"{folder}: repeating the run gave another schedule (was it made by another version?); run it anew"
            )
        for name in (PRIORITIES, REASONS):  # the last one shows that both are complete
            if (again / name).exists():
                durable.write_bytes(folder / name, (again / name).read_bytes())
                manifest.add(folder, name)


def _with_copies(run: RunSpec, copies: Mapping[str, str]) -> RunSpec:
    """The run with its policy, job model and controller loaded from the campaign's copies of their files."""

    def copied(options: Mapping[str, Any]) -> dict[str, Any]:
        return {key: copies.get(value, value) if isinstance(value, str) else value for key, value in options.items()}

    return msgspec.structs.replace(
        run,
        policy=dataclasses.replace(run.policy, policy=copies.get(run.policy.policy, run.policy.policy)),
        model=dataclasses.replace(
            run.model, name=copies.get(run.model.name, run.model.name), options=copied(run.model.options)
        ),
        model_options=copied(run.model_options),
    )

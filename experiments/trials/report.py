"""Findings in words: lines and tables for the terminal and for Markdown, and all findings as JSON."""

from __future__ import annotations

import argparse
import contextlib
import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.console import Console
from rich.progress import Progress

from spillway.analysis.document.blocks import Block, Code, Table
from spillway.analysis.document.terminal import say, terminal, write
from spillway.analysis.document.text import to_markdown
from spillway.base import durable
from spillway.experiments.campaign.workers.progress import columns
from spillway.experiments.trials.checks import Findings
from spillway.experiments.trials.disciplines import DISCIPLINES, REQUIREMENTS
from spillway.experiments.trials.verdict import FAILS, NOT_APPLICABLE, NOT_SEEN, PASSES, Failure, Outcome, Tell
from spillway.experiments.trials.world import World

CLAIMS: Mapping[str, str] = {
    "fcfs": "fcfs",
    "easy": "easy",
    "sjf-easy": "easy",
    "list": "easy",
    "conservative": "conservative",
}
"""Disciplines of our own policies; all others only claim to be safe (``any``)."""

PARTS = 4
"""Most plain lines about one step of the progress."""


def findings_lines(policy: str, found: Findings) -> list[str]:
    """Findings of a check of a policy, in lines."""
    lines = [f"{policy}: {found.worlds} worlds"]
    lines += [f"  not played with --model {model}: {reason}" for model, reason in found.refused.items()]
    for verdict in found.verdicts:
        if verdict.result == NOT_SEEN:
            lines.append(f"  not seen {verdict.name}: checked only if the others pass")
        elif verdict.result == PASSES:
            lines.append(f"  passed  {verdict.name}: {verdict.aims}")
        for failure in verdict.failures:
            world = failure.world
            command = shlex.join(["spillway", "check-policy", policy, "--case", world.text()])
            lines.append(f"  FAILED  {verdict.name}: {failure.words}")
            lines += [*(f"          {line}" for line in _tiny_story(world)), f"          again: {command}"]
    return lines


def _tiny_story(world: World) -> list[str]:
    """A world on ``tiny`` in words."""
    settings = ", ".join(f"{key}={value}" for key, value in {**world.settings, **world.options}.items())
    lines = [f"smallest world found: --model {world.model}{f', {settings}' if settings else ''}"]
    for number, job in enumerate(world.jobs):
        parts = [f"job {number}: at {job.submit_s} s, {job.nodes} nodes, runs {job.run_s:g} s"]
        parts += [] if job.walltime_s is None else [f"walltime {job.walltime_s} s"]
        parts += [f"{job.gb} GB of burst buffer per node"] if job.gb else []
        parts += [f"{job.io_rate_mb_s} MB/s per node"] if job.io_rate_mb_s else []
        lines.append("  " + ", ".join(parts))
    for change in world.changes:
        what = "come back" if change.back else "are out"
        lines.append(f"  at {change.time_s:g} s hosts {' '.join(map(str, change.hosts))} {what}")
    return lines


def plain_story(world: World) -> list[str]:
    """A plain machine and its jobs in words."""
    count = world.storages
    buffers = f", {count} storage node{'s' * (count > 1)} of {world.gb} GB" if count else ""
    lines = [f"machine: {world.nodes} nodes{buffers}"]
    for number, job in enumerate(world.jobs, 1):
        ends = f", ends after {job.run_s} s" if 0 < job.run_s < (job.walltime_s or 0) else ""
        each = f", {job.gb} GB{' for each' * (job.nodes > 1)}" if job.gb else ""
        lines.append(
            f"job {number}: submitted at {job.submit_s} s, {job.nodes} node{'s' * (job.nodes > 1)}{each}, "
            f"walltime {job.walltime_s} s{ends}"
        )
    return lines


def story(title: str, failure: Failure, discipline: str, tested: str) -> Code:
    """A failure in words, with its world and the command that plays it again.

    Parameters
    ----------
    title
        The case, or the scheduler and its claim.
    discipline
        The tested discipline; if only a case had the requirement, the command names a discipline that has it.
    tested
        The part of the command line that names the scheduler.
    """
    one, world = failure.requirement, failure.world
    having = next(name for name in (discipline, *DISCIPLINES) if one in DISCIPLINES[name])
    lines = [title, f"  {one}: {failure.words}", *(f"    {line}" for line in plain_story(world))]
    lines.append(f"    again: spillway conformance --discipline {having} --world '{world.text()}' {tested}")
    return Code("\n".join(lines))


def verdict_table(found: Iterable[Outcome]) -> Table:
    """One row for each case."""
    rows = [(case.name, case.aims, case.source, case.result) for case in found]
    return Table(("case", "mistake or requirement", "source", "verdict"), rows)


def standing_table(found: Mapping[str, Mapping[str, Mapping[str, Failure]] | str]) -> Table:
    """One row for each policy: by discipline ``passes`` or its broken requirements, with a star for its claim."""
    rows: list[tuple[str, ...]] = []
    for policy, standing in found.items():
        if isinstance(standing, str):
            rows.append((policy, *(NOT_APPLICABLE for _ in DISCIPLINES)))
            continue
        claim = CLAIMS.get(policy, "any")
        cells = {
            name: ", ".join(sorted(broken, key=list(REQUIREMENTS).index)) or PASSES for name, broken in standing.items()
        }
        rows.append((policy, *(f"{cell} *" if name == claim else cell for name, cell in cells.items())))
    return Table(("policy", *DISCIPLINES), rows)


def count(found: Iterable[Outcome]) -> str:
    """Numbers of cases that passed, failed, and were not applicable, in words."""
    results = [outcome.result for outcome in found]
    return ", ".join(f"{results.count(result)} {result}" for result in (PASSES, FAILS, NOT_APPLICABLE))


def deliver(options: argparse.Namespace, blocks: Sequence[Block], members: Mapping[str, object]) -> None:
    """Print a document; write it as Markdown, and all results as JSON, if requested.

    Parameters
    ----------
    members
        Members of the JSON; worlds become objects that ``--world`` accepts.
    """
    write(terminal(), blocks)
    if options.out is not None:
        durable.write_text(options.out, to_markdown(blocks))
    if options.json is not None:
        text = json.dumps(members, indent=1, default=lambda one: one.members() if isinstance(one, World) else vars(one))
        durable.write_text(options.json, f"{text}\n")


@contextlib.contextmanager
def shown(console: Console, *, lines: bool) -> Iterator[Tell]:
    """Show the progress by a bar on a terminal; elsewhere by a few lines, or not at all."""
    if lines and not console.is_terminal:
        yield lambda what, done, of: _say(console, what, done, of)
        return
    with Progress(*columns(console.width), console=console, transient=True, disable=not console.is_terminal) as bars:
        task = bars.add_task("", total=None, state="")
        yield lambda what, done, of: bars.update(task, description=what, completed=done, total=of)


def _say(console: Console, what: str, done: int, of: int) -> None:
    """Print a line at the begin and for each finished part."""
    if done == 0:
        say(console, f"{what} ...")
    elif done * PARTS // of > (done - 1) * PARTS // of:
        say(console, f"{what}: {done} of {of}")

"""``spillway conformance -- COMMAND ...``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from spillway.base.arguments import Parser, natural, seconds

if TYPE_CHECKING:
    from spillway.experiments.trials.report import Rows
    from spillway.experiments.trials.subject import Scheduler
    from spillway.experiments.trials.verdict import Extent, Failure

HELP = "whether a scheduler keeps the promises of its discipline, over Batsim 4's protocol"
DESCRIPTION = (
    "Play small adversarial worlds with any scheduler that speaks Batsim 4's protocol, watch both directions, keep an "
    "own account, and say in words what was broken: resources over-committed, a second resource not reserved, a wrong "
    "shadow time, promises broken, spare nodes ignored."
)
EPILOG = "Exit codes: 0 every case passed; 1 a case failed; 2 wrong input, or no scheduler that runs a single job."
EXAMPLES = """
spillway conformance --policy easy
spillway conformance -- python my_scheduler.py --bind {socket}
spillway conformance --discipline fcfs --resources nodes -- batsched -v fcfs -s tcp://*:{port}
spillway conformance --policy all --out conformance.md
"""

FAILED = 1
"""Exit code where a case failed."""

WORLDS, WORLDS_OF_PROCESSES = 200, 10
"""Random worlds where none are requested: of a policy in this process, of a scheduler in processes of its own."""

TRIES, TRIES_WHERE_MANY = 400, 60
"""Worlds that are tried to make a failure smaller: elsewhere; where each is a process or there are many policies."""

ALL = "all"
"""Stands for every policy of ours."""


def add_arguments(parser: Parser) -> None:
    """Add what the command takes."""
    from spillway.experiments.trials.disciplines import DISCIPLINES

    parser.add_argument(
        "words", nargs="*", metavar="COMMAND", help="starts the scheduler; {socket} stands for the endpoint, or {port}"
    )
    add = parser.add_argument_group("what is tested").add_argument
    add("--policy", metavar="NAME[:k=v,...]", help="a policy of ours, in this process; 'all': a table of every one")
    add("--discipline", choices=tuple(DISCIPLINES), help="what the scheduler claims to be (easy)")
    add("--resources", choices=("nodes", "nodes+bb"), default="nodes+bb", help="what jobs request (%(default)s)")
    add("--worlds", type=natural, metavar="N", help=f"random worlds ({WORLDS}; of a command {WORLDS_OF_PROCESSES})")
    add("--seed", type=natural, default=0, metavar="N", help="seed of the random worlds (%(default)s)")
    add("--world", metavar="JSON", help="only this world, as a failure printed it")
    add("--silence", type=seconds, default=60.0, metavar="S", help="longest time to a reply of a command (%(default)s)")
    add = parser.add_argument_group("what is written").add_argument
    add("--out", type=Path, metavar="FILE", help="the report as Markdown")
    add("--json", type=Path, metavar="FILE", help="the report as JSON")


def command(options: argparse.Namespace) -> int:
    """Test, print, write."""
    from spillway.experiments.run.errors import SpecError
    from spillway.experiments.trials.verdict import Extent

    if bool(options.words) == bool(options.policy):
        raise SpecError("expected either --policy NAME or a command after --: spillway conformance -- PROGRAM {socket}")
    worlds = options.worlds
    if worlds is None:
        worlds = WORLDS_OF_PROCESSES if options.words else WORLDS
    tries = TRIES_WHERE_MANY if options.words or options.policy == ALL else TRIES
    extent = Extent(worlds, options.seed, buffers=options.resources != "nodes", tries=tries)
    if options.policy == ALL:
        if options.discipline or options.world:
            raise SpecError(
                "--policy all tests every discipline: leave --discipline and --world out, or name one policy"
            )
        return _all(options, extent)
    return _one(options, extent, options.discipline or "easy")


def _one(options: argparse.Namespace, extent: Extent, discipline: str) -> int:
    """One scheduler, one discipline."""
    from rich.console import Console

    from spillway.experiments.trials.report import count, shown, story, verdict_rows
    from spillway.experiments.trials.suite import verdicts
    from spillway.experiments.trials.verdict import FAILS

    subject, tested = _subject(options)
    if options.world is not None:
        return _world(options, subject, discipline)
    with shown(Console(stderr=True), lines=False) as tell:
        found = verdicts(subject, discipline, extent, tell)
    stories = [[one.name, *story(failure, discipline, tested)] for one in found for failure in one.failures]
    title = f"{subject.name} as {discipline}: {count(found)}"
    _report(options, title, verdict_rows(found), stories)
    _write_json(options, scheduler=subject.name, discipline=discipline, verdicts=found)
    return FAILED if any(one.result == FAILS for one in found) else 0


def _world(options: argparse.Namespace, subject: Scheduler, discipline: str) -> int:
    """One world."""
    from spillway.experiments.trials.disciplines import DISCIPLINES
    from spillway.experiments.trials.report import plain_story
    from spillway.experiments.trials.suite import judged
    from spillway.experiments.trials.world import PLAIN, world_from

    world = world_from(options.world, PLAIN)
    print("\n".join(plain_story(world)))
    faults = judged(subject, world, frozenset(DISCIPLINES[discipline]))
    print("\n".join(f"{name}: {words}" for name, words in faults.items()) or f"{discipline}: nothing is broken")
    return FAILED if faults else 0


def _all(options: argparse.Namespace, extent: Extent) -> int:
    """Every policy of ours, every discipline."""
    from rich.console import Console

    from spillway.base.errors import OptionError
    from spillway.experiments.run.errors import SpecError
    from spillway.experiments.trials.report import CLAIMS, shown, standing_rows, story
    from spillway.experiments.trials.subject import Own
    from spillway.experiments.trials.suite import standing
    from spillway.schedulers.policies import POLICIES

    found: dict[str, dict[str, dict[str, Failure]] | str] = {}
    with shown(Console(stderr=True), lines=False) as tell:
        for place, name in enumerate(POLICIES):
            tell("policies", place, len(POLICIES))
            try:
                found[name] = standing(Own(name), extent)
            except (OptionError, SpecError) as error:
                found[name] = str(error)
    stories = [
        [f"{name} as {claim}", *story(failure, claim, f"--policy {name}")]
        for name, broken in found.items()
        if not isinstance(broken, str)
        for claim in (CLAIMS.get(name, "any"),)
        for failure in broken[claim].values()
    ]
    reasons = [[f"{name}: not applicable: {reason}"] for name, reason in found.items() if isinstance(reason, str)]
    _report(options, "our policies by discipline (* what they claim)", standing_rows(found), stories + reasons)
    _write_json(options, policies=found)
    return FAILED if stories else 0


def _subject(options: argparse.Namespace) -> tuple[Scheduler, str]:
    """What is tested, and how the command line names it."""
    import shlex

    from spillway.experiments.trials.subject import Command, Own

    if options.policy:
        return Own(options.policy), f"--policy {shlex.quote(options.policy)}"
    return Command(tuple(options.words), options.silence), f"-- {shlex.join(options.words)}"


def _report(options: argparse.Namespace, title: str, rows: Rows, stories: list[list[str]]) -> None:
    """Print the table and the failures; write them where that is requested."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from spillway.base import durable
    from spillway.experiments.trials.report import markdown

    head, *body = rows
    table = Table(*head, title=escape(title), title_justify="left")
    for row in body:
        table.add_row(*map(escape, row))
    console = Console()
    console = console if console.is_terminal else Console(width=160)
    console.print(table)
    for lines in stories:
        print("\n".join(["", lines[0], *(f"  {line}" for line in lines[1:])]))
    if options.out is not None:
        durable.write_text(options.out, markdown(title, rows, stories))


def _write_json(options: argparse.Namespace, **members: object) -> None:
    from spillway.base import durable
    from spillway.experiments.trials.report import as_json

    if options.json is not None:
        durable.write_text(options.json, as_json(**members))

"""``spillway conformance -- COMMAND ...``."""

from __future__ import annotations

import argparse
from pathlib import Path

from spillway.base.arguments import Parser, natural, seconds

HELP = "whether a scheduler keeps the promises of its discipline, over Batsim's protocol"
DESCRIPTION = (
    "Play small adversarial worlds with any scheduler that speaks Batsim 4's or Batsim 5's protocol, watch both "
    "directions, keep an own account, and report violations in words: resources over-committed, a second resource "
    "not reserved, a wrong shadow time, promises broken, spare nodes ignored."
)
EPILOG = "Exit codes: 0 every case passed; 1 a case failed; 2 wrong input, or no scheduler that runs a single job."
EXAMPLES = """
spillway conformance --policy easy
spillway conformance -- python my_scheduler.py --bind {socket}
spillway conformance --discipline fcfs --resources nodes -- batsched -v fcfs -s tcp://*:{port}
spillway conformance --batsim 5 -- spillway serve easy --bind {socket}
spillway conformance --policy all --out conformance.md
spillway conformance slurm --out starvation.md --figure starvation.png
spillway conformance slurm --policy mine.py:Greedy
spillway conformance slurm --live --record runs
"""

WORLDS, WORLDS_OF_PROCESSES = 200, 10
"""Default numbers of random worlds: for a policy in this process, for a scheduler in processes of its own."""

TRIES, TRIES_WHERE_MANY = 400, 60
"""Worlds tried to make a failure smaller: by default; if each is a process or there are many policies."""

ALL = "all"
"""Stands for every policy of ours."""


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    from spillway.experiments.trials.disciplines import DISCIPLINES

    parser.add_argument(
        "words", nargs="*", metavar="COMMAND", help="starts the scheduler; {socket} stands for the endpoint, or {port}"
    )
    add = parser.add_argument_group("tests").add_argument
    add("--policy", metavar="NAME[:k=v,...]", help="a policy of ours, in this process; 'all': a table of every one")
    add("--discipline", choices=tuple(DISCIPLINES), help="discipline of the scheduler (easy)")
    add("--resources", choices=("nodes", "nodes+bb"), default="nodes+bb", help="requests of jobs (%(default)s)")
    add("--worlds", type=natural, metavar="N", help=f"random worlds ({WORLDS}; of a command {WORLDS_OF_PROCESSES})")
    add("--seed", type=natural, default=0, metavar="N", help="seed of the random worlds (%(default)s)")
    add("--world", metavar="JSON", help="only this world, as a failure printed it")
    add("--batsim", type=int, choices=(4, 5), default=4, metavar="4|5", help="protocol of the command (%(default)s)")
    add("--silence", type=seconds, default=60.0, metavar="S", help="longest time to a reply of a command (%(default)s)")
    add = parser.add_argument_group("output").add_argument
    add("--out", type=Path, metavar="FILE", help="the report as Markdown")
    add("--json", type=Path, metavar="FILE", help="the report as JSON")
    add = parser.add_argument_group("with 'slurm' as COMMAND: starvation for a second resource").add_argument
    add("--live", action="store_true", help="run a real Slurm now (root; some minutes), else show a recorded one")
    add("--record", type=Path, metavar="DIR", help="keep its recordings")
    add("--replay", type=Path, metavar="DIR", help="show the recordings of --record")
    add("--figure", type=Path, metavar="FILE", help="waits by scheduler, as a picture (.png, .svg, .pdf)")


def command(options: argparse.Namespace) -> int:
    """Test, print, write."""
    from spillway.experiments.run.errors import SpecError
    from spillway.experiments.trials import starvation_report
    from spillway.experiments.trials.conformance import try_every_policy, try_one
    from spillway.experiments.trials.verdict import Extent

    if options.words[:1] == [starvation_report.SUBJECT]:
        return starvation_report.command(options)
    for name in ("live", "record", "replay", "figure"):
        if getattr(options, name):
            raise SpecError(f"--{name} is about starvation for a second resource: spillway conformance slurm --{name}")
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
        return try_every_policy(options, extent)
    return try_one(options, extent, options.discipline or "easy")

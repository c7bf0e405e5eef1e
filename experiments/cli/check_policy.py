"""``spillway check-policy POLICY``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from spillway.base.arguments import Parser, natural, positive

if TYPE_CHECKING:
    from spillway.experiments.trials.checks.house import Failure, Verdict

HELP = "whether a policy keeps the rules of the house, on small random worlds"
DESCRIPTION = (
    "Play small random worlds under a policy: every job model, bandwidth scheduled or not, outages, changed options, "
    "both players. A check that fails is shown with the smallest world that was found, and how to play it again."
)
EPILOG = "Exit codes: 0 every check passed; 1 a check failed; 2 wrong input."
EXAMPLES = """
spillway check-policy ./mine.py
spillway check-policy mine.py:Greedy --cases 20 --seed 7
spillway check-policy easy
"""

FAILED = 1
"""Exit code where a check failed."""


def add_arguments(parser: Parser) -> None:
    """Add what the command takes."""
    parser.add_argument(
        "policy",
        metavar="POLICY",
        help="name of a policy, FILE.py, FILE.py:CLASS or MODULE:CLASS (options are varied by the check itself)",
    )
    group = parser.add_argument_group("worlds")
    group.add_argument(
        "--cases",
        type=positive,
        default=2,
        metavar="N",
        help="worlds per job model and way of booking bandwidth, and half as many with outages (%(default)s)",
    )
    group.add_argument("--seed", type=natural, default=0, metavar="N", help="seed of the worlds (%(default)s)")
    group.add_argument(
        "--cpu",
        type=_seconds,
        metavar="S",
        help="seconds of CPU time after which the play of one world is interrupted (3); compiled code: when it returns",
    )
    group.add_argument("--case", metavar="JSON", help="only this world, as a failed check printed it")


def command(options: argparse.Namespace) -> int:
    """Check, and print what was found."""
    from rich.console import Console

    from spillway.base.errors import OptionError
    from spillway.base.plugins import split_spec
    from spillway.experiments.trials.checks.display import shown
    from spillway.experiments.trials.checks.house import Extent, check, check_one
    from spillway.experiments.trials.checks.limit import CPU_S
    from spillway.experiments.trials.checks.world import world_from

    policy, given = split_spec(options.policy)
    if given:
        raise OptionError("check-policy varies the options by itself: give the policy without them")
    cpu_s = CPU_S if options.cpu is None else options.cpu
    if options.case is not None:
        verdict = check_one(policy, world_from(options.case), cpu_s)
    else:
        with shown(Console()) as tell:
            verdict = check(policy, Extent(options.cases, options.seed, cpu_s=cpu_s), tell)
    print("\n".join(report(policy, verdict)))
    return FAILED if verdict.failures else 0


def report(policy: str, verdict: Verdict) -> list[str]:
    """The lines of the answer."""
    from spillway.experiments.trials.checks.house import CHECKS

    lines = [f"{policy}: {verdict.worlds} worlds"]
    lines += [f"  not played with --model {model}: {reason}" for model, reason in verdict.refused.items()]
    for name, meaning in CHECKS.items():
        failure = verdict.failures.get(name)
        if name in verdict.unseen:
            lines.append(f"  not seen {name}: only where the others pass")
        elif failure is None:
            lines.append(f"  passed  {name}: {meaning}")
        else:
            lines += [f"  FAILED  {name}: {failure.words}", *_story(policy, failure)]
    return lines


def _story(policy: str, failure: Failure) -> list[str]:
    """The world of a failure, and the command that plays it again."""
    import shlex

    world = failure.world
    settings = ", ".join(f"{key}={value}" for key, value in {**world.settings, **world.options}.items())
    lines = [f"          smallest world found: --model {world.model}{f', {settings}' if settings else ''}"]
    for number, job in enumerate(world.jobs):
        parts = [f"job {number}: at {job.submit_s} s, {job.nodes} nodes, runs {job.seconds:g} s"]
        parts += [] if job.walltime_s is None else [f"walltime {job.walltime_s} s"]
        parts += [f"{job.bb_gb} GB of burst buffer per node"] if job.bb_gb else []
        parts += [f"{job.io_rate_mb_s} MB/s per node"] if job.io_rate_mb_s else []
        lines.append("            " + ", ".join(parts))
    for change in world.changes:
        what = "come back" if change.back else "are out"
        lines.append(f"            at {change.time_s:g} s hosts {' '.join(map(str, change.hosts))} {what}")
    command = ["spillway", "check-policy", policy, "--case", world.text()]
    return [*lines, f"          again: {shlex.join(command)}"]


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0.1 <= seconds <= 86_400:
        raise argparse.ArgumentTypeError(f"expected seconds from 0.1 to 86400, got {text!r}")
    return seconds

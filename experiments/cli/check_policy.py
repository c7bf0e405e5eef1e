"""``spillway check-policy POLICY``."""

from __future__ import annotations

import argparse

from spillway.base.arguments import Parser, natural, positive, tell

HELP = "check on small random worlds that a policy keeps the rules of every scheduler"
DESCRIPTION = (
    "Play small random worlds under a policy: every job model, bandwidth scheduled or not, outages, changed options, "
    "both players. A check that fails is shown with the smallest world that was found, and the command to repeat it."
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
    """Add the arguments of the command."""
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
    """Check, and print the findings."""
    from spillway.analysis.document.terminal import terminal
    from spillway.base.errors import OptionError
    from spillway.base.plugins import split_spec
    from spillway.experiments.trials.checks import check, check_one
    from spillway.experiments.trials.report import findings_lines, shown
    from spillway.experiments.trials.verdict import FAILS, Extent
    from spillway.experiments.trials.watch import CPU_S
    from spillway.experiments.trials.world import CASE, world_from

    policy, given = split_spec(options.policy)
    if given:
        raise OptionError("check-policy varies the options by itself: give the policy without them")
    cpu_s = CPU_S if options.cpu is None else options.cpu
    if options.case is not None:
        found = check_one(policy, world_from(options.case, CASE), cpu_s)
    else:
        with shown(terminal(), lines=True) as show_progress:
            found = check(policy, Extent(options.cases, options.seed, cpu_s=cpu_s), show_progress)
    tell("\n".join(findings_lines(policy, found)))
    return FAILED if any(verdict.result == FAILS for verdict in found.verdicts) else 0


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0.1 <= seconds <= 86_400:
        raise argparse.ArgumentTypeError(f"expected seconds from 0.1 to 86400, got {text!r}")
    return seconds

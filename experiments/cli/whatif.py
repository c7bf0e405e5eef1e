"""``spillway whatif``: one knob at a time against the site's own schedule."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from spillway.base.arguments import Parser, add_declared, natural
from spillway.experiments.cli.arguments import (
    RESULTS,
    add_conduct,
    add_logs,
    add_seeds,
    conduct_of,
)

if TYPE_CHECKING:
    from spillway.experiments.campaign.whatif.questions import Question

HELP = "an operator's question: another machine, load or policy, against the site's own schedule"
DESCRIPTION = (
    "Play a log as its site did, under a policy, and under the same policy with one setting changed at a time. The "
    "log's own schedule is the baseline where the log states when jobs started; a setting's own effect is the "
    "difference to the same policy without it, on the same jobs. Each setting is played again with slightly shaken "
    "submissions and run times: a difference that these plays do not confirm is not reported as one."
)
EXAMPLES = """
spillway whatif mine.swf --set storage.capacity=x1.2 --set pfs.bandwidth=x0.5 --set policy=plan
spillway whatif mine.swf --set nodes=x0.9,load=x0.9 --set walltime=24h --together
spillway whatif kth-like:jobs=500 --policy sjf-easy --set load=0.9 --seeds 5
"""


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command, in groups."""
    from spillway.experiments.campaign.whatif.knobs import KNOBS

    add_logs(parser.add_argument_group("jobs"))
    group = parser.add_argument_group("changes")
    known = "; ".join(f"{name}: {words}" for name, words in KNOBS.items()).replace("%", "%%")
    group.add_argument(
        "--set",
        action="append",
        required=True,
        metavar="NAME=VALUE[,NAME=VALUE...]",
        help=f"one change, or several at once; VALUE is a factor (x1.2, +20%%), an amount more or less (+40TB, -2), or "
        f"a new value with its unit (200GB). {known}. May be repeated: each is tried separately",
    )
    group.add_argument("--together", action="store_true", help="also try all of them at once")
    add_question(parser)


def add_question(parser: Parser) -> None:
    """Add the options of a question except its log and its changes."""
    from spillway.experiments.cli.run import add_machine
    from spillway.experiments.run.spec import Playing
    from spillway.schedulers.assembly import Settings
    from spillway.workloads.logs.reading import add_reading

    parser.set_defaults(title="whatif", options=[], thesis_literal=False)
    add_reading(parser)
    add_machine(parser)
    add_declared(parser.add_argument_group("settings of the session"), Settings)
    group = parser.add_argument_group("simulation and output")
    add = group.add_argument
    words = "policy beside the log's own (easy)"
    add("-p", "--policy", default=["easy"], type=_alone, metavar="NAME[:KEY=VALUE,...]", help=words)
    words = "job model (default: as for 'run')"
    add("--model", default=[], type=_alone, metavar="NAME[:KEY=VALUE,...]", help=words)
    add_seeds(group, "number of seeds (generators: 5, logs: 1)")
    words = "repetitions of each setting with shaken input (default: 10 with fewer than 5 seeds)"
    add("--shakes", type=natural, default=None, metavar="N", help=words)
    add_declared(group, Playing)
    add_conduct(parser)


def command(options: argparse.Namespace) -> int:
    """Play all settings, print the table and a sentence for each."""
    from spillway.experiments.campaign.comparison import play_grids
    from spillway.experiments.campaign.folder.places import default_folder

    question = asked(options, options.set, together=options.together)
    out = options.out or default_folder(question.grids[0], RESULTS, "whatif-")
    return play_grids(question.grids, out, options, question.answer)


def asked(options: argparse.Namespace, changes: Sequence[str], *, together: bool = False) -> Question:
    """The question about these changes."""
    from spillway.experiments.campaign.comparison import campaign_of
    from spillway.experiments.campaign.whatif.questions import question_of

    return question_of(
        campaign_of(options, most=1),
        changes,
        seeds=options.seeds,
        shakes=options.shakes,
        together=together,
        force=conduct_of(options).force,
    )


def _alone(text: str) -> list[str]:
    return [text]

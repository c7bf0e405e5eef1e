"""``spillway answer LOG [SITE]``: who waits, what binds and what would help, on one page."""

from __future__ import annotations

import argparse

from spillway.base.arguments import Parser
from spillway.experiments.cli.arguments import RESULTS, logs_of

HELP = "one page about a log: who waits, what binds, and the three changes that would help most"
DESCRIPTION = (
    "Play a log as its site did and under a policy, and say which jobs wait and which resource binds in both. Then try "
    "changes of policy, capacity, limits and maintenance as 'spillway whatif' does, and name the three that save most "
    "waiting node-hours, with their band and price. Parts of the log that are not read or not played come first."
)
EXAMPLES = """
spillway answer jobs.txt site.toml --policy slurm-backfill
spillway answer kth --first 5000
"""


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command, in groups."""
    from spillway.experiments.cli.whatif import add_question

    group = parser.add_argument_group("jobs")
    group.add_argument("log", metavar="LOG", help="log or Batsim workload, as 'spillway run' takes it")
    words = "file of the site ('spillway site import'); the same as --site"
    group.add_argument("described", nargs="?", default="", metavar="SITE", help=words)
    group.add_argument("--first", type=int, default=None, metavar="N", help="only the first N records of the log")
    add_question(parser)


def command(options: argparse.Namespace) -> int:
    """Play the log and its changes, print and write the page."""
    from pathlib import Path

    from spillway.experiments.campaign.comparison import platform_of, play_grids
    from spillway.experiments.campaign.folder.places import default_folder
    from spillway.experiments.campaign.whatif.knobs import chooses_buffers
    from spillway.experiments.campaign.whatif.site_answer import SiteAnswer, candidates
    from spillway.experiments.cli.whatif import asked
    from spillway.experiments.run.sessions import parse_policy
    from spillway.schedulers.model.site import parse_site
    from spillway.schedulers.site_file import site_setting

    options.logs, options.workload = [options.log], []
    options.site = options.described or options.site
    platform, policy = platform_of(options), parse_policy(*options.policy)
    site = parse_site(site_setting(options.site)) if options.site else None
    question = asked(options, candidates(platform, site, policy.policy))
    answer = SiteAnswer(
        question.answer, Path(logs_of(options, 1)[0]).name, states_buffers=not chooses_buffers(platform), trust=True
    )
    out = options.out or default_folder(question.grids[0], RESULTS, "answer-")
    return play_grids(question.grids, out, options, answer)

"""``spillway campaign [CAMPAIGN.toml]``."""

from __future__ import annotations

import argparse
from pathlib import Path

from spillway.base.arguments import Parser
from spillway.experiments.cli.arguments import RESULTS, add_conduct, conduct_of

HELP = "a campaign from its file; without one, the demo"
DESCRIPTION = (
    "Play every combination of workloads, machines, policies, job models and seeds of a campaign file, and compare. "
    "Finished runs are kept: the same command continues."
)
EPILOG = "Exit codes: 0 all runs finished; 1 a run failed; 2 wrong input; 130 stopped by Ctrl-C."
EXAMPLES = """
spillway campaign
spillway campaign campaign.toml --workers 4
"""

DEMO = Path(__file__).parents[1] / "campaign" / "demo.toml"


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("campaign", nargs="?", type=Path, metavar="CAMPAIGN.toml", help="default: the demo campaign")
    add_conduct(parser)


def command(options: argparse.Namespace) -> int:
    """Play it."""
    from spillway.experiments.campaign.campaign_file import read_campaign
    from spillway.experiments.campaign.comparison import play_grids
    from spillway.experiments.run.errors import SpecError

    path: Path = options.campaign or DEMO
    if path.suffix != ".toml":
        raise SpecError(f"expected a campaign file (.toml), got {str(path)!r}")
    campaign = read_campaign(path, conduct_of(options).max_runs)
    return play_grids([campaign], options.out or RESULTS / path.stem, options)

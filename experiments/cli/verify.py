"""``spillway verify DIR``."""

from __future__ import annotations

import argparse
from pathlib import Path

from spillway.base.arguments import Parser

HELP = "whether runs and campaigns are as they were written"
DESCRIPTION = (
    "Check that results are as they were written: every run's files and inputs and a campaign's tables, against their "
    "sizes and checksums. Each damaged file is named with its fault."
)
EPILOG = (
    "Exit codes: 0 all whole (failed runs are named, they hold no result); 1 something is damaged; 2 there is nothing "
    "to verify."
)
EXAMPLES = """
spillway verify results
"""


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("folder", type=Path, metavar="DIR", help="a run, a campaign, or a folder with several of them")


def command(options: argparse.Namespace) -> int:
    """Print the damage."""
    from spillway.experiments.campaign.folder.verify import verify

    return verify(options.folder, print)

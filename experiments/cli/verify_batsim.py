"""``spillway verify-batsim``."""

from __future__ import annotations

import argparse
from pathlib import Path

from spillway.base.arguments import Parser

HELP = "the embedded simulator against the real Batsim"
DESCRIPTION = (
    "Run fixed pairs of runs on the real Batsim and on the embedded simulator, and print their differences. Batsim "
    "is the program that the environment variable BATSIM names, else 'batsim' on PATH."
)
EPILOG = (
    "Exit codes: 0 all pairs are equal up to 2e-5 s; 1 a larger difference, or a run failed; 2 wrong input; 77 "
    "skipped, there is no Batsim."
)
EXAMPLES = """
BATSIM=/opt/batsim/bin/batsim spillway verify-batsim
BATSIM=/opt/batsim5/bin/batsim spillway verify-batsim --batsim 5
"""


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("--only", action="append", default=[], metavar="PAIR", help="this pair; may be repeated")
    parser.add_argument("--batsim", type=int, choices=(4, 5), default=4, help="version of Batsim (%(default)s)")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="new folder for the files of all runs")


def command(options: argparse.Namespace) -> int:
    """Run the pairs."""
    from spillway.experiments.trials.verify_batsim import command as verify_batsim

    return verify_batsim(options.only, options.keep, options.batsim)

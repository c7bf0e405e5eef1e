"""``spillway explain RUN JOB``."""

from __future__ import annotations

import argparse
import sys
import textwrap
from pathlib import Path

from spillway.base.arguments import Parser

HELP = "why a job waited"
DESCRIPTION = "Print why a job waited. Where the run kept no reasons (--explain), it is repeated first."
EXAMPLES = """
spillway explain results/mine-1a2b3c4/runs/easy_mine 12
"""


def add_arguments(parser: Parser) -> None:
    """Add what the command takes."""
    parser.add_argument("run", type=Path, metavar="RUN", help="folder of a finished run")
    parser.add_argument("job", metavar="JOB", help="job id: 12, or w0!12")


def command(options: argparse.Namespace) -> int:
    """Print the reasons."""
    from spillway.experiments.run.explain import explain

    for line in explain(options.run, options.job, lambda text: print(text, file=sys.stderr, flush=True)):
        print(textwrap.fill(line, 100))
    return 0

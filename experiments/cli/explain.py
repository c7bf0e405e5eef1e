"""``spillway explain RUN JOB``."""

from __future__ import annotations

import argparse
import sys
import textwrap
from pathlib import Path

from spillway.base.arguments import Parser, tell
from spillway.base.errors import printable

HELP = "the reasons why a job waited"
DESCRIPTION = "Print the reasons why a job waited. A run that kept no reasons (--explain) is repeated first."
EXAMPLES = """
spillway explain results/mine-1a2b3c4/mine_easy_fluid-rigid_s0_5d6e7f80 12
"""


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("run", type=Path, metavar="RUN", help="folder of a finished run")
    parser.add_argument("job", metavar="JOB", help="job id: 12, or w0!12")
    words = "let code that the folder names (a policy's FILE.py:CLASS) run, where the run is repeated"
    parser.add_argument("--trust", action="store_true", help=words)


def command(options: argparse.Namespace) -> int:
    """Print the reasons."""
    from spillway.experiments.run.explain import explain

    for line in explain(options.run, options.job, lambda text: tell(text, to=sys.stderr), trust=options.trust):
        tell(textwrap.fill(printable(line), 100))
    return 0

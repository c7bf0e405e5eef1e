"""``spillway workload ACTION``: logs and workloads, the same program as ``python -m workloads``."""

from __future__ import annotations

import argparse

from inputs.arguments import Parser

HELP = "logs and workloads: list, fetch, info, convert, split, draw, fit"
EXAMPLES = """
spillway workload info mine.swf
spillway workload convert mine.swf --out mine.json
spillway workload synth kth-like:jobs=500,seed=3 --out synthetic.swf
"""


def add_arguments(parser: Parser) -> None:
    """Add the actions."""
    from workloads.cli import add_actions

    add_actions(parser)


def command(options: argparse.Namespace) -> int:
    """Run the action that was chosen."""
    from workloads.cli import act

    return act(options)

"""``spillway platform ACTION``: machines, the same program as ``python -m platforms``."""

from __future__ import annotations

import argparse

from inputs.arguments import Parser

HELP = "machines: list, generate, annotate, check, draw"
EXAMPLES = """
spillway platform list
spillway platform check machine.toml
spillway platform draw thesis --out thesis.png
"""


def add_arguments(parser: Parser) -> None:
    """Add the actions."""
    from platforms.__main__ import add_actions

    add_actions(parser)


def command(options: argparse.Namespace) -> int:
    """Run the action that was chosen."""
    return int(options.run(options))

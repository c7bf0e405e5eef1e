"""``spillway serve POLICY``: the scheduler as a service."""

from __future__ import annotations

import argparse

from spillway.base.arguments import Parser

HELP = "the scheduler as a service for Batsim 4 and 5"
DESCRIPTION = "Schedule one simulation of Batsim 4 or 5, or of our own simulator, over ZeroMQ."
EPILOG = (
    "Exit codes: 0 the simulation ended; 1 a decision was refused, or --replay answers otherwise; 2 wrong input, also "
    "from the simulator; 3 the simulator went silent or has gone; 128 + n stopped by signal n."
)
EXAMPLES = """
spillway serve easy
spillway serve plan:seed=3 --bind tcp://*:28000 --record conversation.jsonl
spillway serve easy --replay conversation.jsonl
"""


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    from spillway.schedulers.service.command import add_arguments as add

    add(parser)


def command(options: argparse.Namespace) -> int:
    """Serve."""
    from spillway.schedulers.service.command import command as serve

    return serve(options)

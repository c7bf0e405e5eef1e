"""``spillway simulate``: the simulator as a process."""

from __future__ import annotations

import argparse

from spillway.base.arguments import Parser

HELP = "the simulator in place of Batsim 4, with Batsim's options"
EXAMPLES = """
spillway simulate -p platform.xml -w workload.json -s tcp://localhost:28000 -e out/run
"""


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    from spillway.simulator.wire.command_line import add_arguments as add

    add(parser)


def command(options: argparse.Namespace) -> int:
    """Simulate."""
    from spillway.simulator.wire.command import command as simulate

    return simulate(options)

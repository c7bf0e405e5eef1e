"""``spillway simulate``: the simulator as a process, the same program as ``python -m simulator``."""

from __future__ import annotations

import argparse

from inputs.arguments import Parser

HELP = "the simulator in place of Batsim 4, with Batsim's options"
EXAMPLES = """
spillway simulate -p platform.xml -w workload.json -s tcp://localhost:28000 -e out/run
"""


def add_arguments(parser: Parser) -> None:
    """Add what the command takes."""
    from simulator.command_line import add_arguments as add

    add(parser)


def command(options: argparse.Namespace) -> int:
    """Simulate."""
    from simulator.__main__ import command as simulate

    return simulate(options)

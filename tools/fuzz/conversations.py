"""Fuzz conversations: ``python -m tools.fuzz conversations --seconds 60``.

Conversations take all pairs of policy and job model in turn. Each has its own seed, so that a failure is played again
by the command that is printed with it.
"""

from __future__ import annotations

import argparse
import time
import traceback
from random import Random

from tools.fuzz.play import ConversationResults, play
from tools.fuzz.table import Tally


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return 1 if there are findings."""
    options = _parser().parse_args(arguments)
    if options.socket:
        from tools.fuzz.socket_peer import play_over_sockets

        return play_over_sockets(options.seed, options.messages or 10_000, options.seconds)
    tally = Tally()
    until_s = time.monotonic() + options.seconds if options.seconds else float("inf")
    number = options.first
    while time.monotonic() < until_s and (not options.messages or tally.messages < options.messages):
        if options.conversations and number >= options.first + options.conversations:
            break
        found = one(options.seed, number, tally, outages=not options.no_outages, check_every=options.check_every)
        if found:
            print(found, flush=True)
            if tally.findings >= options.stop_after:
                break
        number += 1
    print(tally)
    return 1 if tally.findings else 0


def one(seed: int, number: int, tally: Tally, *, outages: bool = True, check_every: int = 1) -> str:
    """Play one conversation; return the description of a finding, or an empty text."""
    try:
        played: ConversationResults = play(Random(f"{seed}/{number}"), number, outages=outages, check_every=check_every)
    except Exception as error:
        tally.found(error)
        command = f"python -m tools.fuzz conversations --seed {seed} --first {number} --conversations 1"
        return f"{''.join(traceback.format_exception(error, limit=-6))}play again: {command}\n"
    tally.add(played)
    return ""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz conversations", description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, metavar="N", help="stop after so long")
    parser.add_argument("--messages", type=int, metavar="N", help="stop after so many messages")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="of all that is drawn (1)")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="number of the first conversation (0)")
    parser.add_argument("--conversations", type=int, metavar="N", help="stop after so many conversations")
    parser.add_argument("--check-every", type=int, default=1, metavar="N", help="compare books every N messages (1)")
    parser.add_argument("--stop-after", type=int, default=20, metavar="N", help="stop after so many findings (20)")
    parser.add_argument("--no-outages", action="store_true", help="all machines stay available")
    parser.add_argument("--socket", action="store_true", help="talk to service processes over ZeroMQ (10,000 messages)")
    return parser

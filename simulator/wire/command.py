"""``spillway simulate -p PLATFORM -w WORKLOAD -s ENDPOINT -e PREFIX ...``: Batsim's part, with Batsim 4's options.

With ``--batsim 5`` it speaks that version's protocol, in which the scheduler's hello requests the same settings.

Exit codes: 0 the simulation ended (also in a deadlock, as with Batsim), 1 the scheduler broke a rule, 2 an input or
option is wrong or the scheduler ended the conversation, 3 the scheduler does not answer or has disconnected, 4 deadlock
with ``--fail-on-deadlock``, 130 interrupted.
"""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from typing import NoReturn

from spillway.base.arguments import complain, play, tell
from spillway.platforms.simgrid.xml_reader import load_platform
from spillway.protocol.batsim4 import codec as batsim4
from spillway.protocol.batsim5.codec import Batsim5Simulator
from spillway.protocol.messages import Message
from spillway.simulator.engines.by_name import ENGINES
from spillway.simulator.options import BATSIM_5, SimulationOptions
from spillway.simulator.reading.workload import load_workload
from spillway.simulator.wire.broker import Simulation, SimulationResult
from spillway.simulator.wire.command_line import CommandLine, build_parser, information, read_command_line
from spillway.simulator.wire.command_line import add_arguments as add_arguments
from spillway.simulator.wire.handshake import shake_hands
from spillway.simulator.wire.links import InProcessLink, Link
from spillway.simulator.wire.zmq_link import ZmqLink

HELP = "the simulator in place of Batsim 4, with Batsim's options"
EXAMPLES = """
spillway simulate -p platform.xml -w workload.json -s tcp://localhost:28000 -e out/run
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    parser = build_parser()
    parser.set_defaults(handler=command)
    return play(parser, arguments)


def command(options: argparse.Namespace) -> int:
    """Simulate, or print the information that an option requests."""
    text = information(options)
    if text is not None:
        tell(text)
        return 0
    given = read_command_line(options)
    result = simulate(given)
    if not given.quiet:
        complain(_story(result), is_error=False)
    return 0


def simulate(command: CommandLine) -> SimulationResult:
    """Load everything, simulate, write the files."""
    platform, rules = load_platform(command.platform), command.options.rules
    workloads = [load_workload(path, f"w{number}", rules) for number, path in enumerate(command.workloads)]
    with ExitStack() as stack:
        engine = ENGINES[command.engine](platform, command.platform)
        stack.enter_context(engine)
        link, options = _link(command, stack)
        simulation = Simulation(platform, workloads, engine, link, options)
        gc.freeze()  # all loaded objects stay until the end
        return simulation.run()


def _link(command: CommandLine, stack: ExitStack) -> tuple[Link, SimulationOptions]:
    """The link to the scheduler, after the handshake of its protocol, if any, and the options that then apply."""
    options = command.options
    if options.no_scheduler:
        return InProcessLink(_no_receiver), options
    codec = Batsim5Simulator() if options.rules is BATSIM_5 else batsim4
    link = ZmqLink(command.endpoint, command.peer_timeout_s, command.max_message_bytes, codec=codec)
    stack.callback(link.close)
    return link, shake_hands(link, codec, options) if isinstance(codec, Batsim5Simulator) else options


def _no_receiver(message: Message) -> NoReturn:
    raise AssertionError(f"there is no scheduler, but a message was sent to it: {message!r}")


def _story(result: SimulationResult) -> str:
    totals = result.totals
    end = "deadlock" if result.deadlocked else "end"
    return (
        f"{end} at {result.end_s:.6f} s; {totals.jobs} jobs, {totals.success} successful, {totals.killed} "
        f"killed or failed, {totals.rejected} rejected; {result.messages} messages; wrote {', '.join(result.paths)}"
    )


if __name__ == "__main__":
    sys.exit(main())

"""Command line of the service: ``spillway serve POLICY``.

Assembly only: no other module uses the table of policies, the job models and the codec together.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from spillway.base.arguments import Parser, add_declared, complain, given, play, positive, seconds, tell
from spillway.base.errors import OptionError, RemoteProtocolError
from spillway.base.options import build, split_assignments
from spillway.protocol.detect import AnyBatsim

if TYPE_CHECKING:
    from spillway.schedulers.assembly import SessionSpec
    from spillway.schedulers.core.session import Session

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

WRONG_INPUT = 2
"""Exit code for wrong options, files, and messages of the simulator."""

DIFFERENT = 1
"""Exit code of a replay whose answers differ from the recording."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code. Every error is one line on the standard error stream."""
    parser = Parser(prog="spillway serve", description=__doc__.partition(":")[0])
    parser.set_defaults(handler=command)
    add_arguments(parser)
    given = list(sys.argv[1:] if arguments is None else arguments)
    return play(parser, [f"--{given[0]}", *given[1:]] if given[:1] == ["replay"] else given)


def command(options: argparse.Namespace) -> int:
    """Serve one simulation, or replay a recording."""
    try:
        return _replay(options) if options.replay is not None else _serve(options)
    except RemoteProtocolError as error:
        complain(error)
        return WRONG_INPUT


def _serve(options: argparse.Namespace) -> int:
    from spillway.protocol.transcript import Recorder
    from spillway.schedulers.service.server import serve
    from spillway.schedulers.service.session_notes import say_notes

    if options.list:
        return _list()
    session = build_session(options)
    say_notes(spec_of(options))
    with Recorder(options.record, _warn) if options.record is not None else nullcontext() as recorder:
        exchanges = serve(
            session,
            options.bind,
            _codec(options),
            watchdog_s=options.watchdog,
            max_message_bytes=options.max_message_bytes,
            note=_say,
            recorder=recorder,
            on_bound=lambda endpoint: _say(f"{options.policy} listens on {endpoint}"),
        )
    for warning in session.warnings():
        _say(f"warning: {warning}")
    incomplete = f"; {recorder.incomplete}" if recorder is not None and recorder.incomplete else ""
    _say(f"the simulation has ended after {exchanges} exchanges{incomplete}")
    return 0


def _replay(options: argparse.Namespace) -> int:
    from spillway.protocol.transcript import INCOMPLETE, replay

    difference = replay(options.replay, build_session(options), _codec(options))
    if difference is not None:
        tell(difference)
        return DIFFERENT
    part = " up to the end of the recording, which is incomplete" if options.replay.suffix == INCOMPLETE else ""
    tell(f"{options.replay}: {options.policy} answers as recorded{part}")
    return 0


def _list() -> int:
    """Print every policy with its options, and the names that installed packages register."""
    from spillway.base.entry_points import GROUPS, registered
    from spillway.base.options import show
    from spillway.schedulers.policies import POLICIES

    for name, entry in POLICIES.items():
        tell(f"{name}: {entry.summary} ({entry.reference})")
        for info in entry.options():
            tell(f"    {info.name}={show(info.default)}  {info.help} ({info.expected})")
    for kind in GROUPS:
        tell(*(f"{entry.name}: a {kind} of {entry.package} ({entry.place})" for entry in registered(kind)))
    return 0


def build_session(options: argparse.Namespace) -> Session:
    """Assemble the session that the options describe; raise :class:`OptionError` for wrong options."""
    from spillway.schedulers.service.narrator import Narrator

    return spec_of(options).session(Narrator(_say) if options.verbose else None, explain=options.verbose > 1)


def spec_of(options: argparse.Namespace) -> SessionSpec:
    """Description of the session that the options of the command line select.

    Raises
    ------
    OptionError
        An option is wrong.
    """
    from spillway.base.plugins import split_spec
    from spillway.schedulers.assembly import SessionSpec, Settings
    from spillway.schedulers.description import ModelSpec, PolicySpec
    from spillway.schedulers.policies import find_policy
    from spillway.schedulers.policykit.pass_limit import SERVICE_S, Limitable, PassLimit
    from spillway.schedulers.service.arguments import of_policy

    if options.policy is None:
        raise OptionError("expected the name of a policy (--list shows all)")
    policy, own = split_spec(options.policy)
    limit_s = options.pass_limit
    if limit_s is None and issubclass(find_policy(policy).cls, Limitable):
        limit_s = SERVICE_S
    return build(
        SessionSpec,
        given(options, SessionSpec),
        policy=PolicySpec(
            policy,
            options={**own, **split_assignments([of_policy(text, [policy])[1] for text in options.options])},
            session=given(options, Settings),
            literal=options.thesis_literal,
        ),
        model=ModelSpec.of(options.model),
        location_shape=options.location_shape,
        pass_limit=PassLimit(limit_s, time.monotonic) if limit_s is not None and limit_s < math.inf else None,
    )


def _codec(options: argparse.Namespace) -> AnyBatsim:
    return AnyBatsim(dynamic_jobs=spec_of(options).needs().dynamic_jobs)


# --------------------------------------------------------------------------- arguments


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the service."""
    from spillway.protocol.limits import MAX_MESSAGE_BYTES
    from spillway.schedulers.service.door import DEFAULT_BIND

    add = parser.add_argument_group("policy").add_argument
    add("policy", nargs="?", metavar="POLICY", help="name of a policy (see --list), FILE.py:CLASS or MODULE:CLASS")
    add("--list", action="store_true", help="show every policy with its options, and exit")
    add = parser.add_argument_group("conversation").add_argument
    add(
        "--bind",
        default=DEFAULT_BIND,
        metavar="ENDPOINT",
        help="ZeroMQ endpoint; port * for a free one; ipc:///path is closed to other users (%(default)s)",
    )
    add("--record", type=Path, metavar="FILE", help="write a transcript of the conversation")
    add(
        "--replay",
        type=Path,
        metavar="FILE",
        help="instead of listening, feed a recorded conversation to the policy and show its first different answer "
        "(exit code 1)",
    )
    add("--watchdog", type=seconds, metavar="SECONDS", help="end with exit code 3 after this time of silence (never)")
    add(
        "--max-message-bytes",
        type=positive,
        default=MAX_MESSAGE_BYTES,
        metavar="N",
        help="largest message that is read (%(default)s: SIMULATION_BEGINS with the profiles of two million jobs fits)",
    )
    _add_session_arguments(parser)


def session_parser() -> Parser:
    """Parser of the arguments that describe a session, without those of the service."""
    parser = Parser(prog="spillway serve", add_help=False)
    parser.add_argument("policy", metavar="POLICY")
    _add_session_arguments(parser)
    return parser


def _add_session_arguments(parser: Parser) -> None:
    from spillway.schedulers.assembly import SessionSpec, Settings
    from spillway.schedulers.jobmodels import MODELS
    from spillway.schedulers.policykit.pass_limit import SERVICE_S
    from spillway.schedulers.service.arguments import add_literal, add_options

    group = parser.add_argument_group("policy and job model")
    add_options(group)
    add_literal(group)
    add = group.add_argument
    add_declared(group, SessionSpec, "cadence", "seed")
    add(
        "--model",
        metavar="NAME|FILE.py:CLASS[:KEY=VALUE,...]",
        help=f"job model: {', '.join(MODELS)}, or your own class, with its options (io:max_phases=5); "
        "default: timeshared under gang policies, else rigid",
    )
    add(
        "--pass-limit",
        type=_limit,
        metavar="SECONDS",
        help="end the search of a pass after this time, with the best plan so far, never worse than that of the first "
        "order, or with the remaining promises of 'conservative' unmoved; decisions then depend on the machine's "
        f"speed, and the service reports it ({SERVICE_S:g} s where a policy takes a bound; inf: no limit)",
    )
    group = parser.add_argument_group("additions to the simulator's platform")
    add_declared(group, SessionSpec, "burst_buffer_bytes")
    group.add_argument(
        "--location-shape",
        type=_shape,
        default=(),
        metavar="N,N,N",
        help="place of hosts that state no location, from the number in their names: 3,3,4 means 3 nodes per router, "
        "3 routers per chassis, 4 chassis per group",
    )
    add_declared(parser.add_argument_group("settings of the session"), Settings)
    words = "log what happens to each job; -vv also why jobs wait"
    parser.add_argument_group("output").add_argument("-v", "--verbose", action="count", default=0, help=words)


def _limit(text: str) -> float:
    return math.inf if text == "inf" else seconds(text)


def _shape(text: str) -> tuple[int, ...]:
    parts = text.split(",")
    if not all(part.strip().isdecimal() and int(part) > 0 for part in parts):
        raise argparse.ArgumentTypeError(f"expected whole numbers of at least 1 such as 3,3,4, got {text!r}")
    return tuple(int(part) for part in parts)


def _warn(text: str) -> None:
    _say(f"warning: {text}")


def _say(text: str) -> None:
    complain(text, is_error=False)


if __name__ == "__main__":
    sys.exit(main())

"""The command line: Batsim 4's options by their names, and further ones."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from spillway.base.arguments import Parser
from spillway.base.files import advice, read_file, text_of
from spillway.base.limits import InputError
from spillway.protocol.limits import MAX_MESSAGE_BYTES
from spillway.simulator.engines.by_name import ENGINES
from spillway.simulator.errors import SimulatorInputError
from spillway.simulator.options import BATSIM_4, BATSIM_5, BATSIM_VERSION, SimulationOptions

_DEFAULT_ENDPOINT = "tcp://localhost:28000"
_VERBOSITIES = ("quiet", "network-only", "information", "debug")
_SIMGRID_VERSION = "3.32.0"

_REFUSED = {
    "workflow": "-W/--workflow: workflows (DAX) are not part of this simulator; convert them to dynamic jobs",
    "workflow_start": "--WS/--workflow-start: workflows (DAX) are not part of this simulator",
    "enable_redis": "--enable-redis: Redis is not part of this simulator; jobs travel in the messages",
}

_HELLO, _NONE = "the scheduler requests it in its hello", "Batsim 5 has no such option"
_JOBS = (
    ("--forward-profiles-on-submission", "forward_profiles", "attach its profile to each submitted job", _HELLO),
    ("--enable-dynamic-jobs", "dynamic_jobs", "let the scheduler register jobs and profiles", _HELLO),
    ("--acknowledge-dynamic-jobs", "acknowledge_dynamic_jobs", "answer each registration with JOB_SUBMITTED", _HELLO),
    ("--enable-profile-reuse", "profile_reuse", "keep profiles usable after the end of their jobs", _HELLO),
    ("--enable-compute-sharing", "compute_sharing", "let several jobs run on one compute host", _NONE),
    ("--disable-storage-sharing", "storage_sharing", "do not let several jobs use one storage host", _NONE),
    ("--forward-unknown-events", "forward_unknown_events",
     "pass external events of unknown type on to the scheduler", _NONE),
    ("--no-sched", "no_scheduler", "start every job at once on the first hosts, without scheduler", _NONE),
)  # fmt: skip
"""Flags on jobs: the field of :class:`SimulationOptions` that each inverts, its help, and why Batsim 5 has it not."""


@dataclass(frozen=True, slots=True)
class CommandLine:
    """The options as they were given.

    Attributes
    ----------
    platform, workloads
        Input files.
    endpoint
        Address of the scheduler.
    engine
        Name of the engine.
    peer_timeout_s
        Longest time to wait for a reply (s); ``None``: for ever, as Batsim does.
    max_message_bytes
        Largest reply that is read.
    quiet
        Whether to print errors only.
    options
        Options of the simulation.
    """

    platform: Path
    workloads: tuple[Path, ...]
    endpoint: str
    engine: str
    peer_timeout_s: float | None
    max_message_bytes: int
    quiet: bool
    options: SimulationOptions


DESCRIPTION = f"Simulates a machine and its jobs for a scheduler, as Batsim {BATSIM_VERSION[1:]} does."


def add_arguments(parser: Parser) -> None:
    """Add all options; those with a field of :class:`SimulationOptions` are called by it."""
    parser.description = DESCRIPTION
    _inputs(parser.add_argument_group("input"))
    _context(parser.add_argument_group("scheduler and output"))
    _jobs(parser.add_argument_group("jobs"))
    _own(parser.add_argument_group("not in Batsim"))
    _legacy(parser.add_argument_group("accepted for compatibility"))


def build_parser() -> Parser:
    """The parser of all options."""
    parser = Parser(prog="spillway simulate")
    add_arguments(parser)
    return parser


def _inputs(group: argparse._ArgumentGroup) -> None:
    group.add_argument("-p", "--platform", type=Path, metavar="FILE", help="SimGrid platform (XML)")
    group.add_argument("-w", "--workload", type=Path, metavar="FILE", action="append", default=[], help="JSON workload")
    group.add_argument(
        "--events", "--external-events", type=Path, metavar="FILE", action="append", default=[], help="external events"
    )  # fmt: skip
    group.add_argument(
        "-m", "--master-host", dest="master", metavar="NAME", default="master_host", help="host that computes nothing"
    )
    group.add_argument(
        "-r", "--add-role-to-hosts", dest="roles", metavar="HOSTS:ROLE", action="append", default=[],
        help="give hosts (separated by commas) the role master, storage or compute_node",
    )  # fmt: skip
    group.add_argument(
        "-E", "--energy", "--energy-host", action="store_true", help="measure energy, allow power states"
    )  # fmt: skip
    group.add_argument(
        "--mmax",
        dest="machine_limit",
        type=int,
        metavar="N",
        default=0,
        help="use only the first N compute hosts (0: all)",
    )
    group.add_argument(
        "--mmax-workload", dest="machine_limit_from_workload", action="store_true",
        help="use as many compute hosts as the workloads' largest nb_res",
    )  # fmt: skip


def _context(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "-s", "--socket-endpoint", metavar=("ENDPOINT", "TEXT"), nargs="+", default=[_DEFAULT_ENDPOINT],
        help=f"address of the scheduler (default {_DEFAULT_ENDPOINT}); with --batsim 5 also the text handed to it",
    )  # fmt: skip
    group.add_argument("-e", "--export", metavar="PREFIX", default="out", help="prefix of the files written (out)")
    group.add_argument("--sched-cfg", metavar="TEXT", default=None, help="text handed to the scheduler")
    group.add_argument("--sched-cfg-file", type=Path, metavar="FILE", help="file with the text handed to the scheduler")
    for flag, field, file in (
        ("--disable-schedule-tracing", "trace_schedule", "_schedule.trace"),
        ("--disable-machine-state-tracing", "trace_machine_states", "_machine_states.csv"),
    ):
        group.add_argument(flag, dest=field, action="store_false", help=f"write no {file}")
    group.add_argument("-q", "--quiet", action="store_true", help="same as --verbosity quiet")
    group.add_argument("-v", "--verbosity", choices=_VERBOSITIES, default="information", help="amount of output")
    group.add_argument(
        "--dump-execution-context", action="store_true", help="print endpoint and prefix (JSON) and exit"
    )
    group.add_argument("--version", action="store_true", help="print the version of Batsim that is simulated, and exit")
    group.add_argument("--simgrid-version", action="store_true", help="print the version of SimGrid's model, and exit")


def _jobs(group: argparse._ArgumentGroup) -> None:
    for flag, field, words, _ in _JOBS:
        names = (flag, "--batexec") if flag == "--no-sched" else (flag,)
        group.add_argument(
            *names, dest=field, action="store_const", const=not _DEFAULTS[field], default=_DEFAULTS[field], help=words
        )


_SHORT = {"--no-sched": ("--batexec",)}
_DEFAULTS = {field.name: field.default for field in fields(SimulationOptions)}


def _own(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--engine", choices=tuple(ENGINES), default="fluid", help="engine that simulates the tasks (default fluid)"
    )
    group.add_argument(
        "--batsim", type=int, choices=(4, 5), default=4, metavar="4|5",
        help="version of Batsim's protocol, workload files and numbers of hosts (default %(default)s)",
    )  # fmt: skip
    group.add_argument("--fail-on-deadlock", action="store_true", help="exit with code 4 in a deadlock (Batsim: 0)")
    group.add_argument("--peer-timeout", type=float, metavar="SECONDS", help="longest wait for a reply (no limit)")
    group.add_argument(
        "--max-message-bytes", type=int, metavar="N", default=MAX_MESSAGE_BYTES,
        help="largest reply that is read (%(default)s)",
    )  # fmt: skip
    group.add_argument(
        "--no-wall-clock", dest="wall_clock", action="store_false",
        help="write 0 for the real times in _schedule.csv, so that equal runs give equal files",
    )  # fmt: skip


def _legacy(group: argparse._ArgumentGroup) -> None:
    for name in ("--sg-cfg", "--sg-log"):
        group.add_argument(name, metavar="TEXT", action="append", default=[], help="ignored: an option of SimGrid")
    group.add_argument("-W", "--workflow", metavar="FILE", action="append", default=[], help="refused")
    group.add_argument(
        "--WS",
        "--workflow-start",
        dest="workflow_start",
        nargs=2,
        metavar=("FILE", "SECONDS"),
        action="append",
        default=[],
        help="refused",
    )
    group.add_argument("--workflow-jobs-limit", type=int, default=0, metavar="N", help="ignored without workflows")
    group.add_argument("--ignore-beyond-last-workflow", action="store_true", help="ignored without workflows")
    group.add_argument("--enable-redis", action="store_true", help="refused")
    group.add_argument("--redis-hostname", default="127.0.0.1", metavar="HOST", help="ignored")
    group.add_argument("--redis-port", type=int, default=6379, metavar="PORT", help="ignored")
    group.add_argument("--redis-prefix", default="default", metavar="TEXT", help="ignored")


def information(given: argparse.Namespace) -> str | None:
    """Text of an option that only prints information; ``None`` if a simulation is to run."""
    if given.version:
        return BATSIM_VERSION
    if given.simgrid_version:
        return _SIMGRID_VERSION
    if given.dump_execution_context:
        context = {
            "socket_endpoint": given.socket_endpoint[0],
            "redis_enabled": False,
            "redis_hostname": given.redis_hostname,
            "redis_port": given.redis_port,
            "redis_prefix": given.redis_prefix,
            "export_prefix": given.export,
            "external_scheduler": not given.no_scheduler,
        }
        return json.dumps(context)
    return None


def read_command_line(given: argparse.Namespace) -> CommandLine:
    """Check the parsed options and put them together.

    Raises
    ------
    SimulatorInputError
        Something is missing, out of range, refused or contradictory.
    """
    for name, why in _REFUSED.items():
        if getattr(given, name):
            raise SimulatorInputError(why)
    if given.batsim == 5:
        _check_batsim_5(given)
    if len(given.socket_endpoint) > (2 if given.batsim == 5 else 1):
        raise SimulatorInputError(
            f"-s/--socket-endpoint takes ENDPOINT, with --batsim 5 also TEXT, got {' '.join(given.socket_endpoint)!r}"
        )
    if given.platform is None:
        raise SimulatorInputError("-p/--platform is missing: the SimGrid platform to simulate")
    for path in (given.platform, *given.workload, *given.events):
        if not path.is_file():
            raise SimulatorInputError(f"there is no file {str(path)!r}{advice(path)}")
    if given.peer_timeout is not None and not 0 < given.peer_timeout < 1e9:
        raise SimulatorInputError(f"--peer-timeout must be a number of seconds above 0, got {given.peer_timeout}")
    if not 0 < given.max_message_bytes < 1 << 62:
        raise SimulatorInputError(f"--max-message-bytes must be at least 1 byte, got {given.max_message_bytes}")
    return CommandLine(
        given.platform,
        tuple(given.workload),
        given.socket_endpoint[0],
        given.engine,
        given.peer_timeout,
        given.max_message_bytes,
        given.quiet or given.verbosity == "quiet",
        _simulation_options(given),
    )


def _check_batsim_5(given: argparse.Namespace) -> None:
    for flag, field, _, why in _JOBS:
        if getattr(given, field) != _DEFAULTS[field]:
            raise SimulatorInputError(f"{flag} does not go with --batsim 5: {why}")


def _simulation_options(given: argparse.Namespace) -> SimulationOptions:
    named = {name: value for name, value in vars(given).items() if name in _DEFAULTS}
    text = _scheduler_text((given.sched_cfg, *given.socket_endpoint[1:]), given.sched_cfg_file)
    changed = {
        "roles": read_roles(given.roles),
        "events": tuple(given.events),
        "sched_config": text,
        "arguments": _arguments_5(given, text),
        "context": {"socket_endpoint": given.socket_endpoint[0], "export_prefix": given.export},
        "fail_on_deadlock": given.fail_on_deadlock or given.batsim == 5,
        "rules": BATSIM_5 if given.batsim == 5 else BATSIM_4,
    }
    return SimulationOptions(**(named | changed))


def _arguments_5(given: argparse.Namespace, text: str) -> tuple[str, ...]:
    """Batsim 5's command line of the same simulation; ``text`` is for the scheduler."""
    found = ["batsim", "-p", str(given.platform)]
    for path in given.workload:
        found += ["-w", str(path)]
    for path in given.events:
        found += ["--external-events", str(path)]
    found += ["-s", given.socket_endpoint[0], text, "-e", given.export]
    for name, value in (("-m", given.master), ("--mmax", given.machine_limit)):
        if value not in ("master_host", 0):
            found += [name, str(value)]
    for name, value in (("--mmax-workload", given.machine_limit_from_workload), ("--energy-host", given.energy)):
        found += [name] * value
    return tuple(found)


def read_roles(texts: Sequence[str]) -> dict[str, str]:
    """Roles by host from texts such as ``node_0,node_9:storage``.

    Raises
    ------
    SimulatorInputError
        A text has another form, or names a host that has a role already.
    """
    roles: dict[str, str] = {}
    for text in texts:
        hosts, separator, role = text.partition(":")
        names = [name for name in hosts.split(",") if name]
        if not separator or not names or not role or ":" in role:
            raise SimulatorInputError(f"-r/--add-role-to-hosts must read HOST,HOST,...:ROLE, got {text!r}")
        for name in names:
            if name in roles:
                raise SimulatorInputError(f"-r/--add-role-to-hosts gives host {name!r} two roles")
            roles[name] = role
    return roles


def _scheduler_text(texts: Sequence[str | None], path: Path | None) -> str:
    given = [text for text in texts if text is not None]
    if len(given) + (path is not None) > 1:
        raise SimulatorInputError("--sched-cfg, --sched-cfg-file and a text after -s cannot be given together")
    if path is None:
        return given[0] if given else ""
    try:
        return text_of(read_file(path))
    except InputError as fault:
        raise SimulatorInputError(f"--sched-cfg-file {str(path)!r} {fault}") from None

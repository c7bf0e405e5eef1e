"""The command ``spillway``: a table of subcommands, each a module.

A module states ``HELP`` (one line), ``EXAMPLES`` (commands, one a line), optionally ``DESCRIPTION`` and ``EPILOG``
(exit codes), ``add_arguments(parser)`` and ``command(options)``. It is imported when its subcommand is used.
"""

from __future__ import annotations

import argparse
import importlib
import io
import itertools
import os
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from spillway.base.arguments import PROGRAM, SIGNALLED, Parser, UsageError, complain, how, play, tell
from spillway.base.near import near
from spillway.experiments.campaign.workers import signals

GROUPS: Mapping[str, tuple[str, ...]] = {
    "play and compare": ("run", "whatif", "answer", "campaign", "study"),
    "read results": ("report", "explain", "export", "verify"),
    "policies": ("check-policy", "conformance"),
    "machines and jobs": ("platform", "site", "workload"),
    "scheduler and simulator as processes of their own": ("serve", "simulate", "verify-batsim"),
    "against real resource managers": ("validate",),
    "write code of one's own": ("new",),
    "help": ("list", "completion"),
}
"""Subcommands by group."""

_ELSEWHERE: Mapping[str, str] = {
    "explain": "experiments.run.explain",
    "list": "experiments.cli.list_",
    "serve": "schedulers.service.command",
    "simulate": "simulator.wire.command",
    "validate": "experiments.slurm.validate",
    "verify": "experiments.campaign.folder.verify",
    "verify-batsim": "experiments.trials.verify_batsim",
}
"""Modules of subcommands; any other is ``spillway.experiments.cli.NAME`` (a dash becomes an underscore)."""

COMMANDS = tuple(name for names in GROUPS.values() for name in names)

USAGE = f"""{PROGRAM} COMMAND ...
       {PROGRAM} CAMPAIGN.toml   a campaign (the same as: {PROGRAM} campaign CAMPAIGN.toml)
       {PROGRAM}                 the demo campaign: five policies on a synthetic log"""


EXAMPLES = f"""
{PROGRAM} run mine.swf --policy easy --policy plan
{PROGRAM} report results/mine-1a2b3c4
{PROGRAM} run --help
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code. Every expected error is one line on the standard error stream."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115  # closed by who started the command (>&-)
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # names that the terminal has no signs for end no command
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # NumPy's threads are never used, and spin at the start
    try:
        with signals.stopping_on_signals():
            words = expanded(given)
            return play(build_parser(words), words)
    except UsageError as error:
        complain(error)
        return error.exit_code
    except KeyboardInterrupt as stop:  # before the command has begun
        complain(how(number := signals.number_of(stop)), is_error=False)
        return SIGNALLED + number


def _load_beside(words: Sequence[str]) -> None:
    """Load the modules of runs in another process while this one reads its options; a guess, since these are unread.

    Does nothing if no run is likely in such a process: for help, runs on other machines, an existing folder of results,
    or a single run, which this process plays.
    """
    parts = [part for word in words for part in word.split("=", 1)]
    after = dict(itertools.pairwise([*parts, ""]))
    elsewhere = not {"-h", "--help", "--dask", "--dask-jobqueue"}.isdisjoint(parts)
    one = parts.count("--policy") == 1 and parts.count("--workload") <= 1 and parts.count("--model") <= 1
    if not elsewhere and not one and not ("--out" in after and Path(after["--out"]).is_dir()):
        from spillway.experiments.campaign.workers.pool import begin_loading

        begin_loading()


def expanded(given: Sequence[str]) -> list[str]:
    """The command line with its subcommand: a campaign file and an empty line stand for one.

    Raises
    ------
    UsageError
        The first word is not a subcommand.
    """
    first = given[0] if given else ""
    if first == "help":
        return [*given[1:2], "--help"]
    if first in COMMANDS or first in ("-h", "--help", "--version"):
        return list(given)
    if not first or first.startswith("-") or first.endswith(".toml"):
        return ["campaign", *given]
    raise UsageError(
        f"expected a command or a campaign file (.toml), got {first!r}{near(first, COMMANDS)} "
        f"({PROGRAM} --help lists the commands)"
    )


def build_parser(words: Sequence[str] = ()) -> Parser:
    """The parser of all subcommands; each is filled when it is used.

    ``words``: the command line that is about to be carried out, so that the modules of its runs are loaded early.
    """
    parser = _Top(
        prog=PROGRAM,
        usage=USAGE,
        description="Schedules supercomputers with shared burst buffers: plays logs on machines, compares policies.",
        examples=EXAMPLES,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print version and commit, and leave")
    commands = parser.add_subparsers(
        prog=PROGRAM, required=True, metavar="COMMAND", help=argparse.SUPPRESS, parser_class=Parser
    )
    for name in COMMANDS:
        commands.add_parser(name, help=name, fill=partial(_fill, name, words=words))
    return parser


class _Version(argparse.Action):
    """Prints the version; argparse's own action needs it in advance."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from spillway.experiments.run.version import version

        tell(f"{PROGRAM} {version()}")
        parser.exit()


class _Top(Parser):
    """Shows the subcommands in their groups; only this imports all of them."""

    def format_help(self) -> str:
        listed = ""
        for group, names in GROUPS.items():
            listed += f"\n{group}:\n" + "".join(f"  {name:<16}{module_of(name).HELP}\n" for name in names)
        options, examples, rest = super().format_help().partition("\nexamples:")
        return options + listed + examples + rest


def parser_of(name: str) -> Parser:
    """The filled parser of one subcommand."""
    parser = Parser(prog=f"{PROGRAM} {name}")
    _fill(name, parser)
    return parser


def module_of(name: str) -> Any:
    """Module of a subcommand."""
    place = _ELSEWHERE.get(name) or f"experiments.cli.{name.replace('-', '_')}"
    return importlib.import_module(f"spillway.{place}")


def _fill(name: str, parser: Parser, words: Sequence[str] = ()) -> None:
    if name == "run" and words:
        _load_beside(words)
    module = module_of(name)
    parser.description = getattr(module, "DESCRIPTION", module.HELP)
    parser.epilog = getattr(module, "EPILOG", None)
    parser.examples = module.EXAMPLES
    parser.set_defaults(handler=module.command)
    module.add_arguments(parser)

"""``spillway list NOUN``: everything that can be chosen, one table per noun."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from spillway.base.arguments import Parser
from spillway.base.options import OptionInfo, describe
from spillway.experiments.run.terminal import say

if TYPE_CHECKING:
    from rich.console import Console

HELP = "all choices: policies, models, lives, engines, studies, platforms, workloads"
EXAMPLES = """
spillway list policies
spillway list platforms
"""


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("noun", choices=tuple(_NOUNS), metavar="NOUN", help=f"one of {', '.join(_NOUNS)}")


def command(options: argparse.Namespace) -> int:
    """Print the table."""
    from spillway.schedulers.service.listing import wide_console

    _NOUNS[options.noun](wide_console())
    return 0


@dataclass(frozen=True)
class _Entry:
    """A class with options, as a row of the tables (:class:`spillway.schedulers.service.listing.Entry`)."""

    of: type
    settings: Mapping[str, Any]

    @property
    def summary(self) -> str:
        return (inspect.getdoc(self.of) or "").partition("\n")[0]

    @property
    def reference(self) -> str:
        return str(getattr(self.of, "source", ""))

    def options(self) -> list[OptionInfo]:
        return list(describe(self.of))


def _policies(console: Console) -> None:
    from spillway.schedulers.service.listing import print_policies

    print_policies(console)
    _registered("policy", console)


def _models(console: Console) -> None:
    from spillway.schedulers.jobmodels import MODELS
    from spillway.schedulers.service.listing import print_entries

    print_entries("model", {name: _Entry(one, {}) for name, one in MODELS.items()}, console)
    _registered("job model", console)


def _lives(console: Console) -> None:
    from spillway.schedulers.lives import LIVES
    from spillway.schedulers.service.listing import print_entries

    print_entries("life", {name: _Entry(one, {}) for name, one in LIVES.items()}, console)


def _registered(kind: str, console: Console) -> None:
    from spillway.base.entry_points import registered
    from spillway.schedulers.service.listing import print_registered

    print_registered({kind: registered(kind)}, console)


def _engines(console: Console) -> None:
    from spillway.experiments.run.spec import ENGINE_WORDS

    _print_rows(((engine.value, words) for engine, words in ENGINE_WORDS.items()), console)


def _studies(console: Console) -> None:
    from spillway.experiments.studies.catalogue import STUDIES

    _print_rows(STUDIES.items(), console)


def _print_rows(rows: Iterable[tuple[str, str]], console: Console) -> None:
    for name, words in rows:
        say(console, f"{name:20} {words}")


def _platforms(_: Console) -> None:
    from spillway.platforms.cli import main

    main(["list"])


def _workloads(_: Console) -> None:
    from spillway.workloads.cli import main

    main(["list"])


_NOUNS: Mapping[str, Callable[[Console], None]] = {
    "policies": _policies,
    "models": _models,
    "lives": _lives,
    "engines": _engines,
    "studies": _studies,
    "platforms": _platforms,
    "workloads": _workloads,
}

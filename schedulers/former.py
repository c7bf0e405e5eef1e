"""Options of earlier versions on command lines: their use is an error that names the new spelling."""

from __future__ import annotations

import argparse

from schedulers.assembly import FORMER_SETTINGS, refuse_former


class Former(argparse.Action):
    """An option of earlier versions: its use is an error that names the new spelling."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: object, values: object, option: str | None = None
    ) -> None:
        """Raise :class:`OptionError`."""
        refuse_former((option or "").lstrip("-").replace("-", "_"))


def add_former(parser: argparse._ActionsContainer) -> None:
    """Add the options of earlier versions to a parser, hidden."""
    for name in FORMER_SETTINGS:
        parser.add_argument(f"--{name.replace('_', '-')}", action=Former, nargs="?", help=argparse.SUPPRESS)

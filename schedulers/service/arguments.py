"""Arguments that describe a session, for every command line that has them: settings, options of policies."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial

from spillway.base.arguments import near
from spillway.base.errors import OptionError
from spillway.base.options import OptionInfo, describe, parse, show
from spillway.schedulers.assembly import Settings

_METAVARS = {"s": "SECONDS", "bytes": "BYTES", "bytes/s": "BYTES/S", "jobs": "JOBS"}


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Add the settings of the session as a group of options: choices as such, numbers checked by type and range."""
    group = parser.add_argument_group("settings of the session")
    for info in describe(Settings):
        words = f"{info.help} (default: {show(info.default)})" if info.choices else _words(info)
        name = f"--{info.name.replace('_', '-')}"
        if info.choices or info.type is bool:
            values = [show(choice) for choice in info.choices] or ["true", "false"]
            group.add_argument(name, default=None, choices=values, help=words.replace("%", "%%"))
        else:
            metavar = _METAVARS.get(info.unit) or ("N" if info.type is int else "X")
            group.add_argument(name, default=None, type=_text(info), metavar=metavar, help=words.replace("%", "%%"))


def add_options(parser: argparse._ActionsContainer) -> None:
    """Add ``-o [POLICY.]KEY=VALUE``."""
    parser.add_argument(
        "-o",
        dest="options",
        action="append",
        default=[],
        metavar="[POLICY.]KEY=VALUE",
        help="option of a policy, the same as in NAME:KEY=VALUE; POLICY can be left out where there is one; may be "
        "repeated",
    )


def of_policy(text: str, policies: Sequence[str]) -> tuple[str, str]:
    """Split ``[POLICY.]KEY=VALUE``: the policy that is meant, and ``KEY=VALUE``.

    Parameters
    ----------
    text
        As it was given.
    policies
        Names of the policies of the command.

    Raises
    ------
    OptionError
        It has another form, names no policy of the command, or names none where there are several.
    """
    head, equals, value = text.partition("=")
    name, dot, key = head.rpartition(".")
    if not equals or not key.strip():
        raise OptionError(f"-o takes [POLICY.]KEY=VALUE, such as depth=2 or easy.depth=2; got {text!r}")
    known = list(dict.fromkeys(policies))
    if not dot and len(known) == 1:
        name = known[0]
    elif not dot:
        raise OptionError(f"-o {text}: which of the policies {', '.join(known)}? Write {known[0]}.{text}")
    elif name not in known:
        raise OptionError(f"-o {text}: {name!r} is not among the policies {', '.join(known)}{near(name, known)}")
    return name, f"{key}={value}"


def _words(info: OptionInfo) -> str:
    return f"{info.help}: {info.expected} (default: {show(info.default)})"


def _text(info: OptionInfo) -> Callable[[str], str]:
    return partial(_checked, info)


def _checked(info: OptionInfo, text: str) -> str:
    try:
        parse(info, text)
    except OptionError:
        raise argparse.ArgumentTypeError(f"expected {info.expected}, got {text!r}") from None
    return text

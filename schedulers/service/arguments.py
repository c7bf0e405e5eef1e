"""Options of policies on every command line that has them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from spillway.base.errors import OptionError
from spillway.base.near import near


def add_options(parser: argparse._ActionsContainer) -> None:
    """Add ``-o [POLICY.]KEY=VALUE``."""
    parser.add_argument(
        "-o",
        dest="options",
        action="append",
        default=[],
        metavar="[POLICY.]KEY=VALUE",
        help="option of a policy, the same as in NAME:KEY=VALUE; POLICY can be omitted if there is only one; may be "
        "repeated",
    )


def add_literal(parser: argparse._ActionsContainer) -> None:
    """Add ``--thesis-literal``."""
    words = "the published experiment's rules, where ours are better"
    parser.add_argument("--thesis-literal", action="store_true", help=words)


def of_policy(text: str, policies: Sequence[str]) -> tuple[str, str]:
    """Split ``[POLICY.]KEY=VALUE`` into the policy and ``KEY=VALUE``.

    Parameters
    ----------
    text
        The option as given.
    policies
        Names of the policies of the command.

    Raises
    ------
    OptionError
        It has another form, names a policy that the command does not have, or no policy although there are several.
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

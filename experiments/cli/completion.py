"""``spillway completion SHELL``: completion of commands, options and choices, by the library shtab."""

from __future__ import annotations

import argparse

from spillway.base.arguments import Parser, tell

HELP = "completion of commands, options and choices for a shell"
DESCRIPTION = (
    "Print the shell's completion of commands, options and choices. bash reads the file in the folder of the example; "
    "zsh where a folder of $fpath has it as _spillway when compinit runs."
)
EXAMPLES = """
spillway completion bash > ~/.local/share/bash-completion/completions/spillway
spillway completion zsh > ~/.zfunc/_spillway
"""


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("shell", metavar="SHELL", choices=("bash", "zsh"), help="bash or zsh: the shell that reads it")


def command(options: argparse.Namespace) -> int:
    """Print the shell's script."""
    import shtab

    from spillway.experiments.cli import build_parser

    parser = build_parser()
    _fill(parser)
    tell(shtab.complete(parser, shell=options.shell))
    return 0


def _fill(parser: Parser) -> None:
    parser.fill()
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            action.help = None  # shtab leaves out actions that the help does not show
            for child in action.choices.values():
                _fill(child)

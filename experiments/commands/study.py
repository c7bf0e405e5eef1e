"""``spillway study NAME``: a paper's evaluation, repeated."""

from __future__ import annotations

import argparse
import importlib
from functools import partial

from inputs.arguments import Parser

HELP = "a paper's evaluation, repeated and judged"
EXAMPLES = """
spillway study thesis --quick
spillway study gang --help
"""

STUDIES = {
    "thesis": "the evaluation of Kopanski's thesis (2020)",
    "herbein": "I/O-aware scheduling on CTS-1 (Herbein et al. 2016)",
    "jeannot": "I/O-aware lists and packs, exclusive I/O (Jeannot, Pallez, Vidal 2023)",
    "gang": "gang scheduling and files on nodes (Zhang et al. 2003)",
    "malleable": "malleability and I/O control (Singh & Carretero 2019)",
    "production-buffers": "how long nodes idle while burst buffers are staged, by the buffers' life",
}
"""Studies by name; each is the module ``experiments.NAME.command`` ("_" for "-"), written as those of
:mod:`experiments.commands`."""


def add_arguments(parser: Parser) -> None:
    """Add a sub-parser for each study."""
    studies = parser.add_subparsers(required=True, metavar="STUDY", prog=parser.prog)
    for name, text in STUDIES.items():
        studies.add_parser(name, help=text, fill=partial(_fill, name))


def command(options: argparse.Namespace) -> int:
    """Run the study that was chosen."""
    return int(options.study(options))


def _fill(name: str, parser: Parser) -> None:
    module = importlib.import_module(f"experiments.{name.replace('-', '_')}.command")
    parser.description = module.DESCRIPTION
    parser.epilog = getattr(module, "EPILOG", None)
    parser.examples = module.EXAMPLES
    parser.set_defaults(study=module.command)
    module.add_arguments(parser)

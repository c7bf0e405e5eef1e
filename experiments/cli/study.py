"""``spillway study NAME``: a paper's evaluation, repeated and judged; or a study of one's own."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

from spillway.base.arguments import PROGRAM, Parser
from spillway.experiments.studies.catalogue import STUDIES, verdicts_of

HELP = "a paper's evaluation, repeated and judged"
EXAMPLES = """
spillway study thesis --quick
spillway study mine.py --seeds 8
spillway study verdicts
"""

_VERDICTS = "verdicts"


class _Names(dict[str, Any]):
    """Parsers by name; a file of one's own gets one when it is looked up."""

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or str(name).endswith(".py") or ".py:" in str(name)

    def __missing__(self, name: str) -> Parser:
        return Parser(prog=f"{PROGRAM} study {name}", fill=partial(_fill, name))


class _Studies(argparse._SubParsersAction):  # type: ignore[type-arg]
    """Sub-parsers of the studies: those of the table, and files."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._name_parser_map = self.choices = _Names()


def add_arguments(parser: Parser) -> None:
    """Add a sub-parser for each study."""
    studies = parser.add_subparsers(required=True, metavar="STUDY|FILE.py[:NAME]", prog=parser.prog, action=_Studies)
    for name, text in STUDIES.items():
        studies.add_parser(name, help=text.replace("%", "%%"), fill=partial(_fill, name))
    studies.add_parser(_VERDICTS, help="one table of all claims of the studies that were run", fill=_fill_verdicts)


def command(options: argparse.Namespace) -> int:
    """Run the study that was chosen."""
    return int(options.study(options))


def _fill(name: str, parser: Parser) -> None:
    from spillway.experiments.studies import command as one
    from spillway.experiments.studies.catalogue import find_study

    study = find_study(name)
    parser.description = f"{study.title}. Finished points are kept: the same command continues."
    parser.examples = f"spillway study {name} --quick\nspillway study {name} --seeds 8"
    parser.set_defaults(study=partial(one.run, study))
    one.add_arguments(study, parser)


def _fill_verdicts(parser: Parser) -> None:
    parser.description = "All claims of all studies with results, with their verdicts and counts."
    parser.examples = "spillway study verdicts"
    parser.set_defaults(study=verdicts_of)
    parser.add_argument(
        "--out", default="results", metavar="DIR", help="folder with the studies' folders (%(default)s)"
    )

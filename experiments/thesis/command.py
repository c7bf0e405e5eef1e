"""``spillway study thesis``: repeat the evaluation of Kopanski's thesis and report how close it came."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table as ConsoleTable

from experiments import summary
from experiments.arguments import Parser, add_common
from experiments.lock import results_folder
from experiments.thesis import campaign
from experiments.thesis.campaign import MODELS, SEEDS, Scope, report_failures
from experiments.thesis.cells import tally
from experiments.thesis.checks import Verdict, compare_all
from experiments.thesis.inputs import PARTS
from experiments.thesis.published import MEASURED, read_published
from experiments.thesis.report import write_report
from experiments.thesis.results import Results
from experiments.thesis.sections import Material
from inputs.arguments import positive

RESULTS = Path("results") / "thesis"
QUICK_PARTS = (4, 9)

DESCRIPTION = (
    "Repeat the evaluation of Kopanski's thesis (2020) with its own rules, and report figure by figure "
    "how close it came. Finished runs are kept: the same command goes on where it stopped."
)
EPILOG = (
    "The published inputs are looked for in --data, else in the folder data/kth of $SPILLWAY_DATA; without "
    "them they are drawn anew from the KTH log."
)
EXAMPLES = """
spillway study thesis --quick
spillway study thesis --beyond --holdout METACENTRUM-2013-3 parts=4
"""


def command(options: argparse.Namespace) -> int:
    """Run the command; return the exit code (0: all runs finished, 1: a run failed)."""
    console = Console() if sys.stdout.isatty() else Console(width=160, force_terminal=False)
    root: Path = options.out or RESULTS
    with results_folder(root):
        if options.beyond or options.holdout:
            from experiments.thesis.beyond import run_beyond

            return run_beyond(options, root, console)
        return _reproduce(options, root, console)


def _reproduce(options: argparse.Namespace, root: Path, console: Console) -> int:
    scope = Scope(
        models=MODELS[options.model],
        parts=options.parts if options.parts is not None else QUICK_PARTS if options.quick else tuple(range(PARTS)),
        full=options.full and not options.quick,
        seeds=tuple(range(options.seeds or (1 if options.quick else SEEDS))),
    )
    prepared = campaign.prepare(scope, root, options.data, console)
    outcome = campaign.run(prepared.runs, prepared.jobs, root, options, console)
    results = Results(prepared.runs, root)
    summary.write_tables(results.rows, root)
    published, measured = read_published(), read_published(MEASURED)
    checks = compare_all(results, published, measured, original=prepared.original)
    material = Material(scope, results, published, checks, prepared.original, root)
    markdown, page = write_report(material)
    _print(console, tally(checks).columns, tally(checks).rows)
    missed = sum(check.verdict is Verdict.MISSED for check in checks)
    judged = sum(check.judged for check in checks)
    console.print(f"{judged - missed} of {judged} judged values keep their tolerance", highlight=False)
    for path in (markdown, page, root / "comparison.csv", root / "summary.csv"):
        console.print(f"report: {path}", markup=False, highlight=False, soft_wrap=True)
    return report_failures(outcome, root, console)


def _print(console: Console, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    table = ConsoleTable(*columns, header_style="bold", title="How close", title_justify="left")
    for row in rows:
        table.add_row(*row)
    console.print(table)


def parse_parts(text: str) -> tuple[int, ...]:
    """Read ``0-15``, ``4,9`` or ``0-3,9``: numbers of parts, counted from 0 as in the files."""
    found: set[int] = set()
    for piece in text.split(","):
        first, dash, last = piece.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise argparse.ArgumentTypeError(f"expected parts such as 0-15 or 4,9; got {text!r}")
        found.update(range(int(first), int(last or first) + 1))
    if not found or max(found) >= PARTS:
        raise argparse.ArgumentTypeError(f"parts are numbered from 0 to {PARTS - 1}, got {text!r}")
    return tuple(sorted(found))


def add_arguments(parser: Parser) -> None:
    """Add what the study takes."""
    add = parser.add_argument_group("what is played").add_argument
    add("--quick", action="store_true", help=f"parts {', '.join(map(str, QUICK_PARTS))} only, and no full workload")
    add("--parts", type=parse_parts, metavar="0-15", help="parts of the split workloads (all; counted from 0)")
    add("--model", choices=tuple(MODELS), default="both", help="job model (%(default)s)")
    add("--no-full", dest="full", action="store_false", help="leave out the full workloads")
    add(
        "--seeds", type=positive, metavar="N", help=f"seeds of what is random ({SEEDS}; 1 with --quick or on full logs)"
    )
    add("--data", type=Path, metavar="FOLDER", help="folder of the published inputs")
    add("--report", action="store_true", help="run nothing, report on what has finished")
    add_common(parser)
    beyond = parser.add_argument_group("better than published")
    add = beyond.add_argument
    add("--beyond", action="store_true", help="compare our plan policies with the best published one instead")
    add(
        "--policy",
        action="append",
        default=[],
        metavar="NAME[:KEY=VALUE,...]",
        help="what is compared with it (default: our settings); may be repeated",
    )
    add(
        "--ceiling",
        action="store_true",
        help="compare policies with every runtime known, too: what better predictions could gain at most",
    )
    add(
        "--holdout",
        action="append",
        nargs="+",
        default=[],
        metavar=("SOURCE", "KEY=VALUE"),
        help="compare on another log, too: a source as for 'run --workload' and options of the conversion, "
        "besides parts=N (periods that it is cut into), load=X (offered load that the arrivals are stretched to) and "
        "platform=NAME; may be repeated",
    )

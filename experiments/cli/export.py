"""``spillway export RUN FILE``."""

from __future__ import annotations

import argparse
from pathlib import Path

from spillway.base.arguments import Parser

HELP = "a run's schedule for other tools (SWF, Perfetto, CSV, parquet)"
DESCRIPTION = (
    "Write a run's schedule for other tools: Batsim's jobs.csv; a log (.swf) as it really ran, with a header, which is "
    "read again as any log; a trace (.json) that Perfetto (ui.perfetto.dev) and chrome://tracing show; or its table of "
    "jobs (.parquet)."
)
EXAMPLES = """
spillway export results/mine-1a2b3c4/mine_easy_fluid-rigid_s0_5d6e7f80 easy.swf
spillway export results/mine-1a2b3c4/mine_easy_fluid-rigid_s0_5d6e7f80 easy.json
"""


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("run", type=Path, metavar="RUN", help="folder of a run, or of the results of a real Batsim")
    parser.add_argument(
        "file", type=Path, metavar="FILE", help="file to write, ending in .csv, .swf, .json or .parquet"
    )


def command(options: argparse.Namespace) -> int:
    """Write the file."""
    from spillway.analysis.interchange import export
    from spillway.analysis.tables.jobs import read_run

    export(read_run(options.run), options.file)
    return 0

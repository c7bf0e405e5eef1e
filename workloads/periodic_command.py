"""``spillway workload periodic``: a drawn workload of periodic jobs (computing, I/O, computing ...) as a file."""

from __future__ import annotations

import argparse

from spillway.base.arguments import add_declared, add_out, given, tell
from spillway.base.options import build
from spillway.workloads.batsim_json import write_batsim
from spillway.workloads.jeannot import FAMILIES, JeannotOptions, draw_jeannot

_OF_JOBS = ("jobs", "seed", "mean_gap_s")
_OF_IO = ("load", "volume", "sizes", "kinds", "shares", "durations", "limit", "literal", "tolerance")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument(
        "family",
        metavar="FAMILY",
        choices=FAMILIES,
        help=f"{', '.join(FAMILIES)} (M: sizes and durations of Mira, U: uniform; No: normal, BN: bi-normal I/O)",
    )
    add_out(parser.add_argument_group("output"), "FILE.json[.xz|.gz]", "workload to write")
    add_declared(parser.add_argument_group("jobs"), JeannotOptions, *_OF_JOBS)
    add_declared(parser.add_argument_group("I/O"), JeannotOptions, *_OF_IO)


def command(options: argparse.Namespace) -> None:
    """Draw a workload, write it, and print a summary."""
    drawn = draw_jeannot(build(JeannotOptions, given(options, JeannotOptions)))
    write_batsim(drawn.workload, options.output)
    rejected = ", ".join(f"{load:.3f}" for load in drawn.rejected) or "none"
    tell(f"{len(drawn.workload.jobs):,} jobs for {drawn.workload.nb_res:,} nodes, I/O load {drawn.load:.3f}")
    tell(f"rejected draws: {rejected}; volumes multiplied by {drawn.factor:g}")
    tell(f"wrote {options.output}, content sha256 {drawn.workload.checksum}")

"""``spillway workload streams``: a drawn workload of constant I/O streams as a file."""

from __future__ import annotations

import argparse

from spillway.base.arguments import add_declared, add_out, given, tell
from spillway.base.options import build
from spillway.base.units import many
from spillway.workloads.batsim_json import write_batsim
from spillway.workloads.herbein import (
    CONSTANT_RATES,
    DIVERSE_RATES,
    PORTABLE,
    STREAM,
    HerbeinOptions,
    draw_herbein,
    fit_herbein,
)
from spillway.workloads.load import load_log
from spillway.workloads.logs.reading import add_reading, reading_of

MIXES = {"constant": CONSTANT_RATES, "diverse": DIVERSE_RATES}
"""I/O rates by name."""


def add_options(parser: argparse.ArgumentParser, source_help: str) -> None:
    """Declare the command's options."""
    parser.add_argument("source", metavar="SOURCE", help=source_help)
    add_reading(parser)
    add_out(parser.add_argument_group("output"), "FILE.json[.xz|.gz]", "workload to write")
    group = parser.add_argument_group("jobs")
    add_declared(group, HerbeinOptions, "jobs", "seed", "mean_gap_s", "size_factor")
    group.add_argument(
        "--log-rate", action="store_true", help="submissions as frequent as in the log, instead of --mean-gap"
    )
    group.add_argument(
        "--mix", choices=list(MIXES), default="constant", help="I/O rates: 18 MB/s per node, or diverse (constant)"
    )
    group.add_argument(
        "--portable", action="store_true",
        help="profiles that the real Batsim reads; the service then adds the streams (--model stream)",
    )  # fmt: skip
    add_declared(parser.add_argument_group("machine"), HerbeinOptions, "nodes", "node_speed")


def command(options: argparse.Namespace) -> None:
    """Fit the model, draw a workload, write it, and print a summary."""
    log, name = load_log(options.source, reading_of(options))
    chosen = given(options, HerbeinOptions) | {"form": PORTABLE if options.portable else STREAM}
    chosen |= {"mean_gap_s": None} if options.log_rate else {}
    drawn = build(HerbeinOptions, chosen, rates=MIXES[options.mix])
    workload = draw_herbein(fit_herbein(log), drawn, f"{name}-streams")
    write_batsim(workload, options.output)
    last_s = workload.jobs[-1].subtime
    tell(f"{many(len(workload.jobs), 'job', 'jobs')}, submitted within {last_s:,.0f} s")
    tell(f"wrote {options.output}, content sha256 {workload.checksum}")

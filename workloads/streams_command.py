"""``spillway workload streams``: a drawn workload of constant I/O streams as a file."""

from __future__ import annotations

import argparse

from spillway.base.arguments import add_out
from spillway.workloads.batsim_json import write_batsim
from spillway.workloads.herbein import (
    CONSTANT_RATES,
    DIVERSE_RATES,
    PAPER_JOBS,
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
    default = HerbeinOptions()
    parser.add_argument("source", metavar="SOURCE", help=source_help)
    add_reading(parser)
    add_out(parser.add_argument_group("output"), "FILE.json[.xz|.gz]", "workload to write")
    add = parser.add_argument_group("jobs").add_argument
    add("--jobs", type=int, default=PAPER_JOBS, metavar="N", help="number of jobs (%(default)s)")
    add("--seed", type=int, default=0, metavar="N", help="seed of all draws (%(default)s)")
    add(
        "--mean-gap", type=float, default=default.mean_gap_s, metavar="S",
        help="mean time between submissions (%(default)s)",
    )  # fmt: skip
    add("--log-rate", action="store_true", help="submissions as frequent as in the log, instead of --mean-gap")
    add("--size-factor", type=float, default=1.0, metavar="F", help="what sizes are multiplied with (%(default)s)")
    add("--mix", choices=list(MIXES), default="constant", help="I/O rates: 18 MB/s per node, or diverse (constant)")
    add(
        "--portable", action="store_true",
        help="profiles that the real Batsim reads; the service then adds the streams (--model stream)",
    )  # fmt: skip
    add = parser.add_argument_group("machine").add_argument
    add("--nodes", type=int, default=default.nodes, metavar="N", help="nodes (%(default)s)")
    add("--node-speed", type=float, default=default.speed_flops, metavar="FLOPS", help="of a node (1e9)")


def command(options: argparse.Namespace) -> None:
    """Fit, draw, write, and print what was written."""
    log, name = load_log(options.source, reading_of(options))
    drawn = HerbeinOptions(
        jobs=options.jobs,
        seed=options.seed,
        mean_gap_s=None if options.log_rate else options.mean_gap,
        nodes=options.nodes,
        size_factor=options.size_factor,
        rates=MIXES[options.mix],
        speed_flops=options.node_speed,
        form=PORTABLE if options.portable else STREAM,
    )
    workload = draw_herbein(fit_herbein(log), drawn, f"{name}-streams")
    write_batsim(workload, options.output)
    last_s = workload.jobs[-1].subtime
    print(f"{len(workload.jobs):,} jobs, submitted within {last_s:,.0f} s")
    print(f"wrote {options.output}, content sha256 {workload.checksum}")

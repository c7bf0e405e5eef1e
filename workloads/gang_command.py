"""``spillway workload gang``: jobs whose files lie on the nodes, drawn and written for any policy and for Batsim."""

from __future__ import annotations

import argparse
from dataclasses import replace

from spillway.base.arguments import add_out
from spillway.workloads.batsim_json import write_batsim
from spillway.workloads.gang import INTENSITIES, LAYOUTS, SIZES, GangOptions, as_workload, draw_gang


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    default = GangOptions()
    add_out(parser.add_argument_group("output"), "FILE.json[.xz|.gz]", "workload to write")
    add = parser.add_argument_group("jobs").add_argument
    add("--jobs", type=int, default=default.jobs, metavar="N", help="number of jobs (%(default)s)")
    add("--seed", type=int, default=0, metavar="N", help="seed of all draws (%(default)s)")
    add("--mean-gap", type=float, default=default.mean_gap_s, metavar="S", help="mean time between submissions (583)")
    add("--mean-time", type=float, default=default.mean_time_s, metavar="S", help="mean execution time (3102)")
    add("--sizes", choices=list(SIZES), default="log", help="as LLNL Atlas has them, or powers of two to 256 (log)")
    add = parser.add_argument_group("files").add_argument
    add("--layout", choices=list(LAYOUTS), default="neighbours", help="how files lie on the nodes (%(default)s)")
    add(
        "--intensity", type=float, action="append", metavar="X",
        help="share of the local execution time spent on blocks; several: equally likely (0.5; the paper has "
        f"{', '.join(map(str, INTENSITIES))})",
    )  # fmt: skip


def command(options: argparse.Namespace) -> None:
    """Draw, write, and print what was written."""
    drawn = replace(
        GangOptions(),
        jobs=options.jobs,
        seed=options.seed,
        mean_gap_s=options.mean_gap,
        mean_time_s=options.mean_time,
        intensities=tuple(options.intensity or (0.5,)),
        layout=options.layout,
        sizes=options.sizes,
    )
    workload = as_workload(draw_gang(drawn), drawn.nodes)
    write_batsim(workload, options.output)
    print(f"{len(workload.jobs):,} jobs for {workload.nb_res} nodes with files on {options.layout} nodes")
    print(f"wrote {options.output}, content sha256 {workload.checksum}")

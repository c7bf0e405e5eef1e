"""``spillway workload gang``: jobs with files on the nodes, drawn and written for any policy and for Batsim."""

from __future__ import annotations

import argparse

from spillway.base.arguments import add_declared, add_out, given, tell
from spillway.base.options import build
from spillway.base.units import many
from spillway.workloads.batsim_json import write_batsim
from spillway.workloads.gang import INTENSITIES, LAYOUTS, GangOptions, as_workload, draw_gang


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add_out(parser.add_argument_group("output"), "FILE.json[.xz|.gz]", "workload to write")
    add_declared(parser.add_argument_group("jobs"), GangOptions, "jobs", "seed", "mean_gap_s", "mean_time_s", "sizes")
    add = parser.add_argument_group("files").add_argument
    add("--layout", choices=list(LAYOUTS), default="neighbours", help="placement of files on the nodes (%(default)s)")
    add(
        "--intensity", type=float, action="append", metavar="X",
        help="share of the local execution time spent on blocks; several: equally likely (0.5; the paper has "
        f"{', '.join(map(str, INTENSITIES))})",
    )  # fmt: skip


def command(options: argparse.Namespace) -> None:
    """Draw a workload, write it, and print a summary."""
    drawn = build(GangOptions, given(options, GangOptions), intensities=tuple(options.intensity or (0.5,)))
    workload = as_workload(draw_gang(drawn), drawn.nodes)
    write_batsim(workload, options.output)
    tell(f"{many(len(workload.jobs), 'job', 'jobs')} for {workload.nb_res} nodes with files on {options.layout} nodes")
    tell(f"wrote {options.output}, content sha256 {workload.checksum}")

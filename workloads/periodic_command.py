"""``spillway workload periodic``: a drawn workload of periodic jobs (computing, I/O, computing ...) as a file."""

from __future__ import annotations

import argparse

from spillway.base.arguments import add_out
from spillway.workloads.batsim_json import write_batsim
from spillway.workloads.jeannot import FAMILIES, KINDS, LIMITS, SIZES, SPREADS, VOLUMES, JeannotOptions, draw_jeannot


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument(
        "family",
        metavar="FAMILY",
        choices=FAMILIES,
        help=f"{', '.join(FAMILIES)} (M: sizes and durations of Mira, U: uniform; No: normal, BN: bi-normal I/O)",
    )
    add_out(parser.add_argument_group("output"), "FILE.json[.xz|.gz]", "workload to write")
    add = parser.add_argument_group("jobs").add_argument
    add("--jobs", type=int, default=100, metavar="N", help="number of jobs (%(default)s)")
    add("--seed", type=int, default=0, metavar="N", help="seed of all draws (%(default)s)")
    add("--mean-gap", type=float, default=0.0, metavar="S", help="mean time between submissions (0: all at once)")
    add = parser.add_argument_group("I/O").add_argument
    add("--load", type=float, default=0.5, metavar="A", help="I/O load, above 0 and at most 1 (%(default)s)")
    add("--volume", choices=VOLUMES, default=VOLUMES[0], help="how volumes follow from shares (%(default)s)")
    add("--sizes", choices=SIZES, default=SIZES[0], help="sizes of the uniform protocol (%(default)s)")
    add("--kinds", choices=KINDS, default="independent", help="which jobs of BN have much I/O (%(default)s)")
    add("--shares", choices=SPREADS, default="variance", help="what is 0.1 of the shares of No (%(default)s)")
    add("--durations", choices=SPREADS, default="deviation", help="what is a tenth of M's medians (%(default)s)")
    add("--limit", choices=LIMITS, default=LIMITS[0], help="jobs of 4,096 nodes of M: 1 h or 2 h (%(default)s)")
    add("--literal", action="store_true", help="leave volumes as the printed formulas give them, whatever the load")
    add("--tolerance", type=float, default=0.05, metavar="T", help="draws farther from the load are rejected (0.05)")


def command(options: argparse.Namespace) -> None:
    """Draw, write, and print what was drawn."""
    drawn = draw_jeannot(
        JeannotOptions(
            family=options.family,
            alpha=options.load,
            jobs=options.jobs,
            seed=options.seed,
            volume=options.volume,
            sizes=options.sizes,
            kinds=options.kinds,
            shares=options.shares,
            durations=options.durations,
            limit=options.limit,
            literal=options.literal,
            tolerance=options.tolerance,
            mean_gap_s=options.mean_gap,
        )
    )
    write_batsim(drawn.workload, options.output)
    rejected = ", ".join(f"{load:.3f}" for load in drawn.rejected) or "none"
    print(f"{len(drawn.workload.jobs):,} jobs for {drawn.workload.nb_res:,} nodes, I/O load {drawn.load:.3f}")
    print(f"rejected draws: {rejected}; volumes multiplied by {drawn.factor:g}")
    print(f"wrote {options.output}, content sha256 {drawn.workload.checksum}")

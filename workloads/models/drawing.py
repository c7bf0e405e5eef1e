"""Commands that draw workloads by a model: ``spillway workload streams | periodic | recommend | gang | malleable``."""

from __future__ import annotations

import argparse
import math
from dataclasses import asdict
from pathlib import Path

from spillway.base.arguments import above_zero, add_declared, add_out, given, tell
from spillway.base.options import build
from spillway.base.units import many
from spillway.workloads.batsim.json_file import read_batsim, write_batsim
from spillway.workloads.batsim.workload import Workload
from spillway.workloads.conversion.machine_facts import THESIS_MACHINE, MachineFacts
from spillway.workloads.load import load_log, load_workload
from spillway.workloads.logs.reading import add_reading, reading_of
from spillway.workloads.models.gang import INTENSITIES, LAYOUTS, GangOptions, as_workload, draw_gang
from spillway.workloads.models.herbein import (
    CONSTANT_RATES,
    DIVERSE_RATES,
    PORTABLE,
    STREAM,
    HerbeinOptions,
    draw_herbein,
    fit_herbein,
)
from spillway.workloads.models.jeannot import FAMILIES, JeannotOptions, draw_jeannot
from spillway.workloads.models.malleable import MalleableOptions, make_malleable
from spillway.workloads.models.recommend import OBJECTIVES, bandwidth_for, measure_workload, shipped

MIXES = {"constant": CONSTANT_RATES, "diverse": DIVERSE_RATES}
"""I/O rates by name."""


def write_drawn(workload: Workload, path: Path, *lines: str) -> None:
    """Write a workload, and print these lines and its checksum."""
    write_batsim(workload, path)
    tell(*lines, f"wrote {path}, content sha256 {workload.checksum}")


def add_streams(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``streams``."""
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


def streams(options: argparse.Namespace) -> None:
    """Fit the model, draw a workload, write it, and print a summary."""
    log, name = load_log(options.source, reading_of(options))
    chosen = given(options, HerbeinOptions) | {"form": PORTABLE if options.portable else STREAM}
    chosen |= {"mean_gap_s": None} if options.log_rate else {}
    drawn = build(HerbeinOptions, chosen, rates=MIXES[options.mix])
    workload = draw_herbein(fit_herbein(log), drawn, f"{name}-streams")
    jobs = many(len(workload.jobs), "job", "jobs")
    write_drawn(workload, options.output, f"{jobs}, submitted within {workload.jobs[-1].subtime:,.0f} s")


_OF_JOBS = ("jobs", "seed", "mean_gap_s")
_OF_IO = ("load", "volume", "sizes", "kinds", "shares", "durations", "limit", "literal", "tolerance")


def add_periodic(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``periodic``."""
    parser.add_argument(
        "family",
        metavar="FAMILY",
        choices=FAMILIES,
        help=f"{', '.join(FAMILIES)} (M: sizes and durations of Mira, U: uniform; No: normal, BN: bi-normal I/O)",
    )
    add_out(parser.add_argument_group("output"), "FILE.json[.xz|.gz]", "workload to write")
    add_declared(parser.add_argument_group("jobs"), JeannotOptions, *_OF_JOBS)
    add_declared(parser.add_argument_group("I/O"), JeannotOptions, *_OF_IO)


def periodic(options: argparse.Namespace) -> None:
    """Draw a workload, write it, and print a summary."""
    drawn = draw_jeannot(build(JeannotOptions, given(options, JeannotOptions)))
    rejected = ", ".join(f"{load:.3f}" for load in drawn.rejected) or "none"
    write_drawn(
        drawn.workload,
        options.output,
        f"{len(drawn.workload.jobs):,} jobs for {drawn.workload.nb_res:,} nodes, I/O load {drawn.load:.3f}",
        f"rejected draws: {rejected}; volumes multiplied by {drawn.factor:g}",
    )


def add_recommend(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``recommend``."""
    parser.add_argument(
        "workload", type=Path, metavar="FILE.json[.xz|.gz]", help="workload with profiles that state periods"
    )
    parser.add_argument(
        "--bandwidth",
        type=above_zero,
        metavar="B",
        help="bytes/s of the file system (default: that of the machine which periodic workloads are drawn for)",
    )


def recommend(options: argparse.Namespace) -> None:
    """Measure, predict, print."""
    workload = read_batsim(options.workload)
    features = measure_workload(workload, options.bandwidth or bandwidth_for(workload.nb_res))
    for name, value in asdict(features).items():
        tell(f"{name.replace('_', ' ')}: {value:.3f}")
    recommender = shipped()
    for objective in OBJECTIVES:
        predicted = recommender.predict(features, objective)
        choice = "pack" if predicted < 0 else "list"
        tell(f"for the {objective}: {choice} (packs over lists, predicted: {100 * math.expm1(predicted):+.1f} %)")


def add_gang(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``gang``."""
    add_out(parser.add_argument_group("output"), "FILE.json[.xz|.gz]", "workload to write")
    add_declared(parser.add_argument_group("jobs"), GangOptions, "jobs", "seed", "mean_gap_s", "mean_time_s", "sizes")
    add = parser.add_argument_group("files").add_argument
    add("--layout", choices=list(LAYOUTS), default="neighbours", help="placement of files on the nodes (%(default)s)")
    add(
        "--intensity", type=float, action="append", metavar="X",
        help="share of the local execution time spent on blocks; several: equally likely (0.5; the paper has "
        f"{', '.join(map(str, INTENSITIES))})",
    )  # fmt: skip


def gang(options: argparse.Namespace) -> None:
    """Draw a workload, write it, and print a summary."""
    drawn = build(GangOptions, given(options, GangOptions), intensities=tuple(options.intensity or (0.5,)))
    workload = as_workload(draw_gang(drawn), drawn.nodes)
    jobs = many(len(workload.jobs), "job", "jobs")
    write_drawn(workload, options.output, f"{jobs} for {workload.nb_res} nodes with files on {options.layout} nodes")


_OF_APPLICATIONS = ("share", "seed", "period_s", "node_bytes", "pfs", "growth", "overhead_s", "walltime_factor")


def add_malleable(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``malleable``."""
    add_reading(parser)
    add_out(parser.add_argument_group("output"), "FILE.json[.xz|.gz]", "workload to write")
    add_declared(parser.add_argument_group("jobs"), MalleableOptions, *_OF_APPLICATIONS)
    add = parser.add_argument_group("machine").add_argument
    add("--nodes", type=int, default=THESIS_MACHINE.nodes, metavar="N", help="compute nodes (%(default)s)")
    add("--node-speed", type=float, default=1e9, metavar="FLOPS", help="flop/s of a node (1e9)")
    add("--network", type=float, default=1.25e9, metavar="B/S", help="node link, byte/s (1.25e9)")


def malleable(options: argparse.Namespace) -> None:
    """Draw applications, write the workload, and print a summary."""
    machine = MachineFacts(
        nodes=options.nodes,
        node_speed_flops=options.node_speed,
        network_bytes_per_s=options.network,
        storage_nodes=THESIS_MACHINE.storage_nodes,
        storage_bytes=THESIS_MACHINE.storage_bytes,
    )
    chosen = build(MalleableOptions, given(options, MalleableOptions))
    workload = make_malleable(load_workload(options.source, machine, reading=reading_of(options)), machine, chosen)
    write_drawn(workload, options.output, workload.notes[-1])

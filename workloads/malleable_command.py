"""``spillway workload malleable``: the jobs of a log or a workload as applications with I/O phases, as a file."""

from __future__ import annotations

import argparse

from spillway.base.arguments import add_out
from spillway.workloads.batsim_json import write_batsim
from spillway.workloads.load import load_workload
from spillway.workloads.logs.reading import add_reading, reading_of
from spillway.workloads.machine_facts import THESIS_MACHINE, MachineFacts
from spillway.workloads.malleable import MalleableOptions, make_malleable


def add_options(parser: argparse.ArgumentParser, source_help: str) -> None:
    """Declare the command's options."""
    default = MalleableOptions()
    parser.add_argument("source", metavar="SOURCE", help=f"FILE.json[.xz|.gz], {source_help}")
    add_reading(parser)
    add_out(parser.add_argument_group("output"), "FILE.json[.xz|.gz]", "workload to write")
    add = parser.add_argument_group("jobs").add_argument
    add("--share", type=float, default=default.share, metavar="S", help="share of malleable jobs, 0 to 1 (%(default)s)")
    add("--seed", type=int, default=default.seed, metavar="N", help="seed of all draws (%(default)s)")
    add("--period", type=float, default=default.period_s, metavar="S", help="median time between I/O phases (900)")
    add("--node-bytes", type=float, default=default.node_bytes, metavar="B", help="median bytes per node (8e9)")
    add("--pfs", type=float, default=default.pfs_bytes_per_s, metavar="B/S", help="file system, byte/s (5e9)")
    add("--growth", type=float, default=default.growth, metavar="F", help="largest over submitted size (%(default)s)")
    add("--overhead", type=float, default=default.overhead_s, metavar="S", help="of a reconfiguration (%(default)s)")
    add(
        "--walltime-factor", type=float, default=default.walltime_factor, metavar="F", help="on walltimes (%(default)s)"
    )
    add = parser.add_argument_group("machine").add_argument
    add("--nodes", type=int, default=THESIS_MACHINE.nodes, metavar="N", help="compute nodes (%(default)s)")
    add("--node-speed", type=float, default=1e9, metavar="FLOPS", help="flop/s of a node (1e9)")
    add("--network", type=float, default=1.25e9, metavar="B/S", help="node link, byte/s (1.25e9)")


def command(options: argparse.Namespace) -> None:
    """Draw, write, and print what was drawn."""
    machine = MachineFacts(
        nodes=options.nodes,
        node_speed_flops=options.node_speed,
        network_bytes_per_s=options.network,
        storage_nodes=THESIS_MACHINE.storage_nodes,
        storage_bytes=THESIS_MACHINE.storage_bytes,
    )
    chosen = MalleableOptions(
        share=options.share,
        seed=options.seed,
        period_s=options.period,
        node_bytes=options.node_bytes,
        pfs_bytes_per_s=options.pfs,
        growth=options.growth,
        overhead_s=options.overhead,
        walltime_factor=options.walltime_factor,
    )
    workload = make_malleable(load_workload(options.source, machine, reading=reading_of(options)), machine, chosen)
    write_batsim(workload, options.output)
    print(workload.notes[-1])
    print(f"wrote {options.output}, content sha256 {workload.checksum}")

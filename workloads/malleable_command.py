"""``spillway workload malleable``: the jobs of a log or a workload as applications with I/O phases, as a file."""

from __future__ import annotations

import argparse

from spillway.base.arguments import add_declared, add_out, given, tell
from spillway.base.options import build
from spillway.workloads.batsim_json import write_batsim
from spillway.workloads.load import load_workload
from spillway.workloads.logs.reading import add_reading, reading_of
from spillway.workloads.machine_facts import THESIS_MACHINE, MachineFacts
from spillway.workloads.malleable import MalleableOptions, make_malleable

_OF_JOBS = ("share", "seed", "period_s", "node_bytes", "pfs", "growth", "overhead_s", "walltime_factor")


def add_options(parser: argparse.ArgumentParser, source_help: str) -> None:
    """Declare the command's options."""
    parser.add_argument("source", metavar="SOURCE", help=f"FILE.json[.xz|.gz], {source_help}")
    add_reading(parser)
    add_out(parser.add_argument_group("output"), "FILE.json[.xz|.gz]", "workload to write")
    add_declared(parser.add_argument_group("jobs"), MalleableOptions, *_OF_JOBS)
    add = parser.add_argument_group("machine").add_argument
    add("--nodes", type=int, default=THESIS_MACHINE.nodes, metavar="N", help="compute nodes (%(default)s)")
    add("--node-speed", type=float, default=1e9, metavar="FLOPS", help="flop/s of a node (1e9)")
    add("--network", type=float, default=1.25e9, metavar="B/S", help="node link, byte/s (1.25e9)")


def command(options: argparse.Namespace) -> None:
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
    write_batsim(workload, options.output)
    tell(workload.notes[-1])
    tell(f"wrote {options.output}, content sha256 {workload.checksum}")

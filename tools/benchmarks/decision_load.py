"""EASY's decision times by size of the machine: the same queue, the same load, more nodes; I/O-aware and ignorant.

``python -m tools.benchmarks.decision_load [--nodes 1000,4000,16000,64000] [--jobs 2500]``

The workload is that of the study ``herbein`` (the available log, sizes of jobs grow with the machine), played without
contention; only the scheduler is measured: milliseconds of CPU time of the thread, and the 99th percentile in real
time. The first message, in which the machine is read, is stated separately.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from dataclasses import replace

import numpy as np

from spillway.experiments.studies.herbein.logs import LOGS, model_of
from spillway.experiments.studies.local_logs import at_hand
from spillway.experiments.studies.simulation import simulate
from spillway.platforms.catalogue import builtin_files
from spillway.platforms.description.generate import build
from spillway.platforms.description.machine import read_description
from spillway.platforms.model import Platform
from spillway.protocol.messages import Message, Reply
from spillway.schedulers.assembly import Estimates, Settings, assemble
from spillway.schedulers.core.session import Session
from spillway.schedulers.jobmodels.rigid import Rigid
from spillway.schedulers.policies import POLICIES
from spillway.simulator.engines.native import FixedEngine
from spillway.workloads.models.herbein import PAPER_RATE, HerbeinModel, HerbeinOptions, draw_herbein

CTS1_NODES = 3888
UNDER_PROVISIONED = 0.7
_EDGE_NODES = 18
"""Nodes at an edge switch of CTS-1."""
MACHINE = """
name = "cts"
topology = "tree"
node = {{ prefix = "n", speed = "1Gf", loopback = "12GBps" }}
pfs = {{ bandwidth = "{pfs}Bps" }}
[[cluster]]
name = "cts"
uplink = {{ name = "pool", bandwidth = "{pool}Bps" }}
levels = [
  {{ name = "edge", count = {edges}, bandwidth = "216GBps" }},
  {{ name = "node", count = {below}, bandwidth = "12GBps", duplex = true }},
]
"""
QUANTILES = (50, 75, 95, 99)


def main() -> None:
    """Print the table, a row as soon as it is there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", default="1000,4000,16000,64000")
    parser.add_argument("--jobs", type=int, default=2500)
    parser.add_argument("--log", choices=list(LOGS), default=at_hand(LOGS)[0])
    given = parser.parse_args()
    model = model_of(given.log)
    heads = (*(f"{quantile} %" for quantile in QUANTILES), "99 % clock", "longest", "machine")
    print(f"{'nodes':>7} {'scheduler':10}" + "".join(f"{head:>12}" for head in heads))
    for nodes in (int(text) for text in given.nodes.split(",")):
        for bandwidth in (False, True):
            found = decision_times(model, nodes, bandwidth, HerbeinOptions(jobs=given.jobs))
            words = "aware" if bandwidth else "ignorant"
            print(f"{nodes:7,} {words:10}" + "".join(f"{1000 * value:12.2f}" for value in found), flush=True)
    print(f"load of the machine at the end: {', '.join(f'{value:.1f}' for value in os.getloadavg())}")


def decision_times(model: HerbeinModel, nodes: int, bandwidth: bool, options: HerbeinOptions) -> list[float]:
    """Seconds from a message to its answer under EASY with 30 % too little bandwidth, in the order of the table.

    Parameters
    ----------
    nodes
        Size of the machine; sizes of jobs grow with it.
    bandwidth
        Whether links are booked.
    options
        Of the drawn workload of CTS-1's size.
    """
    scaled = replace(options, nodes=nodes, size_factor=options.size_factor * nodes / CTS1_NODES)
    settings = Settings(estimates=Estimates.REQUESTED, bandwidth="aware" if bandwidth else "ignorant")
    watch = Stopwatch(assemble(POLICIES["easy"].build(), settings, Rigid()))
    workload, machine = draw_herbein(model, scaled), tree_of(nodes, UNDER_PROVISIONED)
    simulate(watch.handle, workload, machine, FixedEngine(machine), machine_limit=workload.nb_res)
    cpu_s, wall_s = watch.cpu_s[1:], watch.wall_s[1:]
    quantiles = [float(np.percentile(cpu_s, quantile)) for quantile in QUANTILES]
    return [*quantiles, float(np.percentile(wall_s, 99)), max(cpu_s), watch.cpu_s[0]]


def tree_of(nodes: int, provisioned: float) -> Platform:
    """A machine like CTS-1 of at least this size.

    Parameters
    ----------
    provisioned
        Bandwidth of the file system, as a share of the nodes' requests at the paper's rate.
    """
    pfs, pool = math.ceil(provisioned * PAPER_RATE * nodes), math.ceil(432e9 / CTS1_NODES * nodes)
    text = MACHINE.format(pfs=pfs, pool=pool, edges=math.ceil(nodes / _EDGE_NODES), below=_EDGE_NODES)
    return build(read_description(text, "decision_load", builtin_files(), None))


class Stopwatch:
    """Times every answer of a session, in seconds of the clock and of the thread's CPU."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.wall_s: list[float] = []
        self.cpu_s: list[float] = []

    def handle(self, message: Message) -> Reply:
        """Pass the message on and measure the answer."""
        cpu, wall = time.thread_time_ns(), time.perf_counter_ns()
        reply = self._session.handle(message)
        wall, cpu = time.perf_counter_ns() - wall, time.thread_time_ns() - cpu
        self.wall_s.append(wall / 1e9)
        self.cpu_s.append(cpu / 1e9)
        return reply


if __name__ == "__main__":
    main()

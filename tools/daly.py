"""``python -m tools.daly``: lost node-hours of a simulated job against Daly's first-order formula, without contention.

A job of many MTBFs runs without other jobs on half of the machine ``tiny`` under ``--model
checkpointed`` with ``on_outage=requeue`` and ``restart=checkpoint``; nodes fail by ``--events failures:...``, with
repairs so short and so many spare nodes that it never waits. The lost node-hours are those of its attempts except its
computing, counted once: rework, checkpoints, reads.

The formula, with the time between checkpoints tau, the time of one delta, of reading one R, the MTBF of the job
M = node MTBF / nodes, and the computing T_s (Daly 2006, section 3: T / M failures are expected, and half an interval is
lost at each):

    T = T_s + (T_s / tau - 1) delta + (T / M) ((tau + delta) / 2 + R),     lost = (T - T_s) * nodes

Its optimum is at tau = sqrt(2 delta M) - delta. It is of first order in (tau + delta) / M: the exact expectation,
M exp(R / M) (exp((tau + delta) / M) - 1) T_s / tau - T_s, is printed beside it.

References
----------
J. T. Daly, *A higher order estimate of the optimum checkpoint interval for restart dumps*, Future Generation Computer
Systems 22 (2006), 303-312, doi 10.1016/j.future.2004.11.016.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from spillway.experiments.run.failures import events_text, parse
from spillway.platforms.catalogue import resolve_platform
from spillway.platforms.simgrid.xml_reader import parse_platform
from spillway.schedulers.assembly import SessionSpec
from spillway.schedulers.description import ModelSpec, PolicySpec
from spillway.workloads.batsim.workload import Workload
from tests.properties.outage_world import Change, play

NODES = 4
"""Nodes of the job, of the eight of the platform tiny."""

REPAIR_S = 0.001


@dataclass(frozen=True)
class Case:
    """MTBF of the job, time of a checkpoint and of reading one, time between checkpoints (0: the optimum), in s."""

    mtbf_s: float
    checkpoint_s: float
    restart_s: float = 0.0
    interval_s: float = 0.0

    @property
    def optimum_s(self) -> float:
        """Best time between two checkpoints, to the first order."""
        return math.sqrt(2 * self.checkpoint_s * self.mtbf_s) - self.checkpoint_s

    @property
    def segment_s(self) -> float:
        """Computing between two checkpoints."""
        return self.interval_s or self.optimum_s

    def work_s(self, mtbfs: int) -> float:
        """Computing of a job of ``mtbfs`` MTBFs: whole intervals."""
        return math.ceil(mtbfs * self.mtbf_s / self.segment_s) * self.segment_s

    def formula(self, mtbfs: int) -> float:
        """Lost seconds to the first order."""
        work_s = self.work_s(mtbfs)
        written_s = (work_s / self.segment_s - 1) * self.checkpoint_s
        share = ((self.segment_s + self.checkpoint_s) / 2 + self.restart_s) / self.mtbf_s
        return (work_s + written_s) / (1 - share) - work_s

    def exact(self, mtbfs: int) -> float:
        """Expected lost seconds."""
        work_s, segment = self.work_s(mtbfs), math.expm1((self.segment_s + self.checkpoint_s) / self.mtbf_s)
        return self.mtbf_s * math.exp(self.restart_s / self.mtbf_s) * segment * work_s / self.segment_s - work_s


CASES = (
    Case(100_000.0, 60.0),
    Case(100_000.0, 600.0, 300.0),
    Case(20_000.0, 60.0, 30.0),
    Case(20_000.0, 60.0, 30.0, 600.0),
    Case(20_000.0, 60.0, 30.0, 4000.0),
)


@dataclass(frozen=True)
class SimulatedFailures:
    """Simulated failures of the job, and the node-seconds that it lost."""

    failures: int
    lost_node_s: float
    rework_node_s: float


def measure(case: Case, mtbfs: int, seed: int, folder: Path) -> SimulatedFailures:
    """Play one job of ``mtbfs`` MTBFs."""
    work_s = case.work_s(mtbfs)
    job = {"id": "0", "subtime": 0, "res": NODES, "profile": "p"}
    data = {"nb_res": 8, "jobs": [job], "profiles": {"p": {"type": "delay", "delay": work_s}}}
    spec = SessionSpec(
        PolicySpec("fcfs", session={"on_outage": "requeue", "restart": "checkpoint"}),
        ModelSpec(
            "checkpointed",
            {"interval": case.segment_s * (1 + 1e-9), "checkpoint": case.checkpoint_s, "restart": case.restart_s},
        ),
    )
    until_s = work_s + 2 * case.exact(mtbfs)
    generator = parse(f"failures:node_mtbf={case.mtbf_s * NODES},repair={REPAIR_S},until={until_s},seed={seed}")
    assert generator is not None
    lines = events_text(generator, parse_platform(resolve_platform("tiny")), Workload("w", 8, (), {}), 0).splitlines()
    events = [json.loads(line) for line in lines]
    changes: list[Change] = [
        (event["timestamp"], event["type"] == "machine_available", (int(event["resources"]),)) for event in events
    ]
    played = play(folder, spec, data, changes)
    records = played.records.values()
    held_s = math.fsum(record.end_s - record.start_s for record in records)
    rework_s = math.fsum(record.seconds.get("compute", 0.0) for record in records) - work_s
    return SimulatedFailures(len(records) - 1, (held_s - work_s) * NODES, rework_s * NODES)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure every case, and print it beside the formula; return 1 if one is off by more than 10 %."""
    parser = argparse.ArgumentParser(prog="python -m tools.daly", description=__doc__.splitlines()[0])
    parser.add_argument("--mtbfs", type=int, default=1000, help="length of a job in MTBFs (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the failures (%(default)s)")
    options = parser.parse_args(arguments)
    print("  MTBF  ckpt  read interval  optimum failures  lost node-h  formula  deviation  exact expectation")
    worst = 0.0
    for case in CASES:
        with tempfile.TemporaryDirectory() as folder:
            found = measure(case, options.mtbfs, options.seed, Path(folder))
        formula, exact = (value * NODES for value in (case.formula(options.mtbfs), case.exact(options.mtbfs)))
        deviation = found.lost_node_s / formula - 1
        worst = max(worst, abs(deviation))
        print(
            f"{case.mtbf_s:6.0f} {case.checkpoint_s:5.0f} {case.restart_s:5.0f} {case.segment_s:8.0f} "
            f"{case.optimum_s:8.0f} {found.failures:8} {found.lost_node_s / 3600:12.1f} {formula / 3600:8.1f} "
            f"{deviation:+10.1%} {found.lost_node_s / exact - 1:+18.1%}",
            flush=True,
        )
    return int(worst > 0.1)


if __name__ == "__main__":
    sys.exit(main())

"""The four applications of Table 2 on machines of growing size: which get idle slots, delays, aggregated FLOPS.

Assumptions (the paper gives Table 2 and no curves):

* An iteration of a Jacobi method on ``N`` rows is ``2 N^2`` flop. CPU time times processes over ``N^2`` is 1.17e-6 s
  for A1, A2 and A4 alike: equal numbers of iterations between I/O phases, 100 here, at 1.17e-8 s per entry. A3 then
  has 340.
* Communication is an all-gather: ``2e-4 s x n + 1e-6 s x N`` per iteration, so that the small application A3 scales
  worst and none linearly, as in section 5.2. The rest of Table 2's CPU time is computation and scales with ``1/n``.
* I/O phases take Table 2's time whatever the number of processes.
* Which writes next when several wait: not in the paper. First come, first served, or the one with least to write.
* The two constants of the communication and the weight 2 of the I/O ratio were picked among 75 combinations so that the
  paper's order of the rules comes out where the smallest write goes first; other combinations give it in two of the
  four scenarios or so, and none gave it in more than two with first come, first served.
* Control points every half period; a reconfiguration takes 1.3 s (:mod:`experiments.malleable.jacobi`).

Idle slots are shared once, at the start; then none is idle any more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from experiments.malleable.jacobi import OVERHEAD_S, VARIATION, variation
from experiments.malleable.play import play, slots
from schedulers.options import Value

SECONDS_PER_ENTRY = 1.17e-8
COMM_PROCESS_S, COMM_ROW_S = 2e-4, 1e-6
PFS_BYTES_PER_S = 1.4e9
SPAN_S, WARM_UP_S = 2400.0, 300.0
"""Simulated time, and how much of it at the beginning is not counted."""

TOTALS = (36, 82, 135, 210)
"""Processes in all of the paper's four scenarios; 28 run at first."""

RULES: Mapping[str, Mapping[str, Value]] = {
    "fair": {"expansion": "fair"},
    "speedup": {"expansion": "speedup"},
    "io": {"expansion": "io", "io_weight": 2.0},
    "io, weight 1": {"expansion": "io", "io_weight": 1.0},
}
"""Fair, Algorithm 5, Algorithm 6 (with two weights of the I/O ratio)."""

ORDERS = ("fifo", "shortest")


@dataclass(frozen=True)
class Row:
    """A row of Table 2."""

    name: str
    processes: int
    size: int
    cpu_s: float
    io_s: float

    @property
    def iterations(self) -> int:
        """Iterations between two I/O phases."""
        return max(10, round(self.cpu_s * self.processes / (SECONDS_PER_ENTRY * self.size**2) / 10) * 10)

    @property
    def comm_s(self) -> float:
        """Communication of an iteration with the initial number of processes."""
        return COMM_PROCESS_S * self.processes + COMM_ROW_S * self.size

    @property
    def work_s(self) -> float:
        """Computation of an iteration on one process."""
        return (self.cpu_s / self.iterations - self.comm_s) * self.processes

    @property
    def flops(self) -> float:
        """Work of an iteration."""
        return 2.0 * self.size**2


TABLE_2 = (
    Row("A1", 6, 20_000, 77.7, 2.9),
    Row("A2", 8, 17_000, 42.6, 5.2),
    Row("A3", 8, 7_000, 24.7, 1.6),
    Row("A4", 6, 18_000, 63.3, 7.8),
)


def workload_of(total: int, seed: int) -> dict[str, Any]:
    """The four applications as the object of a Batsim workload; they are stopped after :data:`SPAN_S`."""
    jobs, profiles = [], {}
    for row in TABLE_2:
        name = row.name
        jobs.append({"id": name, "subtime": 0, "res": row.processes, "walltime": SPAN_S, "profile": name})
        profiles[name] = {
            "type": "delay",
            "delay": SPAN_S,
            "malleable": {
                "iterations": 100_000_000 // row.iterations * row.iterations,
                "io_every": row.iterations,
                "control_every": row.iterations // 2,
                "minimum": row.processes,
                "maximum": total,
                "overhead": OVERHEAD_S,
                "io_bytes": row.io_s * PFS_BYTES_PER_S,
                "model": {
                    "work": row.work_s,
                    "comm_node": COMM_PROCESS_S,
                    "comm_fixed": COMM_ROW_S * row.size,
                    "io_fixed": row.io_s,
                },
                "variation": variation(seed, row.name, VARIATION, 400),
            },
        }
    return {"nb_res": total, "jobs": jobs, "profiles": profiles}


def run(total: int, rule: str, order: str, seed: int) -> dict[str, Any]:
    """Run one scenario; the result is plain data. ``rule`` is one of :data:`RULES`, ``order`` of the I/O gate's."""
    settings = {"io_control": "exclusive", "io_order": order, **RULES[rule]}
    played = play(slots(total, PFS_BYTES_PER_S), workload_of(total, seed), settings)
    rows = [_application(row, played.records[row.name]) for row in TABLE_2]
    return {
        "applications": rows,
        "flops": sum(row["flops"] for row in rows),
        "delay_s": sum(row["mean_delay_s"] for row in rows),
        "wall_s": played.wall_s,
    }


def _application(row: Row, record: Any) -> dict[str, Any]:
    """Rates over whole periods after the warm-up, from the end of one I/O phase to the end of the last."""
    phases = [phase for phase in record.phases if phase.end_s >= WARM_UP_S]
    span_s = phases[-1].end_s - phases[0].end_s
    counted = phases[1:]
    delays = [phase.begin_s - phase.asked_s for phase in counted]
    io_s = [phase.end_s - phase.begin_s for phase in counted]
    return {
        "name": row.name,
        "processes": record.sizes[-1][1],
        "periods": len(counted),
        "period_s": span_s / len(counted),
        "flops": row.flops * row.iterations * len(counted) / span_s,
        "mean_delay_s": sum(delays) / len(counted),
        "io_ratio": sum(io_s) / span_s,
    }

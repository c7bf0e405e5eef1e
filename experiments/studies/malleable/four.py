"""The four applications of Table 2 on machines of growing size: idle slots that they get, delays, aggregated FLOPS.

Assumptions (the paper gives Table 2 and no curves):

* An iteration of a Jacobi method on ``N`` rows is ``2 N^2`` flop. CPU time times processes over ``N^2`` is 1.17e-6 s
  for A1, A2 and A4 alike: equal numbers of iterations between I/O phases, 100 here, at 1.17e-8 s per entry. A3 then
  has 340.
* Communication is an all-gather: a time per process and a time per row in every iteration (:data:`COMMUNICATIONS`), so
  that the small application A3 scales worst and no application linearly, as in section 5.2. The rest of Table 2's CPU
  time is computation and scales with ``1/n``.
* I/O phases take Table 2's time with any number of processes.
* The order of several waiting writes is not in the paper: first come, first served, or the smallest write first.
* Control points every half period; a reconfiguration takes 1.3 s, as in use case B
  (:mod:`spillway.experiments.studies.malleable.jacobi`), or the value of the axis ``overhead``.

Idle slots are shared once, at the start; then no slot is idle any more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from spillway.base.options import Value as Setting
from spillway.experiments.studies.malleable.jacobi import VARIATION, variation
from spillway.experiments.studies.malleable.play import play as simulate
from spillway.experiments.studies.malleable.play import slots
from spillway.experiments.studies.points import Point, Values
from spillway.schedulers.jobmodels.app_record import AppRecord

_SECONDS_PER_ENTRY = 1.17e-8
_PFS_BYTES_PER_S = 1.4e9
SPAN_S, WARM_UP_S = 1500.0, 300.0
"""Simulated time, and the part of it at the beginning that is not counted."""

TOTALS = (36, 82, 135, 210)
"""Total processes of the paper's four scenarios; 28 run at first."""

RULES = {"fair": "fair", "speed-up": "speedup", "I/O": "io"}
"""Fair, Algorithm 5, Algorithm 6: the model's option ``expansion``."""

COMMUNICATIONS: Mapping[str, tuple[float, float]] = {
    "fabric": (2e-6, 6.4e-10),
    "picked": (2e-4, 1e-6),
    "half": (1e-4, 5e-7),
}
"""Seconds of communication in an iteration per process and per row, by reading. ``fabric``: 2 us a message and
8 bytes a row at the 100 Gb/s of section 5."""


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
        return max(10, round(self.cpu_s * self.processes / (_SECONDS_PER_ENTRY * self.size**2) / 10) * 10)

    @property
    def flops(self) -> float:
        """Work of an iteration."""
        return 2.0 * self.size**2

    def model(self, communication: str) -> dict[str, float]:
        """Parameters of its times by size, which are Table 2's with the initial number of processes."""
        process_s, row_s = COMMUNICATIONS[communication]
        comm_s = process_s * self.processes + row_s * self.size
        return {
            "work": (self.cpu_s / self.iterations - comm_s) * self.processes,
            "comm_node": process_s,
            "comm_fixed": row_s * self.size,
            "io_fixed": self.io_s,
        }


TABLE_2 = (
    Row("A1", 6, 20_000, 77.7, 2.9),
    Row("A2", 8, 17_000, 42.6, 5.2),
    Row("A3", 8, 7_000, 24.7, 1.6),
    Row("A4", 6, 18_000, 63.3, 7.8),
)


def workload_of(total: int, communication: str, overhead_s: float, seed: int) -> dict[str, Any]:
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
                "overhead": overhead_s,
                "io_bytes": row.io_s * _PFS_BYTES_PER_S,
                "model": row.model(communication),
                "variation": variation(seed, row.name, VARIATION, 400),
            },
        }
    return {"nb_res": total, "jobs": jobs, "profiles": profiles}


def play(point: Point) -> Values:
    """Simulate one scenario and measure it."""
    total = point.whole("processes")
    settings: dict[str, Setting] = {
        "io_control": "exclusive",
        "io_order": point.text("order"),
        "expansion": RULES[point.text("rule")],
        "io_weight": point.number("weight"),
    }
    workload = workload_of(total, point.text("communication"), point.number("overhead"), point.whole("seed"))
    return dict(measured(simulate(slots(total, _PFS_BYTES_PER_S), workload, settings).records))


def measured(records: Mapping[str, AppRecord]) -> Iterator[tuple[str, float]]:
    """I/O ratio, gained processes and mean delay by application; sums of delays and FLOPS; comparisons of gains."""
    gained: dict[str, int] = {}
    flops = delay_s = 0.0
    for row in TABLE_2:
        yield f"ratio_{row.name}", 100 * row.io_s / (row.cpu_s + row.io_s)
        record = records[row.name]
        gained[row.name] = record.sizes[-1][1] - row.processes
        yield f"gained_{row.name}", gained[row.name]
        own_flops, own_delay_s = _rates(row, record)
        yield f"delay_{row.name}", own_delay_s
        flops, delay_s = flops + own_flops, delay_s + own_delay_s
    yield "flops", flops
    yield "delay", delay_s
    yield "least_of_A1_A3", min(gained["A1"], gained["A3"])
    yield "least_of_all", min(gained.values())
    yield "A1_A3_over_A2_A4", min(gained["A1"], gained["A3"]) - max(gained["A2"], gained["A4"])
    yield "A3_behind", min(gained["A1"], gained["A2"], gained["A4"]) - gained["A3"]
    yield "uneven", max(gained.values()) - min(gained.values())


def _rates(row: Row, record: AppRecord) -> tuple[float, float]:
    """FLOPS and mean delay over whole periods, from the first end of an I/O phase after the warm-up to the last."""
    phases = [phase for phase in record.phases if phase.end_s >= WARM_UP_S]
    counted, span_s = phases[1:], phases[-1].end_s - phases[0].end_s
    delays = [phase.begin_s - phase.asked_s for phase in counted]
    return row.flops * row.iterations * len(counted) / span_s, sum(delays) / len(counted)

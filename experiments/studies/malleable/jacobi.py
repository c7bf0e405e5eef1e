"""The paper's benchmark, as far as its text fixes it: Jacobi iterations with a collective write now and then.

The paper gives neither curves nor periods. What the text does give fixes the numbers below (times in seconds, one slot
of our machine is one process); :data:`spillway.experiments.studies.malleable.STUDY` lists them with what each was
fitted to.

* Use case A, section 5.1: one I/O phase begins at 903.2 s, that of the other application at 911.0 s, predicted at
  810 s, after an I/O phase. With 2,000 iterations and an I/O phase every 250 the eighth begins at 903.2 s when an
  iteration on 128 processes takes 0.422 s; the second application, started 21 s later, must have a period that is 1.7 s
  shorter (case B: it is 3.4 s - 2 s - 2 s away from a collision one period before).
* Use case D: 67.40 s of computation per I/O period on 64 processes. With an I/O phase every 100 iterations an iteration
  takes 0.674 s. Both together give ``32.27 / n + 0.1698``.
* Use case B: 24 more processes save the 3.4 s and two reconfigurations, which makes the latter 1.3 s each (three of the
  five intervals of a period lie between the first and the last control point).
* Use case C: the 18 s of delay that are left are the difference between the 45 % and the 41 % of section 5.1, so that
  100 % are 450 s of I/O without control: 49 phases of 9.2 s, one after every 80 iterations. 9.2 s in place of twice
  4.7 s are 0.2 s between the two.
* The same ``apart``: 64.7 s of delay at 49 phases, 1.32 s each, are what the second application is faster by in every
  period; it has to begin as much later to be the one that waits.
* Use case D: the second application needs 57 to 59 processes for the period that the first one has on 64: its
  iterations have 0.908 of the work.

Intervals between control points vary by half a percent (standard deviation), drawn from the seed; that is our choice,
the paper states low variability.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spillway.workloads.draws import Draws, exp

WORK_S, SERIAL_S = 32.27, 0.1698
OVERHEAD_S = 1.3
OUTPUT_BYTES = 11.9e9
VARIATION = 0.005
INTERVALS_DRAWN = 400
SLOTS = 400

WRITES: Mapping[str, Mapping[str, float]] = {
    "stated": {"A": 8.49, "B": 8.49, "C": 4.7, "D": 4.7},
    "fitted": {"A": 8.49, "B": 8.49, "C": 4.7, "D": 6.0},
    "long": {"A": 8.49, "B": 8.49, "C": 8.49, "D": 8.49},
}
"""How long a write of the one file takes by itself (s), by reading and use case: section 5.1 states 8.49 s for A,
section 2 has 4.7 s for a file of this size; 6.0 s give the 25.1 s of delay of D."""


@dataclass(frozen=True)
class Instance:
    """One run of the benchmark.

    Attributes
    ----------
    processes
        Initial size.
    start_s
        Submission.
    work
        Work of its iterations relative to the benchmark's.
    serial
        The same for the part that more processes do not speed up.
    """

    processes: int
    start_s: float = 0.0
    work: float = 1.0
    serial: float = 1.0


@dataclass(frozen=True)
class Case:
    """A use case of Table 1.

    Attributes
    ----------
    iterations, io_every, control_every
        Iterations in all, between I/O phases, between control points.
    instances
        The two applications.
    spread
        Relative standard deviation of the intervals between control points.
    """

    iterations: int
    io_every: int
    control_every: int
    instances: tuple[Instance, Instance]
    spread: float = VARIATION


CASES = {
    "A": Case(2000, 250, 50, (Instance(128), Instance(150, 21.4, 1.1406))),
    "B": Case(2000, 250, 50, (Instance(128), Instance(150, 21.0, 1.1406))),
    "C": Case(4000, 80, 16, (Instance(64), Instance(64, 0.2))),
    "C apart": Case(4000, 80, 16, (Instance(64), Instance(64, 1.8, 0.9755, 0.9755))),
    "D": Case(4000, 100, 20, (Instance(64), Instance(50, 3.0, 0.908))),
}
"""Table 1: iterations and processes are the paper's."""


def two_writers(seconds: float) -> Case:
    """Section 2: two applications that write once, the second so many seconds after the first."""
    return Case(1, 1, 1, (Instance(20), Instance(20, seconds)), spread=0.0)


def workload_of(case: Case, io_s: float, seed: int) -> dict[str, Any]:
    """The use case as the object of a Batsim workload; a write takes ``io_s`` without interference."""
    jobs, profiles = [], {}
    for number, instance in enumerate(case.instances, start=1):
        jobs.append({
            "id": str(number), "subtime": instance.start_s, "res": instance.processes, "profile": f"app{number}"
        })  # fmt: skip
        profiles[f"app{number}"] = {
            "type": "delay",
            "delay": case.iterations * (WORK_S / instance.processes + SERIAL_S),
            "malleable": {
                "iterations": case.iterations,
                "io_every": case.io_every,
                "control_every": case.control_every,
                "minimum": 1,
                "maximum": SLOTS,
                "overhead": OVERHEAD_S,
                "io_bytes": OUTPUT_BYTES,
                "model": {"work": WORK_S * instance.work, "serial": SERIAL_S * instance.serial, "io_fixed": io_s},
                "variation": variation(seed, f"application {number}", case.spread, INTERVALS_DRAWN),
            },
        }
    return {"nb_res": SLOTS, "jobs": jobs, "profiles": profiles}


def variation(seed: int, stream: str, spread: float, count: int) -> list[float]:
    """Log-normal factors around 1."""
    factors: Sequence[float] = exp(spread * Draws(seed, stream).normal(count)).tolist()
    return list(factors)

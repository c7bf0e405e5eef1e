"""The paper's benchmark, with the numbers that its text fixes: Jacobi iterations with occasional collective writes.

The paper gives neither curves nor periods. Its text fixes the numbers below (times in seconds, one slot of our machine
is one process); ``study.toml`` lists them with the values they were
fitted to and the ranges that the paper leaves open.

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
* The same ``apart``: 64.7 s of delay at 49 phases are 1.32 s each; by this time the second application is faster in
  every period, and it begins as much later, so that it is the one that waits.
* Use case D: the second application needs 57 to 59 processes for the period of the first one on 64: its iterations have
  0.908 of the work.

All of these are axes of the study, so that other values can be played. Intervals between control
points vary by half a percent (standard deviation), drawn from the seed; this is our choice, as the paper only states
low variability.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from spillway.experiments.studies.points import Point
from spillway.workloads.draws import Draws, exp

OVERHEAD_S = 1.3
FILE_BYTES, LARGE_FILE_BYTES = 11.9e9, 24.4e9
"""Sizes of the files of section 5.1, and of figure 1."""
LARGE_WRITE_S = 8.0
"""Uncontended time of a write of the larger file (section 2)."""
_EARLY_WRITE_S = 8.49
"""Uncontended time of a write in use cases A and B (section 5.1)."""
VARIATION = 0.005
_INTERVALS_DRAWN = 400
_INTERVALS = 5
"""Intervals between two I/O phases; a control point ends each (Figure 4 has four)."""
SLOTS = 400


@dataclass(frozen=True)
class Instance:
    """One run of the benchmark.

    Attributes
    ----------
    processes
        Initial number of processes.
    start_s
        Submission.
    work
        Work of its iterations relative to the benchmark's.
    serial
        The same for the serial part, which more processes do not speed up.
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
        Iterations in total, between I/O phases, between control points.
    instances
        The two applications.
    io_s, io_bytes
        Uncontended time of a write; size of its file.
    work, serial, overhead_s
        Seconds of an iteration on one process, parallel and serial; seconds of a reconfiguration.
    spread
        Relative standard deviation of the intervals between control points.
    """

    iterations: int
    io_every: int
    control_every: int
    instances: tuple[Instance, Instance]
    io_s: float
    io_bytes: float = FILE_BYTES
    work: float = 32.27
    serial: float = 0.1698
    overhead_s: float = OVERHEAD_S
    spread: float = VARIATION


def case_of(point: Point) -> Case:
    """Table 1, whose iterations and processes are the paper's, with the point's numbers for the rest."""
    name, number = point.text("case"), point.number
    iterations, every, first, second, io_s = {
        "A": (2000, "every A", Instance(128), Instance(150, number("later A"), number("slower")), _EARLY_WRITE_S),
        "B": (2000, "every A", Instance(128), Instance(150, number("later B"), number("slower")), _EARLY_WRITE_S),
        "C": (4000, "every C", Instance(64), Instance(64, number("later C")), number("write")),
        "D": (4000, "every D", Instance(64), Instance(50, number("later D"), number("smaller")), number("write")),
    }[name]
    if name == "C" and point["pace"] == "apart":
        second = Instance(64, 1.8, 0.9755, 0.9755)
    control_every = round(number(every) / _INTERVALS)
    return Case(
        iterations, _INTERVALS * control_every, control_every, (first, second), io_s,
        work=number("work"), serial=number("serial"), overhead_s=number("overhead"),
    )  # fmt: skip


def two_writers(seconds: float, io_s: float, io_bytes: float) -> Case:
    """Section 2: two applications that write once, the second ``seconds`` after the first."""
    return Case(1, 1, 1, (Instance(20), Instance(20, seconds)), io_s, io_bytes, spread=0.0)


def workload_of(case: Case, seed: int) -> dict[str, Any]:
    """The use case as the object of a Batsim workload."""
    jobs, profiles = [], {}
    for number, instance in enumerate(case.instances, start=1):
        jobs.append({
            "id": str(number), "subtime": instance.start_s, "res": instance.processes, "profile": f"app{number}"
        })  # fmt: skip
        work, serial = case.work * instance.work, case.serial * instance.serial
        profiles[f"app{number}"] = {
            "type": "delay",
            "delay": case.iterations * (case.work / instance.processes + case.serial),
            "malleable": {
                "iterations": case.iterations,
                "io_every": case.io_every,
                "control_every": case.control_every,
                "minimum": 1,
                "maximum": SLOTS,
                "overhead": case.overhead_s,
                "io_bytes": case.io_bytes,
                "model": {"work": work, "serial": serial, "io_fixed": case.io_s},
                "variation": variation(seed, f"application {number}", case.spread, _INTERVALS_DRAWN),
            },
        }
    return {"nb_res": SLOTS, "jobs": jobs, "profiles": profiles}


def variation(seed: int, stream: str, spread: float, count: int) -> list[float]:
    """Log-normal factors around 1."""
    factors: Sequence[float] = exp(spread * Draws(seed, stream).normal(count)).tolist()
    return list(factors)

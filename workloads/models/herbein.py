"""The workload of Herbein et al.: fitted to any log, drawn with a seed, every job with a constant I/O stream.

Five quantities are modelled: user arrivals and the jobs of an arrival (:mod:`spillway.workloads.models.arrivals`),
sizes in power-of-two bins, time limit and elapsed time together (the log's own pairs), and the average I/O rate per
node.

References
----------
Herbein et al., *Scalable I/O-aware job scheduling for burst buffer enabled HPC clusters*, HPDC 2016
(DOI 10.1145/2907294.2907316), section 4.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from spillway.base.options import check, option
from spillway.workloads.batsim.workload import Profile, Workload, WorkloadJob
from spillway.workloads.draws import Draws
from spillway.workloads.errors import WorkloadError
from spillway.workloads.models.arrivals import ArrivalModel, Calendar, fit_arrivals
from spillway.workloads.swf import SwfLog, SwfRecord

PAPER_JOBS = 2500
"""Jobs of one of the paper's tests (section 5.1)."""

PAPER_RATE = 18_000_000
"""Average I/O rate per node, bytes per second (section 4.1: half of 128 GB per hour)."""

PAPER_STATE_CHANGE_S = 31.7
"""Mean time between job state changes in the paper's tests, s (section 5.4)."""

CHANGES_PER_JOB = 4
"""State changes of a job (section 5.4): the mean time between submissions is that between changes times this."""

DIVERSE_RATES: tuple[tuple[int, float], ...] = (
    (0, 0.20), (6_000_000, 0.30), (18_000_000, 0.25), (36_000_000, 0.15), (67_000_000, 0.09), (127_000_000, 0.01),
)  # fmt: skip
"""A diverse mix (bytes per second per node, share of the jobs) with a mean of 19 MB/s, not from the paper, which leaves
it to future work (end of section 4.2) and gives no numbers."""

CONSTANT_RATES: tuple[tuple[int, float], ...] = ((PAPER_RATE, 1.0),)
"""The paper's mix: the same rate for every job."""

STREAM, PORTABLE = "stream", "portable"
"""Forms of the stream: the simulator's ``io_stream`` profile, or a file that the real Batsim can read (a
``parallel_homogeneous`` profile; the scheduler's ``streamed`` execution adds the I/O, from the job's ``io_bytes``)."""


@dataclass(frozen=True, slots=True)
class HerbeinModel:
    """Distributions fitted to a log.

    Attributes
    ----------
    arrivals
        User arrivals.
    sizes
        Number of jobs with 1, 2-3, 4-7, ... nodes.
    times
        Unique pairs (time limit, elapsed time) in s, both > 0.
    weights
        Number of occurrences of each pair.
    """

    arrivals: ArrivalModel
    sizes: tuple[int, ...]
    times: tuple[tuple[int, int], ...]
    weights: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HerbeinOptions:
    """Options of a drawn workload.

    Attributes
    ----------
    rates
        I/O rates per node (bytes per second) and their shares.
    """

    jobs: int = option(PAPER_JOBS, low=1, high=10_000_000, help="number of jobs")
    seed: int = option(0, low=0, high=2**63 - 1, help="seed of all draws")
    mean_gap_s: float | None = option(
        CHANGES_PER_JOB * PAPER_STATE_CHANGE_S,
        unit="s",
        low=1e-9,
        high=1e9,
        help="mean time between submissions over a whole week, by default four times the paper's time between state "
        "changes; none: as in the log",
    )
    nodes: int = option(3888, low=1, high=10_000_000, help="nodes of the machine; larger sizes are left out")
    size_factor: float = option(
        1.0,
        low=1e-9,
        high=1e12,
        help="factor of the sizes (rounded, at least 1 node), for logs of a machine of another size",
    )
    rates: tuple[tuple[int, float], ...] = CONSTANT_RATES
    node_speed: float = option(1e9, unit="flop/s", low=1e-9, high=1e30, help="speed of a node")
    form: str = option(STREAM, choices=(STREAM, PORTABLE), help="profiles of the simulator, or of the real Batsim")

    def __post_init__(self) -> None:
        check(self)
        if not self.rates or any(rate < 0 or share <= 0 for rate, share in self.rates):
            raise WorkloadError(f"'rates' must be rates of at least 0 with shares above 0, got {self.rates!r}")


def fit_herbein(log: SwfLog, processors_per_node: int | None = None) -> HerbeinModel:
    """Fit the model.

    Jobs without known size, runtime or requested time, and those that never ran, do not count. Runtimes beyond the
    limit are kept, as the paper keeps the pairs that its database has.

    Parameters
    ----------
    processors_per_node
        Default: that of the header (``MaxProcs / MaxNodes``), else 1.

    Raises
    ------
    WorkloadError
        No job of the log is complete.
    """
    per_node = processors_per_node or log.header.processors_per_node
    complete = [record for record in log.records if record.processors > 0 and record.run_s > 0 < record.requested_s]
    if not complete:
        raise WorkloadError("the log has no job with size, runtime and requested time: nothing to fit")
    nodes = np.array([-(-record.processors // per_node) for record in complete], np.int64)
    sizes = np.bincount(np.floor(np.log2(nodes)).astype(np.int64))
    pairs, weights = np.unique(
        np.array([(record.requested_s, record.run_s) for record in complete], np.int64), axis=0, return_counts=True
    )
    return HerbeinModel(
        fit_arrivals(log, _submitted(log.records)),
        tuple(sizes.tolist()),
        tuple((int(limit), int(elapsed)) for limit, elapsed in pairs.tolist()),
        tuple(weights.tolist()),
    )


def draw_herbein(model: HerbeinModel, options: HerbeinOptions | None = None, name: str = "herbein") -> Workload:
    """Draw a workload; the same model and options give the same workload, on every machine.

    Raises
    ------
    WorkloadError
        No size of the model fits on the machine.
    """
    options = options or HerbeinOptions()
    count = options.jobs

    def draws(stream: str) -> Draws:
        return Draws(options.seed, f"herbein/{stream}")

    arrivals = replace(model.arrivals, calendar=Calendar())  # the drawn log begins on a Monday, 0:00
    submits = arrivals.draw(draws("arrivals"), count, options.mean_gap_s)
    sizes = _sizes(model, options, draws("sizes"))
    rows = draws("times").choose(model.weights, count)
    rates = np.array([rate for rate, _ in options.rates], np.int64)
    chosen = rates[draws("rates").choose([share for _, share in options.rates], count)]
    write = _FORMS[options.form]
    jobs: list[WorkloadJob] = []
    profiles: dict[str, Profile] = {}
    for index in range(count):
        limit, elapsed = model.times[int(rows[index])]
        rate = int(chosen[index])
        profile, extras = write(elapsed * options.node_speed, rate * elapsed, rate)
        label = f"{elapsed}s-{rate}"
        profiles[label] = profile
        submit = round(float(submits[index]), 3)
        jobs.append(WorkloadJob(index + 1, submit, int(sizes[index]), label, None, {"requested_s": limit, **extras}))
    return Workload(name, options.nodes, tuple(jobs), profiles, "Herbein et al. 2016, section 4.2", {}, _notes(options))


def _submitted(records: Sequence[SwfRecord]) -> list[SwfRecord]:
    """All records in order of submission, also those of jobs that never ran."""
    return sorted(records, key=lambda record: (record.submit_s, record.number))


def _sizes(model: HerbeinModel, options: HerbeinOptions, draws: Draws) -> npt.NDArray[np.int64]:
    """Draw sizes: each bin counts as its power of two, the size that users prefer."""
    values = [max(1, round(options.size_factor * 2**power)) for power in range(len(model.sizes))]
    weights = [weight if value <= options.nodes else 0 for value, weight in zip(values, model.sizes, strict=True)]
    if not any(weights):
        raise WorkloadError(f"no size of the model fits on {options.nodes} nodes; the smallest is {min(values)}")
    return np.asarray(np.array(values, np.int64)[draws.choose(weights, options.jobs)], np.int64)


def _stream(flops: float, bytes_per_node: int, rate: int) -> tuple[Profile, dict[str, int]]:
    return {"type": "io_stream", "cpu": flops, "io_bytes": bytes_per_node}, {"io_rate": rate}


def _portable(flops: float, bytes_per_node: int, rate: int) -> tuple[Profile, dict[str, int]]:
    profile: Profile = {"type": "parallel_homogeneous", "cpu": flops, "com": 0}
    return profile, {"io_rate": rate, "io_bytes": bytes_per_node}


_FORMS = {STREAM: _stream, PORTABLE: _portable}


def _notes(options: HerbeinOptions) -> tuple[str, ...]:
    return (
        "jobs state no walltime: as in the paper's emulator no job is killed; schedulers may use 'requested_s'",
        f"{options.jobs} jobs, seed {options.seed}",
    )

"""Lists or packs? A recommendation from the workload alone, with coefficients learned by the study ``jeannot``.

The features of a workload need no execution: they follow from sizes, uncontended times and volumes of its jobs, which
the paper expects from monitoring (Darshan) and from users.

* *I/O load*: equation (2).
* *homogeneity*: coefficients of variation of characteristic times, of shares of I/O, of sizes.
* *steady state*: the signed relative change of the bandwidth that packs, longest first, use as planned (without
  contention), from their first half to their second; and the correlation of a job's duration with its share of I/O.

Two linear models (ridge) predict the difference of packs (longest first) from lists: in makespan (the platform's view)
and in mean stretch (the user's), both as logarithms of ratios. The objective decides which is used.

References
----------
Jeannot, Pallez, Vidal, *IO-aware Job-Scheduling*, IJHPCA 2023 (DOI 10.1177/10943420231175854).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from spillway.workloads.batsim.workload import Workload
from spillway.workloads.errors import WorkloadError
from spillway.workloads.models.jeannot import PROTOCOLS
from spillway.workloads.models.ranks import rank_correlation

Floats = npt.NDArray[np.float64]

OBJECTIVES = ("makespan", "stretch")
"""Quantities that can be minimised."""
LEARNED = Path(__file__).with_name("lists_or_packs.csv")
"""The learned coefficients: ``python -m tools.lists_or_packs`` writes them."""


@dataclass(frozen=True)
class Features:
    """Features of a workload (see the module)."""

    io_load: float
    characteristic_variation: float
    share_variation: float
    size_variation: float
    mean_size: float
    planned_drift: float
    duration_share_correlation: float

    def vector(self) -> Floats:
        """Features, their squares, and their products with the load."""
        values = np.array(astuple(self), np.float64)
        return np.concatenate((values, values**2, values[0] * values[1:]))


@dataclass(frozen=True)
class Recommender:
    """Linear models of standardised inputs, one per objective: intercept and weights."""

    mean: Floats
    scale: Floats
    models: Mapping[str, Floats]

    def predict(self, features: Features, objective: str) -> float:
        """Logarithm of packs over lists; negative: packs are better."""
        inputs = (features.vector() - self.mean) / self.scale
        return float(self.models[objective][0] + inputs @ self.models[objective][1:])


def _from_text(text: str) -> Recommender:
    """Read the coefficients: a row each for means and scales of the inputs, and for each model."""
    rows = {name: np.array([float(cell) for cell in cells]) for name, *cells in csv.reader(io.StringIO(text))}
    return Recommender(rows["mean"][1:], rows["scale"][1:], {objective: rows[objective] for objective in OBJECTIVES})


def shipped() -> Recommender:
    """The recommender with the learned coefficients of :data:`LEARNED`."""
    return _from_text(LEARNED.read_text(encoding="utf-8"))


def bandwidth_for(nodes: int) -> float:
    """Bandwidth of the file system (bytes per second) of the drawn workloads' machine with ``nodes`` nodes.

    Raises
    ------
    WorkloadError
        No such machine has this many nodes.
    """
    found = [protocol.bandwidth for protocol in PROTOCOLS.values() if protocol.processors == nodes]
    if not found:
        raise WorkloadError(
            f"the file system's bandwidth is not known for a machine of {nodes} nodes: give --bandwidth"
        )
    return found[0]


def measure_workload(workload: Workload, bandwidth: float) -> Features:
    """Measure a workload of jobs that state periods.

    Parameters
    ----------
    bandwidth
        Bandwidth of the file system, bytes per second.

    Raises
    ------
    WorkloadError
        There is no job, or one states no periods.
    """
    if not workload.jobs:
        raise WorkloadError(f"workload {workload.name!r} has no jobs")
    nodes = np.array([job.res for job in workload.jobs], np.float64) / workload.nb_res
    compute, transfer, counts = np.array([_period(workload, job.profile, bandwidth) for job in workload.jobs]).T
    uncontended = counts * (compute + transfer)
    share = transfer / (compute + transfer)
    return Features(
        io_load=float((uncontended * share).sum() / (nodes * uncontended).sum()),
        characteristic_variation=_variation(compute + transfer),
        share_variation=_variation(share),
        size_variation=_variation(nodes),
        mean_size=float(nodes.mean()),
        planned_drift=_planned_drift(nodes, uncontended, share),
        duration_share_correlation=rank_correlation(uncontended, share),
    )


def _period(workload: Workload, profile: str, bandwidth: float) -> tuple[float, float, float]:
    periods: Any = workload.profiles[profile].get("periods")
    if not isinstance(periods, dict):
        raise WorkloadError(f"profile {profile!r} states no 'periods': nothing is known of its I/O")
    return float(periods["compute_s"]), float(periods["io_bytes"]) / bandwidth, float(periods["count"])


def _variation(values: Floats) -> float:
    return float(values.std() / values.mean()) if values.mean() > 0 else 0.0


def _planned_drift(nodes: Floats, uncontended: Floats, share: Floats) -> float:
    """Relative change of the planned use of bandwidth between the first and the second half of packs, longest first."""
    left = list(np.argsort(-uncontended, kind="stable"))
    spans: list[float] = []
    volumes: list[float] = []
    while left:
        free, volume, span, later = 1.0 + 1e-9, 0.0, 0.0, []
        for job in left:
            io_s = uncontended[job] * share[job]
            longest = max(span, uncontended[job])
            if nodes[job] <= free and (volume == 0.0 or volume + io_s <= longest):
                free, volume, span = free - nodes[job], volume + io_s, longest
            else:
                later.append(job)
        spans.append(span)
        volumes.append(volume)
        left = later
    ends = np.cumsum(spans)
    half = 0.5 * ends[-1]
    rates = np.array(volumes) / np.array(spans)
    first = np.clip(half - (ends - spans), 0.0, spans)
    early, late = float(rates @ first) / half, float(rates @ (np.array(spans) - first)) / half
    return (late - early) / (0.5 * (late + early)) if late + early > 0 else 0.0

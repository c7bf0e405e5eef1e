"""Step functions over simulated time: queue length, queued and held resources. All intervals are half-open."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spillway.analysis.tables import holdings
from spillway.analysis.tables.jobs import Floats, JobTable


@dataclass(frozen=True)
class Steps:
    """A step function: from ``time_s[i]`` on its value is ``value[i]``, until the next time; 0 before the first."""

    time_s: Floats
    value: Floats

    def at(self, times_s: Floats) -> Floats:
        """Value at each of the given times."""
        if not self.time_s.size:
            return np.zeros(len(times_s))
        place = np.searchsorted(self.time_s, times_s, side="right") - 1
        return np.where(place >= 0, self.value[np.maximum(place, 0)], 0.0)

    def integral(self, begin_s: float, end_s: float) -> float:
        """Area under the function in ``[begin_s, end_s)``."""
        inside = self.time_s[(self.time_s > begin_s) & (self.time_s < end_s)]
        edges = np.concatenate(([begin_s], inside, [end_s]))
        return float(np.sum(self.at(edges[:-1]) * np.diff(edges)))

    def averages(self, edges: Floats) -> Floats:
        """Average within each span between neighbouring edges (ascending times)."""
        times = np.unique(np.concatenate((edges, self.time_s)))
        area = np.concatenate(([0.0], np.cumsum(self.at(times[:-1]) * np.diff(times))))
        averages: Floats = np.diff(np.interp(edges, times, area)) / np.diff(edges)
        return averages


def steps(begin_s: Floats, end_s: Floats, weight: Floats) -> Steps:
    """Sum of the weights of all intervals ``[begin, end)`` that contain each time."""
    times = np.concatenate((begin_s, end_s))
    change = np.concatenate((weight, -weight))
    unique, inverse = np.unique(times, return_inverse=True)
    return Steps(unique, np.cumsum(np.bincount(inverse, weights=change, minlength=unique.size)))


def queue_length(table: JobTable) -> Steps:
    """Number of waiting jobs."""
    ran = table.ran()
    return steps(ran.submit_s, ran.start_s, np.ones(len(ran)))


def queued_nodes(table: JobTable) -> Steps:
    """Nodes that waiting jobs request."""
    ran = table.ran()
    return steps(ran.submit_s, ran.start_s, ran.nodes.astype(np.float64))


def busy_nodes(table: JobTable) -> Steps:
    """Nodes held by jobs; jobs that share nodes in time hold them in their own slices only."""
    return steps(*holdings.held_nodes(table.ran()))


def held_bytes(table: JobTable) -> Steps:
    """Burst-buffer bytes held by jobs."""
    return steps(*holdings.held_bytes(table.ran()))

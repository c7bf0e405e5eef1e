"""Least-squares fit of a model's parameters to measurements at some sizes; no coefficient is below zero."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from spillway.schedulers.applications.performance import Floats, Measurement, Parameters

SHORTEST_S = 1e-9
"""Shorter times count as zero, and as this value in the denominators of relative errors."""


def fit_parameters(measured: Sequence[Measurement]) -> Parameters:
    """Fit :class:`spillway.schedulers.applications.performance.Parameters` to measurements.

    Computation, communication and I/O are fitted separately, with errors relative to the measured times, so that short
    times count as much as long ones. Communication is fitted to sizes above 1.

    Raises
    ------
    ValueError
        Without measurements.
    """
    if not measured:
        raise ValueError("a fit needs at least one measurement")
    nodes = np.array([row.nodes for row in measured], np.float64)
    ones = np.ones_like(nodes)
    work_s, serial_s = _fit((1 / nodes, ones), np.array([row.cpu_s for row in measured]))
    several = nodes > 1
    comm = np.array([row.comm_s for row in measured])[several]
    fixed_s, node_s = _fit((ones[several], nodes[several]), comm)
    io_fixed_s, io_node_s = _fit((ones, 1 / nodes), np.array([row.io_s for row in measured]))
    return Parameters(work_s, serial_s, fixed_s, node_s, io_fixed_s, io_node_s)


def _fit(columns: tuple[Floats, Floats], values: Floats) -> tuple[float, float]:
    """Two coefficients >= 0 with the least sum of squared relative errors: the best of all choices of columns."""
    if not (values > SHORTEST_S).any():
        return 0.0, 0.0
    weights = 1 / np.maximum(values, SHORTEST_S)
    target = values * weights
    best, least = (0.0, 0.0), float(target @ target)
    for chosen in itertools.chain(((0,), (1,)), ((0, 1),) if len(values) > 1 else ()):
        matrix = np.column_stack([columns[index] * weights for index in chosen])
        found = np.linalg.lstsq(matrix, target, rcond=None)[0]
        rest = matrix @ found - target
        error = float(rest @ rest)
        if (found >= 0).all() and error < least - 1e-15:
            both = [0.0, 0.0]
            for index, value in zip(chosen, found.tolist(), strict=True):
                both[index] = value
            best, least = (both[0], both[1]), error
    return best

"""A network that scores waiting jobs, computed by numpy from the trained weights in a text file.

Each job is scored by its own row of the table of jobs and by the other tables (machine, releases, storages), with the
same weights for all: linear layers with tanh between them, one number at the end (the kernel network of Zhang et al.,
RLScheduler, SC 2020, DOI 10.1109/SC41405.2020.00035).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from spillway.base.errors import OptionError
from spillway.learning.observation import OTHERS

Layer = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]
"""Weights (a row for each input) and biases."""

DIGITS = 9
"""Decimals of compared scores, so that rounding on a machine does not decide between jobs that are alike."""


class Network:
    """An agent that starts the job with the network's highest score.

    Parameters
    ----------
    layers
        Layers from the inputs to one score.
    """

    def __init__(self, layers: Sequence[Layer]) -> None:
        self._layers = layers

    def scores(self, observation: Mapping[str, Any], places: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
        """Scores of the jobs at some places of the window."""
        jobs = observation["jobs"][places].astype(np.float64)
        others = np.concatenate([observation[name].ravel() for name in OTHERS]).astype(np.float64)
        (weights, biases), *rest = self._layers
        own = jobs.shape[1]
        found: npt.NDArray[np.float64] = jobs @ weights[:own] + (others @ weights[own:] + biases)
        for weights, biases in rest:
            found = np.tanh(found) @ weights + biases
        return found[:, 0]

    def __call__(self, observation: Mapping[str, Any], mask: npt.NDArray[np.bool_]) -> int:
        """Place of the job with the highest score that can start; other valid actions are ignored."""
        places = np.flatnonzero(mask[: len(observation["jobs"])])
        return int(places[self.scores(observation, places).round(DIGITS).argmax()])


def read(path: Path, checksum: str = "") -> Network:
    """Read a network.

    Parameters
    ----------
    path
        A line for each unit: the number of its layer, its bias, and a weight for each input, between commas.
    checksum
        SHA-256 that the file must have, hexadecimal; "": any.

    Raises
    ------
    OptionError
        The file cannot be read, has another checksum, or does not describe a network.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise OptionError(f"network {str(path)!r} cannot be read: {error.strerror or error}") from None
    if checksum and hashlib.sha256(content).hexdigest() != checksum:
        raise OptionError(f"network {str(path)!r} does not belong to this version: reinstall spillway")
    try:
        return Network(_layers(content.decode("ascii").split()))
    except ValueError as error:
        raise OptionError(f"network {str(path)!r}: {error}") from None


def _layers(lines: Sequence[str]) -> list[Layer]:
    units: dict[int, list[list[float]]] = {}
    for line in lines:
        layer, *numbers = line.split(",")
        units.setdefault(int(layer), []).append([float(number) for number in numbers])
    layers: list[Layer] = []
    for number, rows in sorted(units.items()):
        if {len(row) for row in rows} != {len(rows[0])} or len(rows[0]) < 2:
            raise ValueError(f"units of layer {number} have weights for different numbers of inputs")
        table = np.array(rows, np.float64)
        if layers and len(layers[-1][1]) != table.shape[1] - 1:
            raise ValueError(
                f"layer {number} has {table.shape[1] - 1} inputs, the one before {len(layers[-1][1])} units"
            )
        if not np.isfinite(table).all():
            raise ValueError(f"layer {number} has weights that are no numbers")
        layers.append((table[:, 1:].T.copy(), table[:, 0].copy()))
    if not layers or len(layers[-1][1]) != 1:
        raise ValueError("expected layers that end in one unit")
    return layers


def text_of(layers: Sequence[Layer]) -> str:
    """Text of a network, for :func:`read`."""
    rows = [
        ",".join([str(number), *(f"{value:.7g}" for value in (bias, *weights[:, unit].tolist()))])
        for number, (weights, biases) in enumerate(layers)
        for unit, bias in enumerate(biases.tolist())
    ]
    return "\n".join(rows) + "\n"

"""The answer of a search in a timeline, and the error of a booking that a timeline refuses."""

from __future__ import annotations

import math
from typing import NamedTuple

from spillway.schedulers.model.job import Allocation


class Fit(NamedTuple):
    """The earliest start of a job and its allocation there.

    Attributes
    ----------
    start_s
        Start in seconds; of the burst buffer, where the holdings have lives of their own.
    allocation
        Nodes, storages and bandwidth, of the covered resources only.
    """

    start_s: float
    allocation: Allocation


class Overbooked(ValueError):
    """A booking that conflicts with earlier ones.

    Attributes
    ----------
    until_s
        Start of the first later interval of the same length in which the booking may succeed (s); infinity if there is
        no such interval.
    """

    def __init__(self, words: str, until_s: float = math.inf) -> None:
        super().__init__(words)
        self.until_s = until_s

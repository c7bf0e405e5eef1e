"""What a question to a timeline is answered with, and a booking that it refuses."""

from __future__ import annotations

import math
from typing import NamedTuple

from spillway.schedulers.model.job import Allocation


class Fit(NamedTuple):
    """The earliest start of a job and what it gets there.

    Attributes
    ----------
    start_s
        Start in seconds; of the nodes, where the holdings have lives of their own.
    allocation
        Nodes, storages and bandwidth, of the covered resources only.
    """

    start_s: float
    allocation: Allocation


class Overbooked(ValueError):
    """A booking that does not go together with what is booked already.

    Attributes
    ----------
    until_s
        Begin of the first interval, as long as the one that was to be booked and not before it, that may have room (s);
        infinity if none.
    """

    def __init__(self, words: str, until_s: float = math.inf) -> None:
        super().__init__(words)
        self.until_s = until_s

"""What a question to a timeline is answered with."""

from __future__ import annotations

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

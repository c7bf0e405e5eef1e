"""Packing of whole units into bins: the problem behind every choice of jobs that use burst buffers together.

Item ``i`` has ``units[i]`` units of ``sizes[i]``; each unit goes whole into one bin, bins have the capacity
``capacities[j]``. In the terms of the thesis: the nodes of a job, its burst-buffer bytes per node, and the storage
nodes (equations 3.1-3.3). The problem is NP-complete, yet quickly solved for the sizes that occur: counting places
settles most cases, a rule of thumb most others, and a search bin by bin those that remain.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from spillway.core import Packer


class PackingAnswer(enum.Enum):
    """Answer to whether units fit into bins; the values are the core's codes."""

    YES = 1
    NO = 0
    UNDECIDED = -1


class Packing(NamedTuple):
    """Answer and packing of the units.

    Attributes
    ----------
    verdict
        ``UNDECIDED`` only when the budget was used up.
    taken
        ``int64[items, bins]``: units of each item in each bin; zeros where they do not fit.
    steps
        Steps of the search.
    """

    verdict: PackingAnswer
    taken: npt.NDArray[np.int64]
    steps: int


def pack(units: Sequence[int], sizes: Sequence[int], capacities: Sequence[int], budget: int = 1_000_000) -> Packing:
    """Pack units into bins, or prove that they do not fit.

    Parameters
    ----------
    units
        Units per item, each at least 0.
    sizes
        Size of one unit per item, each at least 0.
    capacities
        Capacity per bin, each at least 0; same unit as the sizes.
    budget
        Most steps to take (one step: one count of one item in one bin; some 100 million per second at best).

    Notes
    -----
    Bins are closed one by one, least capacity first, each as full as possible at first. The waste of a closed bin is
    charged to the surplus of all capacities over all units; when that is used up, the search backtracks. Fillings that
    could be enlarged are left out, and remainders already found not to fit are not tried again. Before each bin, places
    are counted for the largest units, and a rule of thumb (largest units first, each into the tightest bin) tries to
    finish.

    References
    ----------
    A. S. Fukunaga, R. E. Korf, *Bin completion algorithms for multicontainer packing, knapsack, and covering problems*,
    JAIR 28, 2007 (bin by bin, dominance); S. Martello, P. Toth, *Knapsack problems*, 1990, chapter 8 (dominance
    criterion).
    """
    verdict, taken, steps = Packer().pack(units, sizes, capacities, budget)
    return Packing(PackingAnswer(verdict), taken, steps)

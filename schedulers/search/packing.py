"""Packing of whole units into bins: the problem behind every choice of jobs that use burst buffers together.

Item ``i`` has ``units[i]`` units of ``sizes[i]``; each unit goes whole into one bin, bins have the capacity
``capacities[j]``. In the terms of the thesis: the nodes of a job, its burst-buffer bytes per node, and the storage
nodes (equations 3.1-3.3). The problem is NP-complete, yet quickly solved for the sizes that occur: counting places
settles most cases, a rule of thumb most others, and a search bin by bin those that remain.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from spillway.base.lazy_modules import late

if TYPE_CHECKING:
    from spillway.schedulers.search import packing_kernels
else:
    packing_kernels = late("spillway.schedulers.search.packing_kernels")


class Fits(enum.Enum):
    """Answer to whether units fit into bins; the values are the kernels' codes."""

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

    verdict: Fits
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
    could be enlarged are left out, and remainders already found not to fit are not tried again (see
    :mod:`spillway.schedulers.search.packing_kernels` for the sources). Before each bin, places are counted for the
    largest units, and a rule of thumb (largest units first, each into the tightest bin) tries to finish.
    """
    taken = np.zeros((len(units), len(capacities)), np.int64)
    order = sorted((i for i in range(len(units)) if units[i] > 0 and sizes[i] > 0), key=lambda i: (-sizes[i], i))
    found = np.zeros((len(order), len(capacities)), np.int64)
    verdict, steps = packing_kernels.pack(
        np.array([units[i] for i in order], np.int64), np.array([sizes[i] for i in order], np.int64),
        np.array(capacities, np.int64), budget, found, new_memo(),
    )  # fmt: skip
    if verdict == packing_kernels.FITS:
        taken[order] = found
        for i in range(len(units)):
            if sizes[i] == 0 and len(capacities):
                taken[i, 0] = units[i]
    return Packing(Fits(verdict), taken, steps)


def is_packing(
    units: Sequence[int], sizes: Sequence[int], capacities: Sequence[int], taken: npt.NDArray[np.int64]
) -> bool:
    """Whether ``taken`` packs all units and overfills no bin."""
    used = taken * np.array(sizes, np.int64).reshape(-1, 1)
    complete = (taken >= 0).all() and taken.sum(axis=1).tolist() == list(units)
    return bool(complete and (used.sum(axis=0) <= np.array(capacities, np.int64)).all())


def new_memo() -> npt.NDArray[np.int64]:
    """Scratch memory for :func:`spillway.schedulers.search.packing_kernels.pack`."""
    return np.zeros((packing_kernels.MEMO + 1, 2), np.int64)

"""Names of the compiled module, with their documentation; written in C++ in the folders beside this file."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

SOURCE_DIGEST: str
"""SHA-256 over the C++ sources that the module was built from, as hexadecimal digits."""

class Batch:
    """Tasks laid out one behind the other.

    Parameters
    ----------
    hosts, ends
        Hosts of all positions of all tasks; begin of each task in them, then their number.
    work
        flop of every position.
    each
        Bytes of each task's all-to-all.
    pair_ends, sources, destinations, amounts
        Begin of each task in the transfers, then their number; hosts and bytes of the transfers.
    """

    def __init__(
        self,
        hosts: Sequence[int],
        ends: Sequence[int],
        work: Sequence[float],
        each: Sequence[float],
        pair_ends: Sequence[int],
        sources: Sequence[int],
        destinations: Sequence[int],
        amounts: Sequence[float],
    ) -> None: ...

class Engine:
    """A machine on which parallel tasks run, and its clock (``core/engines/engine.hpp``).

    Callers check what they give; methods of unknown handles return -1.

    Attributes
    ----------
    clock_s
        Seconds since the start of the simulation.
    ends_at_once
        Whether a task that has work can end at the instant of its start.
    active
        Number of tasks that have started and neither ended nor been cancelled.
    """

    @property
    def clock_s(self) -> float: ...
    @property
    def ends_at_once(self) -> bool: ...
    @property
    def active(self) -> int: ...
    def start_many(self, tasks: Batch) -> list[int]:
        """Start tasks at the present clock; return their handles."""

    def sleep(self, seconds: float) -> int:
        """Start a task that uses no resource and ends after a time."""

    def cancel(self, handle: int) -> float:
        """Remove a task; return its progress in [0, 1], or -1 if no task of that handle is active."""

    def progress(self, handle: int) -> float:
        """Progress in [0, 1] of a task, or -1 if no task of that handle is active."""

    def next_completion(self) -> float:
        """Instant at which the next task ends if nothing is started or cancelled before; ``inf`` without one."""

    def advance(self, until_s: float) -> list[int]:
        """Move the clock to an instant or to the next end, whichever comes first; return the tasks that ended."""

    def advance_through(
        self, moments: Sequence[float], starts: Sequence[bool], tasks: Batch
    ) -> tuple[int, list[int], list[int]]:
        """Move the clock to one moment after another, and start the next task at each that ``starts`` names.

        Returns the number of moments passed, the handles of the tasks started, and those of the tasks that ended on the
        way to the next moment.
        """

    def change_speed(self, host: int, speed: float) -> None:
        """Change the speed of a host, flop/s of one core."""

class FixedEngine(Engine):
    """A task takes as long as its slowest host computes, without any contention.

    Parameters
    ----------
    speeds
        flop/s of one core, by host.
    """

    def __init__(self, speeds: Sequence[float]) -> None: ...

class Packer:
    """Packs whole units into bins, or proves that they do not fit (``core/search/packing.hpp``).

    It keeps its working memory from question to question; no answer depends on earlier ones.
    """

    def __init__(self) -> None: ...
    def pack(
        self, units: Sequence[int], sizes: Sequence[int], capacities: Sequence[int], budget: int
    ) -> tuple[int, npt.NDArray[np.int64], int]:
        """Pack items, each of so many units of one size, into bins; all amounts are at least 0.

        Parameters
        ----------
        units, sizes
            Units of each item, and the size of one of its units.
        capacities
            Capacity per bin, in the measure of the sizes.
        budget
            Most steps to take.

        Returns
        -------
        tuple
            1 where they fit, 0 where they do not, -1 where the budget was used up; units of each item in each bin
            (``int64[items, bins]``), zeros where they do not fit; the steps taken.
        """

class SubsetChoice:
    """The best set of items that :func:`branch_and_bound` found.

    Attributes
    ----------
    chosen
        The items, ascending; ``None`` when no set was found.
    taken
        ``int64[chosen, bins]``: units of each chosen item in each bin.
    bound
        No set can have a score above this; ``None`` when there is no set.
    proven
        Whether the set is proven best, or proven not to exist.
    steps
        Steps of the search.
    """

    @property
    def chosen(self) -> list[int] | None: ...
    @property
    def taken(self) -> npt.NDArray[np.int64]: ...
    @property
    def bound(self) -> tuple[float, float, float] | None: ...
    @property
    def proven(self) -> bool: ...
    @property
    def steps(self) -> int: ...

def branch_and_bound(
    units: Sequence[int],
    sizes: Sequence[int],
    waits: Sequence[float],
    free_units: int,
    capacities: Sequence[int],
    units_first: bool,
    mandatory: Sequence[int],
    loads: Sequence[Sequence[int]],
    load_limits: Sequence[int],
    steps: int,
    pack_steps: int,
    table_cells: int,
    settle: Callable[[list[int]], tuple[int, list[int]]] | None,
) -> SubsetChoice:
    """Find the best set of items that fit together (``core/search/subset.hpp``).

    Parameters
    ----------
    units, sizes, waits, free_units, capacities, units_first, mandatory, loads, load_limits
        As in :class:`spillway.schedulers.search.subset.SubsetProblem`.
    steps, pack_steps, table_cells
        As in :class:`spillway.schedulers.search.subset_bb.Budget`.
    settle
        Decides a set that the packing search left undecided: 1, 0 or -1 as in :meth:`Packer.pack`, and the packing item
        by item where it is 1. It is called for the most promising sets first.
    """

"""Short computations in worker processes: a function, its arguments, results as they come.

For computations that need no process of their own each (:mod:`experiments.pool` is for runs that may hang or die).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import TypeVar

from experiments import warm

Item = TypeVar("Item")
Result = TypeVar("Result")


def side_by_side(
    work: Callable[[Item], Result], items: Iterable[Item], workers: int
) -> Iterator[tuple[int, Item, Result]]:
    """Apply ``work`` to every item in ``workers`` processes; yield how many are done, the item, and its result.

    Parameters
    ----------
    work
        A function that can be imported by name, or a ``functools.partial`` of one.
    items
        What it is applied to; the results come in the order in which they are ready.
    workers
        Processes, at least 1.

    Raises
    ------
    Exception
        What ``work`` raised. Items that have not begun are given up then, as they are when the caller stops early.
    """
    items = list(items)
    if items:
        warm.load()
    with ProcessPoolExecutor(workers) as pool:
        waiting = {pool.submit(work, item): item for item in items}
        try:
            for done, finished in enumerate(as_completed(waiting), 1):
                yield done, waiting[finished], finished.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

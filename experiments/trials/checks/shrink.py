"""The smallest world in which a check still fails: what it is made of is left out, the rest is made plainer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

W = TypeVar("W")


def shrink(world: W, simpler: Callable[[W], Iterable[W]], fails: Callable[[W], bool], most: int) -> W:
    """Make a failing world smaller.

    Parameters
    ----------
    world
        Fails.
    simpler
        Gives the worlds that are simpler by one step, the largest steps first.
    fails
        Whether a world fails in the same way.
    most
        How many worlds are tried at most: the effort does not depend on the machine.

    Returns
    -------
    W
        Fails, too; none of the simpler worlds that were tried does.
    """
    tried, place, better = 0, 0, False
    while True:
        for at, one in enumerate(simpler(world)):
            if at < place:
                continue  # tried in this round already, with a world that was larger
            if tried >= most:
                return world
            tried += 1
            if fails(one):
                world, place, better = one, at, True
                break
        else:
            if not better:
                return world
            place, better = 0, False

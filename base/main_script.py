"""Child processes that do not run the main script of their parent again.

Python's way of starting a process that is no copy runs the parent's script once more in it, for what the script may
define. A script without ``if __name__ == "__main__"`` would then begin anew in each child, and fail there.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from types import ModuleType

_MAIN = "__main__"


@contextlib.contextmanager
def without_main_script(*needed: object) -> Iterator[None]:
    """Start processes inside (:mod:`multiprocessing`) to which the main script stays unknown.

    Parameters
    ----------
    needed
        Functions and classes that they are given: where one is the main script's own, it is run in them as usual.
    """
    main = sys.modules[_MAIN]
    if any(getattr(one, "__module__", "") == _MAIN for one in needed):
        yield
        return
    sys.modules[_MAIN] = ModuleType(_MAIN)
    try:
        yield
    finally:
        sys.modules[_MAIN] = main

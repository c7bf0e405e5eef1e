"""Child processes that do not run the main script of their parent again.

When Python starts a process that is no fork, it runs the parent's script again in it, for the script's definitions. A
script without ``if __name__ == "__main__"`` would then start from the beginning in each child, and fail there.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from types import ModuleType

_MAIN = "__main__"


@contextlib.contextmanager
def without_main_script(*needed: object) -> Iterator[None]:
    """Start processes inside (:mod:`multiprocessing`) that do not run the main script.

    Parameters
    ----------
    needed
        Functions and classes passed to them: if the main script defines one of these, it is run in them as usual.
    """
    main = sys.modules[_MAIN]
    if any(getattr(thing, "__module__", "") == _MAIN for thing in needed):
        yield
        return
    sys.modules[_MAIN] = ModuleType(_MAIN)
    try:
        yield
    finally:
        sys.modules[_MAIN] = main

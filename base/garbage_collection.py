"""Looking less often for unreachable objects that refer to each other: nearly all that we make is freed without."""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
from collections.abc import Iterator

OBJECTS = 200_000
"""New objects between two searches. What modules define at the start of a command is fewer and stays to its end:
looking at it took a twentieth of a second."""


@contextlib.contextmanager
def collecting_rarely() -> Iterator[None]:
    """Search after every so many new objects only."""
    before = gc.get_threshold()
    gc.set_threshold(OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


@functools.cache
def end_without_search() -> None:
    """Let this process end without a last search: all its memory is given back together.

    Python looks through all modules then, for as long as it took to import them all.
    """
    atexit.register(gc.freeze)

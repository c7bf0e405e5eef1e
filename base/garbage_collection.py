"""Rarer searches for unreachable objects that refer to each other: nearly all objects are freed without them."""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
from collections.abc import Iterator

OBJECTS = 200_000
"""New objects between two searches. The objects that modules define at the start of a command are fewer and stay to its
end: searching them took a twentieth of a second."""


@contextlib.contextmanager
def collecting_rarely() -> Iterator[None]:
    """Search only after every :data:`OBJECTS` new objects."""
    before = gc.get_threshold()
    gc.set_threshold(OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


@functools.cache
def end_without_search() -> None:
    """Let this process end without a last search: all its memory is released at once.

    Python would search all modules, which takes as long as importing them.
    """
    atexit.register(gc.freeze)

"""Peak memory of this process and of its children."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import resource
import sys
from pathlib import Path

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


def forget_peak() -> None:
    """Start a new measurement where the system allows it (Linux)."""
    with contextlib.suppress(OSError):
        _CLEAR.write_text("5")


def give_back() -> None:
    """Free objects that refer to each other, and give free memory back to the system (glibc does when asked)."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def peak_bytes() -> int:
    """Largest resident size in bytes since :func:`forget_peak`, or since the start where the system cannot reset it."""
    with contextlib.suppress(OSError):
        for line in _STATUS.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def children_peak_bytes() -> int:
    """Largest resident size in bytes of any child process that has ended and been waited for."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * unit

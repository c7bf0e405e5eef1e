"""All compiled kernels of the simulator: they are loaded before use, with a report if that takes time."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

_FOLDER = Path(__file__).parent / "engines"
KERNEL_MODULES = (
    "spillway.simulator.engines.routes",
    "spillway.simulator.engines.fluid_kernels",
    "spillway.simulator.engines.weights",
)
"""Modules with compiled functions; importing one compiles them or loads them from Numba's cache."""


def warm_up(report: Callable[[str], None] | None = None) -> float:
    """Import every kernel module, which compiles the kernels missing in Numba's cache.

    Parameters
    ----------
    report
        Called with one line when kernels are being compiled.

    Returns
    -------
    float
        Seconds taken.
    """
    cached = is_cached()
    if report is not None and not cached:
        report("compiling the simulator's kernels (once per installation, about ten seconds)")
    begin = time.perf_counter()
    for name in KERNEL_MODULES:
        importlib.import_module(name)
    if not cached:
        mark_cached()
    return time.perf_counter() - begin


def mark_cached() -> None:
    """Give Numba's cache files the present time: Numba keeps them when a source is written anew without a change."""
    for name in KERNEL_MODULES:
        for index in _index_files(name.rpartition(".")[2]):
            with contextlib.suppress(OSError):  # not our folder, or another process was faster
                os.utime(index)


def is_cached() -> bool:
    """Whether Numba's cache seems to have every kernel module, judged by file times without importing Numba."""
    names = [name.rpartition(".")[2] for name in KERNEL_MODULES]
    changed_s = max((_FOLDER / f"{name}.py").stat().st_mtime for name in (*names, "fluid_state", "batch"))
    return all(any(index.stat().st_mtime >= changed_s for index in _index_files(name)) for name in names)


def _index_files(name: str) -> list[Path]:
    """Index files of a module's kernels, in the first folder of Numba's search that has such files."""
    pattern = f"{name}.*.py{sys.version_info.major}{sys.version_info.minor}*.nbi"
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return list(Path(chosen).glob(f"engines_*/{pattern}"))
    user = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "numba"
    return list((_FOLDER / "__pycache__").glob(pattern)) or list(user.glob(f"engines_*/{pattern}"))

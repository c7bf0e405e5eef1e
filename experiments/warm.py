"""Compile the numerical kernels once, so that no run has to wait for it (``make setup`` calls this)."""

from __future__ import annotations

import importlib
import importlib.util
import time

KERNEL_MODULES = ("schedulers.kernels", "simulator.kernels")
"""Modules with a ``warm_up()`` that compiles or loads every kernel of their folder."""


def warm_up() -> float:
    """Compile every kernel, or load it from Numba's cache; return the seconds it took."""
    begin = time.perf_counter()
    for name in KERNEL_MODULES:
        if importlib.util.find_spec(name) is not None:
            importlib.import_module(name).warm_up()
    return time.perf_counter() - begin


if __name__ == "__main__":
    print("setup: compiling the kernels (once; about ten seconds)", flush=True)
    print(f"setup: kernels ready after {warm_up():.1f} s")

"""Compile the numerical kernels once, so that no run has to wait for it (``make setup`` calls this)."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor

from schedulers import kernels as scheduling
from simulator import kernels as simulation

FIRST = "schedulers.timeline.fit_kernels"
"""Other kernels have this module's code in them: it must be there before they are compiled."""


def warm_up() -> float:
    """Compile every kernel, or load it from Numba's cache, on all cores; return the seconds it took."""
    begin = time.perf_counter()
    others = [name for name in scheduling.kernel_modules() if name != FIRST]
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(os.cpu_count() or 1, mp_context=context) as pool:
        first = pool.submit(_compile, [FIRST])
        simulated = pool.submit(_compile, simulation.KERNEL_MODULES)
        first.result()
        for done in [pool.submit(_compile, [name]) for name in others]:
            done.result()
        simulated.result()
    return time.perf_counter() - begin


def _compile(modules: Sequence[str]) -> None:
    for name in modules:
        importlib.import_module(name)


if __name__ == "__main__":
    print("setup: compiling the kernels (once; about ten seconds)", flush=True)
    print(f"setup: kernels ready after {warm_up():.1f} s")

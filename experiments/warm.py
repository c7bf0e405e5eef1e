"""Compile the numerical kernels once, so that no run has to wait for it (``make setup`` calls this)."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed

from rich.console import Console

from schedulers import kernels as scheduling
from simulator import kernels as simulation

FIRST = "schedulers.timeline.fit_kernels"
"""Other kernels have this module's code in them: it must be there before they are compiled."""

ANNOUNCEMENT = "compiling numerical kernels (once per installation; half a minute to two)"


def ensure(console: Console | None = None) -> None:
    """Compile what Numba's cache does not have, after an announcement; what is there is not loaded.

    Loading takes a second of CPU time, and a driver whose worker processes play has no use for it.

    Parameters
    ----------
    console
        Where that is shown: in a terminal with how many of the modules are done, elsewhere as one line. By default
        the standard error stream.
    """
    if not (scheduling.is_cached() and simulation.is_cached()):
        shown = console or Console(stderr=True)
        if not shown.is_terminal:
            shown.print(ANNOUNCEMENT, highlight=False, soft_wrap=True)
        with shown.status(ANNOUNCEMENT) as status:
            warm_up(lambda done, total: status.update(f"{ANNOUNCEMENT}: {done} of {total}"))


def load() -> None:
    """Load every kernel, so that this process and those forked from it have them; see :func:`ensure`."""
    ensure()
    scheduling.warm_up()
    simulation.warm_up()


def warm_up(report: Callable[[int, int], object] = lambda done, total: None) -> float:
    """Compile every kernel, or load it from Numba's cache, on all cores; return the seconds it took.

    Parameters
    ----------
    report
        Gets how many parts are done, and of how many.
    """
    begin = time.perf_counter()
    others = [name for name in scheduling.kernel_modules() if name != FIRST]
    total = len(others) + 2
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(os.cpu_count() or 1, mp_context=context) as pool:
        first = pool.submit(_compile, [FIRST])
        simulated = pool.submit(_compile, simulation.KERNEL_MODULES)
        first.result()
        report(1, total)
        rest = [simulated, *(pool.submit(_compile, [name]) for name in others)]
        for done, part in enumerate(as_completed(rest), 2):
            part.result()
            report(done, total)
    scheduling.mark_cached()
    simulation.mark_cached()
    return time.perf_counter() - begin


def _compile(modules: Sequence[str]) -> None:
    for name in modules:
        importlib.import_module(name)


if __name__ == "__main__":
    print("setup: compiling the kernels (once; about ten seconds)", flush=True)
    print(f"setup: kernels ready after {warm_up():.1f} s")

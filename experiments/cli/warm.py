"""Compile the numerical kernels once, so that no run has to wait for it (``make setup`` calls this)."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable

from rich.console import Console

from spillway.experiments.run.codehash import modules_of
from spillway.schedulers import kernels as scheduling
from spillway.schedulers.policies import find_policy


def needed(policies: Iterable[str]) -> list[str]:
    """Kernel modules for runs under some policies: those that the code of the runs imports.

    The others take two thirds of the time of compiling.

    Parameters
    ----------
    policies
        Names in the table of policies, or ``FILE.py:CLASS``.
    """
    code = modules_of("spillway.experiments.run.single", *{find_policy(policy).cls.__module__ for policy in policies})
    return [name for name in scheduling.kernel_modules() if name in code]


def ensure(console: Console | None = None, names: Collection[str] | None = None) -> None:
    """Compile the kernels that Numba's cache lacks, after an announcement; cached ones are not loaded.

    Loading takes half a second of CPU time, and a driver of worker processes needs no kernels.

    Parameters
    ----------
    console
        Shows the announcement: in a terminal with the number of modules that are done, elsewhere as one line. By
        default the standard error stream.
    names
        Kernel modules of the schedulers (:func:`needed`); by default all of them.
    """
    if not scheduling.is_cached(names):
        shown, line = console or Console(stderr=True), scheduling.ANNOUNCEMENT
        if not shown.is_terminal:
            shown.print(line, highlight=False, soft_wrap=True)
        with shown.status(line) as status:
            warm_up(lambda done, total: status.update(f"{line}: {done} of {total}"), names)


def load() -> None:
    """Load every kernel, so that this process and those forked from it have them; see :func:`ensure`."""
    ensure()
    scheduling.warm_up()


def warm_up(
    report: Callable[[int, int], object] = lambda done, total: None,
    names: Collection[str] | None = None,
) -> float:
    """Compile kernels, or load them from Numba's cache, on all cores; return the seconds it took.

    Parameters
    ----------
    report
        Gets the number of parts that are done, and of all parts.
    names
        Kernel modules of the schedulers; by default all of them.
    """
    begin = time.perf_counter()
    chosen = scheduling.kernel_modules() if names is None else names
    scheduling.compile_side_by_side(chosen, report=report)
    return time.perf_counter() - begin


if __name__ == "__main__":
    print(f"setup: {scheduling.ANNOUNCEMENT}", flush=True)
    print(f"setup: kernels ready after {warm_up():.1f} s")

"""All compiled kernels of the schedulers: load them before use, compile missing ones with a report."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

from spillway.base.lazy_modules import load
from spillway.base.main_script import without_main_script
from spillway.base.signals import held_back

_PACKAGE = Path(__file__).parent
FIRST = "spillway.schedulers.timeline.nodespace_kernels"
"""The module that is compiled first."""

ANNOUNCEMENT = "compiling numerical kernels (once per installation; half a minute to two)"

_CALLED_BY_OTHERS: tuple[str, ...] = ()
"""Files that make the whole folder's compiled code stale when they change (see :mod:`spillway.base.kernel_cache`)."""


def kernel_modules() -> list[str]:
    """Names of the modules with kernels: all files ``*_kernels.py`` of this package."""
    files = sorted(path.relative_to(_PACKAGE.parent) for path in _PACKAGE.rglob("*_kernels.py"))
    return [".".join(("spillway", *path.with_suffix("").parts)) for path in files]


def warm_up(report: Callable[[str], None] | None = None, check: Callable[[], object] | None = None) -> float:
    """Load every kernel module; first compile those missing in Numba's cache on all cores.

    Parameters
    ----------
    report
        Receives one line when kernels are being compiled.
    check
        Checks the user's input. It is called before compilation, so that wrong input is reported without waiting for
        it; it is not called if all kernels are cached. It must be picklable.

    Returns
    -------
    float
        Duration (s).

    Raises
    ------
    Exception
        Exceptions of ``check``.
    """
    begin = time.perf_counter()
    if not is_cached():
        if check is not None:
            _call_without_kernels(check)
        if report is not None:
            report(ANNOUNCEMENT)
        compile_side_by_side(kernel_modules())
    for name in kernel_modules():
        load(name)
    importlib.import_module("numpy.ma")  # else at the first call, when a service may have no descriptor left
    return time.perf_counter() - begin


def compile_side_by_side(
    names: Collection[str],
    others: Collection[Sequence[str]] = (),
    report: Callable[[int, int], object] = lambda done, total: None,
) -> None:
    """Compile kernels, or load them from Numba's cache, in separate processes on all cores.

    Parameters
    ----------
    names
        Kernel modules of this package.
    others
        Further modules, in one group per process.
    report
        Receives the number of finished parts, and of all parts.
    """
    if not names:
        return
    rest = [name for name in names if name != FIRST]
    total = 1 + len(others) + len(rest)
    with ProcessPoolExecutor(os.cpu_count() or 1, mp_context=get_context("spawn")) as pool, without_main_script():
        first = pool.submit(_compile, [FIRST])
        parts = [pool.submit(_compile, group) for group in others]
        first.result()
        report(1, total)
        parts += [pool.submit(_compile, [name]) for name in rest]
        for done, part in enumerate(as_completed(parts), 2):
            part.result()
            report(done, total)
    mark_cached(names)


def _compile(modules: Sequence[str]) -> None:
    for name in modules:
        load(name)


def _call_without_kernels(check: Callable[[], object]) -> None:
    """Call ``check`` in a process in which kernels are plain Python."""
    with contextlib.ExitStack() as open_pool:
        with held_back() as begin:
            pool = ProcessPoolExecutor(1, get_context("fork"), _compile_nothing, (begin,))
            called = open_pool.enter_context(pool).submit(_call, check)
        called.result()


def _compile_nothing(begin: Callable[[], None]) -> None:
    begin()
    os.environ["NUMBA_DISABLE_JIT"] = "1"
    if "numba" in sys.modules:
        sys.modules["numba"].config.DISABLE_JIT = True


def _call(check: Callable[[], object]) -> None:
    check()  # its result is not sent to the other process


def mark_cached(names: Iterable[str] | None = None) -> None:
    """Set the times of Numba's cache files, of all kernel modules or of some, to the present.

    Numba compares the contents of a source, not its time: it keeps its files when a source is only rewritten, as by a
    checkout, and the files would seem stale from then on.
    """
    for source in _sources(names):
        for index in _index_files(source):
            try:
                os.utime(index)
            except OSError:  # not our folder, or another process was faster
                continue


def is_cached(names: Iterable[str] | None = None) -> bool:
    """Whether Numba's cache has all kernel modules, or some, judged by file times without importing Numba.

    It is wrong on another type of processor than the one that filled the cache: Numba compiles again there.
    """
    shared_s = (
        max((_PACKAGE / "timeline" / name).stat().st_mtime for name in _CALLED_BY_OTHERS) if _CALLED_BY_OTHERS else 0.0
    )
    for source in _sources(names):
        changed_s = source.stat().st_mtime
        if source.parent.name == "timeline":
            changed_s = max(changed_s, shared_s)
        if not any(index.stat().st_mtime >= changed_s for index in _index_files(source)):
            return False
    return True


def _sources(names: Iterable[str] | None) -> list[Path]:
    """Files of kernel modules."""
    chosen = kernel_modules() if names is None else names
    return [_PACKAGE.parents[1].joinpath(*name.split(".")).with_suffix(".py") for name in chosen]


def _index_files(source: Path) -> list[Path]:
    """Index files of a source's kernels, from the first of Numba's cache folders that has any."""
    name = f"{source.stem}.*.py{sys.version_info.major}{sys.version_info.minor}*.nbi"
    below = f"{source.parent.name}_*/{name}"
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return list(Path(chosen).glob(below))
    found = list((source.parent / "__pycache__").glob(name))
    if found:
        return found
    user = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return list((Path(user) / "numba").glob(below))

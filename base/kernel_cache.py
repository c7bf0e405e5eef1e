"""Additions to Numba's cache: dependencies between files, late loading, and loading without the compiler.

A compiled function contains code of functions from other files, which Numba's cache does not consider. A function that
only kernels call need not be loaded once they are compiled. Compiled code needs no compiler.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any


def drop_older_than(cache_folder: str | os.PathLike[str], *sources: str) -> list[Path]:
    """Delete the cache's index files that are older than one of these source files; return them.

    Numba recompiles a kernel when its own file changes. A kernel that calls one from another file, however, contains
    the callee's code and would keep the old one. A module with kernels that other files of its folder call therefore
    drops all code compiled before its own last change.
    """
    changed_s = max(os.stat(source).st_mtime for source in sources)
    dropped = []
    for index in Path(cache_folder).glob("*.nbi"):
        try:
            if index.stat().st_mtime < changed_s:
                index.unlink()
                dropped.append(index)
        except OSError:  # another process was faster, or the folder is another user's, where Numba does not write
            continue
    return dropped


def compile_for_callers(function: Any, signature: Any) -> None:
    """Compile or load a kernel that only kernels call when one of its callers is compiled, not before.

    A caller from Numba's cache contains the callee's code. Most kernels are such callees: loading all of them takes
    about a second of CPU time and would be of no use.

    Parameters
    ----------
    function
        The kernel as returned by Numba, without a signature; unchanged where Numba compiles nothing.
    signature
        Its only signature.
    """
    if not hasattr(function, "get_call_template"):  # NUMBA_DISABLE_JIT: it is plain Python
        return
    look_up = function.get_call_template

    def get_call_template(arguments: Any, keywords: Any) -> Any:
        if not function.overloads:
            function.compile(signature)
            function.disable_compile()
        return look_up(arguments, keywords)

    function.get_call_template = get_call_template


def njit(*signature: Any, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """As Numba's ``njit``, with cached code loaded by :func:`_load_without_compiler`."""
    from numba import njit as compiled  # not before kernels are needed

    def declared(function: Callable[..., Any]) -> Any:
        kept = compiled(**options)(function)
        _load_without_compiler(kept)
        if signature and hasattr(kept, "compile"):  # NUMBA_DISABLE_JIT: it is plain Python
            kept.compile(*signature)
            kept.disable_compile()
        return kept

    return declared


def _load_without_compiler(function: Any) -> None:
    """Load a kernel from Numba's cache without first declaring everything that Numba can compile.

    The declarations (seventy modules, one of them a parser of C) take a tenth of a second of CPU time in each process,
    and only compilation needs them; Numba makes them then. Loaded code needs the runtime for its arrays. Code compiled
    for classes that have since been renamed or moved is dropped. A Numba with another kind of cache is left unchanged.
    """
    cache = getattr(function, "_cache", None)
    inner = getattr(cache, "_load_overload", None)
    guard = getattr(cache, "_guard_against_spurious_io_errors", None)
    if cache is None or inner is None or guard is None:
        return
    from numba.core.runtime.nrt import rtsys

    def load_overload(signature: Any, target: Any) -> Any:
        rtsys.initialize(target)
        with guard():
            try:
                return inner(signature, target)
            except (AttributeError, ImportError):  # Numba reads an index before it detects that it is stale
                cache.flush()
                return None

    cache.load_overload = load_overload

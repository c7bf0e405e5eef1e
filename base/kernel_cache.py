"""What Numba's cache leaves out: that a compiled function holds code of functions from other files.

And when the code of one is loaded: that of a function which only kernels call is in theirs, once they are compiled. And
with how much of Numba: what is compiled already needs no compiler.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any


def drop_older_than(cache_folder: str | os.PathLike[str], *sources: str) -> list[Path]:
    """Delete the cache's index files that are older than one of these source files; return them.

    Numba compiles a kernel anew when its own file changes. A kernel that calls one from another file, however, holds
    the callee's code and would go on with the old one. A module whose kernels are called from elsewhere in its folder
    therefore drops what was compiled before its own last change.
    """
    changed_s = max(os.stat(source).st_mtime for source in sources)
    dropped = []
    for index in Path(cache_folder).glob("*.nbi"):
        try:
            if index.stat().st_mtime < changed_s:
                index.unlink()
                dropped.append(index)
        except OSError:  # another process was faster, or the folder is not ours: Numba does not write there either
            continue
    return dropped


def compile_for_callers(function: Any, signature: Any) -> None:
    """Have a kernel that only kernels call compiled, or loaded, when one that calls it is compiled, not before.

    A caller that comes from Numba's cache has the callee's code in it. Most kernels are such callees: a process that
    loads all of them, about a second of CPU time, uses none.

    Parameters
    ----------
    function
        What Numba made of the kernel, without a signature; left as it is where Numba compiles nothing.
    signature
        The only one that it will have.
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
    """As Numba's ``njit``, with what is in its cache loaded by :func:`_load_without_compiler`."""
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
    """Have a kernel loaded from Numba's cache without all that Numba can compile being declared first.

    Declaring it (seventy modules, one of them a parser of C) takes a tenth of a second of CPU time in each process, and
    only compiling looks at it; Numba does it then. Code that is loaded needs the runtime for its arrays. What was
    compiled for classes that have another name or place now is dropped. A Numba whose cache works in another way goes
    its own.
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
            except (AttributeError, ImportError):  # Numba reads what an index holds before it sees that it is stale
                cache.flush()
                return None

    cache.load_overload = load_overload

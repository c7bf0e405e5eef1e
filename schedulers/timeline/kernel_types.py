"""Numba's types of a timeline's arrays and of the groups of arguments of its kernels, and the options of compilation.

Kept apart from what only reads options: importing Numba takes half a second.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types

from spillway.base.kernel_cache import compile_for_callers, njit

ROW, ROWS, TIMES, TIME_ROWS = (
    types.Array(types.int64, 1, "C"),
    types.Array(types.int64, 2, "C"),
    types.Array(types.float64, 1, "C"),
    types.Array(types.float64, 2, "C"),
)
INDICES, TABLE = types.Array(types.int32, 1, "C"), types.Array(types.int32, 2, "C")
"""Types of the arrays."""


def named(group: type, *fields: types.Type) -> types.Type:
    """Return Numba's type of a named tuple."""
    return types.BaseTuple.from_types(fields, group)


def plain(*fields: types.Type) -> types.Type:
    """Return Numba's type of the same fields as a plain tuple.

    Python passes groups of arguments as plain tuples: at the call of a kernel Numba unpacks a named tuple in some 7 us,
    a plain one in less than 1 us, and as many single arguments in more than that. Kernels that are called from Python
    name the fields themselves (``Demand(*demand)``), which costs nothing.
    """
    return types.BaseTuple.from_types(fields)


OPTIONS: dict[str, Any] = {"cache": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
"""Options of the kernels. They allocate nothing; without ``_nrt=False`` each call would count references to its array
arguments with atomic instructions, which took two thirds of the time. They are not called through pointers; compiling
an entry point for that would take time."""


def inner(signature: Any, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """As ``njit``, for a function that only kernels call; see :func:`spillway.base.kernel_cache.compile_for_callers`.

    Without an entry point from Python it also compiles faster.
    """

    def declared(function: Callable[..., Any]) -> Any:
        kept = njit(no_cpython_wrapper=True, **options)(function)
        compile_for_callers(kept, signature)
        return kept

    return declared

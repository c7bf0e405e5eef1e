"""Copies of runs of an array's items in compiled code, source and target may overlap: one call of ``memmove``."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


def _first_byte(builder: Any, context: Any, array_type: Any, array: Any, index: Any) -> tuple[Any, Any]:
    """Address of an item of the first axis, and the bytes of one."""
    made = context.make_array(array_type)(context, builder, array)
    step = builder.extract_value(made.strides, 0)
    start = builder.bitcast(made.data, cgutils.voidptr_t)
    return builder.gep(start, [builder.mul(index, step)]), step


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def copy_items(_context: Any, target: Any, to: Any, source: Any, begin: Any, count: Any) -> Any:
    """Copy ``source[begin : begin + count]`` to ``target[to : to + count]``; nothing is checked.

    Both are C-contiguous arrays of the same item type and, but for the first axis, of the same shape. They may be one
    array, and the runs may overlap. A ``count`` of 0 or less copies nothing.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        into, _ = _first_byte(builder, context, signature.args[0], arguments[0], arguments[1])
        out, step = _first_byte(builder, context, signature.args[2], arguments[2], arguments[3])
        some = builder.icmp_signed(">", arguments[4], context.get_constant(types.int64, 0))
        with builder.if_then(some):
            cgutils.raw_memmove(builder, into, out, builder.mul(arguments[4], step), 1)
        return context.get_dummy_value()

    whole = types.int64
    return types.void(target, whole, source, whole, whole), generate

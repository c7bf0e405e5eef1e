"""Synthetic logs: each generator is a frozen dataclass whose fields are its options and whose call gives the log."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable

from spillway.base.near import near
from spillway.workloads.errors import WorkloadError
from spillway.workloads.swf import SwfLog
from spillway.workloads.synthetic.kth import KthLike, kth_like
from spillway.workloads.synthetic.lublin import Lublin

__all__ = ["GENERATORS", "KthLike", "Lublin", "generator", "kth_like"]

GENERATORS: dict[str, Callable[..., Callable[[], SwfLog]]] = {"kth-like": KthLike, "lublin": Lublin}
"""Every generator by name: the only registration."""


def generator(text: str) -> Callable[[], SwfLog]:
    """Build a generator from ``name`` or ``name:option=value,option=value`` (``kth-like:jobs=500,seed=3``).

    Raises
    ------
    WorkloadError
        For an unknown name or option, or a value of the wrong kind or out of range.
    """
    name, _, rest = text.partition(":")
    if name not in GENERATORS:
        raise WorkloadError(f"unknown generator {name!r}; known: {', '.join(GENERATORS)}{near(name, GENERATORS)}")
    build = GENERATORS[name]
    kinds = typing.get_type_hints(build)
    known = [field.name for field in dataclasses.fields(build)]  # type: ignore[arg-type]
    values: dict[str, int | float] = {}
    for item in filter(None, rest.split(",")):
        key, _, value = item.partition("=")
        if key not in known:
            raise WorkloadError(
                f"generator {name!r} has no option {key!r}; known: {', '.join(known)}{near(key, known)}"
            )
        try:
            values[key] = kinds[key](value)
        except ValueError:
            kind = "a whole number" if kinds[key] is int else "a number"
            raise WorkloadError(f"option {key!r} of generator {name!r} must be {kind}, got {value!r}") from None
    return build(**values)

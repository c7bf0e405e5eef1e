"""Synthetic logs: each generator is a frozen dataclass of its options, and a call of it draws the log."""

from __future__ import annotations

from collections.abc import Callable

from spillway.base.errors import OptionError
from spillway.base.near import near
from spillway.base.options import build
from spillway.base.plugins import split_spec
from spillway.workloads.errors import WorkloadError
from spillway.workloads.models.synthetic.kth import KthLike, kth_like
from spillway.workloads.models.synthetic.lublin import Lublin
from spillway.workloads.swf import SwfLog

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
    try:
        name, options = split_spec(text)
        if name in GENERATORS:
            return build(GENERATORS[name], options)
    except OptionError as error:
        raise WorkloadError(f"generator {text.partition(':')[0]!r}: {error}") from None
    raise WorkloadError(f"unknown generator {name!r}; known: {', '.join(GENERATORS)}{near(name, GENERATORS)}")

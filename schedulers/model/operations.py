"""Jobs as sequences of compute and I/O operations, read from own fields of their profile.

The profile is of a type of Batsim's (``delay`` with the uncontended time, for example), so that every simulator can
read the workload; the sequence is a further field of the profile, in one of two forms:

=================  ==================================================================================================
field              meaning
=================  ==================================================================================================
``periods``        ``{"count": 12, "compute_s": 600, "io_bytes": 2e12}``: ``count`` times compute, then transfer
``operations``     ``[{"compute_s": 600}, {"io_bytes": 2e12}, ...]``: one after another
=================  ==================================================================================================

Bytes are those of the whole job. Operations of no length are left out.

References
----------
Jeannot, Pallez, Vidal, IJHPCA 2023 (DOI 10.1177/10943420231175854), section "Job Model".
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from spillway.base.errors import RemoteProtocolError, shown
from spillway.protocol.limits import LATEST_S
from spillway.schedulers.model.job import JobField

PERIODS_FIELD = "periods"
OPERATIONS_FIELD = "operations"

FIELDS = (
    JobField(
        PERIODS_FIELD, "profile", "object with count, compute_s, io_bytes",
        "count times: compute (s), then transfer (bytes of the whole job)",
    ),
    JobField(
        OPERATIONS_FIELD, "profile", "list of objects with compute_s (s) or io_bytes (bytes of the whole job)",
        "operations, one after another",
    ),
)  # fmt: skip
"""Own fields of jobs that are sequences of operations; one of the two."""


class Operation(NamedTuple):
    """One operation: seconds of computing, or bytes to transfer; the other is 0.

    Attributes
    ----------
    compute_s
        Seconds, >= 0.
    io_bytes
        Bytes of the whole job, >= 0.
    """

    compute_s: float = 0.0
    io_bytes: float = 0.0


@dataclass(frozen=True, slots=True)
class Operations:
    """A sequence: a pattern, repeated.

    Attributes
    ----------
    pattern
        At least one operation; empty ones are not allowed.
    count
        Number of times that the pattern is run, at least 1.
    """

    pattern: tuple[Operation, ...]
    count: int = 1

    def __len__(self) -> int:
        """Return the number of operations."""
        return self.count * len(self.pattern)

    def __getitem__(self, index: int) -> Operation:
        """Return an operation by its rank from 0."""
        return self.pattern[index % len(self.pattern)]

    @property
    def compute_s(self) -> float:
        """Seconds of computing in all."""
        return self.count * math.fsum(operation.compute_s for operation in self.pattern)

    @property
    def io_bytes(self) -> float:
        """Bytes transferred in all."""
        return self.count * math.fsum(operation.io_bytes for operation in self.pattern)

    @property
    def transfers(self) -> int:
        """Number of I/O operations."""
        return self.count * sum(operation.io_bytes > 0 for operation in self.pattern)

    def uncontended_s(self, bandwidth: float) -> float:
        """Duration with the whole bandwidth (bytes per second, > 0): equation (1)."""
        return self.compute_s + self.io_bytes / bandwidth

    def characteristic_s(self, bandwidth: float) -> float:
        """Characteristic time: mean duration of a compute phase and the I/O phase after it; all of it without I/O."""
        return self.uncontended_s(bandwidth) / max(self.transfers, 1)


def operations_of(profile: Mapping[str, Any]) -> Operations | None:
    """The sequence that a profile states; ``None`` without one.

    Raises
    ------
    RemoteProtocolError
        The sequence is malformed; the error names the field.
    """
    periods, listed = profile.get(PERIODS_FIELD), profile.get(OPERATIONS_FIELD)
    if periods is None and listed is None:
        return None
    if periods is not None and listed is not None:
        raise _fault("", "give one of 'periods' and 'operations', not both")
    return _periodic(periods) if listed is None else _explicit(listed)


def _periodic(periods: Any) -> Operations:
    if not isinstance(periods, Mapping):
        raise _fault(PERIODS_FIELD, f"expected an object with count, compute_s and io_bytes, got {shown(periods)}")
    count = periods.get("count")
    if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= _MOST:
        raise _fault(f"{PERIODS_FIELD}.count", f"expected a whole number from 1 to 2^53, got {shown(count)}")
    _known(periods, ("count", "compute_s", "io_bytes"), PERIODS_FIELD)
    pair = (
        Operation(_size(periods, "compute_s", PERIODS_FIELD)),
        Operation(0.0, _size(periods, "io_bytes", PERIODS_FIELD)),
    )
    return Operations(_non_empty(pair, PERIODS_FIELD), count)


def _explicit(listed: Any) -> Operations:
    if not isinstance(listed, list | tuple):
        raise _fault(OPERATIONS_FIELD, f"expected a list of operations, got {shown(listed)}")
    found = []
    for index, item in enumerate(listed):
        where = f"{OPERATIONS_FIELD}[{index}]"
        if not isinstance(item, Mapping) or len(item) != 1:
            raise _fault(where, f"expected an object with compute_s or io_bytes, got {shown(item)}")
        _known(item, ("compute_s", "io_bytes"), where)
        found.append(Operation(_size(item, "compute_s", where), _size(item, "io_bytes", where)))
    return Operations(_non_empty(tuple(found), OPERATIONS_FIELD))


def _non_empty(found: tuple[Operation, ...], where: str) -> tuple[Operation, ...]:
    kept = tuple(operation for operation in found if any(operation))
    if not kept:
        raise _fault(where, "no operation has any length")
    return kept


def _known(item: Mapping[str, Any], names: tuple[str, ...], where: str) -> None:
    for name in item:
        if name not in names:
            raise _fault(f"{where}.{name}", f"unknown field; known: {', '.join(names)}")


_MOST = 2**53
_LARGEST = {"compute_s": LATEST_S, "io_bytes": 1e24}
"""Largest values: a time, and bytes of a whole job."""


def _size(item: Mapping[str, Any], name: str, where: str) -> float:
    value = item.get(name, 0.0)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _LARGEST[name]:
        raise _fault(f"{where}.{name}", f"expected a number from 0 to {_LARGEST[name]:.10g}, got {shown(value)}")
    return float(value)


def _fault(where: str, what: str) -> RemoteProtocolError:
    path = f"$.profile.{where}" if where else "$.profile"
    return RemoteProtocolError(f"malformed sequence of operations in a job: {what}", path)

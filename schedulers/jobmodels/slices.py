"""Remaining work of a job that runs in slices: the profile of its next slice, and the work done by an ended one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from spillway.base.errors import shown
from spillway.protocol.messages import JsonObject
from spillway.schedulers.model.job import Job
from spillway.schedulers.timesharing.files import block_count
from spillway.schedulers.timesharing.sharing import Costs
from spillway.schedulers.timesharing.slices import MICRO, to_us

_READ_BACK = 0.5e-6
"""Batsim writes progress with six decimals: a smaller share of a slice's work is lost in rounding."""


class Remaining(Protocol):
    """Remaining work of a job."""

    def profile(self) -> JsonObject:
        """Profile of the remaining work."""
        ...

    def serve(self, elapsed_us: int, progress: float) -> None:
        """Account for a slice that ended after ``elapsed_us`` microseconds with a share of its profile done."""
        ...

    def is_over(self, elapsed_us: int) -> bool:
        """Whether a slice of this length leaves nothing, so that the job's end is on its way."""
        ...

    def go_home(self) -> None:
        """Continue the job on its file's nodes; the restart takes its time first."""
        ...

    @property
    def lag_us(self) -> int:
        """Rest of a restart, in microseconds; it does not count as the job's work."""
        ...


class _TimedRemaining:
    """Work stated as a time (``delay``): computing, and blocks with a cost that depends on the job's place.

    A slice's share that was read back has six decimals. If the duration of the slice agrees with it to the last
    decimal, the duration is more exact; otherwise (a slower machine) the share counts.

    Parameters
    ----------
    job
        A job with a profile of type ``delay``, its computing time.
    costs
        Costs of blocks and migration.
    local
        Whether it starts on its file's nodes.
    """

    def __init__(self, job: Job, costs: Costs, *, local: bool) -> None:
        self._cpu_us = max(to_us(float(job.profile["delay"])), 1)
        self._blocks = block_count(job)
        self._costs = costs
        self._left_us = costs.length_us(self._cpu_us, self._blocks, local=local)
        self._lag_us = 0

    @property
    def lag_us(self) -> int:
        """See :class:`Remaining`."""
        return self._lag_us

    def profile(self) -> JsonObject:
        """See :class:`Remaining`."""
        return {"type": "delay", "delay": (self._lag_us + self._left_us) / MICRO, "ret": 0}

    def serve(self, elapsed_us: int, progress: float) -> None:
        """See :class:`Remaining`; at least a microsecond is left, as the job has not ended."""
        length_us = self._lag_us + self._left_us
        done_us = progress * length_us
        served_us = elapsed_us if abs(done_us - elapsed_us) <= _READ_BACK * length_us + 2 else round(done_us)
        paid_us = min(self._lag_us, served_us)
        self._lag_us -= paid_us
        self._left_us = max(self._left_us - (served_us - paid_us), 1)

    def is_over(self, elapsed_us: int) -> bool:
        """See :class:`Remaining`."""
        return elapsed_us >= self._lag_us + self._left_us

    def go_home(self) -> None:
        """See :class:`Remaining`."""
        self._left_us = self._costs.at_home_us(self._left_us, self._cpu_us, self._blocks)
        self._lag_us = self._costs.migration_us


class _ScaledRemaining:
    """Work stated as computation and communication: the rest is a share of both."""

    lag_us = 0

    def __init__(self, job: Job, costs: Costs, *, local: bool) -> None:
        self._kind = job.profile.get("type", "")
        self._whole = job.profile
        self._share = 1.0

    def profile(self) -> JsonObject:
        """See :class:`Remaining`."""
        scaled = {key: _SCALED[self._kind](self._whole[key], self._share) for key in ("cpu", "com")}
        return {"type": self._kind, **scaled, "ret": 0}

    def serve(self, elapsed_us: int, progress: float) -> None:
        """See :class:`Remaining`."""
        self._share = max(self._share * (1.0 - progress), _READ_BACK)

    def is_over(self, elapsed_us: int) -> bool:
        """``False``: its duration is unknown before its end."""
        return False

    def go_home(self) -> None:
        """Do nothing: such a job has no file."""


def _scale(value: Any, share: float) -> Any:
    return [entry * share for entry in value] if isinstance(value, list) else value * share


_SCALED: dict[str, Callable[[Any, float], Any]] = dict.fromkeys(
    ("parallel", "parallel_homogeneous", "parallel_homogeneous_total"), _scale
)


def unscalable(job: Job) -> str | None:
    """Return why a job's profile cannot be run in slices; ``None`` if it can.

    Raises
    ------
    RemoteProtocolError
        Its blocks are no number.
    """
    kind = job.profile.get("type", "")
    if kind == "delay":
        block_count(job)
        return None
    if kind not in _SCALED:
        known = ", ".join(("delay", *_SCALED))
        return f"a profile of type {shown(kind)} cannot be run in slices; expected one of: {known}"
    return f"a job with io_blocks needs a profile of type 'delay', got {shown(kind)}" if block_count(job) else None


def remaining_of(job: Job, costs: Costs, *, local: bool) -> Remaining:
    """Remaining work of a job that has not begun."""
    kind = _TimedRemaining if job.profile.get("type") == "delay" else _ScaledRemaining
    return kind(job, costs, local=local)


def rest_of(job: Job, ran_s: float, share: float) -> JsonObject:
    """Profile of the rest of a job that ran for ``ran_s`` and did a share of its work; the rest has no blocks."""
    left = remaining_of(job, Costs(), local=True)
    left.serve(to_us(ran_s), share)
    return left.profile()

"""Expected durations of jobs: walltimes, or predictions from earlier runtimes of the user's jobs.

References
----------
Tsafrir, Etsion, Feitelson, *Backfilling using system-generated predictions rather than user runtime estimates*, IEEE
TPDS 18(6), 2007: the mean of the user's last two runtimes, and gradual correction of predictions that were exceeded.
"""

from __future__ import annotations

import enum
import math
from collections import deque
from collections.abc import Callable
from operator import attrgetter
from typing import Protocol

from spillway.base.errors import OptionError
from spillway.schedulers.model.job import Job, JobField

_CORRECTIONS_S = (60.0, 300.0, 900.0, 1800.0, 3600.0, 7200.0, 18000.0, 36000.0, 72000.0, 180000.0, 360000.0)
"""Steps by which an exceeded prediction grows, one after another (Tsafrir et al. 2007, section 5.3)."""


FIELDS = (
    JobField("requested_s", "job", "number, s", "expected duration, for the setting estimates=requested"),
    JobField(
        "user",
        "job",
        "text or number",
        "user of the job: policies see it, and predictions learn from a user's earlier jobs",
    ),
)
"""Fields of jobs that predictions read."""


class Estimator(Protocol):
    """Source of the session's expected durations."""

    def estimate_s(self, job: Job) -> float:
        """Expected duration of a job that has not started, in seconds; at most its walltime."""
        ...

    def correct_s(self, job: Job, elapsed_s: float) -> float:
        """New expected duration of a running job that has outlived its estimate."""
        ...

    def observe(self, job: Job, runtime_s: float) -> None:
        """Take the runtime of an ended job into account."""
        ...


class _Constant:
    """Expected durations that do not change while jobs wait."""

    def correct_s(self, job: Job, elapsed_s: float) -> float:
        """Return the elapsed time: a job at its walltime ends now; the session adds its own margin."""
        return elapsed_s

    def observe(self, job: Job, runtime_s: float) -> None:
        """Ignore the runtime."""


class Walltimes(_Constant):
    """Walltimes as expected durations."""

    estimate_s: Callable[[Job], float] = attrgetter("walltime_s")  # in C: passes read whole queues


class Correction(enum.Enum):
    """New expected duration of a job that has outlived its prediction."""

    GRADUAL = "gradual"
    WALLTIME = "walltime"


class RequestedDurations(_Constant):
    """Durations stated by users but not enforced by the simulator: the field ``requested_s``, else the walltime."""

    def estimate_s(self, job: Job) -> float:
        """Expected duration that the job states, else its walltime (s)."""
        value = job.extras.get("requested_s")
        return float(value) if isinstance(value, int | float) and value > 0 else job.walltime_s


class UserHistory:
    """Mean runtime of the user's last jobs, never above the walltime; the walltime while the user has no history.

    Parameters
    ----------
    last
        Number of the user's last runtimes that are averaged, at least 1.
    correction
        Growth of an exceeded prediction: in steps, or to the walltime at once.
    field
        Field of the job object with the user.
    """

    def __init__(self, last: int = 2, correction: Correction = Correction.GRADUAL, field: str = "user") -> None:
        if last < 1:
            raise OptionError(f"a prediction averages at least 1 runtime, got {last}")
        self._last = last
        self._correction = correction
        self._field = field
        self._history: dict[object, deque[float]] = {}
        self._predicted: dict[str, float] = {}

    def estimate_s(self, job: Job) -> float:
        """Mean of the user's last runtimes, at least one second."""
        history = self._history.get(self._user(job))
        if not history:
            return job.walltime_s
        return min(max(math.fsum(history) / len(history), 1.0), job.walltime_s)

    def correct_s(self, job: Job, elapsed_s: float) -> float:
        """Prediction grown by the first step that exceeds the elapsed time, at most the walltime (s)."""
        if self._correction is Correction.WALLTIME:
            return job.walltime_s
        predicted_s = self._predicted.setdefault(job.id, elapsed_s)
        grown_s = next(
            (predicted_s + step for step in _CORRECTIONS_S if predicted_s + step > elapsed_s), job.walltime_s
        )
        return min(grown_s, job.walltime_s)

    def observe(self, job: Job, runtime_s: float) -> None:
        """Add a runtime to the user's history."""
        self._predicted.pop(job.id, None)
        user = self._user(job)
        if user is not None:
            self._history.setdefault(user, deque(maxlen=self._last)).append(runtime_s)

    def _user(self, job: Job) -> str | float | None:
        """User stated by a job; ``None`` for a list or an object."""
        user = job.extras.get(self._field)
        return user if isinstance(user, str | int | float) else None

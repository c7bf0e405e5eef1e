"""Arrivals of users and their jobs: Poisson streams with four rates over the week.

References
----------
Herbein et al., HPDC 2016 (DOI 10.1145/2907294.2907316), section 4.2, after Dinh et al., CCGrid 2013.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from spillway.workloads.draws import Draws, Floats
from spillway.workloads.swf import SwfLog, SwfRecord

DAY_S, HOUR_S = 86400, 3600
_QUICK_SUCCESSION_S = 10
"""Submissions of one user less than this apart belong to one arrival."""

PERIODS = ("weekday day", "weekday night", "weekend day", "weekend night")
"""The four ranges; day is from 6:00 to 18:59."""

_DAY_BEGINS, _DAY_ENDS = 6, 19
_THURSDAY = 3  # 1 January 1970, with Monday as 0


@dataclass(frozen=True, slots=True)
class Calendar:
    """Assigns instants of a log to the four periods of the week.

    Attributes
    ----------
    offset_s
        Seconds from a Monday, 0:00 local time, to the log's second 0; in [0, 604800).
    """

    offset_s: int = 0

    @classmethod
    def of(cls, log: SwfLog) -> Calendar:
        """The calendar of a log by its ``UnixStartTime``; a log without one begins on a Monday, 0:00.

        Local time is read from ``StartTime`` where the log states it: the archive's headers state ``TimeZone`` in so
        many ways that the printed clock is the safer source.
        """
        unix = log.header.unix_start_time
        if unix is None:
            return cls()
        local = (unix + _THURSDAY * DAY_S) % (7 * DAY_S)
        clock = _printed_clock(log)
        if clock is not None:
            shift = (clock - local) % DAY_S
            local += shift if shift <= DAY_S // 2 else shift - DAY_S
        return cls(local % (7 * DAY_S))

    def period(self, time_s: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Position in :data:`PERIODS` of each instant (s since the start of the log)."""
        local = np.asarray(time_s, np.float64) + self.offset_s
        hour = np.floor(local / HOUR_S).astype(np.int64) % 24
        weekend = np.floor(local / DAY_S).astype(np.int64) % 7 >= 5
        night = (hour < _DAY_BEGINS) | (hour >= _DAY_ENDS)
        return np.asarray(2 * weekend + night, np.int64)


def _printed_clock(log: SwfLog) -> int | None:
    """Seconds since midnight in ``StartTime`` (``Fri Nov 10 15:05:01 PST 2006``); ``None`` without such a text."""
    for value in log.header.values("StartTime"):
        for word in value.split():
            parts = word.split(":")
            if len(parts) == 3 and all(part.isdecimal() for part in parts):
                hours, minutes, seconds = map(int, parts)
                return hours * HOUR_S + minutes * 60 + seconds
    return None


@dataclass(frozen=True, slots=True)
class ArrivalModel:
    """User arrivals.

    Attributes
    ----------
    rates_per_s
        Arrivals per second in each of :data:`PERIODS`, >= 0, not all 0.
    jobs_per_arrival
        Number of arrivals with 1, 2, 3, ... jobs.
    calendar
        Start of the drawn log in the week.
    """

    rates_per_s: tuple[float, float, float, float]
    jobs_per_arrival: tuple[int, ...]
    calendar: Calendar = Calendar()

    @property
    def mean_jobs(self) -> float:
        """Expected number of jobs of an arrival."""
        counts = np.asarray(self.jobs_per_arrival, np.float64)
        return float(counts @ np.arange(1, len(counts) + 1) / counts.sum())

    def draw(self, draws: Draws, count: int, mean_gap_s: float | None = None) -> Floats:
        """Submission times (s, ascending) of ``count`` jobs.

        Parameters
        ----------
        mean_gap_s
            Expected time between jobs over a whole week, s, > 0; the four rates keep their proportions. ``None``: the
            log's own rates.
        """
        lengths = draws.choose(self.jobs_per_arrival, count) + 1
        arrivals = int(np.searchsorted(np.cumsum(lengths), count)) + 1
        scale = 1.0 if mean_gap_s is None else 1.0 / (mean_gap_s * self.mean_jobs * self._weekly_rate())
        times = self._stream(draws.exponential(arrivals), scale)
        return np.asarray(np.repeat(times, lengths[:arrivals])[:count], np.float64)

    def _weekly_rate(self) -> float:
        """Arrivals per second, averaged over a week."""
        return float(np.asarray(self.rates_per_s)[self.calendar.period(np.arange(7 * 24 * 60) * 60.0)].mean())

    def _stream(self, units: Floats, scale: float) -> Floats:
        """Instants at which the integrated rate reaches the sums of unit exponentials (time change of a Poisson)."""
        target = np.cumsum(units)
        times = np.empty(len(target))
        begin, level, index = 0.0, 0.0, 0
        end = float(HOUR_S - self.calendar.offset_s % HOUR_S)
        while index < len(target):
            rate = scale * self.rates_per_s[int(self.calendar.period(begin))]
            while index < len(target) and rate > 0 and target[index] <= level + rate * (end - begin):
                times[index] = begin + (target[index] - level) / rate
                index += 1
            level += rate * (end - begin)
            begin, end = end, end + HOUR_S
        return times


def user_arrivals(records: Sequence[SwfRecord]) -> tuple[list[int], list[int]]:
    """Instants of user arrivals (s, ascending) and the number of jobs that each brought.

    Jobs of one user belong to one arrival while each comes less than :data:`_QUICK_SUCCESSION_S` after the one before.
    Jobs of an unknown user (-1) count as those of one user.
    """
    last: dict[int, tuple[int, int]] = {}
    times: list[int] = []
    sizes: list[int] = []
    for record in sorted(records, key=lambda record: record.submit_s):
        at, index = last.get(record.user, (-_QUICK_SUCCESSION_S, -1))
        if index >= 0 and record.submit_s - at < _QUICK_SUCCESSION_S:
            sizes[index] += 1
        else:
            index = len(times)
            times.append(record.submit_s)
            sizes.append(1)
        last[record.user] = (record.submit_s, index)
    return times, sizes


def fit_arrivals(log: SwfLog, records: Sequence[SwfRecord]) -> ArrivalModel:
    """Fit the arrivals of some records (at least one) of a log."""
    calendar = Calendar.of(log)
    times, sizes = user_arrivals(records)
    begin, end = times[0], times[-1] + 1
    minutes = calendar.period(np.arange(begin, end, 60, dtype=np.float64))
    seconds = np.bincount(minutes, minlength=4) * 60.0
    counts = np.bincount(calendar.period(times), minlength=4)
    rates = np.divide(counts, seconds, out=np.zeros(4), where=seconds > 0)
    histogram = np.bincount(sizes)[1:]
    one, two, three, four = rates.tolist()
    return ArrivalModel((one, two, three, four), tuple(histogram.tolist()), calendar)

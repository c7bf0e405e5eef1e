"""Times of submission: office hours on weekdays, in bursts of similar jobs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from spillway.workloads.draws import Draws, Floats, exp, log

_HOUR_WEIGHTS = (18, 16, 14, 9, 5, 3, 3, 8, 23, 54, 74, 76, 71, 76, 88, 87, 89, 80, 69, 34, 31, 26, 24, 24)
"""Share of the submissions of the KTH SP2 log in each local hour, per mille (own count)."""

_DAY_WEIGHTS = (156, 177, 184, 185, 158, 62, 78)
"""The same by weekday, Monday first."""

_HOUR = 3600.0


def weekly_times(position: Floats, span_s: float) -> Floats:
    """Times in [0, span_s) with the weekly cycle: ``position`` (0 to 1) is the share of all submissions before each.

    Time 0 is a Monday, 0:00. Uniform positions give a Poisson stream with that cycle.
    """
    hours = int(-(-span_s // _HOUR))
    of_week = np.arange(hours) % 168
    weights = np.asarray(_DAY_WEIGHTS, np.float64)[of_week // 24] * np.asarray(_HOUR_WEIGHTS, np.float64)[of_week % 24]
    weights[-1] *= (span_s - (hours - 1) * _HOUR) / _HOUR
    cumulative = np.cumsum(weights)
    target = position * cumulative[-1]
    hour = np.minimum(np.searchsorted(cumulative, target, side="right"), hours - 1)
    within = (target - (cumulative[hour] - weights[hour])) / weights[hour]
    length = np.where(hour == hours - 1, span_s - (hours - 1) * _HOUR, _HOUR)
    times: Floats = np.minimum(hour * _HOUR + np.clip(within, 0.0, 1.0) * length, np.nextafter(span_s, 0.0))
    return times


def session_lengths(draws: Draws, jobs: int, exponent: float, longest: int) -> npt.NDArray[np.int64]:
    """Numbers of jobs that users submit one after the other with the same request: P(k) ~ k**-exponent.

    Returns as many sessions as it takes to reach ``jobs``; the last is cut to fit.
    """
    weights = exp(-exponent * log(np.arange(1, longest + 1, dtype=np.float64)))
    lengths = draws.choose(weights, jobs) + 1  # more than enough: every session has a job
    total = np.cumsum(lengths)
    count = int(np.searchsorted(total, jobs, side="left")) + 1
    lengths = lengths[:count]
    lengths[-1] -= int(total[count - 1]) - jobs
    return lengths


def burst_times(
    draws: Draws, starts: Floats, lengths: npt.NDArray[np.int64], median_gap_s: float, sigma: float, longest_s: float
) -> Floats:
    """Submission of every job: the session's start, then log-normal gaps, each at most ``longest_s``."""
    jobs = int(lengths.sum())
    gaps = np.minimum(median_gap_s * exp(sigma * draws.normal(jobs)), longest_s)
    first = np.cumsum(lengths) - lengths
    gaps[first] = 0.0
    elapsed = np.cumsum(gaps)
    times: Floats = np.repeat(starts - elapsed[first], lengths) + elapsed
    return times

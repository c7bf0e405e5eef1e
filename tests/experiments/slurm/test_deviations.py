"""Waits in Slurm and in the simulator, by hand."""

import math

import pytest

from spillway.experiments.slurm.configuration import Settings, Submission
from spillway.experiments.slurm.deviations import Waits, noise_floor, waits
from spillway.experiments.slurm.recording import RecordedJob, Recording


def test_waits_of_three_jobs() -> None:
    """Submitted at 0, 10, 20 s, started by Slurm at 4, 20, 26 s: waits of 4, 10, 6 s, on average 20 / 3 s.

    Simulated starts at 5, 18, 29 s: waits of 5, 8, 9 s, on average 22 / 3 s, 10 % more. Errors of 1, 2, 3 s: on average
    2 s, 30 % of 20 / 3 s; the deviation of the mean does not show them in full, as they partly cancel.
    """
    found = waits(_recording([(0.0, 4.0), (10.0, 20.0), (20.0, 26.0)]), [5.0, 18.0, 29.0])
    assert found == pytest.approx(Waits(20 / 3, 22 / 3, 2.0))
    assert (found.deviation, found.error) == pytest.approx((0.1, 0.3))
    assert str(found) == (
        "mean 6.67 s in Slurm, 7.33 s simulated (+10.00 %), mean error of a job's wait 2.000 s (30.00 %)"
    )


def test_equal_starts_have_no_error() -> None:
    """The same waits, all 0 s among them: nothing of nothing is 0."""
    assert waits(_recording([(0.0, 3.0), (1.0, 3.0)]), [3.0, 3.0]) == (2.5, 2.5, 0.0)
    at_once = waits(_recording([(2.0, 2.0)]), [2.0])
    assert (at_once.deviation, at_once.error) == (0.0, 0.0)


def test_a_wait_where_slurm_had_no_wait_is_beyond_all_shares() -> None:
    """Slurm started it at its submission, the simulator 1 s later: a mean error of 1 s, an infinite share of 0 s."""
    found = waits(_recording([(2.0, 2.0)]), [3.0])
    assert found == (0.0, 1.0, 1.0)
    assert (found.deviation, found.error) == (math.inf, math.inf)


def test_a_job_that_was_never_started_waits_for_ever() -> None:
    """One of two: mean and error are infinite, Slurm's mean is not."""
    found = waits(_recording([(0.0, 3.0), (0.0, 5.0)]), [3.0, math.nan])
    assert found == (4.0, math.inf, math.inf)


def test_the_noise_floor_of_two_runs_by_hand() -> None:
    """Two jobs wait 2 and 6 s, then 4 and 8 s: 2 of 4 s apart, means of 4 and 6 s.

    Simulated waits of 3 and 7 s are 1 s from either. Those of 3 and 13 s, a mean of 8 s, are 4 and 3 s from the real
    ones, and a mean of 8 s is as far from 4 to 6 s as that is wide; that of 8.5 s is farther.
    """
    runs = [_recording([(0.0, 2.0), (0.0, 6.0)]), _recording([(0.0, 4.0), (0.0, 8.0)])]
    near = noise_floor(runs, [[3.0, 7.0]] * 2)
    assert (near.means_s, near.apart) == ((4.0, 6.0), (0.5,))
    assert (near.jobs_within, near.mean_within) == (True, True)
    assert str(near) == (
        "a job's wait: within the noise floor (50 % to 50 % between two real runs; 17 % to 25 % simulated)\n"
        "mean wait: within the noise floor (4.00 to 6.00 s in real runs; 5.00 to 5.00 s simulated)"
    )
    for second_s, mean_within in ((13.0, True), (14.0, False)):
        far = noise_floor(runs, [[3.0, second_s]] * 2)
        assert (far.jobs_within, far.mean_within) == (False, mean_within)


def _recording(times: list[tuple[float, float]]) -> Recording:
    """Jobs submitted and started at these times, s."""
    request = Submission(at_s=0.0, nodes=1, runtime_s=1, limit_min=1, units=0, stage_in_s=0.0, stage_out_s=0.0)
    jobs = [RecordedJob(request=request, submitted=submitted, started=started) for submitted, started in times]
    return Recording(slurm="22.05", settings=Settings(nodes=4, pool_units=10), main=[], backfill=[], jobs=jobs)

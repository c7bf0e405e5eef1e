"""Input shaking: small, the same for the same seed, and without another end of any job."""

from typing import Any

import pytest

from spillway.workloads.batsim.workload import Workload, WorkloadJob
from spillway.workloads.conversion.shake import RUN_TIME, SUBMISSION_S, shaken

SPEED = 1e9


def workload(*, walltime: float | None = None, **profile: Any) -> Workload:
    """Thirty jobs of 1,000 s, each with a profile of its own unless one is given for all."""
    own: dict[str, Any] = {"type": "parallel_homogeneous", "cpu": int(1000 * SPEED), "com": 5, "bb": 7}
    jobs = tuple(WorkloadJob(i, 100 * i, 2, "all" if profile else str(i), walltime, {"user": i}) for i in range(30))
    return Workload("x", 4, jobs, {"all": profile} if profile else {str(i): own for i in range(30)})


def seconds(found: Workload, speed: float = SPEED) -> list[float]:
    """Run times of its jobs."""
    profiles = [found.profiles[job.profile] for job in found.jobs]
    return [profile["delay"] if "delay" in profile else profile["cpu"] / speed for profile in profiles]


def test_small_and_nothing_else() -> None:
    """Submissions and run times stay within their bounds and do change; the rest of a job does not."""
    base = workload()
    found = shaken(base, 1, 0, SPEED)
    shifts = [ours.subtime - theirs.subtime for ours, theirs in zip(found.jobs, base.jobs, strict=True)]
    assert max(map(abs, shifts)) <= SUBMISSION_S
    assert max(map(abs, shifts)) > SUBMISSION_S / 2
    times = seconds(found)
    assert all(abs(time / 1000 - 1) <= RUN_TIME for time in times)
    assert len(set(times)) == 30
    assert [(job.id, job.res, job.walltime, job.extras) for job in found.jobs] == [
        (job.id, job.res, job.walltime, job.extras) for job in base.jobs
    ]
    assert {(profile["com"], profile["bb"]) for profile in found.profiles.values()} == {(5, 7)}


def test_seeds_and_numbers() -> None:
    """Same seed and number, same jobs; another of either, others. A variant of the jobs is shaken alike."""
    base = workload()
    assert shaken(base, 1, 0, SPEED) == shaken(base, 1, 0, SPEED)
    assert len({tuple(seconds(shaken(base, number, seed, SPEED))) for number in (1, 2) for seed in (0, 1)}) == 4
    variant = shaken(workload(walltime=5000.0), 1, 0, SPEED)
    assert [job.subtime for job in variant.jobs] == [job.subtime for job in shaken(base, 1, 0, SPEED).jobs]


@pytest.mark.parametrize("walltime", [995.0, 1000.0, 1005.0])
def test_ends_stay_what_they_are(walltime: float) -> None:
    """A job within its walltime stays so, one that reaches it does, too."""
    times = seconds(shaken(workload(walltime=walltime), 1, 0, SPEED))
    assert {time < walltime for time in times} == {walltime > 1000}


def test_shared_profiles() -> None:
    """Jobs of one profile get their own run times; a profile without numbers in proportion to time stays."""
    delays = shaken(workload(type="delay", delay=1000.0), 1, 0, SPEED)
    assert len(set(seconds(delays))) == 30
    traces = shaken(workload(type="usage_trace", trace="a.txt"), 1, 0, SPEED)
    assert {profile["trace"] for profile in traces.profiles.values()} == {"a.txt"}


def test_parts_of_composed_profiles_stay() -> None:
    """A job with a profile of other profiles is only submitted at another time."""
    base = workload()
    profiles = base.profiles | {"both": {"type": "composed", "seq": ["1", "2"], "repeat": 1}}
    jobs = (WorkloadJob(99, 50, 1, "both"), *base.jobs[1:])
    found = shaken(Workload("x", 4, jobs, profiles), 1, 0, SPEED)
    assert found.profiles[found.jobs[0].profile] == profiles["both"]
    assert found.profiles["1"] == profiles["1"]

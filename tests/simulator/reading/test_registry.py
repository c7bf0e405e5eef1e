"""Workloads that a scheduler made: those without a job are packed, and all that was registered can be named again."""

import pytest

from spillway.core import SimulatedJob
from spillway.simulator.jobs.profiles import read_profile
from spillway.simulator.reading.registry import Registry, Workload

MADE = 300


def begin(registry: Registry, name: str, profile: str = "q") -> SimulatedJob:
    """Register the next job of a workload."""
    workload = registry.workload(name)
    job = workload.read_job({"id": "0", "subtime": 0, "res": 1, "profile": profile}, lambda: "'job'", True, False)
    workload.claim(job)
    registry.enter(workload)
    return job


def unknown(registry: Registry, job_id: str) -> SimulatedJob:
    """A job that is looked for, where the loop has none."""
    return registry.unknown(job_id, lambda _: None)


@pytest.fixture
def registry() -> Registry:
    """A job of each of many workloads has ended: of profile ``q``, a delay of so many seconds as its number."""
    made = Registry([Workload("w0", "file.json")])
    for number in range(1, MADE + 1):
        workload = made.workload(f"dyn{number}")
        workload.profiles["q"] = read_profile("q", {"type": "delay", "delay": number})
        workload.profiles["gone"] = read_profile("gone", {"type": "delay", "delay": number})
        workload.drop_profile("gone")
        made.forget(begin(made, workload.name))
    return made


def test_a_job_of_a_packed_one(registry: Registry) -> None:
    """Its workload is unpacked while the job exists; names of ended jobs are not free."""
    with pytest.raises(ValueError, match="a job 'dyn7!0' exists already, or did"):
        begin(registry, "dyn7")
    with pytest.raises(ValueError, match="it does not exist any more"):
        unknown(registry, "dyn7!0")
    with pytest.raises(ValueError, match="there is no workload 'dyn0'"):
        unknown(registry, "dyn0!0")
    living = registry.workload("dyn8")
    job = living.read_job({"id": "1", "subtime": 0, "res": 1, "profile": "q"}, "'job'", True, False)
    living.claim(job)
    registry.enter(living)
    for number in range(400, 500):
        registry.workload(f"dyn{number}").profiles["q"] = job.profile
        registry.forget(begin(registry, f"dyn{number}"))
    assert registry.find("dyn8") is living
    registry.forget(job)
    with pytest.raises(ValueError, match="it does not exist any more"):
        unknown(registry, "dyn8!1")

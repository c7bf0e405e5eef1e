"""Bandwidth on the machine of the thesis: 96 nodes that share the file system's link of 5 GB/s."""

from __future__ import annotations

from functools import lru_cache

import pytest

from platforms import parse_platform, platform_from, resolve_platform
from platforms.model import Platform
from schedulers.core.machine import MachineDefaults
from schedulers.core.session import Session
from schedulers.policies import POLICIES
from schedulers.wire.messages import ExecuteJob, JobSubmitted, Message, RejectJob, SimulationBegins
from simulator.machines import Machines
from tests.properties.mini import Played

GB = 10**9


@lru_cache(maxsize=1)
def thesis() -> Platform:
    """The machine of the thesis, as built in."""
    return platform_from("thesis")


def begins(platform: Platform) -> SimulationBegins:
    """What the simulator says of a platform first."""
    machines = Machines(platform, {})
    return SimulationBegins(0.0, machines.compute_infos, machines.storage_infos)


def submitted(number: int, nodes: int, io_rate: int, walltime_s: float = 3600.0) -> JobSubmitted:
    """A job that streams ``io_rate`` bytes/s per node."""
    job_id = f"w0!{number}"
    wire = {"id": job_id, "subtime": 0.0, "res": nodes, "walltime": walltime_s, "profile": "p", "io_rate": io_rate}
    return JobSubmitted(0.0, job_id, wire)


@pytest.mark.parametrize("policy", ["list", "pack", "easy"])
def test_four_jobs_that_ask_64_gigabytes_per_second_are_rejected(policy: str) -> None:
    """8 nodes x 8 GB/s: the link of 5 GB/s carries not even one of these nodes."""
    played = Played()
    session = Session(POLICIES[policy].build(), observer=played)
    session.handle(Message(0.0, (begins(thesis()),)))
    reply = session.handle(Message(0.0, tuple(submitted(number, 8, 8 * GB) for number in range(4))))
    assert [type(event) for event in reply.events] == [RejectJob] * 4
    assert set(played.refused.values()) == {
        "8 nodes x 8 GB/s: the links carry only 0; pfs (5 GB/s) carries 0 of its 96"
    }


def test_ignorant_sessions_start_them() -> None:
    """Where bandwidth is not scheduled, rates are not looked at."""
    session = Session(POLICIES["easy"].build(), defaults=MachineDefaults(bandwidth=False))
    session.handle(Message(0.0, (begins(thesis()),)))
    reply = session.handle(Message(0.0, tuple(submitted(number, 8, 8 * GB) for number in range(4))))
    assert [type(event) for event in reply.events] == [ExecuteJob] * 4


def test_the_file_states_what_the_built_platform_states() -> None:
    """Compute nodes and storage nodes, in the XML and in the shortcut around it."""
    read = parse_platform(resolve_platform("thesis"))
    for platform in (read, thesis()):
        paths = {host.role: host.properties.get("io_path") for host in platform.hosts if host.name != "pfs"}
        assert paths == {"": "pfs=5000000000", "storage": "pfs=5000000000", "master": None}

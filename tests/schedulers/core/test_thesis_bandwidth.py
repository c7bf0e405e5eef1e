"""Bandwidth on the machine of the thesis: 96 nodes that share the file system's link of 5 GB/s."""

from functools import lru_cache

import msgspec
import pytest

from spillway.base.errors import RemoteProtocolError
from spillway.platforms import parse_platform, platform_from, resolve_platform
from spillway.platforms.model import Platform
from spillway.protocol.messages import ExecuteJob, Message, RejectJob, ResourceInfo, SimulationBegins
from spillway.schedulers.core.session import Session
from spillway.schedulers.model.machine import Link, Machine, MachineDefaults
from spillway.schedulers.policies import POLICIES
from tests.kit.messages import begins_on, submitted
from tests.kit.story import Story
from tests.schedulers.runtimes import rigid

GB = 10**9


@lru_cache(maxsize=1)
def thesis() -> Platform:
    """The machine of the thesis, as built in."""
    return platform_from("thesis")


@pytest.mark.parametrize("policy", ["list", "pack", "easy"])
def test_four_jobs_that_ask_64_gigabytes_per_second_are_rejected(policy: str) -> None:
    """8 nodes x 8 GB/s: the link of 5 GB/s carries not even one of these nodes."""
    played = Story()
    session = Session(POLICIES[policy].build(), rigid(), observer=played)
    session.handle(Message(0.0, (begins_on(thesis()),)))
    reply = session.handle(
        Message(0.0, tuple(submitted(number, 8, walltime=3600.0, io_rate=8 * GB) for number in range(4)))
    )
    assert [type(event) for event in reply.events] == [RejectJob] * 4
    assert set(played.refused.values()) == {
        "8 nodes x 8 GB/s: the links carry only 0; pfs (5 GB/s) carries 0 of its 96"
    }


def test_the_file_states_what_the_built_platform_states() -> None:
    """Compute nodes and storage nodes, in the XML and in the shortcut around it."""
    read = parse_platform(resolve_platform("thesis"))
    for platform in (read, thesis()):
        paths = {host.role: host.properties.get("io_path") for host in platform.hosts if host.name != "pfs"}
        assert paths == {"": "pfs=5000000000", "storage": "pfs=5000000000", "master": None}


@lru_cache(maxsize=1)
def unstated() -> Platform:
    """The same machine without bandwidths, as published in the thesis."""
    return parse_platform(resolve_platform("thesis").replace('<prop id="io_path" value="pfs=5000000000"/>', ""))


def test_a_machine_that_states_no_links_refuses_rates() -> None:
    """It has a file system: whether a stream fits is unknown. Jobs without a rate run."""
    played = Story()
    session = Session(POLICIES["easy"].build(), rigid(), observer=played)
    session.handle(Message(0.0, (begins_on(unstated()),)))
    reply = session.handle(
        Message(0.0, (submitted(0, 8, walltime=3600.0, io_rate=1), submitted(1, 8, walltime=3600.0, io_rate=0)))
    )
    assert [type(event) for event in reply.events] == [RejectJob, ExecuteJob]
    assert played.refused["w0!0"] == (
        "8 nodes x 1e-09 GB/s: the machine has a file system but states no links to it; annotate the platform "
        "(spillway platform annotate), or give --pfs-bandwidth or --bandwidth ignorant"
    )


def test_the_file_systems_bandwidth_can_be_said() -> None:
    """5 GB/s for all hosts without a value in the platform; a value there counts."""
    said = MachineDefaults(pfs_bytes_per_s=5 * GB)
    machine = Machine.from_simulation_begins(begins_on(unstated()), said)
    assert machine.links == (Link("pfs", 5 * GB, -1),)
    assert set(machine.node_link) == set(machine.storage_link) == {0}
    assert not machine.unknown_bandwidth
    stated = Machine.from_simulation_begins(begins_on(thesis()), MachineDefaults(pfs_bytes_per_s=GB))
    assert stated.links == (Link("pfs", 5 * GB, -1),)


def test_a_node_without_a_path_is_no_node_without_limit() -> None:
    """One of 96 nodes states nothing: rates are refused, and the node is named."""
    event = begins_on(thesis())
    first = msgspec.structs.replace(event.compute_resources[3], properties={"location": "g0/c0/r1"})
    event = msgspec.structs.replace(
        event, compute_resources=(*event.compute_resources[:3], first, *event.compute_resources[4:])
    )
    assert first.name in Machine.from_simulation_begins(event).unknown_bandwidth
    assert not Machine.from_simulation_begins(event, MachineDefaults(bandwidth=False)).unknown_bandwidth


def test_the_trunk_is_what_all_traffic_crosses() -> None:
    """A tree of two switches: nodes and storage nodes share the file system's link and the core's."""
    machine = Machine.from_simulation_begins(begins_on(platform_from("tiny")))
    assert [link.name for link in machine.links] == ["pfs", "core", "switch0", "switch1"]
    assert machine.storage_link.tolist() == [2, 3]
    trunk = machine.trunk()
    assert [(link.name, link.parent) for link in trunk.links] == [("pfs", -1), ("core", 0)]
    assert set(trunk.node_link) == set(trunk.storage_link) == {1}


def test_levels_of_a_zone() -> None:
    """Hosts by the numbers in their names; a malformed name is refused with the host's name."""

    def machine(levels: str) -> Machine:
        infos = tuple(ResourceInfo(i, f"n{i}x", zone_properties={"io_levels": levels}) for i in range(4))
        return Machine.from_simulation_begins(SimulationBegins(0.0, infos, ()))

    made = machine("p=90;e=50:0-1,3;f=20:1")
    assert made.links == (Link("p", 90, -1), Link("e", 50, 0), Link("f", 20, 1))
    assert made.node_link.tolist() == [1, 2, 0, 1]
    with pytest.raises(RemoteProtocolError, match="host 'n0x': property 'io_levels'"):
        machine("p=90;e=50:a-b")

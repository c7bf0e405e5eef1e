"""Machines: roles, ids, limits (batsim4.md 3, 4.1 and 6.4)."""

import pytest

from spillway.platforms.errors import PlatformError
from spillway.platforms.simgrid.xml_reader import parse_platform
from spillway.protocol.messages import SimulationBegins
from spillway.simulator.errors import SimulatorInputError
from spillway.simulator.world.machines import Machines, Role, State
from tests.simulator.worlds import LATENCY, jobs, run, small_platform


def test_ids_follow_plain_text_order() -> None:
    """node_10 before node_2; storage hosts after all compute hosts; the master has no id."""
    machines = Machines(small_platform(), {})
    assert [machine.name for machine in machines.all] == ["node_1", "node_10", "node_2", "node_3", "disk", "pfs"]
    assert [machine.role for machine in machines.all] == [Role.COMPUTE] * 4 + [Role.STORAGE] * 2
    assert [machine.id for machine in machines.all] == list(range(6))
    assert machines.latency(0) == pytest.approx(LATENCY)


def test_first_message() -> None:
    """All resources are idle and have a role property; the configuration has the values of the options."""
    _, scheduler = run(jobs({}), sched_config="abc", compute_sharing=True, roles={"node_3": "storage"})
    (begins,) = scheduler.events(SimulationBegins)
    assert [r.name for r in begins.compute_resources] == ["node_1", "node_10", "node_2"]
    assert [(r.id, r.name, r.properties) for r in begins.storage_resources] == [
        (3, "disk", {"role": "storage"}),
        (4, "node_3", {"role": "storage"}),
        (5, "pfs", {"role": "storage"}),
    ]
    assert begins.compute_resources[0].properties == {"role": ""}
    assert begins.config.sched_config == "abc"
    assert begins.allow_compute_sharing
    assert begins.allow_storage_sharing
    assert begins.profiles == {"w0": {"p": {"type": "delay", "delay": 10}}}


def test_limits() -> None:
    """The first hosts in sorted order are kept; the smaller limit counts; too large a one is an error."""
    _, scheduler = run(jobs({}, nb_res=3), machine_limit=2, machine_limit_from_workload=True)
    (begins,) = scheduler.events(SimulationBegins)
    assert [r.name for r in begins.compute_resources] == ["node_1", "node_10"]
    assert [r.id for r in begins.storage_resources] == [2, 3]
    _, scheduler = run(jobs({}, nb_res=3), machine_limit_from_workload=True)
    assert len(scheduler.events(SimulationBegins)[0].compute_resources) == 3
    with pytest.raises(SimulatorInputError, match="4 compute hosts, fewer than the 5"):
        run(jobs({}), machine_limit=5)
    with pytest.raises(SimulatorInputError, match="--mmax must be at least 0"):
        run(jobs({}), machine_limit=-1)


XML = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="root" routing="Full">
<host id="a" speed="1Gf"/><host id="b" speed="0f"/><host id="master_host" speed="1f"/>
<link id="l" bandwidth="1Bps" latency="1s"/>
<route src="a" dst="b"><link_ctn id="l"/></route><route src="a" dst="master_host"><link_ctn id="l"/></route>
<route src="b" dst="master_host"><link_ctn id="l"/></route>
</zone></platform>
"""


@pytest.mark.parametrize(
    ("roles", "master", "expected"),
    [
        ({"b": "storage"}, "nothing", "exactly one host must have the role master, found no host"),
        ({"b": "storage", "a": "master"}, "master_host", "found a, master_host"),
        ({"b": "disk"}, "master_host", "host 'b': expected one of the roles compute_node, storage, master, got 'disk'"),
        ({}, "master_host", "host 'b' is a compute node and needs a speed above 0"),
    ],
)
def test_roles(roles: dict[str, str], master: str, expected: str) -> None:
    """Exactly one master, known roles only, compute hosts with a speed."""
    with pytest.raises(SimulatorInputError) as caught:
        Machines(parse_platform(XML), roles, master)
    assert expected in str(caught.value)


def test_role_given_twice() -> None:
    """A role in the platform and one on the command line are refused together, as in Batsim."""
    with pytest.raises(SimulatorInputError, match=r"got 'storage,storage' \(the platform states a role already"):
        Machines(small_platform(), {"pfs": "storage"})


def test_unknown_host() -> None:
    """A role for a host that is not there means nothing, as in Batsim."""
    assert len(Machines(small_platform(), {"x": "storage"})) == len(Machines(small_platform(), {}))


def test_master_by_name() -> None:
    """-m names the master; its messages take no time."""
    machines = Machines(parse_platform(XML), {"b": "storage"})
    assert [machine.name for machine in machines.all] == ["a", "b"]
    assert machines.latency(0) == pytest.approx(2.0)  # 1 s of latency, one byte at 1 byte/s


def test_times_per_state() -> None:
    """Machine-seconds per state, up to each machine's last change; counters start with the compute hosts."""
    machines = Machines(small_platform(), {})
    states = machines.states
    states.occupy([0, 1, 4], 2.0)
    states.occupy([4], 3.0)
    states.leave([0, 1, 4], 5.0)
    states.leave([4], 6.0)
    machines.check()
    assert states.time_in[State.IDLE] == pytest.approx(6.0)
    assert states.time_in[State.COMPUTING] == pytest.approx(3 + 3 + 4)
    assert states.counters[State.IDLE] == 4


def test_unavailable_machines_stay_so() -> None:
    """The end of a job does not make an unavailable machine idle."""
    machines = Machines(small_platform(), {})
    machines.states.occupy([0], 0.0)
    machines.set_state(0, State.UNAVAILABLE, 1.0)
    machines.states.leave([0], 2.0)
    assert machines.state(0) is State.UNAVAILABLE
    machines.check()


ZONES = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="root" routing="Full">
<zone id="zone_a" routing="Full"><host id="a" speed="1Gf"/></zone>
<zone id="zone_b" routing="Full"><host id="b" speed="0f"/></zone>
<zone id="zone_m" routing="Full"><host id="master_host" speed="1f"/></zone>
<link id="l" bandwidth="1Bps" latency="1s"/>
<zoneRoute src="zone_a" dst="zone_m" gw_src="a" gw_dst="master_host"><link_ctn id="l"/></zoneRoute>
</zone></platform>
"""


def test_storage_hosts_need_no_route_to_the_master() -> None:
    """Published platforms state no route, and storage hosts send nothing: only a request for the latency shows it."""
    machines = Machines(parse_platform(ZONES), {"b": "storage"})
    assert [machine.name for machine in machines.all] == ["a", "b"]
    assert machines.latency(0) == pytest.approx(2.0)
    with pytest.raises(PlatformError, match="route"):
        machines.latency(1)

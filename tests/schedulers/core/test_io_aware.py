"""Section 3.4 of Herbein et al. (HPDC 2016), number for number, on the tree of its Figures 2 and 3; its settings."""

from __future__ import annotations

import pytest

from spillway.base.errors import OptionError
from spillway.platforms import Platform, platform_from
from spillway.protocol import messages as m
from spillway.schedulers.core.observer import Observer
from spillway.schedulers.core.session import Session
from spillway.schedulers.core.terms import Terms
from spillway.schedulers.model.decisions import Start
from spillway.schedulers.model.machine import Machine, MachineDefaults
from spillway.schedulers.policies import POLICIES
from tests.kit.messages import submitted
from tests.schedulers.runtimes import rigid

MB = 1_000_000


def begins(platform: Platform) -> m.SimulationBegins:
    """Description of a platform's compute hosts, as from the simulator."""
    hosts = [host for host in platform.hosts if host.properties.get("role", "") in ("", "compute_node")]
    return m.SimulationBegins(
        0.0,
        tuple(
            m.ResourceInfo(
                index, host.name, properties=dict(host.properties), zone_properties=dict(host.zone_properties)
            )
            for index, host in enumerate(hosts)
        ),
        (),
    )


class Reasons(Observer):
    """Keeps the reasons for rejections."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def rejected(self, job: object, reason: str, now_s: float) -> None:
        """Note a refusal."""
        self.texts.append(reason)


@pytest.mark.parametrize("policy", ["fcfs", "easy"])
def test_example_of_section_3_4(policy: str) -> None:
    """Job 1 (1 node, 64 MB/s) starts on node 1. Job 2 (3 nodes, 128 MB/s each) gets nodes 2 and 3, but not node 4: it
    waits, holding nothing, and starts when Job 1 ends."""
    session = Session(POLICIES[policy].build(), rigid())
    session.handle(m.Message(0.0, (begins(platform_from("herbein-small")),)))
    bandwidth = {link.name: link.capacity_bytes_per_s for link in session.machine.links}
    assert {bandwidth[name] for name in bandwidth if name.startswith("lowest") or "lowest" in name} == {256 * MB}
    first = session.handle(m.Message(0.0, (submitted(1, 1, io_rate=64 * MB), submitted(2, 3, io_rate=128 * MB))))
    assert [(event.job_id, event.alloc) for event in first.events if isinstance(event, m.ExecuteJob)] == [
        ("w0!1", (0,))
    ]
    assert session.waiting == 1
    session.check()
    done = m.JobCompleted(4.0, "w0!1", m.JobState.COMPLETED_SUCCESSFULLY, 0, (0,))
    second = session.handle(m.Message(4.0, (done,)))
    started = [event for event in second.events if isinstance(event, m.ExecuteJob)]
    assert [(event.job_id, event.alloc) for event in started] == [("w0!2", (0, 1, 2))]


def test_which_level_stops_job_2() -> None:
    """Nodes 2 and 3 pass the test of every level, node 4 fails at the network switch (64 + 3 x 128 > 384 MB/s)."""
    noted: list[tuple[int, ...] | None] = []

    def look(view):  # type: ignore[no-untyped-def]
        """Start Job 1, then look for two and for three nodes of Job 2."""
        one, two, three = view.queue
        yield Start(one, view.timeline.fit_now(one, 10.0))
        timeline = view.timeline
        timeline.reserve(view.now_s, view.now_s + 10.0, timeline.fit_now(one, 10.0))
        for job in (two, three):
            fit = timeline.fit_now(job, 10.0)
            noted.append(None if fit is None else fit.nodes)

    session = Session(look, rigid())
    session.handle(m.Message(0.0, (begins(platform_from("herbein-small")),)))
    session.handle(
        m.Message(
            0.0,
            (submitted(1, 1, io_rate=64 * MB), submitted(2, 2, io_rate=128 * MB), submitted(3, 3, io_rate=128 * MB)),
        )
    )
    assert noted == [(1, 2), None]


def test_a_job_that_can_never_fit_is_refused_with_the_level() -> None:
    """Four nodes of 128 MB/s need 512 MB/s, the network switch of the empty machine has 384."""
    reasons = Reasons()
    session = Session(POLICIES["easy"].build(), rigid(), observer=reasons)
    session.handle(m.Message(0.0, (begins(platform_from("herbein-small")),)))
    reply = session.handle(m.Message(0.0, (submitted(1, 4, io_rate=128 * MB),)))
    assert [type(event) for event in reply.events] == [m.RejectJob]
    assert "network" in reasons.texts[0]


def test_io_ignorant_sessions_start_both() -> None:
    """Without bandwidth among the resources, Job 2 starts beside Job 1: the over-allocation of Figure 3."""
    session = Session(POLICIES["easy"].build(), rigid(), terms=Terms(defaults=MachineDefaults(bandwidth=False)))
    session.handle(m.Message(0.0, (begins(platform_from("herbein-small")),)))
    reply = session.handle(m.Message(0.0, (submitted(1, 1, io_rate=64 * MB), submitted(2, 3, io_rate=128 * MB))))
    assert [event.job_id for event in reply.events if isinstance(event, m.ExecuteJob)] == ["w0!1", "w0!2"]


def test_foreign_traffic_is_like_under_provisioning() -> None:
    """Section 5.1: reserving 30 % of 70 GB/s for others equals a file system of 49 GB/s."""
    whole = Machine.from_simulation_begins(begins(platform_from("cts1")), MachineDefaults(foreign_share=0.3))
    smaller = Machine.from_simulation_begins(begins(platform_from("cts1-30")))
    assert [link.capacity_bytes_per_s for link in whole.links] == [link.capacity_bytes_per_s for link in smaller.links]


@pytest.mark.parametrize("share", [-0.1, 1.0])
def test_impossible_shares_are_refused(share: float) -> None:
    """The share of foreign traffic lies in [0, 1)."""
    with pytest.raises(OptionError, match="at least 0 and below 1"):
        MachineDefaults(foreign_share=share)

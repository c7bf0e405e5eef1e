"""Section 3.4 of Herbein et al. (HPDC 2016), number for number, on the tree of its Figures 2 and 3; its settings."""

import pytest

from spillway.base.errors import OptionError
from spillway.platforms import platform_from
from spillway.protocol import messages as m
from spillway.schedulers.core.observer import Observer
from spillway.schedulers.core.session import Session
from spillway.schedulers.core.terms import Terms
from spillway.schedulers.model.machine import Machine, MachineDefaults
from spillway.schedulers.policies import POLICIES
from tests.kit.messages import begins_on, submitted
from tests.schedulers.runtimes import rigid

MB = 1_000_000


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
    session.handle(m.Message(0.0, (begins_on(platform_from("herbein-small")),)))
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


def test_a_job_that_can_never_fit_is_refused_with_the_level() -> None:
    """Four nodes of 128 MB/s need 512 MB/s, the network switch of the empty machine has 384."""
    reasons = Reasons()
    session = Session(POLICIES["easy"].build(), rigid(), observer=reasons)
    session.handle(m.Message(0.0, (begins_on(platform_from("herbein-small")),)))
    reply = session.handle(m.Message(0.0, (submitted(1, 4, io_rate=128 * MB),)))
    assert [type(event) for event in reply.events] == [m.RejectJob]
    assert "network" in reasons.texts[0]


def test_io_ignorant_sessions_start_both() -> None:
    """Without bandwidth among the resources, Job 2 starts beside Job 1: the over-allocation of Figure 3."""
    session = Session(POLICIES["easy"].build(), rigid(), terms=Terms(defaults=MachineDefaults(bandwidth=False)))
    session.handle(m.Message(0.0, (begins_on(platform_from("herbein-small")),)))
    reply = session.handle(m.Message(0.0, (submitted(1, 1, io_rate=64 * MB), submitted(2, 3, io_rate=128 * MB))))
    assert [event.job_id for event in reply.events if isinstance(event, m.ExecuteJob)] == ["w0!1", "w0!2"]


def test_foreign_traffic_is_like_under_provisioning() -> None:
    """Section 5.1: reserving 30 % of 70 GB/s for others equals a file system of 49 GB/s."""
    whole = Machine.from_simulation_begins(begins_on(platform_from("cts1")), MachineDefaults(foreign_share=0.3))
    smaller = Machine.from_simulation_begins(begins_on(platform_from("cts1-30")))
    assert [link.capacity_bytes_per_s for link in whole.links] == [link.capacity_bytes_per_s for link in smaller.links]


@pytest.mark.parametrize("share", [-0.1, 1.0])
def test_impossible_shares_are_refused(share: float) -> None:
    """The share of foreign traffic lies in [0, 1)."""
    with pytest.raises(OptionError, match="at least 0 and below 1"):
        MachineDefaults(foreign_share=share)

"""Machine facts: ranges, and reading them from a platform."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from spillway.workloads import THESIS_MACHINE, MachineFacts, WorkloadError


@dataclass
class _Host:
    name: str
    speeds: tuple[float, ...] = (1e9,)
    properties: dict[str, str] = field(default_factory=dict)


@dataclass
class _Platform:
    hosts: list[_Host]
    links: list[Any] = field(default_factory=lambda: [SimpleNamespace(bandwidth=5e8)])

    def route(self, src: int, dst: int) -> Any:
        """One link between any two hosts."""
        assert src != dst
        return SimpleNamespace(links=(0,))


def test_facts_of_a_platform() -> None:
    """Compute nodes, burst buffers and the first link count; master and parallel file system do not."""
    storage = {"role": "storage", "capacity_bytes": "4e10"}
    hosts = [
        _Host("master_host"),
        _Host("m", properties={"role": "master"}),
        _Host("a", (2e9, 1e9)),
        _Host("b", (2e9,), {"role": "compute_node"}),
        _Host("s1", (0.0,), storage),
        _Host("s2", (0.0,), storage | {"capacity_bytes": "30000000000"}),
        _Host("pfs", (0.0,), storage | {"storage_kind": "pfs"}),
        _Host("plain", (0.0,), {"role": "storage"}),
    ]
    facts = MachineFacts.from_platform(_Platform(hosts))
    assert facts == MachineFacts(
        nodes=2,
        node_speed_flops=2e9,
        network_bytes_per_s=5e8,
        storage_nodes=2,
        storage_bytes=30_000_000_000,
        unequal_bytes=70_000_000_000,
    )
    assert facts.all_storage_bytes == 70_000_000_000
    assert THESIS_MACHINE.all_storage_bytes == 480_000_000_000


def test_one_node_has_no_network() -> None:
    """Without a second node the bandwidth is the usual one."""
    assert MachineFacts.from_platform(_Platform([_Host("a")])).network_bytes_per_s == 1.25e9


def test_platform_without_compute_nodes() -> None:
    """It is refused."""
    with pytest.raises(WorkloadError, match="the platform has no compute node"):
        MachineFacts.from_platform(_Platform([_Host("m", properties={"role": "master"})]))


@pytest.mark.parametrize(("name", "value"), [("nodes", 0), ("node_speed_flops", -1.0), ("storage_bytes", -1)])
def test_ranges(name: str, value: float) -> None:
    """The message names the fact, its bound and its value."""
    facts: dict[str, Any] = {"nodes": 1} | {name: value}
    with pytest.raises(WorkloadError, match=f"machine fact '{name}' must be >=? 0, got {value}"):
        MachineFacts(**facts)


def test_thesis_machine() -> None:
    """96 nodes of 1 Gflop/s, 12 x 40 GB."""
    assert (THESIS_MACHINE.nodes, THESIS_MACHINE.storage_nodes * THESIS_MACHINE.storage_bytes) == (96, 480 * 10**9)

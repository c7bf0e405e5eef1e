"""The machine as a converter needs it: five numbers, given by the caller, never hidden constants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from spillway.workloads.errors import WorkloadError

_DEFAULT_NETWORK_BYTES_PER_S = 1.25e9
"""10 Gbit/s: assumed where no link can be read."""

_MASTER = "master_host"


class _PlatformLike(Protocol):
    """The part of :class:`spillway.platforms.model.Platform` that is read here."""

    @property
    def hosts(self) -> Sequence[Any]:
        """All hosts."""

    @property
    def links(self) -> Sequence[Any]:
        """All links."""

    def route(self, src: int, dst: int) -> Any:
        """Route between two host indices."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineFacts:
    """The machine that a workload is made for.

    Attributes
    ----------
    nodes
        Compute nodes, > 0.
    node_speed_flops
        Flop per second of a node, > 0: a runtime of t seconds becomes t times as many flop per node.
    network_bytes_per_s
        Bandwidth of a node's link into the compute network, > 0 (kappa rule of the IO-Aware model).
    storage_nodes
        Storage nodes that hold burst buffers, >= 0; with 0, jobs request no burst buffers.
    storage_bytes
        Burst-buffer capacity of one storage node in bytes, >= 0; of the smallest where they differ.
    unequal_bytes
        Capacity of all storage nodes in bytes where they differ, else 0.
    """

    nodes: int
    node_speed_flops: float = 1e9
    network_bytes_per_s: float = _DEFAULT_NETWORK_BYTES_PER_S
    storage_nodes: int = 0
    storage_bytes: int = 0
    unequal_bytes: int = 0

    @property
    def all_storage_bytes(self) -> int:
        """Capacity of all storage nodes (bytes)."""
        return self.unequal_bytes or self.storage_nodes * self.storage_bytes

    def __post_init__(self) -> None:
        above_zero = ("nodes", "node_speed_flops", "network_bytes_per_s")
        for name in (*above_zero, "storage_nodes", "storage_bytes", "unequal_bytes"):
            value = getattr(self, name)
            if value < 0 or (name in above_zero and value == 0):
                sign = ">" if name in above_zero else ">="
                raise WorkloadError(f"machine fact {name!r} must be {sign} 0, got {value!r}")

    @classmethod
    def from_platform(cls, platform: _PlatformLike) -> MachineFacts:
        """Read the facts from a loaded platform.

        Compute nodes are the hosts with an empty ``role`` or ``compute_node`` (Batsim's default master, a host named
        ``master_host``, is excluded); burst buffers are the storage hosts with ``capacity_bytes`` > 0 other than
        ``pfs``. The network's bandwidth is that of the first link on the route from the first compute node to the last.
        A request is drawn for the smallest storage node.

        Raises
        ------
        WorkloadError
            If there is no compute node.
        """
        compute: list[int] = []
        capacities: list[int] = []
        for index, host in enumerate(platform.hosts):
            role = host.properties.get("role", "")
            if role in ("", "compute_node") and host.speeds[0] > 0 and host.name != _MASTER:
                compute.append(index)
            capacity = int(float(host.properties.get("capacity_bytes", "0")))
            if role == "storage" and capacity > 0 and host.properties.get("storage_kind") != "pfs":
                capacities.append(capacity)
        if not compute:
            raise WorkloadError("the platform has no compute node (a host with role 'compute_node' or without role)")
        bandwidth = _DEFAULT_NETWORK_BYTES_PER_S if len(compute) < 2 else _first_link(platform, compute[0], compute[-1])
        return cls(
            nodes=len(compute),
            node_speed_flops=float(platform.hosts[compute[0]].speeds[0]),
            network_bytes_per_s=bandwidth,
            storage_nodes=len(capacities),
            storage_bytes=min(capacities, default=0),
            unequal_bytes=sum(capacities) if len(set(capacities)) > 1 else 0,
        )


THESIS_MACHINE = MachineFacts(
    nodes=96,
    node_speed_flops=1e9,
    network_bytes_per_s=1.25e9,
    storage_nodes=12,
    storage_bytes=40_000_000_000,
)
"""Dragonfly of J. Kopanski's thesis (2020), section 2.2: 96 nodes, 12 storage nodes of 40 GB, 10 Gbit/s links."""


def _first_link(platform: _PlatformLike, source: int, target: int) -> float:
    links = platform.route(source, target).links
    return float(platform.links[links[0]].bandwidth) if len(links) else _DEFAULT_NETWORK_BYTES_PER_S

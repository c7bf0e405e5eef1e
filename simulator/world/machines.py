"""The machines as Batsim numbers them: roles, ids, states, and the time spent in each state.

Compute hosts get the ids 0..C-1 and storage hosts C..C+S-1, each in plain text order of their names; Batsim 5 compares
digits in names as numbers, but for compute hosts only. The master has no id.
"""

from __future__ import annotations

import enum
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from spillway.base.errors import shown
from spillway.core import TCP_WINDOW, MachineStates
from spillway.platforms.model import Host, Platform
from spillway.protocol.messages import ResourceInfo
from spillway.simulator.errors import SimulatorInputError


class State(enum.IntEnum):
    """State of a machine; the value is its place in counters."""

    SLEEPING = 0
    SWITCHING_ON = 1
    SWITCHING_OFF = 2
    IDLE = 3
    COMPUTING = 4
    UNAVAILABLE = 5


class Role(enum.Enum):
    """Role of a host."""

    COMPUTE = "compute_node"
    STORAGE = "storage"
    MASTER = "master"


_ROLES = {"": Role.COMPUTE, **{role.value: role for role in Role}}


@dataclass(frozen=True, slots=True)
class Machine:
    """One compute or storage host: Batsim's id, name, index in the platform, role, description on the wire."""

    id: int
    name: str
    host: int
    role: Role
    info: ResourceInfo


class Machines:
    """All machines and their states.

    Parameters
    ----------
    platform
        Hosts and routes.
    roles
        Roles given on the command line, by host name; as in Batsim, those of hosts that do not exist are ignored.
    master
        Name of the host that is the master if it states no role.
    limit
        Number of compute hosts to keep, the first ones; 0 keeps all.
    by_number
        Whether digits in names of compute hosts count as numbers in their order.

    Attributes
    ----------
    all
        Machines by id.
    cores
        Number of cores by platform host.
    master_host
        Index of the master in the platform.
    states
        Their states in the course of the simulation, the jobs on them, and the machine-seconds in each state.
    """

    def __init__(
        self,
        platform: Platform,
        roles: Mapping[str, str],
        master: str = "master_host",
        limit: int = 0,
        by_number: bool = False,
    ) -> None:
        found = _hosts_by_role(platform, roles, master)
        if len(found[Role.MASTER]) != 1:
            names = ", ".join(sorted(platform.hosts[i].name for i in found[Role.MASTER])) or "no host"
            raise SimulatorInputError(
                f"{platform.source or 'the platform'}: exactly one host must have the role master, found {names}; "
                f"call it master_host, give it the property role with the value master, or name it to "
                f"'spillway simulate' with -m or -r HOST:master"
            )
        self.master_host = found[Role.MASTER][0]
        key = numbered if by_number else str
        compute = sorted(found[Role.COMPUTE], key=lambda index: key(platform.hosts[index].name))
        storage = sorted(found[Role.STORAGE], key=lambda index: platform.hosts[index].name)
        if limit > len(compute):
            raise SimulatorInputError(
                f"the platform has {len(compute)} compute hosts, fewer than the {limit} that --mmax requests"
            )
        compute = compute[:limit] if limit else compute
        self.compute_count = len(compute)
        self.storage_count = len(storage)
        self.all: tuple[Machine, ...] = tuple(
            self._machine(platform, number, index, role, roles)
            for number, (index, role) in enumerate(
                [(index, Role.COMPUTE) for index in compute] + [(index, Role.STORAGE) for index in storage]
            )
        )
        for machine in self.all[: self.compute_count]:
            if not platform.hosts[machine.host].speed > 0:
                raise SimulatorInputError(
                    f"{platform.source or 'the platform'}: host {shown(machine.name)} is a compute node and "
                    "needs a speed "
                    f"above 0; give storage hosts their role (-r {machine.name}:storage)"
                )
        self.cores: tuple[int, ...] = tuple(host.cores for host in platform.hosts)
        self._route = _RouteToMaster(platform, self.master_host)
        hosts = [machine.host for machine in self.all]
        self.states = MachineStates(hosts, self.compute_count, partial(_way, self._route, hosts))

    def _machine(self, platform: Platform, number: int, index: int, role: Role, roles: Mapping[str, str]) -> Machine:
        host = platform.hosts[index]
        properties = {"role": _role_text(host, roles), **{k: v for k, v in host.properties.items() if k != "role"}}
        info = ResourceInfo(
            number,
            host.name,
            "idle",
            dict(sorted(properties.items())),
            dict(host.zone_properties),
            host.cores,
            host.pstate,
            host.speeds,
        )
        return Machine(number, host.name, index, role, info)

    def __len__(self) -> int:
        return len(self.all)

    def latency(self, machine_id: int) -> float:
        """Seconds that an uncontended message of one byte takes from a machine to the master.

        The route is looked up at its first use: storage hosts send no messages, and published platforms state no route
        from storage hosts to the master.

        Raises
        ------
        PlatformError
            The platform states no route.
        """
        latency_s, bytes_per_s = self.states.way(machine_id)
        return latency_s + 1.0 / bytes_per_s

    @property
    def own_way(self) -> tuple[float, float]:
        """Latency (s) of a message from the master to itself, and its bytes per second after that."""
        return self._route.way(self.master_host)

    def state(self, machine_id: int) -> State:
        """A machine's present state."""
        return State(self.states.state(machine_id))

    def set_state(self, machine_id: int, state: State, now: float) -> None:
        """Change one machine's state at time ``now`` (s)."""
        self.states.change(machine_id, state, now)

    def check(self) -> None:
        """Assert that counters and states agree (for tests)."""
        assert self.states.check(), [self.states.counters, [self.states.jobs(number) for number in range(len(self))]]

    @property
    def compute_infos(self) -> tuple[ResourceInfo, ...]:
        """Compute hosts as SIMULATION_BEGINS lists them."""
        return tuple(machine.info for machine in self.all[: self.compute_count])

    @property
    def storage_infos(self) -> tuple[ResourceInfo, ...]:
        """Storage hosts as SIMULATION_BEGINS lists them."""
        return tuple(machine.info for machine in self.all[self.compute_count :])


class _RouteToMaster:
    """Latencies of messages to the master."""

    def __init__(self, platform: Platform, master_host: int) -> None:
        self._platform = platform
        self._master_host = master_host

    def way(self, host: int) -> tuple[float, float]:
        """Latency (s) of a message from a host, and its bytes per second after that."""
        platform = self._platform
        route = platform.route(host, self._master_host)
        if not route.links:  # a task without a resource has no work
            return route.latency, math.inf
        window = TCP_WINDOW / (2.0 * route.latency) if route.latency > 0 else math.inf
        return route.latency, min(window, *(platform.links[link].bandwidth for link in route.links))


def _way(route: _RouteToMaster, hosts: list[int], machine_id: int) -> tuple[float, float]:
    """Way from a machine; no method of the machines, to which their states would refer then."""
    return route.way(hosts[machine_id])


def numbered(name: str) -> list[tuple[int, int]]:
    """Key that sorts names with their digits as numbers: ``n2`` before ``n10``."""
    return [(ord("0"), int(it)) if it.isdigit() else (ord(it), 0) for it in re.findall(r"[0-9]+|[^0-9]", name, re.S)]


def _role_text(host: Host, roles: Mapping[str, str]) -> str:
    given = roles.get(host.name)
    if given is None:
        return host.properties.get("role", "")
    stated = host.properties.get("role")
    return given if stated is None else f"{stated},{given}"


def _hosts_by_role(platform: Platform, roles: Mapping[str, str], master: str) -> dict[Role, list[int]]:
    found: dict[Role, list[int]] = {role: [] for role in Role}
    for index, host in enumerate(platform.hosts):
        text = _role_text(host, roles)
        if not text and host.name == master:
            text = Role.MASTER.value
        role = _ROLES.get(text)
        if role is None:
            twice = " (the platform states a role already; do not give it again with -r)" if "," in text else ""
            raise SimulatorInputError(
                f"host {shown(host.name)}: expected one of the roles {', '.join(r.value for r in Role)}, "
                f"got {shown(text)}{twice}"
            )
        found[role].append(index)
    return found

"""The machines as Batsim numbers them: roles, ids, states, and the time spent in each state.

Compute hosts get the ids 0..C-1 and storage hosts C..C+S-1, each in plain text order of their names (as in Batsim 4.0
to 4.2.1; the documented order that compares digits as numbers is that of Batsim 5). The master has no id.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from spillway.base.errors import shown
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
        Whether digits in names count as numbers in their order.

    Attributes
    ----------
    all
        Machines by id.
    cores
        Number of cores by platform host.
    master_host
        Index of the master in the platform.
    state, jobs
        Current :class:`State` and number of running jobs, by id.
    counters
        Number of machines per state; storage hosts are not counted until they change, as in Batsim.
    time_in
        Machine-seconds spent per state, up to each machine's last change.
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
                f"name it with -m or -r HOST:master"
            )
        self.master_host = found[Role.MASTER][0]
        key = numbered if by_number else str
        compute = sorted(found[Role.COMPUTE], key=lambda index: key(platform.hosts[index].name))
        storage = sorted(found[Role.STORAGE], key=lambda index: key(platform.hosts[index].name))
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
        self._platform = platform
        self._latency: dict[int, float] = {}
        self.cores: tuple[int, ...] = tuple(host.cores for host in platform.hosts)
        count = len(self.all)
        self.state: list[State] = [State.IDLE] * count
        self.jobs: list[int] = [0] * count
        self.since: list[float] = [0.0] * count
        self.counters: list[int] = [0] * len(State)
        self.counters[State.IDLE] = self.compute_count
        self.time_in: list[float] = [0.0] * len(State)

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
        found = self._latency.get(machine_id)
        if found is None:
            found = self._latency[machine_id] = self._one_byte(self.all[machine_id].host)
        return found

    @property
    def own_message_s(self) -> float:
        """Seconds that a message of one byte takes from the master to itself."""
        return self._one_byte(self.master_host)

    def _one_byte(self, host: int) -> float:
        platform = self._platform
        route = platform.route(host, self.master_host)
        slowest = max([1.0 / platform.links[link].bandwidth for link in route.links], default=0.0)
        return route.latency + slowest

    @property
    def compute_infos(self) -> tuple[ResourceInfo, ...]:
        """Compute hosts as SIMULATION_BEGINS lists them."""
        return tuple(machine.info for machine in self.all[: self.compute_count])

    @property
    def storage_infos(self) -> tuple[ResourceInfo, ...]:
        """Storage hosts as SIMULATION_BEGINS lists them."""
        return tuple(machine.info for machine in self.all[self.compute_count :])

    def set_state(self, machine_id: int, state: State, now: float) -> None:
        """Change one machine's state at time ``now`` (s)."""
        old = self.state[machine_id]
        self.time_in[old] += now - self.since[machine_id]
        self.since[machine_id] = now
        if old is not state:
            self.counters[old] -= 1
            self.counters[state] += 1
            self.state[machine_id] = state

    def occupy(self, places: Iterable[Iterable[int]], moments: Iterable[float]) -> None:
        """Note the starts of jobs, each on its machines at its moment (s)."""
        states, since, times, jobs, counters = self.state, self.since, self.time_in, self.jobs, self.counters
        computing = State.COMPUTING
        for ids, now in zip(places, moments, strict=True):
            for machine_id in ids:
                old = states[machine_id]
                times[old] += now - since[machine_id]
                since[machine_id] = now
                jobs[machine_id] += 1
                if old is not computing:
                    counters[old] -= 1
                    counters[computing] += 1
                    states[machine_id] = computing

    def leave(self, places: Iterable[Iterable[int]], now: float) -> None:
        """Note the ends of jobs, each on its machines; an unavailable machine stays unavailable."""
        states, since, times, jobs, counters = self.state, self.since, self.time_in, self.jobs, self.counters
        idle, out = State.IDLE, State.UNAVAILABLE
        for ids in places:
            for machine_id in ids:
                left = jobs[machine_id] - 1
                jobs[machine_id] = left
                if left == 0 and (old := states[machine_id]) is not out:
                    times[old] += now - since[machine_id]
                    since[machine_id] = now
                    if old is not idle:
                        counters[old] -= 1
                        counters[idle] += 1
                        states[machine_id] = idle

    def check(self) -> None:
        """Assert that counters and states agree (for tests)."""
        for state in State:
            expected = sum(1 for s in self.state if s is state)
            if state is State.IDLE:
                expected -= self.storage_count
            assert self.counters[state] == expected, (state, self.counters[state], expected)
        assert all(count >= 0 for count in self.jobs), self.jobs


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

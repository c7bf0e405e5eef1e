"""Power states of hosts, and the changes between them.

The host property ``sleep_pstates`` lists ``sleep:off:on`` triplets separated by commas: a state in which the host
sleeps, and the virtual states in which it computes one flop to fall asleep and to wake up. All other states are for
computing.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from spillway.base.errors import shown
from spillway.core import Loop
from spillway.platforms.model import Host, Platform
from spillway.protocol.messages import ResourceStateChanged
from spillway.simulator.engines.by_name import Engine
from spillway.simulator.errors import SimulatorInputError
from spillway.simulator.outputs import Outputs
from spillway.simulator.outputs.power import TO_COMPUTING, TO_SLEEP
from spillway.simulator.world.energy import EnergyMeter
from spillway.simulator.world.machines import Machines, State

_PROPERTY = "sleep_pstates"


class Kind(enum.Enum):
    """Purpose of a power state."""

    COMPUTATION = "computation"
    SLEEP = "sleep"
    TRANSITION = "transition"


@dataclass(frozen=True, slots=True)
class _PowerStates:
    """The power states of one host.

    Attributes
    ----------
    kinds
        Purpose of each state.
    off, on
        Virtual state for falling asleep to, and for waking up from, each sleep state.
    """

    kinds: tuple[Kind, ...]
    off: dict[int, int]
    on: dict[int, int]


def read_power_states(host: Host) -> _PowerStates:
    """Power states of a host.

    Raises
    ------
    SimulatorInputError
        The property is no list of triplets, names states that do not exist, or uses one for two purposes.
    """
    kinds = [Kind.COMPUTATION] * len(host.speeds)
    off: dict[int, int] = {}
    on: dict[int, int] = {}
    text = host.properties.get(_PROPERTY, "")
    for triplet in filter(None, (part.strip() for part in text.split(","))):
        try:
            sleep, off_state, on_state = (int(part) for part in triplet.split(":"))
        except ValueError:
            raise SimulatorInputError(
                f"host {shown(host.name)}: property {_PROPERTY!r} must list SLEEP:OFF:ON triplets of power states, "
                f"got {shown(text)}"
            ) from None
        for state, kind in ((sleep, Kind.SLEEP), (off_state, Kind.TRANSITION), (on_state, Kind.TRANSITION)):
            if not 0 <= state < len(kinds):
                raise SimulatorInputError(
                    f"host {shown(host.name)}: property {_PROPERTY!r} names the power state {state}, the host has "
                    f"0..{len(kinds) - 1}"
                )
            if kinds[state] not in (Kind.COMPUTATION, kind) or state in off:
                raise SimulatorInputError(
                    f"host {shown(host.name)}: property {_PROPERTY!r} uses the power state {state} for two purposes"
                )
            kinds[state] = kind
        off[sleep], on[sleep] = off_state, on_state
    return _PowerStates(tuple(kinds), off, on)


@dataclass(slots=True, eq=False)
class _Switch:
    """A request that is under way."""

    ids: tuple[int, ...]
    target: int
    left: set[int]


class PowerSwitches:
    """Changes power states on request.

    Attributes
    ----------
    grouped, machines_switched
        Number of requests, and of the machines in them.
    loop
        The simulation, set before it begins.

    Parameters
    ----------
    platform, machines, engine, outputs, meter
        Parts of the simulation that it uses; without a meter nothing can be changed.
    later
        Notes what to call when something has ended; returns the number for the loop.
    """

    def __init__(
        self,
        platform: Platform,
        machines: Machines,
        engine: Engine,
        outputs: Outputs,
        meter: EnergyMeter | None,
        later: Callable[[Callable[[], None]], int],
    ) -> None:
        self._platform = platform
        self._machines = machines
        self._platform, self._engine = platform, engine
        self._outputs = outputs
        self._meter = meter
        self._later = later
        self.loop: Loop
        self._current: list[_Switch] = []
        self.grouped = 0
        self.machines_switched = 0
        self._states: list[_PowerStates] = []
        self.pstate: list[int] = []
        if meter is not None:
            hosts = [platform.hosts[machine.host] for machine in machines.all]
            self._states = [read_power_states(host) for host in hosts]
            self.pstate = [host.pstate for host in hosts]
            self._check_speeds(hosts)
            self._initial_rows()

    def _check_speeds(self, hosts: list[Host]) -> None:
        for number, host in enumerate(hosts[: self._machines.compute_count]):
            for state, kind in enumerate(self._states[number].kinds):
                if kind is Kind.COMPUTATION and not host.speeds[state] > 0:
                    raise SimulatorInputError(
                        f"host {shown(host.name)}: its computation power state {state} needs a speed above 0"
                    )

    def _initial_rows(self) -> None:
        table = self._outputs.pstates
        if table is not None:
            for state in sorted(set(self.pstate)):
                table.add(0.0, [number for number, now in enumerate(self.pstate) if now == state], state)

    def computes(self, number: int) -> bool:
        """Whether a machine is in a power state for computing, in a simulation with energy."""
        return self._states[number].kinds[self.pstate[number]] is Kind.COMPUTATION

    def request(self, ids: tuple[int, ...], target: int) -> None:
        """Begin to change machines to a power state; :class:`ValueError` if Batsim aborts."""
        if self._meter is None:
            raise ValueError("changing power states needs --energy")
        ids = tuple(sorted(set(ids)))
        self._check(ids, target)
        now = self.loop.clock
        self._current.append(_Switch(ids, target, set(ids)))
        self._meter.pstate_event(now)
        to_sleep = self._states[ids[0]].kinds[target] is Kind.SLEEP
        if self._outputs.pstates is not None:
            self._outputs.pstates.add(now, ids, TO_SLEEP if to_sleep else TO_COMPUTING)
        self.grouped += 1
        self.machines_switched += len(ids)
        for number in ids:
            self._switch(number, target, now)
        if self._outputs.states is not None:
            self._outputs.states.add(now)

    def _check(self, ids: tuple[int, ...], target: int) -> None:
        if not ids:
            raise ValueError("'resources' must name at least one machine")
        if ids[0] < 0 or ids[-1] >= len(self._machines):
            raise ValueError(f"'resources' must lie in 0..{len(self._machines) - 1}, got {ids[0]}..{ids[-1]}")
        for number in ids:
            name = self._machines.all[number].name
            kinds = self._states[number].kinds
            if not 0 <= target < len(kinds) or kinds[target] is Kind.TRANSITION:
                raise ValueError(f"machine {number} ({shown(name)}) has no power state {target} to be switched to")
            state = self._machines.state(number)
            if state in (State.SWITCHING_ON, State.SWITCHING_OFF):
                raise ValueError(f"machine {number} ({shown(name)}) is still {state.name.lower()}")
            asleep = kinds[self.pstate[number]] is Kind.SLEEP
            if asleep and kinds[target] is Kind.SLEEP:
                raise ValueError(
                    f"machine {number} ({shown(name)}) sleeps; it cannot be switched to another sleep state"
                )
            if kinds[target] is Kind.SLEEP and self._machines.states.jobs(number):
                raise ValueError(f"machine {number} ({shown(name)}) is computing and cannot be put to sleep")

    def _switch(self, number: int, target: int, now: float) -> None:
        states = self._states[number]
        current = self.pstate[number]
        if states.kinds[target] is Kind.SLEEP:
            self._machines.set_state(number, State.SWITCHING_OFF, now)
            self._transit(number, states.off[target], target)
        elif states.kinds[current] is Kind.SLEEP:
            self._machines.set_state(number, State.SWITCHING_ON, now)
            self._transit(number, states.on[current], target)
        else:
            self._set(number, target)
            self._mark(number, target)

    def _transit(self, number: int, virtual: int, target: int) -> None:
        """Compute one flop in the virtual state, then arrive."""
        self.loop.switching += 1
        self._set(number, virtual, busy=True)
        host = self._machines.all[number].host
        speed = self._platform.hosts[host].speeds[virtual]
        if not speed > 0:
            raise ValueError(
                f"machine {number} ({shown(self._machines.all[number].name)}): its virtual power state "
                f"{virtual} has no "
                f"speed, so the change would never end"
            )
        self.loop.run_errand(self._later(lambda: self._arrived(number, target)), (host,), 1.0)

    def _arrived(self, number: int, target: int) -> None:
        self._set(number, target)
        sleeping = self._states[number].kinds[target] is Kind.SLEEP
        self._machines.set_state(number, State.SLEEPING if sleeping else State.IDLE, self.loop.clock)
        token = self._later(lambda: self._switched(number, target))
        self.loop.post(number, token)

    def _switched(self, number: int, target: int) -> None:
        """Notify the server that a machine has arrived in its state."""
        if self._mark(number, target) and self._outputs.states is not None:
            self._outputs.states.add(self.loop.clock)
        self.loop.switching -= 1

    def _mark(self, number: int, target: int) -> bool:
        """Note an arrival; when it is the last of its request, notify the scheduler."""
        for switch in self._current:
            if switch.target == target and number in switch.left:
                switch.left.discard(number)
                if switch.left:
                    return False
                self._current.remove(switch)
                self._tell(switch.ids, target)
                return True
        raise AssertionError(f"machine {number} was not switching to {target}")

    def _tell(self, ids: Iterable[int], target: int) -> None:
        now = self.loop.clock
        if self._outputs.pstates is not None:
            self._outputs.pstates.add(now, ids, target)
        assert self._meter is not None
        self._meter.pstate_event(now)
        self.loop.tell(ResourceStateChanged(self.loop.now, tuple(ids), target))

    def _set(self, number: int, pstate: int, busy: bool = False) -> None:
        self.pstate[number] = pstate
        assert self._meter is not None
        self._meter.set_pstate(number, pstate, self.loop.clock, busy)
        host = self._machines.all[number].host
        self._engine.change_speed(host, self._platform.hosts[host].speeds[pstate])

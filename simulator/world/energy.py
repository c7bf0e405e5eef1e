"""Energy of hosts, as SimGrid's host energy plugin counts it.

A host property gives the watts of each power state, ``Idle:Epsilon:AllCores`` or ``Idle:AllCores`` (then Epsilon is
Idle), states separated by commas::

    <prop id="wattage_per_state" value="95.0:120.0:200.0, 93.0:110.0:170.0"/>

A host without load draws Idle; with a load it draws Epsilon and, in proportion to the share of its speed that is used,
up to AllCores. As in SimGrid, energy is counted at every event of a host (and on all hosts, when a job starts or ends
or the energy is read), and *the load at that moment* is taken for the whole time since the last count: a task's
latency, and a wait before it, count with the load that follows. The end of a task is an event of all its hosts, also of
those without work. A power state without speed counts as fully used. Until its first event a host counts as in state 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from spillway.base.errors import shown
from spillway.core import SimulatedJob
from spillway.platforms.model import Host, Platform
from spillway.simulator.engines.by_name import Engine
from spillway.simulator.errors import SimulatorInputError
from spillway.simulator.outputs import Outputs
from spillway.simulator.world.machines import Machines

_PROPERTIES = ("wattage_per_state", "watt_per_state")
"""Names of the host property, the newer first."""


class _Work:
    """A task: the engine's handle, or -1 before and after it; its parts on the machines."""

    __slots__ = ("handle", "parts")

    def __init__(self) -> None:
        self.handle = -1
        self.parts: list[tuple[_Meter, _Load]] = []


@runtime_checkable
class _RateEngine(Protocol):
    """An engine that states a task's rate just before its clock; for others, the mean since the last count is taken."""

    def rate(self, handle: int) -> float:
        """Share of its work per second at which a task ran, also one that has just ended."""


@dataclass(frozen=True, slots=True)
class Watts:
    """Power of one host in one power state, in W."""

    idle: float
    epsilon: float
    full: float


@dataclass(slots=True, eq=False)
class _Load:
    """A task's part on one machine."""

    work: _Work
    flops: float
    seen: float = 0.0


class _Meter:
    """The meter of one machine."""

    __slots__ = ("busy", "cores", "counted", "joules", "loads", "pstate", "since", "speeds", "watts")

    def __init__(self, host: Host) -> None:
        self.watts = read_watts(host)
        self.speeds = host.speeds
        self.cores = host.cores
        self.pstate = host.pstate
        self.counted = 0
        self.joules = 0.0
        self.since = 0.0
        self.busy = False
        self.loads: list[_Load] = []


class EnergyMeter:
    """Counts the joules of all compute and storage hosts.

    Parameters
    ----------
    platform, machines, engine, outputs
        Sources of the loads, and the output files.

    Attributes
    ----------
    at_first_submission, at_last_end
        Energy when the first static job was submitted, and when the last job ended; J, -1 before.
    """

    def __init__(self, platform: Platform, machines: Machines, engine: Engine, outputs: Outputs) -> None:
        self._engine = engine
        self._rates = engine if isinstance(engine, _RateEngine) else None
        self._table = outputs.energy
        self._meters = [_Meter(platform.hosts[machine.host]) for machine in machines.all]
        self._by_host: dict[int, list[_Meter]] = {}
        for machine, meter in zip(machines.all, self._meters, strict=True):
            self._by_host.setdefault(machine.host, []).append(meter)
        read_watts(platform.hosts[machines.master_host])  # not counted, but SimGrid needs them for every host
        self._running: dict[int, _Work] = {}
        self.at_first_submission = -1.0
        self.at_last_end = -1.0

    # ------------------------------------------------------------------ events

    def task_starts(self, number: int, hosts: Sequence[int], flops: Sequence[float]) -> None:
        """Note the start of a task at the engine's clock: its number, its hosts, and the work of each, or of all."""
        work = self._running[number] = _Work()
        alone = len(hosts) == 1  # SimGrid counts at the start of tasks of one host only
        for position, host in enumerate(hosts):
            amount = 0.0 if not flops else flops[0] if len(flops) == 1 else flops[position]
            if amount <= 0 and alone:
                continue
            for meter in self._by_host.get(host, ()):
                if alone:
                    self._update(meter, self._engine.clock)
                load = _Load(work, amount)
                meter.loads.append(load)
                work.parts.append((meter, load))

    def task_begins(self, number: int, handle: int) -> None:
        """Note the engine's handle of a task."""
        self._running[number].handle = handle

    def task_ends(self, number: int, progress: float) -> None:
        """Note the end or the removal of a task at this progress."""
        work = self._running.pop(number)
        for meter, _ in work.parts:
            self._update(meter, self._engine.clock, (work, progress))
        for meter, load in work.parts:
            meter.loads.remove(load)
        work.handle = -1

    def sleep_ends(self, machine_id: int) -> None:
        """Note the end of a pause on a machine without work."""
        self._update(self._meters[machine_id], self._engine.clock)

    def job_starts(self, job: SimulatedJob, ids: Iterable[int], now: float) -> None:
        """Note the start of a job on these machines."""
        job.energy = -self.energy_of(ids, now)
        self._write(now, "s")

    def job_ends(self, job: SimulatedJob, ids: Iterable[int], now: float) -> None:
        """Note the end of a job on these machines."""
        job.energy += self.energy_of(ids, now)
        self.at_last_end = self._write(now, "e")

    def pstate_event(self, now: float) -> None:
        """Note that a change of power states was requested, or is complete."""
        self._write(now, "p")

    def set_pstate(self, machine_id: int, pstate: int, now: float, busy: bool) -> None:
        """Note another power state of a machine from now on; ``busy``: the machine works on the transition."""
        meter = self._meters[machine_id]
        self._update(meter, now)
        meter.pstate = meter.counted = pstate
        meter.busy = busy

    # ------------------------------------------------------------------ reading

    def total(self, now: float) -> float:
        """Joules of all machines since the start."""
        for meter in self._meters:
            self._update(meter, now)
        return sum(meter.joules for meter in self._meters)

    def energy_of(self, ids: Iterable[int], now: float) -> float:
        """Joules of some machines since the start."""
        total = 0.0
        for number in ids:
            meter = self._meters[number]
            self._update(meter, now)
            total += meter.joules
        return total

    def _progress(self, load: _Load) -> float:
        if load.work.handle < 0:
            return load.seen
        done = self._engine.progress(load.work.handle)
        return done if done >= 0.0 else 1.0  # it ended at this very instant and has not been handled yet

    def _write(self, now: float, kind: str) -> float:
        joules = self.total(now)
        if self._table is not None:
            wattmin = sum(meter.watts[meter.pstate].epsilon for meter in self._meters)
            self._table.add(now, joules, kind, wattmin)
        return joules

    def _update(self, meter: _Meter, now: float, ended: tuple[_Work, float] | None = None) -> None:
        """Count up to now; ``ended`` gives a task that has left the engine, and its progress."""
        elapsed, pstate = now - meter.since, meter.counted
        meter.counted = meter.pstate
        if elapsed <= 0.0:
            return
        meter.since = now
        watts, speed = meter.watts[pstate], meter.speeds[pstate]
        load = 1.0
        if speed > 0 and not meter.busy:
            worked = sum(self._rate(load, elapsed, ended) * load.flops for load in meter.loads)
            load = min(worked / (speed * meter.cores), 1.0)
        meter.joules += (watts.epsilon + load * (watts.full - watts.epsilon) if load > 0 else watts.idle) * elapsed

    def _rate(self, load: _Load, elapsed: float, ended: tuple[_Work, float] | None) -> float:
        """Share of a task's work per second."""
        if self._rates is not None:
            return self._rates.rate(load.work.handle) if load.work.handle >= 0 else 0.0
        done = ended[1] if ended is not None and ended[0] is load.work else self._progress(load)
        done, load.seen = done - load.seen, done
        return done / elapsed


def read_watts(host: Host) -> tuple[Watts, ...]:
    """Watts of a host per power state.

    Raises
    ------
    SimulatorInputError
        The property is missing, cannot be understood, or does not fit the number of power states.
    """
    text = next((host.properties[name] for name in _PROPERTIES if name in host.properties), None)
    if text is None:
        raise SimulatorInputError(
            f"No power range properties specified for host {host.name}: -E needs the property {_PROPERTIES[0]!r} (W "
            f"per power state) of every host, the master and storage hosts too; state it in the platform file, or by a "
            f"table [power] in the machine's description"
        )
    states = [part.strip() for part in text.split(",")]
    if len(states) != len(host.speeds):
        raise SimulatorInputError(
            f"host {shown(host.name)}: property {_PROPERTIES[0]!r} gives watts for {len(states)} power "
            "states, the host has "
            f"{len(host.speeds)}"
        )
    return tuple(_watts(host.name, state) for state in states)


def _watts(name: str, state: str) -> Watts:
    try:
        numbers = [float(part) for part in state.split(":")]
    except ValueError:
        numbers = []
    if len(numbers) == 2:
        numbers.insert(1, numbers[0])
    if len(numbers) != 3 or not all(0 <= number < float("inf") for number in numbers):
        raise SimulatorInputError(
            f"host {shown(name)}: property {_PROPERTIES[0]!r} must read Idle:AllCores or "
            "Idle:Epsilon:AllCores in W for each "
            f"power state, got {shown(state)}"
        )
    return Watts(*numbers)

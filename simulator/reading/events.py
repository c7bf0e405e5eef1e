"""External events: machines that become unavailable and available again, and events of the user's own.

A file has one JSON object per line, such as ``{"timestamp": 10, "type": "machine_unavailable", "resources": "0-3"}``.
As in Batsim, the event that drains a part of storage nodes (:mod:`spillway.protocol.drains`) is one of the user's own:
the simulator passes it on.
"""

from __future__ import annotations

import sys
from collections.abc import Container, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spillway.base.errors import shown
from spillway.base.files import parse_json, read_file, text_of
from spillway.base.limits import InputError
from spillway.core import Loop, as_printed
from spillway.protocol.drains import STORAGE_DRAINED, read_drain
from spillway.protocol.fields import Fields
from spillway.protocol.intervals import parse_intervals
from spillway.protocol.messages import JsonObject, Notify, NotifyKind
from spillway.simulator.errors import SimulatorInputError
from spillway.simulator.options import BATSIM_4, Rules
from spillway.simulator.world.machines import Machines, State

UNAVAILABLE, AVAILABLE = "machine_unavailable", "machine_available"

_ORDER = {AVAILABLE: 0, UNAVAILABLE: 1}
_GENERIC = 2


@dataclass(frozen=True, slots=True)
class ExternalEvent:
    """One event.

    Attributes
    ----------
    time
        Time of the event (s).
    kind
        Its type.
    resources
        Machine ids concerned.
    data
        The whole object, for events that are only passed on.
    """

    time: float
    kind: str
    resources: tuple[int, ...] = ()
    data: JsonObject | None = None

    @property
    def order(self) -> int:
        """Place among events of the same time."""
        return _ORDER.get(self.kind, _GENERIC)


def load_events(
    path: Path, machine_count: int, forward_unknown: bool, also: Container[str] = (), rules: Rules = BATSIM_4
) -> list[ExternalEvent]:
    """Read an event file.

    Parameters
    ----------
    path
        The file.
    machine_count
        Number of compute and storage hosts.
    forward_unknown
        Whether events of unknown type are passed on to the scheduler.
    also
        Unknown types that are passed on in any case.
    rules
        Rules of the version of Batsim: Batsim 5 has only the type ``generic``, with a text ``data``.

    Raises
    ------
    SimulatorInputError
        The file cannot be read, or a line is no event; the message names file, line and field.
    """
    try:
        lines = text_of(read_file(path)).splitlines()
    except InputError as fault:
        raise SimulatorInputError(f"event file {str(path)!r}: {fault}") from None
    found: list[ExternalEvent] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            if not rules.old_words:
                found.append(_generic_event(parse_json(line), len(found)))
                continue
            event = _event(parse_json(line), machine_count)
            if event.order == _GENERIC and not forward_unknown and event.kind not in also:
                raise ValueError(_unknown(event.kind, also))
            found.append(event)
        except ValueError as fault:
            raise SimulatorInputError(f"event file {str(path)!r}, line {number}: {fault}") from None
    return found


def refuse_twice(events: Iterable[ExternalEvent]) -> None:
    """Refuse machines that are made unavailable or available and are so already, as the run would.

    Raises
    ------
    SimulatorInputError
        With the time and the machine.
    """
    out: set[int] = set()
    for event in sorted(events, key=lambda event: (event.time, event.order)):
        if event.kind not in _ORDER:
            continue
        goes = event.kind == UNAVAILABLE
        for number in event.resources:
            if (number in out) is goes:
                state = event.kind.removeprefix("machine_")
                raise SimulatorInputError(
                    f"external event at {event.time:g} s: machine {number} is made {state} but it is so already"
                )
        out = out.union(event.resources) if goes else out.difference(event.resources)


def drains(path: Path) -> bool:
    """Whether a file has events that drain storage nodes in part: they need ``--forward-unknown-events``."""
    return any(event.kind == STORAGE_DRAINED for event in load_events(path, sys.maxsize, forward_unknown=True))


def _unknown(kind: str, also: Container[str]) -> str:
    known = [*_ORDER, STORAGE_DRAINED] if STORAGE_DRAINED in also else [*_ORDER]
    what = f"unknown event type {shown(kind)}; known are {', '.join(known[:-1])} and {known[-1]}"
    return what if also else f"{what}, others are passed on with --forward-unknown-events"


def _event(data: Any, machine_count: int) -> ExternalEvent:
    if not isinstance(data, dict):
        raise ValueError(f"expected a JSON object, got {shown(data)}")
    fields = Fields(data, "the event")
    kind, time = fields.text("type"), fields.time("timestamp")
    if time < 0:
        raise fields.wrong("timestamp", "a number of at least 0", time)
    if kind == STORAGE_DRAINED:
        _check_ids(read_drain(data).resources, machine_count)
    if kind not in _ORDER:
        return ExternalEvent(time, kind, (), as_printed(data))
    resources = parse_intervals(fields.text("resources"))
    _check_ids(resources, machine_count)
    return ExternalEvent(time, kind, resources)


def _generic_event(data: Any, number: int) -> ExternalEvent:
    if not isinstance(data, dict):
        raise ValueError(f"expected a JSON object, got {shown(data)}")
    fields = Fields(data, "the event")
    kind, time, text = fields.text("type"), fields.time("timestamp"), fields.text("data")
    if time < 0:
        raise fields.wrong("timestamp", "a number of at least 0", time)
    if kind != NotifyKind.GENERIC.value:
        raise ValueError(f"Batsim 5 has no external event of type {shown(kind)}, only 'generic'")
    return ExternalEvent(time, kind, (), {"id": f"ee0!{number}", "data": text})


def _check_ids(resources: tuple[int, ...], machine_count: int) -> None:
    if resources and resources[-1] >= machine_count:
        raise ValueError(f"field 'resources' names machine {resources[-1]}, the ids are 0..{machine_count - 1}")


class EventHandler:
    """Effects of external events on the machines and the messages."""

    def __init__(self, loop: Loop, machines: Machines) -> None:
        self._loop = loop
        self._machines = machines
        self._kinds = {UNAVAILABLE: self._unavailable, AVAILABLE: self._available}

    def occurred(self, events: list[ExternalEvent]) -> None:
        """Apply the events of one time."""
        for event in events:
            self._kinds.get(event.kind, self._generic)(event)

    def _unavailable(self, event: ExternalEvent) -> None:
        """Make machines unavailable: running jobs continue, new ones cannot start there."""
        machines, now = self._machines, self._loop.clock
        for number in event.resources:
            if machines.state(number) is State.UNAVAILABLE:
                raise SimulatorInputError(self._twice(number, event, "unavailable"))
            machines.set_state(number, State.UNAVAILABLE, now)
        self._notify(NotifyKind.MACHINE_UNAVAILABLE, event)

    def _available(self, event: ExternalEvent) -> None:
        machines, now = self._machines, self._loop.clock
        for number in event.resources:
            if machines.state(number) is not State.UNAVAILABLE:
                raise SimulatorInputError(self._twice(number, event, "available"))
            machines.set_state(number, State.COMPUTING if machines.states.jobs(number) else State.IDLE, now)
        self._notify(NotifyKind.MACHINE_AVAILABLE, event)

    def _twice(self, number: int, event: ExternalEvent, state: str) -> str:
        name = self._machines.all[number].name
        return (
            f"external event at {event.time:g} s: machine {number} ({shown(name)}) is made {state} but it is so already"
        )

    def _notify(self, kind: NotifyKind, event: ExternalEvent) -> None:
        if event.resources:
            self._loop.tell(Notify(self._loop.now, kind.value, event.resources))

    def _generic(self, event: ExternalEvent) -> None:
        assert event.data is not None
        self._loop.tell(Notify(self._loop.now, event.kind, (), event.data))

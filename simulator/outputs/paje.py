"""``_schedule.trace``: the job on each machine over time, in the Paje format.

Codes and names are Batsim's: containers ``m<id>`` under ``root``, states ``w`` and ``j<job id>`` of the state type
``machine_state``, kill events ``kk`` (on the killer) and ``km`` (on the machines). Batsim shuffles its 64 colours;
these go round in order, so that equal runs give equal files.
"""

from __future__ import annotations

import colorsys

from spillway.core import SimulatedJob
from spillway.simulator.outputs.files import OutputFile
from spillway.simulator.world.machines import Machines, State

COLOURS = 64

_EVENTS = (
    ("PajeDefineContainerType", ("Type string", "Alias string", "Name string")),
    ("PajeCreateContainer", ("Time date", "Type string", "Alias string", "Name string", "Container string")),
    ("PajeDestroyContainer", ("Time date", "Name string", "Type string")),
    ("PajeDefineStateType", ("Alias string", "Type string", "Name string")),
    ("PajeDefineEntityValue", ("Alias string", "Type string", "Name string", "Color color")),
    ("PajeSetState", ("Time date", "Type string", "Container string", "Value string")),
    ("PajeDefineEventType", ("Type string", "Alias string", "Name string")),
    ("PajeNewEvent", ("Time date", "Type string", "Container string", "Value string")),
    ("PajeDefineVariableType", ("Type string", "Alias string", "Name string", "Color string")),
    ("PajeSetVariable", ("Time date", "Type string", "Container string", "Value double")),
)
_CODES = {name: code for code, (name, _) in enumerate(_EVENTS, 1)}
_CREATE, _DESTROY = _CODES["PajeCreateContainer"], _CODES["PajeDestroyContainer"]
_STATE, _VALUE, _EVENT = _CODES["PajeSetState"], _CODES["PajeDefineEntityValue"], _CODES["PajeNewEvent"]


class PajeTrace:
    """Writes the trace."""

    def __init__(self, path: str, machines: Machines) -> None:
        self.file = OutputFile(path)
        self._machines = machines
        self._on: list[list[SimulatedJob]] = [[] for _ in machines.all]
        self._count = 0
        self._defined: set[str] = set()
        self._colours = [_colour(number) for number in range(COLOURS)]
        self._header()

    def _header(self) -> None:
        write = self.file.write
        for name, members in _EVENTS:
            write(f"%EventDef {name} {_CODES[name]}\n" + "".join(f"% {m}\n" for m in members) + "%EndEventDef\n\n")
        kind, event = _CODES["PajeDefineContainerType"], _CODES["PajeDefineEventType"]
        write(
            "# Container types creation\n"
            f'{kind} 0 root_ct "Machines"\n{kind} root_ct machine_ct "Machine"\n'
            f'{kind} 0 scheduler_ct "Scheduler"\n{kind} scheduler_ct killer_ct "Killer"\n\n'
            "# Event types creation\n"
            f'{event} killer_ct kk "Job kill"\n{event} machine_ct km "Job kill"\n\n'
            "# Variable types creation\n"
            f'{_CODES["PajeDefineVariableType"]} scheduler_ct vu_vt "Utilization" "0.0 0.5 0.0"\n\n'
            "# Containers creation\n"
            f'{_CREATE} 0.000000 root_ct root "Machines" 0\n'
        )
        for machine in self._machines.all:
            write(f'{_CREATE} 0.000000 machine_ct m{machine.id} "{machine.name}" root\n')
        write(
            f'{_CREATE} 0.000000 scheduler_ct sc "Scheduler" 0\n'
            f'{_CREATE} 0.000000 killer_ct k "Killer" sc\n\n'
            "# States creation\n"
            f'{_CODES["PajeDefineStateType"]} machine_state machine_ct "Machine state"\n\n'
            "# Creation of the different values the machine state can be\n"
            f'{_VALUE} w machine_state "Waiting" "0.0 0.0 0.0"\n{_VALUE} l machine_state "Launching" "0.3 0.3 0.3"\n\n'
            "# Begin of events\n"
        )
        for machine in self._machines.all:
            write(f"{_STATE} 0.000000 machine_state m{machine.id} w\n")

    def started(self, job: SimulatedJob, ids: tuple[int, ...], now: float) -> None:
        """Write the start of a job; a shared machine shows the job that started first."""
        if job.id not in self._defined:
            self._defined.add(job.id)
            self.file.write(f'{_VALUE} j{job.id} machine_state "{job.id}" {self._colours[self._count % COLOURS]}\n')
            self._count += 1
        for number in ids:
            jobs = self._on[number]
            jobs.append(job)
            if len(jobs) == 1:
                self.file.write(f"{_STATE} {now:.6f} machine_state m{number} j{job.id}\n")

    def ended(self, job: SimulatedJob, ids: tuple[int, ...], now: float) -> None:
        """Write the end of a job; an unavailable machine continues to show it."""
        for number in ids:
            jobs = self._on[number]
            shown = jobs[0]
            jobs.remove(job)
            if not jobs and self._machines.state(number) is State.UNAVAILABLE:
                continue
            if not jobs:
                self.file.write(f"{_STATE} {now:.6f} machine_state m{number} w\n")
            elif jobs[0] is not shown:
                self.file.write(f"{_STATE} {now:.6f} machine_state m{number} j{jobs[0].id}\n")
        self._defined.discard(job.id)

    def killed(self, job: SimulatedJob, ids: tuple[int, ...], now: float) -> None:
        """Write that a job was stopped, at its walltime or by the scheduler."""
        self.file.write(f'{_EVENT} {now:.6f} kk k "{job.id}"\n')
        for number in ids:
            self.file.write(f'{_EVENT} {now:.6f} km m{number} "{job.id}"\n')

    def finish(self, now: float) -> None:
        """Destroy the containers and close the file."""
        self.file.write("\n# End of events, containers destruction\n")
        for machine in self._machines.all:
            self.file.write(f"{_DESTROY} {now:.6f} m{machine.id} machine_ct\n")
        self.file.write(f"{_DESTROY} {now:.6f} root root_ct\n")
        self.file.finish()


def _colour(number: int) -> str:
    red, green, blue = colorsys.hsv_to_rgb(number / COLOURS, 1.0, 1.0)
    return f'"{red:.6f} {green:.6f} {blue:.6f}"'

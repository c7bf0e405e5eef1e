"""Batsim's output files. :class:`Outputs` receives the events and passes them to the requested files."""

from __future__ import annotations

from spillway.core import SimulatedJob
from spillway.simulator.options import SimulationOptions
from spillway.simulator.outputs.files import OutputFile, check_export
from spillway.simulator.outputs.jobs import JobsTable
from spillway.simulator.outputs.paje import PajeTrace
from spillway.simulator.outputs.power import EnergyTable, PstateTable
from spillway.simulator.world.machines import Machines


class Outputs:
    """The files of one simulation.

    Parameters
    ----------
    options
        Files to write, and their prefix.
    machines
        States of the machines, for the traces.

    Attributes
    ----------
    jobs
        Rows and sums of the jobs.
    pstates, energy
        Present when energy is measured and files are written.
    paths
        Files that exist when the simulation has ended.
    """

    def __init__(self, options: SimulationOptions, machines: Machines) -> None:
        prefix = options.export
        if prefix is not None:
            check_export(prefix)
        self._prefix = prefix
        self.jobs = JobsTable(None if prefix is None else prefix + "_jobs.csv", options.rules.old_rows)
        write = prefix is not None
        self.paje = PajeTrace(f"{prefix}_schedule.trace", machines) if write and options.trace_schedule else None
        self.states = (
            MachineStatesTable(f"{prefix}_machine_states.csv", machines)
            if write and options.trace_machine_states
            else None
        )
        self.pstates = PstateTable(f"{prefix}_pstate_changes.csv") if write and options.energy else None
        self.energy = EnergyTable(f"{prefix}_consumed_energy.csv") if write and options.energy else None
        self.traced = self.paje is not None or self.states is not None
        self.paths: list[str] = []

    def job_started(self, job: SimulatedJob, now: float) -> None:
        """Write the start of a job; its machines' states are up to date."""
        assert job.alloc is not None
        if self.paje is not None:
            self.paje.started(job, job.alloc, now)
        if self.states is not None:
            self.states.add(now)

    def job_ended(self, job: SimulatedJob, now: float, stopped: bool) -> None:
        """Write the end of a job; ``stopped``: at its walltime, or in the middle of a parallel task by a kill."""
        assert job.alloc is not None
        if self.paje is not None:
            if stopped:
                self.paje.killed(job, job.alloc, now)
            self.paje.ended(job, job.alloc, now)
        if self.states is not None:
            self.states.add(now)

    def _files(self) -> list[OutputFile]:
        tables = (self.jobs, self.states, self.pstates, self.energy)
        return [table.file for table in tables if table is not None and table.file is not None]

    def finish(self, now: float, figures: dict[str, str]) -> None:
        """Complete all files; ``figures`` become ``_schedule.csv``."""
        self.jobs.settle()
        files = self._files()
        if self._prefix is not None:
            table = OutputFile(self._prefix + "_schedule.csv")
            table.write(",".join(figures) + "\n" + ",".join(figures.values()) + "\n")
            files.append(table)
        for file in files:
            file.finish()
            self.paths.append(file.path)
        if self.paje is not None:
            self.paje.finish(now)
            self.paths.append(self.paje.file.path)

    def abandon(self) -> None:
        """Leave the files written so far under temporary names."""
        self.jobs.settle()
        for file in self._files():
            file.abandon()
        if self.paje is not None:
            self.paje.file.abandon()


HEADER = "time,nb_sleeping,nb_switching_on,nb_switching_off,nb_idle,nb_computing\n"


class MachineStatesTable:
    """Writes one row per change; there is no column for unavailable machines, as in Batsim."""

    def __init__(self, path: str, machines: Machines) -> None:
        self.file = OutputFile(path)
        self.file.write(HEADER)
        self._states = machines.states

    def add(self, now: float) -> None:
        """Write the counters as they are (``now`` in s)."""
        counters = self._states.counters
        self.file.write(
            f"{now:.6g},{counters[0]},{counters[1]},{counters[2]},{counters[3]},{counters[4]}\n"
        )  # fmt: skip

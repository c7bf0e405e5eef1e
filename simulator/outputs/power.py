"""``_pstate_changes.csv`` and ``_consumed_energy.csv``: changes of power states, and the energy at each event."""

from __future__ import annotations

from collections.abc import Iterable

from spillway.protocol.intervals import format_intervals
from spillway.simulator.outputs.files import OutputFile

TO_SLEEP = -2
TO_COMPUTING = -1
"""Power states written while machines switch to sleep, or to computing."""


class PstateTable:
    """Writes power state changes; one row per set of machines."""

    def __init__(self, path: str) -> None:
        self.file = OutputFile(path)
        self.file.write("time,machine_id,new_pstate\n")

    def add(self, now: float, ids: Iterable[int], pstate: int) -> None:
        """Machines ``ids`` are in ``pstate`` from ``now`` (s)."""
        self.file.write(f"{now:.6g},{format_intervals(ids)},{pstate}\n")


class EnergyTable:
    """Writes the energy at each job start (``s``), job end (``e``) and power state change (``p``)."""

    def __init__(self, path: str) -> None:
        self.file = OutputFile(path)
        self.file.write("time,energy,event_type,wattmin,epower\n")
        self._last_time = 0.0
        self._last_energy = 0.0

    def add(self, now: float, joules: float, kind: str, wattmin: float) -> None:
        """Write a row, all with six decimals; ``epower`` is the mean power (W) since the last row.

        ``wattmin`` is the least power of all machines while they work (Epsilon), in W.
        """
        elapsed = now - self._last_time
        power = f"{(joules - self._last_energy) / elapsed:.6f}" if elapsed > 0 else "NA"
        self.file.write(f"{now:.6f},{joules:.6f},{kind},{wattmin:.6f},{power}\n")
        self._last_time, self._last_energy = now, joules

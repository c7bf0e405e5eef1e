"""``_machine_states.csv``: number of machines in each state, after each change."""

from __future__ import annotations

from spillway.simulator.outputs.files import OutputFile
from spillway.simulator.world.machines import Machines

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

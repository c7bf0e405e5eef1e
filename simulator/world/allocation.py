"""Sets of machines that jobs run on, kept with the values that every start needs."""

from __future__ import annotations

from dataclasses import dataclass

from spillway.protocol.intervals import format_intervals
from spillway.simulator.world.machines import Machines, Role

MEMO_LIMIT = 20_000


@dataclass(frozen=True, slots=True)
class Allocation:
    """Some machines.

    Attributes
    ----------
    ids
        Machine ids, ascending.
    hosts
        Their platform hosts.
    text
        The interval set that Batsim prints.
    compute
        Ids of the compute hosts among them.
    storage
        Ids of the storage hosts among them.
    latency
        Latency of messages from the job, which come from the first machine, s.
    """

    ids: tuple[int, ...]
    hosts: tuple[int, ...]
    text: str
    compute: tuple[int, ...]
    storage: tuple[int, ...]
    latency: float


class Allocations:
    """Makes allocations, each set of machines once."""

    def __init__(self, machines: Machines) -> None:
        self._machines = machines
        self._known: dict[tuple[int, ...], Allocation] = {}

    def of(self, ids: tuple[int, ...]) -> Allocation:
        """The allocation of these ids, in any order; :class:`ValueError` when empty or unknown."""
        found = self._known.get(ids)
        if found is None:
            if len(self._known) >= MEMO_LIMIT:
                self._known.clear()
            found = self._known[ids] = self._make(ids)
        return found

    def _make(self, ids: tuple[int, ...]) -> Allocation:
        machines = self._machines.all
        if not ids:
            raise ValueError("its 'alloc' must name at least one machine")
        for number in ids:
            if not 0 <= number < len(machines):
                raise ValueError(f"its 'alloc' names machine {number}, the ids are 0..{len(machines) - 1}")
        unique = tuple(sorted(set(ids)))
        chosen = [machines[number] for number in unique]
        storage = tuple([machine.id for machine in chosen if machine.role is Role.STORAGE])
        return Allocation(
            unique,
            tuple([machine.host for machine in chosen]),
            format_intervals(unique),
            unique if not storage else tuple([machine.id for machine in chosen if machine.role is Role.COMPUTE]),
            storage,
            self._machines.latency(unique[0]),
        )

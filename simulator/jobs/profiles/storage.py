"""``parallel_homogeneous_pfs`` and ``data_staging``: transfers between hosts and storage hosts, or among these."""

from __future__ import annotations

from spillway.base.errors import shown
from spillway.protocol.messages import JsonObject
from spillway.simulator.engines.base import NO_COMM, Comm, Pairs, TaskSpec
from spillway.simulator.jobs.profiles.base import ParallelWork, Parsed, Placement
from spillway.simulator.world.machines import Role


class StorageAccess(ParallelWork):
    """Every executor reads from and writes to one storage host."""

    __slots__ = ("_patterns", "label", "read", "write")

    def __init__(self, read: float, write: float, label: str) -> None:
        self.read = read
        self.write = write
        self.label = label
        self._patterns: dict[int, Comm] = {}

    def task(self, place: Placement) -> TaskSpec:
        """The executors and, as last host, the storage host."""
        storage = self._storage_host(place)
        count = len(place.executors)
        comm = self._patterns.get(count)
        if comm is None:
            comm = self._patterns[count] = self._pattern(count)
        return TaskSpec((*place.executors, storage), 0.0, comm)

    def _storage_host(self, place: Placement) -> int:
        if place.storage:
            if self.label not in place.storage:
                raise ValueError(
                    f"storage_mapping must name the storage label {shown(self.label)} of its profile, "
                    f"got {', '.join(map(repr, place.storage))}"
                )
            return _storage_host(place, self.label)
        machines = place.machines
        if machines.storage_count != 1:
            raise ValueError(
                f"it needs a storage_mapping for the label {shown(self.label)}: only with exactly one "
                "storage host may it "
                f"be left out, and there are {machines.storage_count}"
            )
        return machines.all[-1].host

    def _pattern(self, count: int) -> Comm:
        flows = [(count, i, self.read) for i in range(count)] if self.read > 0 else []
        flows += [(i, count, self.write) for i in range(count)] if self.write > 0 else []
        if not flows:
            return NO_COMM
        src, dst, amount = zip(*flows, strict=True)
        return Pairs(src, dst, amount)


class Staging(ParallelWork):
    """Bytes from one storage host to another; the job's own hosts take no part."""

    __slots__ = ("_comm", "source", "target")

    def __init__(self, amount: float, source: str, target: str) -> None:
        self.source = source
        self.target = target
        self._comm: Comm = Pairs((0,), (1,), (amount,)) if amount > 0 else NO_COMM

    def task(self, place: Placement) -> TaskSpec:
        """The two storage hosts."""
        return TaskSpec((_storage_host(place, self.source), _storage_host(place, self.target)), 0.0, self._comm)


def _storage_host(place: Placement, label: str) -> int:
    """Platform host that the scheduler gave for a storage label."""
    number = place.storage.get(label)
    if number is None:
        raise ValueError(f"storage_mapping must name the storage label {shown(label)} of its profile")
    machines = place.machines.all
    if not 0 <= number < len(machines):
        raise ValueError(f"storage_mapping of {shown(label)}: no machine {number}, the ids are 0..{len(machines) - 1}")
    machine = machines[number]
    if machine.role is not Role.STORAGE:
        raise ValueError(
            f"storage_mapping of {shown(label)}: machine {number} ({shown(machine.name)}) is no storage host"
        )
    return machine.host


def access(values: JsonObject, where: str, data: JsonObject) -> Parsed:
    """Reading and writing of one storage, which ``storage`` or ``host`` names."""
    if "bytes_to_read" not in data and "bytes_to_write" not in data:
        raise ValueError(f"{where} has neither the field 'bytes_to_read' nor 'bytes_to_write'")
    label = values["storage" if "storage" in data else "host"]
    return Parsed(StorageAccess(values["bytes_to_read"], values["bytes_to_write"], label))

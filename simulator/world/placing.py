"""Placement of a job's executors, and the check of their computation."""

from __future__ import annotations

from collections.abc import Mapping

from spillway.base.errors import shown
from spillway.simulator.engines.base import NoComm, TaskSpec
from spillway.simulator.jobs.profiles.base import Placement
from spillway.simulator.world.allocation import Allocation
from spillway.simulator.world.machines import Machines


def check_flops(task: TaskSpec, place: Placement) -> None:
    """Refuse computation on storage hosts; :class:`ValueError` names the machine."""
    flops = task.flops
    for position, machine_id in enumerate(place.machine_ids):
        if machine_id < place.machines.compute_count:
            continue
        amount = flops if isinstance(flops, float | int) else (flops[position] if position < len(flops) else 0.0)
        if amount > 1e-10:
            name = place.machines.all[machine_id].name
            raise ValueError(f"it would compute {amount:g} flop on the storage host {machine_id} ({shown(name)})")


def is_nothing(task: TaskSpec) -> bool:
    """Whether a task surely has no work."""
    if type(task.comm) is not NoComm and len(task.hosts) > 1:
        return False
    flops = task.flops
    return flops == 0 if isinstance(flops, float | int) else not any(flops)


def placement(
    allocation: Allocation, mapping: Mapping[int, int] | None, storage: Mapping[str, int] | None, machines: Machines
) -> Placement:
    """Place the executors of a job: one per host, or as the scheduler mapped them.

    Raises
    ------
    ValueError
        The mapping has a gap, or names a place outside the allocation.
    """
    hosts = allocation.hosts
    if mapping is not None:
        chosen = []
        for executor in range(len(mapping)):
            index = mapping.get(executor)
            if index is None:
                raise ValueError(f"its 'mapping' must have the executors 0..{len(mapping) - 1} without a gap")
            if not 0 <= index < len(hosts):
                raise ValueError(
                    f"its 'mapping' puts executor {executor} on place {index} of an allocation of {len(hosts)}"
                )
            chosen.append(hosts[index])
        hosts = tuple(chosen)
    return Placement(hosts, allocation.ids, machines, storage or {})

"""The same jobs under another load, or with other requested times."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import msgspec

from spillway.base import units
from spillway.workloads.batsim.workload import Workload, WorkloadJob
from spillway.workloads.conversion.machine_facts import MachineFacts
from spillway.workloads.conversion.offered_load import offered_load
from spillway.workloads.errors import WorkloadError

LOAD, WALLTIME = "load", "walltime"


def with_load(workload: Workload, text: str, machine: MachineFacts) -> Workload:
    """Change the times between submissions: ``x1.1``, ``+10%``, or to an offered load of the nodes (``0.9``, ``+0.1``).

    Raises
    ------
    WorkloadError
        The text is neither, or the load of the workload is not known.
    """
    change = change_of(LOAD, text)
    if change.start:
        load = offered_load(workload, machine)
        if load is None:
            raise WorkloadError(f"load={text}: the workload is too small to have a load; give a factor such as x1.1")
        factor = _above_zero(LOAD, text, change.of(load.compute)) / load.compute
    else:
        factor = change.factor
    first_s = min((job.subtime for job in workload.jobs), default=0)
    return _each(workload, lambda job: {"subtime": first_s + (job.subtime - first_s) / factor})


def _with_walltimes(workload: Workload, text: str, machine: MachineFacts) -> Workload:
    """Multiply requested times (``x0.5``, ``-50%``), add to them (``+1h``), or limit them (``24h``).

    Jobs that take longer are killed.

    Raises
    ------
    WorkloadError
        The text is neither, or leaves a job no time.
    """
    change = change_of(WALLTIME, text)

    def fields(job: WorkloadJob) -> Mapping[str, float]:
        if not change.factor:
            return {"walltime": change.start if job.walltime is None else min(job.walltime, change.start)}
        if job.walltime is None:
            return {}
        return {"walltime": _above_zero(WALLTIME, text, change.of(job.walltime))}

    return _each(workload, fields)


def _above_zero(name: str, text: str, value: float) -> float:
    if not value > 0:
        raise WorkloadError(f"{name}={text}: expected a value above 0 to remain of each, got {value:g}")
    return value


CHANGES: Mapping[str, tuple[str, units.Scale | None, Callable[[Workload, str, MachineFacts], Workload]]] = {
    LOAD: (
        "time between submissions: x1.1 or +10% for 1.1 times the load, or an offered load such as 0.9",
        None,
        with_load,
    ),
    WALLTIME: ("requested times: x0.5, +1h, or a longest one such as 24h", units.TIME, _with_walltimes),
}
"""Possible changes, by name: help text, units if any, and function."""


def varied(workload: Workload, changes: Mapping[str, str], machine: MachineFacts) -> Workload:
    """A workload with these changes."""
    for name, text in changes.items():
        workload = CHANGES[name][2](workload, text, machine)
    return workload


def _each(workload: Workload, fields: Callable[[WorkloadJob], Mapping[str, float]]) -> Workload:
    return replace(workload, jobs=tuple(msgspec.structs.replace(job, **fields(job)) for job in workload.jobs))


def change_of(name: str, text: str) -> units.Change:
    """The change that a text states; raise :class:`WorkloadError`."""
    words, scale, _ = CHANGES[name]
    try:
        return units.change_of(text, scale)
    except ValueError as error:
        raise WorkloadError(f"{name}={text}: {error} ({words})") from None

"""The same jobs under another load, or with other requested times."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import msgspec

from spillway.base import units
from spillway.workloads.errors import WorkloadError
from spillway.workloads.machine_facts import MachineFacts
from spillway.workloads.offered_load import offered_load
from spillway.workloads.workload import Workload, WorkloadJob


def with_load(workload: Workload, text: str, machine: MachineFacts) -> Workload:
    """Change the times between submissions: ``x1.1``, ``+10%``, or to an offered load of the nodes (``0.9``).

    Raises
    ------
    WorkloadError
        The text is neither, or the load of the workload is not known.
    """
    factor = _changed(text, f"load={text}: expected a factor such as x1.1 or +10%, or a load such as 0.9")
    if units.factor_of(text) is None:
        load = offered_load(workload, machine)
        if load is None:
            raise WorkloadError(f"load={text}: the workload is too small to have a load; give a factor such as x1.1")
        factor /= load.compute
    first_s = min((job.subtime for job in workload.jobs), default=0)
    return _each(workload, lambda job: {"subtime": first_s + (job.subtime - first_s) / factor})


def _with_walltimes(workload: Workload, text: str, machine: MachineFacts) -> Workload:
    """Multiply requested times by a factor (``x0.5``, ``-50%``), or limit them (``24h``); longer jobs are killed.

    Raises
    ------
    WorkloadError
        The text is neither.
    """
    expected = f"walltime={text}: expected a factor such as x0.5 or -50%, or a longest time such as 24h"
    value = _changed(text, f"{expected} (units: s, min, h, d)", units.TIME)
    if units.factor_of(text) is not None:
        return _each(workload, lambda job: {} if job.walltime is None else {"walltime": job.walltime * value})
    return _each(workload, lambda job: {"walltime": value if job.walltime is None else min(job.walltime, value)})


CHANGES: Mapping[str, tuple[str, Callable[[Workload, str, MachineFacts], Workload]]] = {
    "load": (
        "time between submissions: x1.1 or +10% for 1.1 times the load, or an offered load such as 0.9",
        with_load,
    ),
    "walltime": ("requested times: x0.5, or a longest one such as 24h", _with_walltimes),
}
"""Possible changes, by name: help text and function."""


def varied(workload: Workload, changes: Mapping[str, str], machine: MachineFacts) -> Workload:
    """A workload with these changes."""
    for name, text in changes.items():
        workload = CHANGES[name][1](workload, text, machine)
    return workload


def _each(workload: Workload, fields: Callable[[WorkloadJob], Mapping[str, float]]) -> Workload:
    return replace(workload, jobs=tuple(msgspec.structs.replace(job, **fields(job)) for job in workload.jobs))


def _changed(text: str, expected: str, scale: units.Scale | None = None) -> float:
    """A factor, or the value that a text states; raise :class:`WorkloadError` with ``expected`` for all else."""
    try:
        return units.changed(text, 1.0, scale)
    except ValueError:
        raise WorkloadError(f"{expected}, above 0") from None

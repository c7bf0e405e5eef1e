"""The same jobs under another load, or with other requested times."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import msgspec

from spillway.workloads.errors import WorkloadError
from spillway.workloads.machine_facts import MachineFacts
from spillway.workloads.offered import offered_load
from spillway.workloads.workload import Workload, WorkloadJob

FACTOR = "x"
_UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86_400.0}


def with_load(workload: Workload, text: str, machine: MachineFacts) -> Workload:
    """Jobs that come faster or slower after each other: ``x1.1``, or the offered load of the compute nodes (``0.9``).

    Raises
    ------
    WorkloadError
        The text is neither, or the load of the workload is not known.
    """
    factor = _number(text.removeprefix(FACTOR), f"load={text}: expected a factor such as x1.1, or a load such as 0.9")
    if not text.startswith(FACTOR):
        load = offered_load(workload, machine)
        if load is None:
            raise WorkloadError(f"load={text}: the workload is too small to have a load; give a factor such as x1.1")
        factor /= load.compute
    first_s = min((job.subtime for job in workload.jobs), default=0)
    return _each(workload, lambda job: {"subtime": first_s + (job.subtime - first_s) / factor})


def with_walltimes(workload: Workload, text: str, machine: MachineFacts) -> Workload:
    """Requested times times a factor (``x0.5``), or none above a limit (``24h``); jobs that take longer are killed.

    Raises
    ------
    WorkloadError
        The text is neither.
    """
    expected = f"walltime={text}: expected a factor such as x0.5, or a longest time such as 24h"
    if text.startswith(FACTOR):
        factor = _number(text.removeprefix(FACTOR), expected)
        return _each(workload, lambda job: {} if job.walltime is None else {"walltime": job.walltime * factor})
    number = text.rstrip("abcdefghijklmnopqrstuvwxyz")
    unit = _UNITS.get(text[len(number) :] or "s")
    if unit is None:
        raise WorkloadError(f"{expected}; known units: {', '.join(_UNITS)}")
    most_s = _number(number, expected) * unit
    return _each(workload, lambda job: {"walltime": most_s if job.walltime is None else min(job.walltime, most_s)})


CHANGES: Mapping[str, tuple[str, Callable[[Workload, str, MachineFacts], Workload]]] = {
    "load": ("time between submissions: x1.1 for 1.1 times the load, or an offered load such as 0.9", with_load),
    "walltime": ("requested times: x0.5, or a longest one such as 24h", with_walltimes),
}
"""What can be changed, by name: its meaning, and how."""


def varied(workload: Workload, changes: Mapping[str, str], machine: MachineFacts) -> Workload:
    """A workload with these changes."""
    for name, text in changes.items():
        workload = CHANGES[name][1](workload, text, machine)
    return workload


def _each(workload: Workload, fields: Callable[[WorkloadJob], Mapping[str, float]]) -> Workload:
    return replace(workload, jobs=tuple(msgspec.structs.replace(job, **fields(job)) for job in workload.jobs))


def _number(text: str, expected: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise WorkloadError(f"{expected}, above 0")
    return value

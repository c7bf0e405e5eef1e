"""Cut a log or a workload into equal periods of time.

References
----------
J. Kopanski, *Optimisation of job scheduling for supercomputers with burst buffers*, 2020, arXiv 2111.10200, section
4.1: 16 periods of 20.81 days of the KTH SP2 log. The rule is read off the published parts: with T from the first to
the last submission, part i holds the records submitted in [i T/16, (i+1) T/16), the last part its end too. One
record, number 27154, occurs twice there (last of the 15th part, first of the 16th): a slip, available as
``repeat_in_last``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import msgspec

from spillway.base.options import check, option
from spillway.workloads.batsim.workload import BEGINS_FIELD, Workload
from spillway.workloads.conversion.dependencies import among
from spillway.workloads.errors import WorkloadError
from spillway.workloads.swf import SwfHeader, SwfLog


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitOptions:
    """Options of cutting a log or a workload."""

    parts: int = option(16, low=1, help="number of periods")
    repeat_in_last: bool = option(
        False, help="begin the last part with the last record of the part before it, as the published 16th part does"
    )
    first_submit_s: int = option(1, unit="s", low=0, help="submission of each part's first job, of workloads")

    def __post_init__(self) -> None:
        check(self)


def period_slices(submit: Sequence[int | float], options: SplitOptions) -> list[list[int]]:
    """Positions of the entries of each period, given their submission times in any order.

    Exact: the periods' ends are fractions, not rounded numbers. A period may be empty.
    """
    if not submit:
        raise WorkloadError("there is nothing to split: no job")
    order = sorted(range(len(submit)), key=lambda index: (submit[index], index))
    first = Fraction(submit[order[0]])
    length = Fraction(submit[order[-1]]) - first
    slices: list[list[int]] = [[] for _ in range(options.parts)]
    for index in order:
        part = int((Fraction(submit[index]) - first) * options.parts / length) if length else 0
        slices[min(part, options.parts - 1)].append(index)
    if options.repeat_in_last and options.parts > 1 and slices[-2]:
        slices[-1].insert(0, slices[-2][-1])
    return slices


def split_log(log: SwfLog, options: SplitOptions | None = None) -> list[SwfLog]:
    """Cut a log; submission times stay those of the whole log, a header line names the part."""
    options = options or SplitOptions()
    slices = period_slices([record.submit_s for record in log.records], options)
    return [
        SwfLog(
            SwfHeader((*log.header.lines, f" Note: period {part} of 0 to {options.parts - 1}")),
            tuple(log.records[index] for index in indices),
        )
        for part, indices in enumerate(slices)
    ]


def split_workload(workload: Workload, options: SplitOptions | None = None) -> list[Workload]:
    """Cut a workload; each part starts anew at ``first_submit_s``, requests stay as drawn for the whole."""
    options = options or SplitOptions()
    slices = period_slices([job.subtime for job in workload.jobs], options)
    return [part_of(workload, part, indices, options.first_submit_s) for part, indices in enumerate(slices) if indices]


def part_of(workload: Workload, part: int, indices: Sequence[int], first_submit_s: int) -> Workload:
    """Some of a workload's jobs, in the given order, as a workload that starts at ``first_submit_s``.

    Parameters
    ----------
    part
        Number of the part, for its name.
    """
    chosen = among([workload.jobs[index] for index in indices])
    shift = first_submit_s - chosen[0].subtime
    jobs = tuple(msgspec.structs.replace(job, subtime=job.subtime + shift) for job in chosen)
    names = {job.profile for job in jobs}
    begins_s = None if workload.begins_s is None else workload.begins_s - shift
    used = _with_references(workload.profiles, names)
    return replace(
        workload,
        name=f"{workload.name}-part-{part}",
        jobs=jobs,
        begins_s=begins_s,
        extras=workload.extras | ({BEGINS_FIELD: begins_s} if BEGINS_FIELD in workload.extras else {}),
        profiles={name: profile for name, profile in workload.profiles.items() if name in used},
        description=f"{len(jobs)} jobs of {workload.name}, from {jobs[0].id} to {jobs[-1].id}",
    )


def _with_references(profiles: dict[str, dict[str, object]], names: set[str]) -> set[str]:
    """Names of profiles that the given ones need, themselves included."""
    needed: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in needed:
            continue
        needed.add(name)
        profile = profiles[name]
        sequence = profile.get("seq", ())
        waiting += [item for item in sequence if isinstance(item, str)] if isinstance(sequence, list) else []
        waiting += [value for key in ("success", "failure", "timeout") if isinstance(value := profile.get(key), str)]
    return needed & profiles.keys()

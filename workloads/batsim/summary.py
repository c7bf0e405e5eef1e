"""The main figures of a workload, as rows of name and value."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from spillway.workloads.batsim.workload import Workload

Row = tuple[str, str]
Numbers = npt.NDArray[np.float64] | npt.NDArray[np.int64]

_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def summarise_workload(workload: Workload) -> list[Row]:
    """Rows (name, value) about a workload."""
    jobs = workload.jobs
    rows: list[Row] = [
        ("name", workload.name),
        ("description", workload.description or "-"),
        ("jobs", f"{len(jobs):,}"),
        ("compute nodes (nb_res)", f"{workload.nb_res:,}"),
        ("profiles", _counts([str(profile["type"]) for profile in workload.profiles.values()])),
    ]
    if jobs:
        wall = np.array([job.walltime for job in jobs if job.walltime is not None], dtype=np.float64)
        nodes = np.array([job.res for job in jobs])
        submit = np.array([job.subtime for job in jobs], dtype=np.float64)
        buffers = np.array([workload.burst_buffer_bytes(job) for job in jobs], dtype=np.float64)
        rows.append(("larger than the machine", f"{int((nodes > workload.nb_res).sum()):,}"))
        rows.append(("without walltime", f"{len(jobs) - len(wall):,}"))
        rows += common_rows(submit, nodes, wall)
        rows.append(("burst buffer GB/node, mean", f"{buffers.mean() / 1e9:.3f}"))
        rows.append(("burst buffer GB/node, quantiles", quantiles(buffers / 1e9, 3)))
        rows.append(("burst buffer GB/job, largest", f"{(buffers * nodes).max() / 1e9:,.1f}"))
    rows.append(("checksum", workload.checksum))
    return rows


def common_rows(submit: Numbers, size: Numbers, wall: Numbers) -> list[Row]:
    """Rows about submissions, sizes and requested times (of the jobs that state one)."""
    gaps = np.diff(np.sort(submit))
    rows: list[Row] = [
        ("submissions span, days", f"{(submit.max() - submit.min()) / 86400:,.2f}"),
        ("size, mean", f"{size.mean():,.2f}"),
        ("size, quantiles", quantiles(size)),
        ("size, largest", f"{int(size.max()):,}"),
    ]
    if len(gaps) and gaps.mean() > 0:
        rows.append(("time between submissions s, mean", f"{gaps.mean():,.0f}"))
        rows.append(("  its coefficient of variation", f"{gaps.std() / gaps.mean():.2f}"))
    if len(wall):
        rows.append(("requested s, mean", f"{wall.mean():,.0f}"))
        rows.append(("requested s, quantiles", quantiles(wall)))
    return rows


def quantiles(values: Numbers, digits: int = 0) -> str:
    """The quantiles of some values, on one line."""
    return "  ".join(f"{value:,.{digits}f}" for value in np.quantile(values, _QUANTILES)) + "  (5 25 50 75 95 %)"


def _counts(names: Sequence[str]) -> str:
    return ", ".join(f"{names.count(name):,} {name}" for name in sorted(set(names))) or "none"

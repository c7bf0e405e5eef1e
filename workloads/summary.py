"""The main figures of a log or workload, as rows of name and value."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from workloads.swf import SwfLog
from workloads.workload import Workload

Row = tuple[str, str]
Floats = npt.NDArray[np.float64]

_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def summarise_log(log: SwfLog, nodes: int | None = None) -> list[Row]:
    """Rows (name, value) about a log; ``nodes`` overrides the processors that its header states."""
    size = nodes or log.header.max_procs
    used = [r for r in log.records if r.run_s > 0 and max(r.requested_processors, r.processors) > 0]
    rows: list[Row] = [("records", f"{len(log.records):,}"), ("with runtime and size", f"{len(used):,}")]
    rows += [("computer", value) for value in log.header.values("Computer")]
    rows.append(("processors of the machine", f"{size:,}" if size else "not stated"))
    if not used:
        return rows
    processors = np.array([r.requested_processors if r.requested_processors > 0 else r.processors for r in used])
    submit = np.array([r.submit_s for r in used], dtype=np.float64)
    run = np.array([r.run_s for r in used], dtype=np.float64)
    wall = np.array([r.requested_s for r in used], dtype=np.float64)
    stated = wall > 0
    rows.append(("without requested time", f"{int((~stated).sum()):,}"))
    rows.append(("without requested memory", f"{sum(r.requested_memory_kib <= 0 for r in used):,}"))
    rows += _common_rows(submit, processors, np.where(stated, wall, np.nan))
    rows += [("runtime s, mean", f"{run.mean():,.0f}"), ("runtime s, quantiles", _quantiles(run))]
    if stated.any():
        share = run[stated] / wall[stated]
        rows.append(("runtime / requested, quantiles", _quantiles(share, 3)))
        rows.append(("at or beyond the requested time", f"{int((share >= 1).sum()):,}"))
    span = submit.max() - submit.min()
    if size and span > 0:
        held = np.where(stated, np.minimum(run, wall), run) * processors
        rows.append(("offered load", f"{held[processors <= size].sum() / (size * span):.4f}"))
    return rows


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
        wall = np.array([np.nan if job.walltime is None else job.walltime for job in jobs], dtype=np.float64)
        nodes = np.array([job.res for job in jobs])
        submit = np.array([job.subtime for job in jobs], dtype=np.float64)
        buffers = np.array([workload.burst_buffer_bytes(job) for job in jobs], dtype=np.float64)
        rows.append(("larger than the machine", f"{int((nodes > workload.nb_res).sum()):,}"))
        rows.append(("without walltime", f"{int(np.isnan(wall).sum()):,}"))
        rows += _common_rows(submit, nodes, wall)
        rows.append(("burst buffer GB/node, mean", f"{buffers.mean() / 1e9:.3f}"))
        rows.append(("burst buffer GB/node, quantiles", _quantiles(buffers / 1e9, 3)))
        rows.append(("burst buffer GB/job, largest", f"{(buffers * nodes).max() / 1e9:,.1f}"))
    rows.append(("checksum", workload.checksum))
    return rows


def _common_rows(
    submit: npt.NDArray[np.float64], size: npt.NDArray[np.int64], wall: npt.NDArray[np.float64]
) -> list[Row]:
    gaps = np.diff(np.sort(submit))
    rows: list[Row] = [
        ("submissions span, days", f"{(submit.max() - submit.min()) / 86400:,.2f}"),
        ("size, mean", f"{size.mean():,.2f}"),
        ("size, quantiles", _quantiles(size)),
        ("size, largest", f"{int(size.max()):,}"),
    ]
    if len(gaps) and gaps.mean() > 0:
        rows.append(("time between submissions s, mean", f"{gaps.mean():,.0f}"))
        rows.append(("  its coefficient of variation", f"{gaps.std() / gaps.mean():.2f}"))
    if not np.isnan(wall).all():
        rows.append(("requested s, mean", f"{np.nanmean(wall):,.0f}"))
        rows.append(("requested s, quantiles", _quantiles(wall[~np.isnan(wall)])))
    return rows


def _quantiles(values: Floats | npt.NDArray[np.int64], digits: int = 0) -> str:
    return "  ".join(f"{value:,.{digits}f}" for value in np.quantile(values, _QUANTILES)) + "  (5 25 50 75 95 %)"


def _counts(names: Sequence[str]) -> str:
    return ", ".join(f"{names.count(name):,} {name}" for name in sorted(set(names))) or "none"

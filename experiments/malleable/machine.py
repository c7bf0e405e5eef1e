"""A whole machine (not in the paper): a log of which 0 to 100 % of the jobs are malleable, under a queue policy."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from experiments.malleable.play import Played, play
from platforms.catalogue import platform_from
from schedulers.jobmodels.app_record import AppRecord
from workloads.burst_buffer import THESIS_MODEL
from workloads.convert import ConvertOptions, convert
from workloads.load import load_log
from workloads.machine_facts import THESIS_MACHINE
from workloads.malleable import MalleableOptions, make_malleable

MACHINE = "thesis"
LOCAL_LOG = "data/kth/KTH-SP2-1996-2.1-cln.swf.xz"
GENERATOR = "kth-like"

CONTROLS: Mapping[str, Mapping[str, str]] = {
    "none": {"io_control": "exclusive"},
    "shifting": {"io_control": "exclusive", "interference": "phase-shifting"},
    "expansion": {"io_control": "exclusive", "expansion": "io"},
    "both": {"io_control": "exclusive", "interference": "phase-shifting", "expansion": "io"},
}
"""What controls the malleable jobs. I/O is exclusive everywhere, as in the paper's controlled scenarios."""


def source_of(given: str) -> str:
    """The log: what was given, else KTH's below ``SPILLWAY_DATA``, else the generator."""
    local = Path(os.environ.get("SPILLWAY_DATA", "")) / LOCAL_LOG
    return given or (str(local) if os.environ.get("SPILLWAY_DATA") and local.is_file() else GENERATOR)


def run(log: str, jobs: int, share: float, control: str, policy: str, seed: int) -> dict[str, Any]:
    """Run one point; the result is plain data.

    Parameters
    ----------
    log
        A log, or ``kth-like`` for the generator (then the seed draws it, too).
    jobs
        Jobs taken; from a log, beginning at a job that depends on the seed.
    share
        Share of malleable jobs, 0 to 1.
    """
    options = MalleableOptions(share=share, seed=seed)
    workload = make_malleable(_rigid(log, jobs, seed), THESIS_MACHINE, options)
    data = {
        "nb_res": workload.nb_res,
        "jobs": [{**job.to_object(), "id": str(job.id)} for job in workload.jobs],
        "profiles": workload.profiles,
    }
    return _figures(play(platform_from(MACHINE), data, CONTROLS[control], policy))


@lru_cache(maxsize=1)
def _rigid(log: str, jobs: int, seed: int) -> Any:
    options = ConvertOptions(seed=seed, burst_buffers=THESIS_MODEL, oversized="drop")
    if log == GENERATOR:
        return convert(load_log(f"{GENERATOR}:jobs={jobs},seed={seed}")[0], THESIS_MACHINE, options, GENERATOR)[0]
    loaded, name = load_log(log)
    first = _first_job(len(loaded.records), jobs, seed)
    numbers = [record.number for record in loaded.records]
    chosen = ConvertOptions(
        seed=seed, burst_buffers=THESIS_MODEL, oversized="drop", from_job=numbers[first], max_records=jobs
    )
    return convert(loaded, THESIS_MACHINE, chosen, name)[0]


def _first_job(records: int, jobs: int, seed: int) -> int:
    """Windows of a log one after another, by seed; round the log when it is through."""
    windows = max(1, records // jobs)
    return (seed % windows) * jobs


def _figures(played: Played) -> dict[str, Any]:
    rows = played.diary.jobs
    records = list(played.records.values())
    first, last = min(row[0] for row in rows), max(row[2] for row in rows)
    phases = [phase for record in records for phase in record.phases]
    waited = sum(phase.begin_s - phase.asked_s for phase in phases)
    transfer = sum(phase.end_s - phase.begin_s for phase in phases)
    errors = _errors(records)
    return {
        "jobs": len(rows),
        "rejected": played.diary.rejected_jobs,
        "stopped": sum(not row[4] for row in rows),
        "mean_wait_s": sum(row[1] - row[0] for row in rows) / len(rows),
        "mean_turnaround_s": sum(row[2] - row[0] for row in rows) / len(rows),
        "mean_run_s": sum(row[2] - row[1] for row in rows) / len(rows),
        "makespan_s": last - first,
        "utilisation_percent": 100 * played.diary.held_node_s / (96 * (last - first)),
        "lent_percent": 100 * (played.diary.held_node_s - _own_node_s(rows)) / played.diary.held_node_s,
        "phases": len(phases),
        "mean_delay_s": waited / max(1, len(phases)),
        "delayed_percent": 100 * sum(phase.begin_s - phase.asked_s > 1e-3 for phase in phases) / max(1, len(phases)),
        "delay_per_transfer": waited / transfer if transfer else 0.0,
        "resizes": sum(len(record.sizes) - 1 for record in records),
        "conflicts": len(played.conflicts),
        "shifts": sum(conflict.outcome == "shift" for conflict in played.conflicts),
        "median_error_s": errors[len(errors) // 2] if errors else 0.0,
        "wall_s": played.wall_s,
    }


def _own_node_s(rows: list[tuple[float, float, float, int, bool]]) -> float:
    return sum(row[3] * (row[2] - row[1]) for row in rows)


def _errors(records: list[AppRecord]) -> list[float]:
    """Absolute errors of the predicted starts of I/O phases, ascending."""
    return sorted(
        abs(phase.asked_s - phase.predicted.start_s)
        for record in records
        for phase in record.phases
        if phase.predicted is not None
    )

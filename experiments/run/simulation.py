"""A run's simulation and its tables: this module reaches all code that decides a result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from spillway.base.files import read_file
from spillway.base.units import many
from spillway.core import Stopwatch
from spillway.experiments.run import memory, players, uncontended_jobs
from spillway.experiments.run.io_phases import write_phases
from spillway.experiments.run.job_table import mark_cancelled, state_limits, write_jobs
from spillway.experiments.run.player_files import PlayerResult
from spillway.experiments.run.reasons import ReasonRecorder
from spillway.experiments.run.recorder import Recorder, write_machine
from spillway.experiments.run.sessions import session_of
from spillway.experiments.run.spec import Task
from spillway.protocol.limits import TIME_LIMIT_FIELD
from spillway.schedulers.jobmodels.app_record import finished
from spillway.schedulers.jobmodels.malleable import Malleable
from spillway.schedulers.jobmodels.record import JobRecord
from spillway.workloads.batsim.json_file import parse_batsim
from spillway.workloads.batsim.time_limits import limits_of


def simulate(
    task: Task, folder: Path, tell: Callable[[float, int, int, int], None]
) -> tuple[dict[str, float], tuple[str, ...]]:
    """Simulate, and write the tables in a folder; return time and memory that it took, and warnings.

    ``tell`` gets the simulated time (s) and the numbers of ended, submitted and waiting jobs.
    """
    recorder = ReasonRecorder(folder) if task.playing.explain else Recorder(folder)
    records: dict[str, JobRecord] = {}
    alone = uncontended_jobs.model_alone(task.run) if task.playing.uncontended else None

    def keep(record: JobRecord) -> None:
        wanted = alone is not None and alone.moves(record.job)
        if wanted or not record.whole or record.staged is not None:  # else the simulator's row is complete
            records[record.job.id] = record

    session = session_of(task.run).session(recorder, on_record=keep, explain=task.playing.explain)

    timed = Stopwatch(session, lambda time_s: tell(time_s, session.ended_jobs, session.submitted_jobs, session.waiting))
    try:
        played = players.play(task, folder, timed)
        for name in played.stranded:
            recorder.stranded(name, played.end_s)
    finally:
        recorder.close()
    _write_tables(task, folder, records, played, wanted=alone is not None)
    if recorder.cancelled:
        mark_cancelled(folder, recorder.cancelled)
    if limits := _limits(task):
        state_limits(folder, limits)
    write_machine(session.machine, folder / "machine.json")
    decisions_s = timed.times_ns / 1e9
    timings = {
        "scheduler_cpu_s": timed.cpu_s,
        "simulator_cpu_s": played.simulator_cpu_s,
        "decisions": float(decisions_s.size),
        "decision_p50_s": float(np.percentile(decisions_s, 50)),
        "decision_p99_s": float(np.percentile(decisions_s, 99)),
        "peak_rss_bytes": float(memory.peak_bytes() + played.other_rss_bytes),
    }
    return timings, (*session.warnings(), *_stranded(played.stranded))


def _limits(task: Task) -> dict[str, tuple[float, float]]:
    """Limits of the jobs that state one (:func:`spillway.workloads.batsim.time_limits.limits_of`)."""
    data = read_file(task.root / task.run.workload.path)
    stated = f'"{TIME_LIMIT_FIELD}"'.encode() in data  # most workloads are not parsed a second time
    return limits_of(parse_batsim(data, task.run.workload.path)) if stated else {}


def _stranded(names: Sequence[str]) -> Iterator[str]:
    """A warning on jobs that never started."""
    if names:
        listed = ", ".join(names[:5]) + (" ..." if len(names) > 5 else "")
        yield f"{many(len(names), 'job', 'jobs')} never started, because hosts were out to the end: {listed}"


def _write_tables(
    task: Task, folder: Path, records: Mapping[str, JobRecord], played: PlayerResult, *, wanted: bool
) -> None:
    """Write the table of jobs, with times without contention if ``wanted``, and the model's further tables."""
    model = session_of(task.run).make_model()
    uncontended_s = uncontended_jobs.uncontended_s(task.run, task.root, records) if wanted else None
    write_jobs(folder, model, records, played.spans, uncontended_s, played.own_places)
    if isinstance(model, Malleable):
        write_phases(folder, [app for record in records.values() if (app := finished(record)) is not None])

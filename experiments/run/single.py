"""One run, from its description to its folder. The folder is the contract with the analysis.

=====================  =================================================================================================
``jobs.csv``           one row per job, Batsim's columns; IO-Aware model: also times of its stages, bytes, slowdown
``allocations.csv``    nodes, burst buffers and user of each started job
``rejections.csv``     rejected jobs with the reasons
``reasons.csv``        reasons of waiting, if requested; ``priorities.csv``, if jobs had priorities
``machine.json``       nodes and storage nodes
``schedule.csv`` ...   Batsim's further files
``batsim_jobs.csv``    IO-Aware model, gang policies: Batsim's rows of the sub-jobs that the jobs were made of
``metrics.json``       the summary's figures (they depend on the configuration only)
``timings.json``       time and memory measured on this machine
``run.json``           configuration with the code's hash, versions, commit, inputs, command that repeats it
``log.txt``            traceback of a failed run
``manifest.json``      size and sha256 of all files above; written last (:mod:`spillway.experiments.run.manifest`)
=====================  =================================================================================================
"""

from __future__ import annotations

import contextlib
import gc
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from spillway.analysis.measures.metrics import summarise
from spillway.analysis.tables.jobs import read_run
from spillway.base.errors import Stopped
from spillway.base.options import show
from spillway.base.units import many
from spillway.core import Stopwatch
from spillway.experiments.campaign.workers.pool import Progress, Report, describe
from spillway.experiments.campaign.workers.signals import StopSignal
from spillway.experiments.run import folders, manifest, memory, players, provenance, uncontended_jobs
from spillway.experiments.run.io_phases import write_phases
from spillway.experiments.run.job_table import mark_cancelled, write_jobs
from spillway.experiments.run.player_files import Played
from spillway.experiments.run.reasons import ReasonRecorder
from spillway.experiments.run.recorder import Recorder, write_machine
from spillway.experiments.run.sessions import make_session, model_of
from spillway.experiments.run.spec import DEFAULT_SILENCE_S, DEFAULT_TAU_S, RunSpec
from spillway.schedulers.jobmodels.app_record import finished
from spillway.schedulers.jobmodels.malleable import Malleable
from spillway.schedulers.jobmodels.record import JobRecord

_MANY_DECISIONS = 10_000
"""Decisions from which on a collection of a simulation's memory pays off."""


@dataclass(frozen=True)
class Task:
    """A run and its place.

    Attributes
    ----------
    run
        The run.
    root
        The campaign's folder; input paths are relative to it.
    tau_s
        Bound of the bounded slowdown in seconds.
    simulator
        Command of a simulator in a separate process; empty: in this process.
    explain
        Whether to keep the reasons why jobs wait (``reasons.csv``).
    uncontended
        Whether to compute the duration of each job without contention, too
        (:mod:`spillway.experiments.run.uncontended_jobs`).
    silence_s
        Longest silence of a simulator in a separate process, in seconds of real time.
    assumed
        Assumptions about the inputs (:meth:`spillway.experiments.campaign.inputs.input_files.Inputs.assumed`), for the
        record.
    """

    run: RunSpec
    root: Path
    tau_s: float
    simulator: tuple[str, ...] = ()
    explain: bool = False
    uncontended: bool = False
    silence_s: float = DEFAULT_SILENCE_S
    assumed: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def folder(self) -> Path:
        """The run's own folder."""
        return self.root / self.run.id


def execute(task: Task, report: Report = lambda _: None) -> None:
    """Run a simulation and write its folder; on failure leave ``run.json`` and ``log.txt`` with its cause; raise.

    A run that a signal stops leaves the earlier folder unchanged.
    """
    with folders.scratch(task.folder) as folder:
        try:
            _execute_in(folder, task, report)
        except Stopped as stop:
            raise StopSignal(stop.number) from None
        except Exception as error:
            with contextlib.suppress(OSError):  # on a full disk not even the cause can be written
                _keep_cause(folder, task, describe(error), traceback.format_exc())
            raise


def keep_cause(task: Task, cause: str) -> None:
    """Write the cause of a failure to a run's folder, for a process that could not; a whole run stays.

    Raises
    ------
    OSError
        It cannot be written; the earlier folder stays.
    """
    if folders.is_finished(task.folder) and not manifest.damage(task.folder):
        return
    if folders.read_json(task.folder / folders.RUN_FILE).get("status") != folders.FAILED:
        with folders.scratch(task.folder) as folder:
            _keep_cause(folder, task, cause)


def _keep_cause(folder: Path, task: Task, cause: str, details: str = "") -> None:
    if details:
        folders.write_text(folder / "log.txt", details, sync=False)
    outcome = {"status": folders.FAILED, "cause": cause}
    folders.write_json(folder / folders.RUN_FILE, outcome | provenance.describe(task.run, _flags(task)), sync=False)
    manifest.seal(folder)


def _execute_in(folder: Path, task: Task, report: Report) -> None:
    memory.forget_peak()
    provenance.copy_sources(task.run, task.root)
    begin = time.perf_counter()
    timings, warnings = _simulate(task, folder, report)
    if timings["decisions"] >= _MANY_DECISIONS:
        gc.collect()  # frees the simulation's objects, which refer to each other, before the tables are read
    figures = summarise(read_run(folder), task.tau_s).as_dict()
    metrics = {"tau_s": task.tau_s, "code": provenance.metrics_code()} | figures
    timings["wall_s"] = time.perf_counter() - begin
    folders.write_json(folder / "metrics.json", metrics, sync=False)
    folders.write_json(folder / "timings.json", timings, sync=False)
    record = {"status": folders.FINISHED} | provenance.describe(task.run, _flags(task))
    record |= {"warnings": list(warnings)} if warnings else {}
    record |= {"assumed": dict(task.assumed)} if task.assumed else {}
    folders.write_json(folder / folders.RUN_FILE, record, sync=False)
    manifest.seal(folder)


def _flags(task: Task) -> list[str]:
    """Command-line options of a task besides its run's settings."""
    flags = [] if task.tau_s == DEFAULT_TAU_S else ["--tau", show(task.tau_s)]
    flags += ["--explain"] if task.explain else []
    left_out = not task.uncontended and model_of(task.run).alone() is not None
    return flags + (["--no-uncontended"] if left_out else [])


def _simulate(task: Task, folder: Path, report: Report) -> tuple[dict[str, float], tuple[str, ...]]:
    recorder = ReasonRecorder(folder) if task.explain else Recorder(folder)
    records: dict[str, JobRecord] = {}
    alone = uncontended_jobs.model_alone(task.run) if task.uncontended else None

    def keep(record: JobRecord) -> None:
        wanted = alone is not None and alone.moves(record.job)
        if wanted or not record.whole or record.staged is not None:  # else the simulator's row is complete
            records[record.job.id] = record

    session = make_session(
        task.run,
        recorder,
        keep,
        explain=task.explain,
    )

    def tell(time_s: float) -> None:
        report(Progress(time_s, session.ended_jobs, session.submitted_jobs, session.waiting))

    timed = Stopwatch(session, tell)
    try:
        played = players.play(task.run, task.root, folder, timed, task.simulator, task.silence_s)
        for name in played.stranded:
            recorder.stranded(name, played.end_s)
    finally:
        recorder.close()
    _write_tables(task, folder, records, played, wanted=alone is not None)
    if recorder.cancelled:
        mark_cancelled(folder, recorder.cancelled)
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


def _stranded(names: Sequence[str]) -> Iterator[str]:
    """A warning on jobs that never started."""
    if names:
        listed = ", ".join(names[:5]) + (" ..." if len(names) > 5 else "")
        yield f"{many(len(names), 'job', 'jobs')} never started, because hosts were out to the end: {listed}"


def _write_tables(task: Task, folder: Path, records: Mapping[str, JobRecord], played: Played, *, wanted: bool) -> None:
    """Write the table of jobs, with times without contention if ``wanted``, and the model's further tables."""
    model = model_of(task.run)
    uncontended_s = uncontended_jobs.uncontended_s(task.run, task.root, records) if wanted else None
    write_jobs(folder, model, records, played.spans, uncontended_s, played.own_places)
    if isinstance(model, Malleable):
        write_phases(folder, [app for record in records.values() if (app := finished(record)) is not None])

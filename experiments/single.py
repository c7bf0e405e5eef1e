"""One run, from its description to its folder. The folder is the contract with the analysis.

=====================  =================================================================================================
``jobs.csv``           one row per job, Batsim's columns; IO-Aware model: then where its time went, bytes, slowdown
``allocations.csv``    nodes, burst buffers and user of each started job
``rejections.csv``     refused jobs and why
``reasons.csv``        why jobs waited, where that was requested
``machine.json``       nodes and storage nodes
``schedule.csv`` ...   Batsim's further files
``batsim_jobs.csv``    IO-Aware model, gang policies: Batsim's rows of the sub-jobs that the jobs were made of
``metrics.json``       the summary's figures (they depend on the configuration only)
``timings.json``       what was measured on this machine (time, memory)
``run.json``           configuration with the code's hash, versions, commit, inputs, how to repeat it, and the sha256 of
                       the files above; written last
``log.txt``            what went wrong, for a failed run
=====================  =================================================================================================
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from analysis.metrics import summarise
from analysis.tables import read_run
from experiments import folders, kept, memory, players, provenance, uncontended
from experiments.io_phases import write_phases
from experiments.job_table import write_jobs
from experiments.pool import Progress, Report, describe
from experiments.reasons import ReasonRecorder
from experiments.recorder import Recorder, write_machine
from experiments.sessions import make_session, model_of
from experiments.spec import DEFAULT_TAU_S, Player, RunSpec
from experiments.stopwatch import TimedSession
from schedulers.jobmodels import model_class
from schedulers.jobmodels.app_record import finished
from schedulers.jobmodels.io_aware import IoAware
from schedulers.jobmodels.malleable import Malleable
from schedulers.jobmodels.record import JobRecord
from schedulers.options import show
from simulator.outputs.jobs import Span


@dataclass(frozen=True)
class Task:
    """A run and where it takes place.

    Attributes
    ----------
    run
        What to run.
    root
        The campaign's folder; input paths are relative to it.
    tau_s
        Bound of the bounded slowdown in seconds.
    simulator
        Command of a simulator in a process of its own; empty: in this process.
    explain
        Whether to keep why jobs wait (``reasons.csv``).
    uncontended
        IO-Aware model: whether to simulate each job by itself as well (:mod:`experiments.uncontended`), which takes
        about as long again.
    """

    run: RunSpec
    root: Path
    tau_s: float
    simulator: tuple[str, ...] = ()
    explain: bool = False
    uncontended: bool = False

    @property
    def folder(self) -> Path:
        """The run's own folder."""
        return self.root / self.run.id


def execute(task: Task, report: Report = lambda _: None) -> None:
    """Run a simulation and write its folder; on failure leave ``run.json`` and ``log.txt`` with its cause; raise."""
    with folders.scratch(task.folder) as folder:
        _execute_in(folder, task, report)


def _execute_in(folder: Path, task: Task, report: Report) -> None:
    memory.forget_peak()
    begin = time.perf_counter()
    try:
        timings = _simulate(task, folder, report)
        figures = summarise(read_run(folder), task.tau_s).as_dict()
        metrics = {"tau_s": task.tau_s, "code": provenance.metrics_code()} | figures
    except Exception as error:
        (folder / "log.txt").write_text(traceback.format_exc(), encoding="utf-8")
        outcome = {"status": folders.FAILED, "cause": describe(error)}
        folders.write_json(folder / folders.RUN_FILE, outcome | provenance.describe(task.run, _flags(task)))
        raise
    timings["wall_s"] = time.perf_counter() - begin
    folders.write_json(folder / "metrics.json", metrics)
    folders.write_json(folder / "timings.json", timings)
    files = kept.checksums(folder, sorted(path.name for path in folder.iterdir()))
    record = {"status": folders.FINISHED} | provenance.describe(task.run, _flags(task)) | {"files": files}
    folders.write_json(folder / folders.RUN_FILE, record)


def _flags(task: Task) -> list[str]:
    """What a task has besides its run's settings, as the command line takes it."""
    flags = [] if task.tau_s == DEFAULT_TAU_S else ["--tau", show(task.tau_s)]
    flags += ["--explain"] if task.explain else []
    left_out = not task.uncontended and issubclass(model_class(task.run.model.name), IoAware)
    return flags + (["--no-uncontended"] if left_out else [])


def _simulate(task: Task, folder: Path, report: Report) -> dict[str, float]:
    recorder = ReasonRecorder(folder) if task.explain else Recorder(folder)
    records: dict[str, JobRecord] = {}
    session = make_session(
        task.run,
        recorder,
        lambda record: records.update({record.job.id: record}),
        explain=task.explain,
        direct=task.run.player is Player.DIRECT and not task.simulator,
    )

    def tell(time_s: float) -> None:
        report(Progress(time_s, recorder.ended_jobs, recorder.submitted_jobs, session.waiting))

    timed = TimedSession(session, tell, on_machine=recorder.set_machine)
    try:
        played = players.play(task.run, task.root, folder, timed, task.simulator)
    finally:
        recorder.close()
    _write_tables(task, folder, records, played.spans)
    write_machine(session.machine, folder / "machine.json")
    decisions_s = np.array(timed.times_ns, dtype=np.float64) / 1e9
    return {
        "scheduler_cpu_s": timed.cpu_s,
        "simulator_cpu_s": played.simulator_cpu_s,
        "decisions": float(decisions_s.size),
        "decision_p50_s": float(np.percentile(decisions_s, 50)),
        "decision_p99_s": float(np.percentile(decisions_s, 99)),
        "peak_rss_bytes": float(memory.peak_bytes() + played.other_rss_bytes),
    }


def _write_tables(task: Task, folder: Path, records: Mapping[str, JobRecord], spans: Mapping[str, Span] | None) -> None:
    """Write the table of jobs, and what further tables the job model has."""
    model = model_of(task.run)
    wanted = task.uncontended and isinstance(model, IoAware)
    uncontended_s = uncontended.uncontended_s(task.run, task.root, records) if wanted else None
    write_jobs(folder, model, records, spans, uncontended_s)
    if isinstance(model, Malleable):
        write_phases(folder, [app for record in records.values() if (app := finished(record)) is not None])

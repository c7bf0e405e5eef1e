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
import time
import traceback
from pathlib import Path
from typing import Any

from spillway.analysis.measures.metrics import summarise
from spillway.analysis.tables.jobs import read_run
from spillway.base.arguments import words_of
from spillway.base.errors import ServiceStop
from spillway.experiments.campaign.workers.pool import Progress, Report, describe
from spillway.experiments.campaign.workers.signals import StopSignal
from spillway.experiments.run import folders, manifest, memory, provenance
from spillway.experiments.run.sessions import session_of
from spillway.experiments.run.simulation import simulate
from spillway.experiments.run.spec import Playing, Task

_MANY_DECISIONS = 200_000
"""Decisions from which on a collection of a simulation's memory pays off."""


def execute(task: Task, report: Report = lambda _: None) -> None:
    """Run a simulation and write its folder; on failure leave ``run.json`` and ``log.txt`` with its cause; raise.

    A run that a signal stops leaves the earlier folder unchanged.
    """
    with folders.scratch(task.folder) as folder:
        try:
            _execute_in(folder, task, report)
        except ServiceStop as stop:
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
    timings, warnings = simulate(task, folder, lambda *now: report(Progress(*now)))
    if timings["decisions"] >= _MANY_DECISIONS:
        memory.give_back()  # of the simulation's objects, before the tables are read
    figures = summarise(read_run(folder), task.playing.tau_s).as_dict()
    metrics = {"tau_s": task.playing.tau_s, "code": provenance.metrics_code()} | figures
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
    playing = task.playing
    values: dict[str, Any] = {"explain": playing.explain}
    values |= {} if playing.tau_s == Playing.tau_s else {"tau_s": playing.tau_s}
    values |= {"uncontended": playing.uncontended} if session_of(task.run).make_model().alone() is not None else {}
    return words_of(Playing, values)

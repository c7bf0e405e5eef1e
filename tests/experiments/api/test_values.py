"""Values of another type or range are refused in words, before anything is played; what can be meant is taken."""

import datetime
import math
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import spillway as sw
from spillway.base.options import option
from spillway.schedulers.jobmodels.base import Compute, Granted, JobModel, Program, Wait
from spillway.schedulers.model.job import Job
from spillway.schedulers.model.machine import Machine

JOB = {"submit_s": 0, "run_s": 10, "nodes": 2}


@pytest.mark.parametrize(
    ("jobs", "nodes", "words"),
    [
        (5, None, "expected a data frame, or a list with a mapping of each job, got 5"),
        ("mine.swf", None, "got 'mine.swf'"),
        ([1, 2], None, "a mapping of each job, got 1"),
        ({"submit_s": [0]}, None, "a mapping of each job, got {'submit_s': [0]}"),
        (pd.Series([1, 2]), None, "a mapping of each job, got 1"),
        ([JOB], 0, "log(nodes=0): expected a whole number >= 1"),
        ([JOB], "8", "log(nodes='8'): expected a whole number >= 1"),
        ([{**JOB, "nodes": -2}], None, "job 1: nodes: expected a whole number >= 1, got -2"),
        ([{**JOB, "nodes": 1.5}], None, "job 1: nodes: expected a whole number >= 1, got 1.5"),
        ([JOB, {**JOB, "run_s": -5}], None, "job 2: run_s: expected a number >= 0, got -5"),
        ([{**JOB, "submit_s": -5}], None, "job 1: submit_s: expected a number >= 0, got -5"),
        ([JOB, {"submit_s": 1, "nodes": 2}], None, "job 2: run_s: expected a finite number, got None"),
        ([{**JOB, "submit_s": datetime.datetime(2024, 1, 1)}], None, "submit_s: expected a finite number"),
    ],
)
def test_jobs_in_memory_out_of_range_are_refused(jobs: Any, nodes: Any, words: str) -> None:
    """They were errors of Python's, or became jobs that are left out, or of which the size is not known."""
    with pytest.raises(sw.SpillwayError) as caught:
        sw.log(jobs, nodes=nodes)
    assert words in str(caught.value)


def test_what_is_not_known_of_a_job_may_be_missing() -> None:
    """``None`` and NaN, which data frames write for it, were refused."""
    rows = [{**JOB, "walltime_s": None, "user": None}, {**JOB, "walltime_s": 20, "user": "a"}]
    for jobs in (rows, pd.DataFrame(rows), iter(rows)):
        assert sw.info(sw.log(jobs, nodes=np.int64(4)))["records"] == 2


def test_users_by_number_and_by_name_differ() -> None:
    """Users 1 and "a" became the same."""
    made = sw.log([{**JOB, "user": user} for user in ("a", 1, "b", 2, "a")], nodes=9)
    users = sw.compare(made, "fcfs", machine="tiny", engine="fixed").jobs().user
    assert [list(users).index(user) for user in users] == [0, 1, 2, 3, 0]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: sw.where("kth-like", user=3.5), "where(): user: expected names, got 3.5"),
        (lambda: sw.where("kth-like", user=[None]), "where(): user: expected names, got None"),
        (lambda: sw.info("kth-like:jobs=5", nodes="x"), "info(nodes='x'): expected a whole number"),
        (lambda: sw.read("kth-like", convert=5), "convert: expected options by name, got 5"),
        (lambda: sw.policy(5), "expected a name, a class, or a function without options, got 5"),
        (lambda: sw.whatif("kth-like:jobs=5", 5), "changes: expected texts, got 5"),
        (lambda: sw.whatif("kth-like:jobs=5", ["policy=plan"]), "changes: expected texts, got ['policy=plan']"),
        (lambda: sw.Simulation("kth-like:jobs=5", settings=5), "settings: expected values by name"),
        (lambda: sw.Results(5), "expected the folder of results, got 5"),
        (lambda: sw.Results("/tmp/no/such"), "there is no folder of results '/tmp/no/such'"),
    ],
)
def test_a_value_of_another_type_is_refused(call: Any, words: str) -> None:
    """Each was an error of Python's in our code."""
    with pytest.raises(sw.SpillwayError) as caught:
        call()
    assert words in str(caught.value)


def test_numbers_name_users_and_count_jobs() -> None:
    """Users of SWF are numbers; NumPy's are, too."""
    assert sw.where("kth-like", user=3).reading["where"] == ("user=3",)
    assert sw.where("kth-like", user=np.array([3, 4])).reading["where"] == ("user=3", "user=4")
    assert sw.read("kth-like", first=np.int64(3)).convert == {"first": 3}


def test_results_of_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By text or path, also after a change of the working folder; another folder is refused by name."""
    monkeypatch.chdir(tmp_path)
    made = sw.compare("kth-like:jobs=9", ["fcfs", "easy"], machine="tiny", engine="fixed", folder="out")
    monkeypatch.chdir("/")
    assert made.runs == sw.Results(str(tmp_path / "out")).runs
    assert made.jobs(policy="easy").job_id
    for folder, words in (
        (tmp_path, "it has no summary.csv"),
        (made.run_folder(policy="easy"), "name the folder around"),
    ):
        with pytest.raises(sw.SpillwayError, match=words):
            sw.Results(folder).runs  # noqa: B018
    with pytest.raises(sw.SpillwayError, match="did you mean 'policy'"):
        made.jobs(polcy="easy")
    for figure in ("queue", "distribution", "mean_waiting_time_s"):
        with pytest.raises(sw.SpillwayError, match="policy='esay' is that of 0"):
            made.plot(figure, policy="esay")  # drew an empty picture
    with pytest.raises(sw.SpillwayError, match="cannot be written"):
        made.save("/proc/none/here")


def test_ctrl_c_is_a_keyboard_interrupt(tmp_path: Path) -> None:
    """It was a SpillwayError, which a script that goes on after errors took for a failed comparison."""
    script = tmp_path / "own.py"
    script.write_text(
        "import os, signal, threading, spillway as sw\n"
        "def mine(view):\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    while True: pass\n"
        "try:\n"
        "    sw.compare('kth-like:jobs=9', mine)\n"
        "except KeyboardInterrupt as stop:\n"
        "    print('stopped', stop)\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("stopped"), done.stderr


@dataclass(frozen=True)
class Slow(JobModel):
    """Jobs of twice their length; its column is wrong."""

    columns = ("doubled",)

    def program(self, job: Job, granted: Granted, machine: Machine) -> Program:
        """Run twice."""
        yield Compute(dict(job.profile))
        yield Compute(dict(job.profile))


@dataclass(frozen=True)
class Numbers(Slow):
    """Its column is a number."""

    def cells(self, record: Any) -> Any:
        """A number."""
        return {"doubled": 2}


@dataclass(frozen=True)
class Others(Slow):
    """Its column has another name."""

    def cells(self, record: Any) -> Any:
        """Another name."""
        return {"double": "2"}


def test_a_job_model_may_be_a_class() -> None:
    """Only names were taken; a column that is not declared was dropped, a number ended the run with "sequence item"."""
    log = sw.log([{"submit_s": 0, "run_s": 10, "nodes": 1, "walltime_s": 100}], nodes=2)
    turnarounds = [row["mean_turnaround_time_s"] for row in sw.compare(log, "fcfs", models=["rigid", Slow]).runs]
    assert turnarounds[1] == pytest.approx(2 * turnarounds[0], rel=0.01)
    assert not math.isnan(turnarounds[0])
    for model, words in ((Numbers, "'doubled': expected a text, got 2"), (Others, "'columns' does not declare it")):
        with pytest.raises(sw.SpillwayError, match=words):
            sw.compare(log, "fcfs", models=model)


@dataclass(frozen=True)
class Nothing(JobModel):
    """Its program has no yield."""

    def program(self, job: Job, granted: Granted, machine: Machine) -> Any:
        """Nothing."""


@dataclass(frozen=True)
class Listed(JobModel):
    """Its program is a list."""

    def program(self, job: Job, granted: Granted, machine: Machine) -> Any:
        """A list of one."""
        return [Compute(dict(job.profile))]


@dataclass(frozen=True)
class Late(JobModel):
    """Its program is asynchronous."""

    async def program(self, job: Job, granted: Granted, machine: Machine) -> Any:
        """An asynchronous generator."""
        yield Compute(dict(job.profile))


@dataclass(frozen=True)
class Awaited(JobModel):
    """Its program is a coroutine."""

    async def program(self, job: Job, granted: Granted, machine: Machine) -> Any:
        """A coroutine."""


@dataclass(frozen=True)
class Staging(JobModel):
    """Its stage-in is a list."""

    def stage_in(self, job: Job) -> Any:
        """Nothing to do."""
        return []

    def program(self, job: Job, granted: Granted, machine: Machine) -> Program:
        """Once."""
        yield Compute(dict(job.profile))


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (Nothing, "its call returned None: has it no yield?"),
        (Listed, "its call returned a list: [Compute("),
        (Late, "its call returned an async_generator: write 'def', not 'async def'"),
        (Awaited, "its call returned a coroutine: write 'def', not 'async def'"),
        (Staging, "stage_in() must be a generator that yields operations, its call returned a list: []"),
    ],
)
def test_a_program_that_is_no_generator_is_told_so(model: type, words: str) -> None:
    """Python said "'NoneType' object is not iterable", and "'list_iterator' object has no attribute 'send'"."""
    log = sw.log([{"submit_s": 0, "run_s": 10, "nodes": 1, "walltime_s": 100}], nodes=2)
    with pytest.raises(sw.SpillwayError) as caught:
        sw.compare(log, "fcfs", models=model)
    assert f"job model {model.__name__}: " in str(caught.value)
    assert words in str(caught.value)
    assert "(test_values.py, line " in str(caught.value)


@dataclass(frozen=True)
class Iterated(JobModel):
    """Its program is an iterator that takes no results."""

    def program(self, job: Job, granted: Granted, machine: Machine) -> Any:
        """Twice."""
        return iter([Compute(dict(job.profile))] * 2)


@dataclass(frozen=True)
class Undeclared(JobModel):
    """It has a stage that it does not declare."""

    def program(self, job: Job, granted: Granted, machine: Machine) -> Program:
        """Two stages."""
        yield Compute(dict(job.profile))
        yield Compute(dict(job.profile), stage="polish")


def test_an_iterator_is_a_program_and_stages_are_declared() -> None:
    """The iterator had no attribute 'send'; seconds of the other stage were dropped, in silence."""
    log = sw.log([{"submit_s": 0, "run_s": 10, "nodes": 1, "walltime_s": 100}], nodes=2)
    turnarounds = [row["mean_turnaround_time_s"] for row in sw.compare(log, "fcfs", models=[Slow, Iterated]).runs]
    assert turnarounds[0] == turnarounds[1]
    with pytest.raises(sw.SpillwayError, match=r"Undeclared: job w0!1 took 10.* s for the stage 'polish'.*'compute'"):
        sw.compare(log, "fcfs", models=Undeclared)


YIELDED: dict[str, Any] = {
    "5": 5,
    "negative": Wait(-5.0, "compute"),
    "text": Wait("x", "compute"),  # type: ignore[arg-type]
    "none": Compute({"delay": 3}),
}


@dataclass(frozen=True)
class Yielding(JobModel):
    """It yields one operation and something else."""

    what: str = option("5", help="what it yields")

    def program(self, job: Job, granted: Granted, machine: Machine) -> Any:
        """Yield both."""
        yield Compute(dict(job.profile))
        yield YIELDED[self.what]


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("5", "must yield an operation: Compute, Transfer, Wait, GiveBack, Submitted, Publish, Report; got 5"),
        ("negative", "must yield a Wait of a number of seconds, at least 0, and a text as its stage; got Wait(sec"),
        ("text", "must yield a Wait of a number of seconds, at least 0, and a text as its stage; got Wait(sec"),
        ("none", "must yield a Compute of a profile with its 'type'; got Compute("),
    ],
)
def test_what_a_program_yields_is_checked(what: str, words: str) -> None:
    """Negative seconds were none, in silence; a text was std::bad_cast; none of them had its line."""
    log = sw.log([{"submit_s": 0, "run_s": 10, "nodes": 1, "walltime_s": 100}], nodes=2)
    model = f"{Path(__file__)}:Yielding:what={what}"
    with pytest.raises(sw.SpillwayError) as caught:
        sw.compare(log, "fcfs", models=model)
    assert f"job model Yielding: its program {words}" in str(caught.value)
    assert "(test_values.py, line " in str(caught.value)

"""Worker processes: results, failures, deaths, Ctrl-C."""

import multiprocessing
import multiprocessing.forkserver
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from spillway.experiments.campaign.workers.pool import (
    LAST_WORDS_S,
    News,
    Pool,
    Progress,
    Report,
    RunEnd,
    RunFailure,
    RunStart,
)
from spillway.experiments.cli.arguments import load_early
from spillway.experiments.run.errors import SpecError
from spillway.experiments.run.spec import Conduct


def work(task: str, report: Report) -> None:
    """Do the action in the task's name."""
    kind, _, rest = task.partition(":")
    report(Progress(1.0, 0, 1, 1))
    if kind == "raise":
        raise ValueError("what came was wrong")
    if kind == "input":
        raise SpecError("say it in one line")
    if kind == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "exit":
        os._exit(3)
    if kind == "wait":
        Path(rest).touch()
        time.sleep(60)
    if kind == "write":
        Path(rest).write_text(str(os.getpid()))


class Waiting:
    """Waits when it is collected: an exception that is raised there is lost."""

    def __init__(self, report: Report) -> None:
        self._report = report

    def __del__(self) -> None:
        """Say so, and wait for the signal."""
        self._report(Progress(2.0, 0, 1, 1))
        time.sleep(1)


def work_that_waits_in_a_finaliser(task: str, report: Report) -> None:
    """Be stopped where Python cannot raise an exception."""
    del task
    Waiting(report)
    time.sleep(60)


def test_a_signal_that_is_lost_comes_again() -> None:
    """A worker that did not hear it went on until it was killed, 5 s later, and left its unfinished folder."""
    with closing(Pool(work_that_waits_in_a_finaliser, 1).run(["one"])) as news:
        while not any(isinstance(item, Progress) for item in next(news)):
            pass
        begin = time.monotonic()
    assert time.monotonic() - begin < LAST_WORDS_S - 1


def test_a_signal_between_the_start_of_a_worker_and_its_entry(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nobody would end that worker."""
    started: list[BaseProcess] = []
    kind = multiprocessing.get_context("forkserver").Process
    start = kind.start

    def start_and_stop(self: BaseProcess) -> None:
        start(self)
        started.append(self)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)

    monkeypatch.setattr(kind, "start", start_and_stop)
    with pytest.raises(KeyboardInterrupt):
        ends([f"wait:{tmp_path / 'begun'}"], 1)
    assert len(started) == 1
    assert not started[0].is_alive()


def ends(tasks: list[str], workers: int = 2) -> dict[str, News]:
    """Last news of each task."""
    return {task: news for task, news in Pool(work, workers).run(tasks) if not isinstance(news, Progress)}


def test_every_task_ends_and_failures_stop_nothing() -> None:
    """An exception, an abrupt exit and a killed process are failures of their own run, each with its cause."""
    news = ends(["ok:1", "raise", "input", "die", "exit", "ok:2"])
    assert news["ok:1"] == news["ok:2"] == RunEnd()
    failed = {task: item for task, item in news.items() if isinstance(item, RunFailure)}
    assert failed["raise"].cause.startswith("ValueError: what came was wrong (test_pool.py, line ")
    assert "test_pool.py" in failed["raise"].details
    assert failed["input"].cause == "say it in one line"
    assert "SIGKILL (out of memory?)" in failed["die"].cause
    assert "exit code 3" in failed["exit"].cause


def test_loading_begins_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """This machine's server of runs starts while inputs are prepared; other machines load their own."""
    started: list[int] = []
    monkeypatch.setattr(multiprocessing.forkserver, "ensure_running", lambda: started.append(1))
    load_early(Conduct())
    load_early(Conduct(dask="tcp://x:1"))
    assert len(started) == 1


def test_progress_comes_before_the_end() -> None:
    """A start, signs of life, the end: in this order."""
    kinds = [type(news) for _, news in Pool(work, 1).run(["ok"])]
    assert kinds == [RunStart, Progress, RunEnd]


def test_each_run_has_its_own_process(tmp_path: Path) -> None:
    """Not even two runs one after the other share a process."""
    ends([f"write:{tmp_path / 'a'}", f"write:{tmp_path / 'b'}"], workers=1)
    pids = {(tmp_path / name).read_text() for name in "ab"}
    assert len(pids) == 2
    assert str(os.getpid()) not in pids


def test_stopping_ends_all_processes(tmp_path: Path) -> None:
    """When the caller stops listening (as on Ctrl-C), nothing continues in the background."""
    with closing(Pool(work, 2).run([f"wait:{tmp_path / 'x'}", f"wait:{tmp_path / 'y'}"])) as news:
        next(news)
    assert not [path for path in Path("/proc").glob("[0-9]*/stat") if _is_orphan(path)]


def _is_orphan(path: Path) -> bool:
    """Whether a process of ours is still asleep in the task."""
    try:
        line = path.with_name("cmdline").read_bytes()
    except OSError:
        return False
    return b"tests.experiments.campaign.test_pool:wait" in line


def test_no_module_of_the_working_folder_is_loaded(tmp_path: Path) -> None:
    """A folder's spillway/__init__.py was executed by the processes of runs, before the installed package."""
    strange, script = tmp_path / "strange", tmp_path / "go.py"
    for name in ("spillway/__init__.py", "msgspec.py"):
        (strange / name).parent.mkdir(parents=True, exist_ok=True)
        (strange / name).write_text("open('RAN', 'w').close()\n")
    options = ["-p", "fcfs", "-p", "easy", "--no-plots", "--no-replay", "--out", "out"]
    words = ["run", "kth-like:jobs=3", "--platform", "tiny", *options]
    script.write_text(f"from spillway.experiments.cli import main\nraise SystemExit(main({words}))\n")
    done = subprocess.run([sys.executable, str(script)], cwd=strange, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not (strange / "RAN").exists()


def test_a_forked_process_has_a_server_of_its_own() -> None:
    """Failed before with ChildProcessError: it waited for the server of its parent."""
    ends(["ok"])
    with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as pool:
        assert pool.submit(_in_a_fork).result(60) == ["ok"]
    ends(["ok"])


def _in_a_fork() -> list[str]:
    return list(ends(["ok"]))


def test_no_tasks() -> None:
    """Nothing to do is done at once."""
    assert list(Pool(work, 2).run([])) == []


@pytest.mark.parametrize("workers", [1, 3])
def test_more_tasks_than_workers(workers: int) -> None:
    """All are done by any number of workers."""
    tasks = [f"ok:{i}" for i in range(5)]
    assert list(ends(tasks, workers)) == tasks or set(ends(tasks, workers)) == set(tasks)

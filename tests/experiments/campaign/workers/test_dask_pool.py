"""The same runs on a real Dask cluster of separate processes, one of which is killed in the middle."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from distributed import Client, LocalCluster

from spillway.experiments.campaign.comparison import campaign_of
from spillway.experiments.campaign.grid import expand
from spillway.experiments.campaign.inputs.input_files import Inputs
from spillway.experiments.campaign.workers.dask_pool import DaskPool, _work
from spillway.experiments.cli import main, parser_of
from spillway.experiments.run.errors import SpecError
from spillway.experiments.run.spec import Conduct, ModelSpec, Task
from tests.experiments.run.test_end_to_end import DETERMINISTIC, run_folders

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

ARGUMENTS = ["run", "--workload", "kth-like:jobs=1500", "--policy", "conservative", "--policy", "easy", "--no-plots"]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two workers, each a process of its own, restarted when it dies."""
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as started:
        yield started


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The campaign as our own processes do it."""
    folder = tmp_path_factory.mktemp("local")
    assert main([*ARGUMENTS, "--out", str(folder)]) == 0
    return folder


def kill_a_busy_worker(address: str, killed: list[int]) -> None:
    """Wait until a worker works, and kill its process."""
    with Client(address, set_as_default=False) as client:
        pids = client.run(os.getpid)
        deadline = time.monotonic() + 600
        while time.monotonic() < deadline:
            busy = [worker for worker, tasks in client.processing().items() if tasks and worker in pids]
            if busy:
                time.sleep(0.3)
                os.kill(pids[busy[0]], signal.SIGKILL)
                killed.append(pids[busy[0]])
                return
            time.sleep(0.02)


@pytest.mark.slow
def test_a_killed_worker_changes_nothing(cluster: Any, local: Path, tmp_path: Path) -> None:
    """Dask gives the dead worker's run to another; every file that depends on the configuration only is identical."""
    killed: list[int] = []
    killer = threading.Thread(target=kill_a_busy_worker, args=(cluster.scheduler_address, killed))
    killer.start()
    assert main([*ARGUMENTS, "--dask", cluster.scheduler_address, "--out", str(tmp_path)]) == 0
    killer.join()
    assert killed
    assert set(run_folders(tmp_path)) == {"conservative", "easy"}
    for policy, folder in run_folders(local).items():
        for name in DETERMINISTIC:
            assert (run_folders(tmp_path)[policy] / name).read_bytes() == (folder / name).read_bytes()
    assert (local / "results.csv").read_bytes() == (tmp_path / "results.csv").read_bytes()


def test_a_failing_run_is_reported(cluster: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run that fails on a worker is a failed run with its cause, not tried again elsewhere."""
    arguments = ["run", "--workload", "kth-like:jobs=5", "--policy", "easy", "--transport", "zmq", "--no-plots"]
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "spillway").mkdir()
    (broken / "spillway" / "__init__.py").touch()
    (broken / "spillway" / "__main__.py").write_text("raise SystemExit('out of order')\n")
    with Client(cluster, set_as_default=False) as client:
        client.run(lambda: sys.path.insert(0, str(broken)))
        assert main([*arguments, "--dask", cluster.scheduler_address, "--out", str(tmp_path / "out")]) == 1
        client.run(lambda: sys.path.remove(str(broken)))
    assert str(broken) not in sys.path
    assert "out of order" in capsys.readouterr().out


OUTSIDE_POLICY = """
from dataclasses import dataclass
from spillway.schedulers.policykit.passes import fill

@dataclass(frozen=True)
class Mine:
    def __call__(self, view):
        return fill(view, view.queue)
"""
OUTSIDE_MODEL = """
from dataclasses import dataclass
from spillway.schedulers.jobmodels.rigid import Rigid

@dataclass(frozen=True)
class Own(Rigid):
    pass
"""


def test_classes_from_files_of_another_folder(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The workers have another working folder, and find the policy and the job model; an edit of either is noticed."""
    (tmp_path / "mine.py").write_text(OUTSIDE_POLICY)
    (tmp_path / "own.py").write_text(OUTSIDE_MODEL)
    monkeypatch.chdir(tmp_path)
    command = ["run", "--workload", "kth-like:jobs=20", "--policy", "mine.py:Mine", "--model", "own.py:Own"]
    command += ["--no-plots", "--out", "out", "--dask", cluster.scheduler_address]
    with Client(cluster, set_as_default=False) as client:
        assert str(tmp_path) not in client.run(os.getcwd).values()
    assert main(command) == 0
    assert len(list(tmp_path.glob("out/*/run.json"))) == 1
    capsys.readouterr()
    for name in ("mine.py", "own.py"):
        whole = Path(name).read_text()
        Path(name).write_text(whole + "\n\nEDITED = 1\n")
        assert main(command) == 0
        assert "other code" in capsys.readouterr().out
        Path(name).write_text(whole)


def start(what: str, file: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """Start a scheduler or a worker of a cluster in a process of its own."""
    command = [sys.executable, "-m", "dask", what, "--scheduler-file", str(file), "--no-dashboard", *arguments]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def address_in(file: Path) -> str:
    """The address that a scheduler writes, once its file is whole: Dask does not write it at once."""
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError, ValueError):
            return str(json.loads(file.read_text())["address"])
        time.sleep(0.05)
    raise TimeoutError(file)


def kill_when_busy(root: Path, process: subprocess.Popen[bytes]) -> None:
    """Kill a process once a run has begun."""
    deadline = time.monotonic() + 600
    while not list(root.glob(".partial/*/*")) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.kill()


def test_a_cluster_that_is_lost(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """No worker was silence for ever; no scheduler was a traceback, with runs that counted as failed."""
    file, out = tmp_path / "scheduler.json", tmp_path / "out"
    arguments = [
        "run",
        "--workload",
        "kth-like:jobs=4000",
        "--policy",
        "conservative",
        "--no-plots",
        "--out",
        str(out),
    ]
    scheduler = start("scheduler", file, "--port", "0")
    worker = start("worker", file, "--no-nanny")
    try:
        arguments += ["--out", str(out), "--dask", address_in(file), "--dask-patience", "1"]
        for lost, message in (
            (worker, "the Dask cluster has had no worker for 1 s (--dask-patience)"),
            (scheduler, "the scheduler of the Dask cluster is gone"),
        ):
            killer = threading.Thread(target=kill_when_busy, args=(out, lost))
            killer.start()
            assert main(arguments) == 1
            killer.join()
            error = capfd.readouterr().err
            assert message in error
            assert "0 runs are finished, 1 are left: repeat the command to go on" in error
            assert "Traceback" not in error
            assert not list(out.glob("*/run.json"))
            shutil.rmtree(out / ".partial", ignore_errors=True)
            worker = start("worker", file, "--no-nanny") if lost is worker else worker
    finally:
        for process in (worker, scheduler):
            process.kill()
            process.wait()


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl to make certificates")
def test_an_encrypted_cluster(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With our certificate it plays; without one the command is refused in one line."""
    certificate, key, file = tmp_path / "cert.pem", tmp_path / "key.pem", tmp_path / "scheduler.json"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject]
    subprocess.run([*make, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    tls = ["--tls-ca-file", str(certificate), "--tls-cert", str(certificate), "--tls-key", str(key)]
    here = ["--protocol", "tls", "--host", "127.0.0.1"]
    scheduler = start("scheduler", file, "--port", "0", *here, *tls)
    worker = start("worker", file, "--no-nanny", *here, *tls)
    try:
        arguments = ["run", "--workload", "kth-like:jobs=50", "--policy", "easy", "--no-plots"]
        arguments += ["--out", str(tmp_path / "out"), "--dask", address_in(file)]
        assert main([*arguments, "--dask-tls", f"{certificate},{certificate},{key}"]) == 0
        assert list((tmp_path / "out").glob("*/run.json"))
        assert main([*arguments, "--rerun", "--out", str(tmp_path / "other")]) == 2
        assert "no Dask scheduler answers at 'tls://127.0.0.1" in capsys.readouterr().err
    finally:
        for process in (worker, scheduler):
            process.kill()
            process.wait()


@pytest.mark.parametrize(("arguments", "message"), [
    (["--dask", "tcp://127.0.0.1:1"], "no Dask scheduler answers at 'tcp://127.0.0.1:1'"),
    (["--dask-jobqueue", "slurm"], "--dask-jobqueue needs the package dask-jobqueue"),
    (["--dask-jobqueue", "cron"], "unknown batch system 'cron'; known: slurm, pbs"),
    (["--dask", "x", "--dask-jobqueue", "slurm"], "not both"),
    (["--dask", "tls://x:1", "--dask-tls", "a,b"], "expected three files, CA,CERT,KEY, got 'a,b'"),
    (["--dask-jobqueue", "slurm", "--dask-tls", f"{__file__},{__file__},{__file__}"], "--dask-tls is for --dask"),
])  # fmt: skip
def test_no_cluster(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One line says what is missing."""
    monkeypatch.setattr("spillway.experiments.campaign.workers.dask_pool.CONNECT_S", 0.5)
    given = ["run", "--workload", "kth-like:jobs=5", "--policy", "easy", "--out", str(tmp_path)]
    assert main([*given, *arguments]) == 2
    errors = capsys.readouterr().err
    assert message in errors
    assert "Traceback" not in errors


def test_a_worker_with_other_code_does_no_run(tmp_path: Path) -> None:
    """Its result would be taken for one of the command's code."""
    campaign = campaign_of(parser_of("run").parse_args(["--workload", "kth-like:jobs=3", "--policy", "fcfs"]))
    pairs = Inputs(tmp_path, print).pairs(campaign.workloads, campaign.platforms, ModelSpec(), 0)
    (run,) = expand(campaign, {(ModelSpec().label, 0): pairs})
    outcome = _work(Task(msgspec.structs.replace(run, code="of yesterday"), tmp_path), "topic", str(tmp_path))
    assert outcome is not None
    assert "has other code than the command: restart the workers" in outcome.cause


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra is named; no traceback."""
    monkeypatch.setitem(sys.modules, "distributed", None)
    pool = DaskPool.of(Conduct(dask="tcp://127.0.0.1:1"), 1)
    with pytest.raises(SpecError, match=r"--dask needs the package distributed: pip install 'spillway\[dask\]'"):
        pool._connect()

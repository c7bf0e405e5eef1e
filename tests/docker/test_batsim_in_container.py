"""``run_experiments.py run --engine docker``, with an image whose ``batsim`` is our drop-in."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from spillway.experiments.cli import main
from spillway.experiments.run import docker_engine
from spillway.experiments.run.docker_engine import LABEL
from tests.docker.engine import Engine

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SMALL = ["run", "--workload", "kth-like:jobs=40", "--policy", "easy", "--no-plots"]
WAIT_S = 300.0


@pytest.fixture(autouse=True)
def this_engine(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver takes the tests' engine."""
    monkeypatch.setenv("DOCKER_HOST", engine.host)


@pytest.fixture
def ours(client: Any) -> Iterator[Callable[[], list[Any]]]:
    """Containers that the driver has started; no container may be left at the end of a test."""

    def found() -> list[Any]:
        # Sparse: between the list and a closer look a container may come or go.
        return list(client.containers.list(all=True, sparse=True, filters={"label": LABEL}))

    yield found
    left = found()
    for container in left:
        container.remove(force=True, v=True)
    assert left == []


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait for something to become true."""
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.1)


def result(out: Path, name: str = "jobs.csv") -> bytes:
    """A file of the only run in a folder."""
    [path] = out.glob(f"*/{name}")
    return path.read_bytes()


@pytest.mark.usefixtures("ours")
@pytest.mark.parametrize("model", ["rigid", "io"])
def test_same_jobs_as_the_embedded_simulator(drop_in: str, tmp_path: Path, model: str) -> None:
    """A simulation in a container gives the embedded one's jobs.csv; its output is in the run's folder."""
    given = [*SMALL, "--model", model, "--workers", "1"]
    contained, embedded = tmp_path / "contained", tmp_path / "embedded"
    assert main([*given, "--engine", "docker", "--image", drop_in, "--out", str(contained)]) == 0
    assert main([*given, "--engine", "fluid", "--out", str(embedded)]) == 0
    assert result(contained) == result(embedded)
    assert b"spillway: end at " in result(contained, "simulator.log")
    assert drop_in.encode() in result(contained, "run.json")


@pytest.mark.usefixtures("ours")
@pytest.mark.parametrize("entry", ["batsim", ""])
def test_failure_is_told(drop_in: str, client: Any, tmp_path: Path, entry: str) -> None:
    """Batsim's complaints are passed on with its exit code; an image without entry point has it on its path."""
    name = drop_in if entry else f"{drop_in}-bare"
    if not entry:
        text = f"FROM {drop_in}\nENTRYPOINT []\nCMD []\n"
        client.images.build(fileobj=io.BytesIO(text.encode()), tag=name, network_mode="none", rm=True)
    (tmp_path / "p.xml").write_text("<platform version='4.1'><cabinet/></platform>")
    (tmp_path / "w.json").write_text('{"nb_res": 1, "jobs": [], "profiles": {}}')
    said: list[bytes] = []
    given = ["-p", str(tmp_path / "p.xml"), "-w", str(tmp_path / "w.json"), "-e", str(tmp_path / "out")]
    try:
        assert docker_engine.run(name, given, said.append, lambda: False) == 2
    finally:
        if not entry:
            client.images.remove(name, force=True)
    assert b"spillway: error: " in b"".join(said)
    assert b"/inputs/0/p.xml" in b"".join(said)


def start(drop_in: str, tmp_path: Path) -> list[str]:
    """Command of a simulation without end: nothing answers it."""
    (tmp_path / "w.json").write_text('{"nb_res": 1, "jobs": [], "profiles": {}}')
    platform = tmp_path / "p.xml"
    subprocess.run(
        [sys.executable, "-m", "spillway", "platform", "generate", "thesis", "--out", str(platform)], check=True
    )
    files = ["-p", str(platform), "-w", str(tmp_path / "w.json"), "-e", str(tmp_path / "out")]
    return [sys.executable, "-m", "spillway.experiments.run.docker_engine", drop_in, "-s", "tcp://localhost:1", *files]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_removes_the_container(
    drop_in: str, tmp_path: Path, ours: Callable[[], list[Any]], number: int, code: int
) -> None:
    """On a signal to stop, the container's keeper removes it."""
    keeper = subprocess.Popen(start(drop_in, tmp_path), cwd=ROOT)
    try:
        wait_until(lambda: any(container.status == "running" for container in ours()))
        keeper.send_signal(number)
        assert keeper.wait(WAIT_S) == code
        assert ours() == []
    finally:
        keeper.kill()
        keeper.wait()


def test_killed_starter(drop_in: str, tmp_path: Path, ours: Callable[[], list[Any]]) -> None:
    """The process that started the keeper may be killed: the container goes all the same."""
    script = "import subprocess, sys; subprocess.run(sys.argv[1:], start_new_session=True)"
    starter = subprocess.Popen([sys.executable, "-c", script, *start(drop_in, tmp_path)], cwd=ROOT)
    try:
        wait_until(lambda: any(container.status == "running" for container in ours()))
    finally:
        starter.kill()
        starter.wait()
    wait_until(lambda: ours() == [])


def test_ctrl_c(drop_in: str, tmp_path: Path, ours: Callable[[], list[Any]]) -> None:
    """Ctrl-C in the middle of a campaign removes the container before the driver ends."""
    long = ["run", "--workload", "kth-like:jobs=20000", "--policy", "conservative", "--no-plots"]
    command = [sys.executable, "run_experiments.py", *long, "--engine", "docker", "--image", drop_in]
    driver = subprocess.Popen(
        [*command, "--out", str(tmp_path / "out")],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        wait_until(lambda: any(container.status == "running" for container in ours()))
        driver.send_signal(signal.SIGINT)
        _, errors = driver.communicate(timeout=WAIT_S)
        assert driver.returncode == 130, errors
        assert "repeat the command to go on" in errors
        wait_until(lambda: ours() == [])
    finally:
        driver.kill()
        driver.wait()

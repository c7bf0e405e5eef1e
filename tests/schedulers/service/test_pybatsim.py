"""The real pybatsim 3.2.1, both ways: our policies under its launcher, its schedulers against our simulator.

The package is taken from the folder that SPILLWAY_PYBATSIM names, or installed into a temporary one.
"""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from spillway.experiments.trials.cases import CASES
from spillway.experiments.trials.conformance import judged
from spillway.experiments.trials.disciplines import DISCIPLINES
from spillway.experiments.trials.subject import Command
from spillway.platforms import load_platform
from spillway.schedulers.service.command import build_session, session_parser
from spillway.simulator.engines.by_name import ENGINES
from spillway.simulator.reading.workload import load_workload
from spillway.simulator.wire.broker import Simulation
from spillway.simulator.wire.command_line import build_parser, read_command_line
from spillway.simulator.wire.links import InProcessLink
from tests.kit.tables import csv_rows

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]
PACKAGES = ("pybatsim==3.2.1", "docopt", "procset", "sortedcontainers")
SECONDS = 600

PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="main" routing="Full">
    <host id="master" speed="1Gf"><prop id="role" value="master"/></host>
    <host id="n0" speed="1Gf"/><host id="n1" speed="1Gf"/><host id="n2" speed="1Gf"/><host id="n3" speed="1Gf"/>
    <link id="l" bandwidth="1GBps" latency="0us" sharing_policy="FATPIPE"/>
{routes}
  </zone>
</platform>
"""
HOSTS = ("master", "n0", "n1", "n2", "n3")
ROUTES = "\n".join(
    f'    <route src="{one}" dst="{other}"><link_ctn id="l"/></route>'
    for index, one in enumerate(HOSTS)
    for other in HOSTS[index + 1 :]
)
SIZES = (1, 3, 2, 4, 1, 1, 2, 3, 1, 4, 2, 1)
# pybatsim's newer interface refuses to start a job at t = 0: the first one is submitted at 1.
WORKLOAD = {
    "nb_res": 4,
    "jobs": [
        {"id": str(i), "subtime": 1 + 3 * i, "res": size, "walltime": 40 + i, "profile": f"p{i % 4}"}
        for i, size in enumerate(SIZES)
    ],
    "profiles": {f"p{i}": {"type": "delay", "delay": 7.5 * (i + 1)} for i in range(4)},
}


@pytest.fixture(scope="session")
def pybatsim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the real package; skips where it is not available."""
    given = os.environ.get("SPILLWAY_PYBATSIM", "")
    if given:
        return Path(given)
    folder = tmp_path_factory.mktemp("pybatsim")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), *PACKAGES]
    try:
        done = subprocess.run(install, capture_output=True, text=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        pytest.skip("pybatsim cannot be installed: pip takes longer than two minutes")
    if done.returncode != 0:
        pytest.skip(f"pybatsim cannot be installed: {(done.stderr.strip().splitlines() or ['?'])[-1]}")
    return folder


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    """Folder with a platform and a workload."""
    (tmp_path / "platform.xml").write_text(PLATFORM.format(routes=ROUTES))
    (tmp_path / "workload.json").write_text(json.dumps(WORKLOAD))
    return tmp_path


@contextmanager
def _started(command: list[str], folder: Path, log: Path, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=folder, env={**os.environ, **environment}, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def _end(process: subprocess.Popen[bytes], log: Path) -> str:
    code = process.wait(timeout=SECONDS)
    output = log.read_text()
    assert code == 0, output
    return output


def _simulate(inputs: Path, scheduler: list[str], prefix: str, *options: str, **environment: str) -> str:
    """Run a scheduler and our simulator against each other; return the scheduler's output."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        endpoint = f"tcp://127.0.0.1:{probe.getsockname()[1]}"
    simulator = [
        sys.executable,
        "-m",
        "spillway",
        "simulate",
        "-p",
        str(inputs / "platform.xml"),
        "-w",
        str(inputs / "workload.json"),
    ]
    simulator += ["-s", endpoint, "-e", str(inputs / prefix), "-q", "--peer-timeout", "20", *options]
    with ExitStack() as stack:
        logs = (inputs / "scheduler.log", inputs / "simulator.log")
        deciding = stack.enter_context(_started([*scheduler, endpoint], inputs, logs[0], **environment))
        playing = stack.enter_context(_started(simulator, inputs, logs[1], PYTHONPATH=str(ROOT)))
        _end(playing, logs[1])
        return _end(deciding, logs[0])


def _under_pybatsim(
    inputs: Path, pybatsim: Path, scheduler: str, options: dict[str, Any], prefix: str, *more: str
) -> str:
    launcher = [sys.executable, "-m", "batsim.cmds.launcher", scheduler, "-t", "30000", "-v", "error"]
    return _simulate(inputs, [*launcher, "-o", json.dumps(options), "-s"], prefix, *more, PYTHONPATH=str(pybatsim))


def _by_our_service(inputs: Path, arguments: list[str], prefix: str) -> None:
    """The session that our service makes of its options, in this process: over a socket it gives the same."""
    files = ["-p", str(inputs / "platform.xml"), "-w", str(inputs / "workload.json"), "-e", str(inputs / prefix)]
    given = read_command_line(build_parser().parse_args(files))
    platform, workload = load_platform(given.platform), load_workload(given.workloads[0])
    session = build_session(session_parser().parse_args(arguments))
    with ENGINES[given.engine](platform, given.platform) as engine:
        Simulation(platform, [workload], engine, InProcessLink(session), given.options).run()


@pytest.mark.parametrize(("options", "arguments"), [
    ({"policy": "easy", "options": {"depth": 2, "fill_order": "sjf"}},
     ["easy", "-o", "depth=2", "-o", "fill_order=sjf"]),
    ({"policy": "sjf-easy", "thesis_literal": True, "seed": 3}, ["sjf-easy", "--thesis-literal", "--seed", "3"]),
], ids=["easy", "literal"])  # fmt: skip
def test_a_policy_decides_the_same_under_pybatsim(
    inputs: Path, pybatsim: Path, options: dict[str, Any], arguments: list[str]
) -> None:
    """The same jobs.csv, byte by byte, as with our own service's session."""
    said = _under_pybatsim(inputs, pybatsim, str(ROOT / "schedulers" / "service" / "pybatsim.py"), options, "theirs")
    _by_our_service(inputs, arguments, "ours")
    assert "Job submitted: 12 , scheduled: 12 , rejected: 0" in said
    assert (inputs / "theirs_jobs.csv").read_bytes() == (inputs / "ours_jobs.csv").read_bytes()
    assert len(csv_rows(inputs / "theirs_jobs.csv")) == len(SIZES)


def test_wrong_options_are_one_line(inputs: Path, pybatsim: Path) -> None:
    """The launcher ends with our message and exit code, without a traceback."""
    launcher = [sys.executable, "-m", "batsim.cmds.launcher", str(ROOT / "schedulers" / "service" / "pybatsim.py")]
    environment = {**os.environ, "PYTHONPATH": str(pybatsim)}
    for options, message in (({}, "expected the name of a policy"), ({"policy": "nope"}, "unknown policy 'nope'")):
        done = subprocess.run(
            [*launcher, "-o", json.dumps(options)],
            cwd=inputs,
            env=environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 2
        assert message in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("scheduler", ["fillerSched", "schedFcfs", "schedFiller", "schedEasySjfBackfill"])
def test_pybatsims_own_schedulers_drive_our_simulator(inputs: Path, pybatsim: Path, scheduler: str) -> None:
    """Every job ends well, for each of pybatsim's two programming interfaces."""
    said = _under_pybatsim(inputs, pybatsim, scheduler, {}, "out")
    assert "Job submitted: 12 , scheduled: 12 , rejected: 0" in said
    jobs = csv_rows(inputs / "out_jobs.csv")
    assert [job["final_state"] for job in jobs] == ["COMPLETED_SUCCESSFULLY"] * len(SIZES)


def test_pybatsims_easy_wants_nodes_side_by_side(pybatsim: Path) -> None:
    """``spillway conformance`` finds it: nodes are reserved for a wide job, but must have consecutive numbers."""
    launch = 'cd "$0" && exec "$1" -m batsim.cmds.launcher easyBackfill -t 30000 -v error -s "$2"'
    easy = Command(("sh", "-c", launch, str(pybatsim), sys.executable, "{socket}"), SECONDS)
    worlds = {case.name: case.world for case in CASES}
    required = frozenset(DISCIPLINES["easy"])
    assert judged(easy, worlds["starved"], required) == {}
    found = judged(easy, worlds["scattered"], required)
    assert found == {"first": "at 11 s job 3, first in the queue, waits for its 3 nodes beside 3 nodes"}


def test_batsim_gets_the_reason_of_an_error(inputs: Path, pybatsim: Path) -> None:
    """Under the launcher too: jobs of a model without dynamic registration end both sides with the same words."""
    launcher = [
        sys.executable,
        "-m",
        "batsim.cmds.launcher",
        str(ROOT / "schedulers" / "service" / "pybatsim.py"),
        "-t",
        "30000",
    ]
    endpoint = f"ipc://{inputs}/door"
    launcher += ["-v", "error", "-o", json.dumps({"policy": "easy", "model": "io"}), "-s", endpoint]
    files = ["-p", str(inputs / "platform.xml"), "-w", str(inputs / "workload.json"), "-e", str(inputs / "out")]
    simulator = [sys.executable, "-m", "spillway", "simulate", *files, "-s", endpoint, "--peer-timeout", "20"]
    environment = {**os.environ, "PYTHONPATH": str(pybatsim)}
    with subprocess.Popen(launcher, cwd=inputs, env=environment, stderr=subprocess.PIPE, text=True) as deciding:
        playing = subprocess.run(simulator, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False)
        _, said = deciding.communicate(timeout=SECONDS)
    reason = said.splitlines()[-1].removeprefix("spillway: error: ")
    assert reason
    assert playing.stderr.splitlines()[-1] == f"spillway: error: the scheduler ended the conversation: {reason}"
    assert playing.returncode == 2

"""Our image and the compose file on a real engine: their results equal those of this machine, byte by byte."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from spillway.experiments.cli import main
from tests.docker.conftest import RUN_S, Compose

pytestmark = pytest.mark.slow

MEGABYTE = 10**6
FILES = ("out_jobs.csv", "out_schedule.csv", "out_machine_states.csv")
OURS = ["--fail-on-deadlock", "--no-wall-clock"]
MODELS = {
    "alloc": ("easy", [], []),
    "io": ("sjf-easy", ["--model", "io"], ["--enable-dynamic-jobs", "--enable-profile-reuse"]),
}
"""Policy, options of the service, options of the simulator, by job model."""


def make_inputs(folder: Path, model: str, jobs: int = 60) -> Path:
    """The machine of the thesis and a small workload, made on the host."""
    folder.mkdir()
    for arguments in (
        ["platform", "generate", "thesis", "--out", str(folder / "platform.xml")],
        ["workload", "synth", f"kth-like:jobs={jobs}", "--model", model, "--out", str(folder / "workload.json")],
    ):
        assert main(arguments) == 0
    return folder


@pytest.fixture(scope="module")
def on_host(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[Path, Path]]:
    """Inputs of a job model, and the results of two processes of this machine; each is made once."""

    @cache
    def made(model: str) -> tuple[Path, Path]:
        inputs, here = make_inputs(tmp_path_factory.mktemp(model) / "inputs", model), tmp_path_factory.mktemp("here")
        run_on_host(inputs, here, model)
        return inputs, here

    return made


def run_on_host(inputs: Path, outputs: Path, model: str) -> None:
    """The same simulation with two processes of this machine."""
    policy, scheduler_options, simulator_options = MODELS[model]
    service = subprocess.Popen(
        [sys.executable, "-m", "spillway", "serve", policy, "--bind", "tcp://127.0.0.1:*", *scheduler_options],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert service.stderr is not None
        endpoint = next(line for line in service.stderr if " listens on " in line).split()[-1]
        files = ["-p", str(inputs / "platform.xml"), "-w", str(inputs / "workload.json"), "-e", str(outputs / "out")]
        command = [sys.executable, "-m", "spillway", "simulate", "-s", endpoint, *files, *OURS, *simulator_options]
        subprocess.run(command, check=True, capture_output=True, timeout=120)
        service.stderr.read()
        assert service.wait(30) == 0
    finally:
        service.kill()
        service.wait()


def test_image_is_small_and_unprivileged(client: Any, image: str) -> None:
    """The image adds less than 400 MB to its base (Z3 and NumPy are most of it) and names a user without rights."""
    from tests.docker.base_image import base_name

    found, base = client.images.get(image), client.images.get(base_name())
    assert found.attrs["Config"]["User"] == "10001:10001"
    assert found.attrs["Config"]["Entrypoint"] == ["python", "-m", "spillway", "serve"]
    assert found.attrs["Size"] - base.attrs["Size"] < 400 * MEGABYTE


def test_starts_read_only(client: Any, image: str) -> None:
    """All that is compiled comes with the image: a read-only container of any user, without network, starts with it."""
    script = (
        "python -m spillway serve --list; "
        "python -c 'import spillway.simulator.engines.native, z3; print(z3.Solver().check())'"
    )
    container = client.containers.create(
        image, ["-ec", script], entrypoint="sh", user="4321:4321", read_only=True, network_mode="none", cap_drop=["ALL"]
    )
    try:
        container.start()
        code = container.wait(timeout=RUN_S)["StatusCode"]
        printed, errors = (container.logs(stdout=out, stderr=not out).decode() for out in (True, False))
    finally:
        container.remove(force=True, v=True)
    assert code == 0, errors
    assert "sat" in printed.split("\n")
    assert "conservative" in printed


@pytest.mark.parametrize("model", MODELS)
def test_embedded_profile_equals_the_host(
    compose: Compose, on_host: Callable[[str], tuple[Path, Path]], tmp_path: Path, model: str
) -> None:
    """Simulator and service in two containers write the files that two processes of the host write."""
    (inputs, here), outputs = on_host(model), tmp_path / "outputs"
    outputs.mkdir()
    policy, scheduler_options, simulator_options = MODELS[model]
    compose.settings |= {
        "INPUTS": str(inputs),
        "OUTPUTS": str(outputs),
        "POLICY": policy,
        "SCHEDULER_OPTIONS": " ".join(scheduler_options),
        "SIMULATOR_OPTIONS": " ".join(simulator_options),
    }
    done = compose("--profile", "embedded", "up", "--no-color", "--exit-code-from", "simulator")
    assert done.returncode == 0, done.stdout[-3000:]
    for name in FILES:
        assert (outputs / name).read_bytes() == (here / name).read_bytes(), name
        assert (outputs / name).stat().st_uid == os.getuid()
    assert len((outputs / "out_jobs.csv").read_text().splitlines()) > 60


def test_batsim_profile(
    compose: Compose, on_host: Callable[[str], tuple[Path, Path]], drop_in: str, tmp_path: Path
) -> None:
    """The other profile, with a stand-in for the official image: the same jobs.csv again."""
    (inputs, here), outputs = on_host("alloc"), tmp_path / "outputs"
    outputs.mkdir()
    compose.settings |= {"INPUTS": str(inputs), "OUTPUTS": str(outputs), "BATSIM_IMAGE": drop_in}
    done = compose("--profile", "batsim", "up", "--no-color", "--exit-code-from", "batsim")
    assert done.returncode == 0, done.stdout[-3000:]
    assert (outputs / "out_jobs.csv").read_bytes() == (here / "out_jobs.csv").read_bytes()


def test_embedded_profile_needs_no_settings(compose: Compose) -> None:
    """Without any input the built-in one is simulated, and the results lie in a volume that its user may write."""
    del compose.settings["SPILLWAY_USER"]
    done = compose("--profile", "embedded", "up", "--no-color", "--exit-code-from", "simulator")
    assert done.returncode == 0, done.stdout[-3000:]
    assert "200 jobs" in done.stdout


def test_a_failing_simulator_ends_it_all(compose: Compose, tmp_path: Path) -> None:
    """A wrong input is said, is the command's exit code, and stops the service as well."""
    inputs = make_inputs(tmp_path / "inputs", "alloc", jobs=5)
    (inputs / "platform.xml").write_text("<platform version='4.1'><cabinet/></platform>")
    compose.settings |= {"INPUTS": str(inputs)}
    done = compose("--profile", "embedded", "up", "--no-color", "--exit-code-from", "simulator")
    assert done.returncode == 2, done.stdout[-3000:]
    assert "spillway: error: " in done.stdout

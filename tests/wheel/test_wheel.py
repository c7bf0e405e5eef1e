"""The wheel has all data files and works anywhere, also beside pybatsim in one environment."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from tests.imports.graph import PACKAGES
from tests.wheel.conftest import ROOT, pip, without_path

COMPILED = (".cpp", ".hpp", ".cmake", ".so")

"""Files from which the module is made, and the working copy's module: the wheel has its own."""

POLICY = '''"""Starts jobs in order, each on the first free nodes."""

from dataclasses import dataclass

from spillway.schedulers.policykit.passes import try_start


@dataclass(frozen=True)
class InOrder:
    """Starts the head of the queue as long as it fits."""

    def __call__(self, view):
        for job in view.queue:
            start = try_start(view, job)
            if start is None:
                return
            yield start
'''


def test_every_file_is_in_the_wheel(wheel: Path) -> None:
    """Of our packages, sources and data; of the core its compiled module, not what that was made from."""
    there = set(zipfile.ZipFile(wheel).namelist())
    ours = {
        f"spillway/{path.relative_to(ROOT)}"
        for name in PACKAGES
        for path in (ROOT / name).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix not in COMPILED
    }
    assert ours - there == set()
    (native,) = (name for name in there if Path(name).suffix in COMPILED)
    assert native.startswith("spillway/core/_native.")
    assert {name.partition("/")[0] for name in there if ".dist-info/" not in name} == {"spillway"}


@pytest.mark.slow
def test_the_command_in_a_folder_of_ones_own(wheel: Path, tmp_path: Path) -> None:
    """A comparison on a log, a policy from a file, a report; the folder's ``workloads.py`` is never imported."""
    venv, here = tmp_path / "venv", tmp_path / "here"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    pip("--python", str(venv / "bin" / "python"), "install", "--no-deps", "--no-compile", str(wheel))
    (packages,) = venv.glob("lib/python*/site-packages")
    (packages / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    here.mkdir()
    (here / "workloads.py").write_text("raise RuntimeError('this is not ours')\n")
    (here / "mine.py").write_text(POLICY)
    shutil.copy(ROOT / "tests" / "data" / "swf" / "small.swf", here / "mine.swf")

    def spillway(*arguments: str) -> str:
        command = [str(venv / "bin" / "spillway"), *arguments]
        done = subprocess.run(command, cwd=here, env=without_path(), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout

    assert spillway("--version").startswith("spillway ")
    run = ["run", "mine.swf", "--policy", "mine.py:InOrder", "--engine", "fixed", "--workers", "1", "--force"]
    printed = spillway(*run, "--no-plots")
    assert "machine: 8 nodes of 1 processor each (the workload states so many" in printed
    (folder,) = (here / "results").iterdir()
    (record,) = folder.glob("**/run.json")
    repeat = shlex.split(json.loads(record.read_text())["repeat"])
    assert repeat[0] == "spillway"
    subprocess.run(
        [venv / "bin" / "spillway", *repeat[1:], "--no-plots"],
        cwd=folder,
        env=without_path(),
        capture_output=True,
        check=True,
    )
    (again,) = (folder / "repeated").glob("**/jobs.csv")
    assert again.read_bytes() == (record.parent / "jobs.csv").read_bytes()
    shutil.rmtree(folder / "repeated")
    page = Path(spillway("report", str(folder)).strip().splitlines()[-1])
    assert "mine.py:InOrder" in (here / page).read_text()


OURS = "import spillway, spillway.schedulers.assembly as a; print(spillway.version(), a.__name__)"

THEIRS = "import schedulers.fillerSched, batsim.batsim; print(schedulers.fillerSched.__name__)"


@pytest.fixture(scope="module")
def pybatsim_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """pybatsim 3.2.1 as a wheel of its own; skips if it cannot be built."""
    folder = tmp_path_factory.mktemp("theirs")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder)]
    try:
        done = subprocess.run(
            [*command, "pybatsim==3.2.1", "docopt", "procset", "sortedcontainers"],
            capture_output=True, text=True, timeout=240, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        pytest.skip("pybatsim cannot be built: pip takes longer than four minutes")
    if done.returncode != 0:
        pytest.skip(f"pybatsim cannot be built: {(done.stderr.strip().splitlines() or ['?'])[-1]}")
    return folder


def says(python: Path, code: str) -> str:
    """Output of code in a process of an environment; the last line of its error if it fails."""
    done = subprocess.run(
        [str(python), "-c", code], cwd="/", env=without_path(), capture_output=True, text=True, check=False
    )
    return done.stdout.strip() if done.returncode == 0 else done.stderr.strip().splitlines()[-1]


@pytest.mark.slow
@pytest.mark.parametrize("ours_first", [True, False])
def test_either_order_and_either_uninstalled(
    wheel: Path, pybatsim_wheel: Path, ours_first: bool, tmp_path: Path
) -> None:
    """Both import; after one is gone the other does, with every file of its own."""
    theirs = sorted(pybatsim_wheel.glob("*.whl"))
    both = tmp_path / "both"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(both)], check=True)
    (packages,) = both.glob("lib/python*/site-packages")
    (packages / "zz_others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    order = [[str(wheel)], [str(wheel) for wheel in theirs]]
    for files in order if ours_first else reversed(order):
        pip("--python", str(both / "bin" / "python"), "install", "--no-deps", "--no-compile", *files)
    assert says(both / "bin" / "python", OURS).endswith("spillway.schedulers.assembly")
    assert says(both / "bin" / "python", THEIRS) == "schedulers.fillerSched"
    for leaves, stays in (("pybatsim", OURS), ("spillway", THEIRS)):
        python = shutil.copytree(both, tmp_path / leaves, symlinks=True) / "bin" / "python"
        before = says(python, stays)
        command = [sys.executable, "-m", "pip", "--python", str(python), "uninstall", "--quiet", "--yes", leaves]
        subprocess.run(command, cwd="/", env=without_path(), check=True, capture_output=True)
        assert says(python, stays) == before
        gone = says(python, THEIRS if leaves == "pybatsim" else OURS)
        assert "ModuleNotFoundError" in gone, "another environment has been changed, or none"

"""spillway and pybatsim in one environment: installed in either order both work, and either leaves the other whole.

Once both owned the top-level package ``schedulers``: the files were mixed, and uninstalling pybatsim deleted ours.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.wheel.conftest import pip, without_path

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
    order = [[str(wheel)], [str(one) for one in theirs]]
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

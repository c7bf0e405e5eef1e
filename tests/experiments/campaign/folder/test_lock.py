"""One command at a time writes a folder; a killed one frees it."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from spillway.experiments.campaign.folder.lock import LOCK_FILE, results_folder
from spillway.experiments.cli import main
from spillway.experiments.run.codehash import ROOT
from spillway.experiments.run.errors import SpecError

HOLD = """
import sys, time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from spillway.experiments.campaign.folder.lock import results_folder
with results_folder(Path(sys.argv[1])), ProcessPoolExecutor(1) as pool:
    child = pool.submit(__import__("os").getpid).result()
    print("held", child, flush=True)
    time.sleep(600)
"""
SMALL = ["--workload", "kth-like:jobs=5", "--policy", "fcfs", "--no-plots"]


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that holds the folder and has a worker process."""
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    words = process.stdout.readline().split()
    assert words[0] == "held"
    yield process
    process.kill()
    os.kill(int(words[1]), signal.SIGKILL)  # the executor's workers outlive a parent that was killed
    process.stdout.close()
    process.wait()


@pytest.mark.parametrize("command", [
    ["run", *SMALL],
    ["study", "thesis", "--quick"],
    ["study", "herbein", "--quick"],
    ["study", "jeannot", "--quick"],
    ["study", "gang", "--quick"],
    ["study", "malleable", "--quick"],
], ids=lambda command: command[0])  # fmt: skip
def test_the_second_command_is_refused(
    command: Sequence[str], holder: subprocess.Popen[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line with the process that writes the folder and its start; exit code 2; nothing is written."""
    assert main([*command, "--out", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert f"is being written by process {holder.pid} on " in error
    assert f" since {time.strftime('%Y-')}" in error
    assert "name another folder with --out" in error
    assert error.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == [LOCK_FILE]


def test_a_report_too(holder: subprocess.Popen[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It writes into the folder, unless another place is given; a folder that is not there is not made."""
    assert main(["report", str(tmp_path)]) == 2
    assert "is being written by process" in capsys.readouterr().err
    assert main(["report", str(tmp_path), "--out", str(tmp_path / "x.html")]) == 2
    assert "expected a campaign's folder" in capsys.readouterr().err
    assert main(["report", str(tmp_path / "nowhere")]) == 2
    assert not (tmp_path / "nowhere").exists()


def test_a_killed_holder_frees_the_folder(holder: subprocess.Popen[str], tmp_path: Path) -> None:
    """kill -9 leaves a file and no lock, though a worker process of the holder's is still there."""
    with pytest.raises(SpecError), results_folder(tmp_path):
        pass
    holder.kill()
    holder.wait()
    assert (tmp_path / LOCK_FILE).exists()
    with results_folder(tmp_path):
        assert str(os.getpid()) in (tmp_path / LOCK_FILE).read_text()
    assert not (tmp_path / LOCK_FILE).exists()


def test_two_in_one_process_and_one_after_the_other(tmp_path: Path) -> None:
    """The end of the block frees it, also after an error."""
    with (
        results_folder(tmp_path),
        pytest.raises(SpecError, match=f"process {os.getpid()} on"),
        results_folder(tmp_path),
    ):
        pass
    with pytest.raises(ValueError, match="x"), results_folder(tmp_path):
        raise ValueError("x")
    with results_folder(tmp_path / "new" / "folder") as folder:
        assert folder.is_dir()
        (folder / "kept").touch()
    assert (tmp_path / "new" / "folder" / "kept").exists()


def test_what_is_left_empty_goes_with_the_folders_above_that_were_made_for_it(tmp_path: Path) -> None:
    """A folder that was there stays, though it is empty."""
    (tmp_path / "mine").mkdir()
    with pytest.raises(ValueError, match="x"), results_folder(tmp_path / "mine" / "new" / "folder"):
        raise ValueError("x")
    assert list(tmp_path.rglob("*")) == [tmp_path / "mine"]
    with results_folder(tmp_path / "mine"):
        pass
    assert (tmp_path / "mine").is_dir()

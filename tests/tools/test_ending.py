"""``make setup`` ended by a signal leaves no process of its own."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FAKE = """#!/bin/sh
case "$1 $2" in
"-m venv") mkdir -p .venv/bin; cp "$0" .venv/bin/python;;
"-m pip") sleep 600 & echo $! > started; mv started pip.pid; wait;;
*) exec {python} "$@";;
esac
"""


def is_running(pid: int) -> bool:
    """Whether the process does anything still."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state not in "ZX"


def wait_until(condition: Callable[[], bool], what: str) -> None:
    """Wait for half a minute at most."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.05)
    pytest.fail(f"after half a minute: {what}")


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_setup_ended_by_a_signal_leaves_no_process(number: signal.Signals, tmp_path: Path) -> None:
    """What pip started ends too (a compiler, when it builds the core)."""
    (tmp_path / "tools").mkdir()
    for name in ("Makefile", "requirements.lock.txt", "pyproject.toml", "CMakeLists.txt", "tools/ending.py"):
        shutil.copy(ROOT / name, tmp_path / name)
    for name in ("core", "tests/core"):
        (tmp_path / name).mkdir(parents=True)
    fake = tmp_path / "python"
    fake.write_text(FAKE.format(python=sys.executable), encoding="utf-8")
    fake.chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    make = subprocess.Popen(["make", "setup", f"PYTHON={fake}"], cwd=tmp_path, env=environment, process_group=0)
    wait_until((tmp_path / "pip.pid").exists, "pip was not called")
    pid = int((tmp_path / "pip.pid").read_text(encoding="utf-8"))
    assert is_running(pid)
    if number == signal.SIGINT:
        os.killpg(make.pid, number)  # a terminal sends it to the whole group
    else:
        make.send_signal(number)
    assert make.wait(30) != 0
    wait_until(lambda: not is_running(pid), "what pip started is running")

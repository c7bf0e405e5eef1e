"""CPU seconds and peak memory of a command with all processes that it starts, also those that outlive it (Linux)."""

from __future__ import annotations

import ctypes
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

_PR_SET_CHILD_SUBREAPER = 36


class CommandCost(NamedTuple):
    """Cost of a command: CPU seconds (user and system), seconds of real time, and the largest process in bytes."""

    cpu_s: float
    wall_s: float
    peak_bytes: int


def measured(command: Sequence[str], folder: Path, environment: Mapping[str, str], log: Path) -> CommandCost:
    """Run a command to its end; its output goes to ``log``.

    Worker processes are children of a server process that outlives the command; this process adopts them, so that their
    CPU time is counted.

    Raises
    ------
    RuntimeError
        The command failed; the message has the last lines of its output.
    """
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    # Compiling some 400 modules anew in each process is no user's cost: Python keeps them unless it is told not to.
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    begin = time.perf_counter()
    with log.open("wb") as stream:
        process = subprocess.Popen(command, cwd=folder, env={**kept, **environment}, stdout=stream, stderr=stream)
    cpu_s, peak, failed = 0.0, 0, False
    while True:
        try:
            pid, status, usage = os.wait4(-1, 0)
        except ChildProcessError:
            break
        cpu_s += usage.ru_utime + usage.ru_stime
        peak = max(peak, usage.ru_maxrss * 1024)
        if pid == process.pid:
            failed = os.waitstatus_to_exitcode(status) != 0
            process.returncode = 0  # waited for here
    if failed:
        raise RuntimeError(f"{' '.join(command)} failed: {log.read_text(errors='replace')[-2000:]}")
    return CommandCost(cpu_s, time.perf_counter() - begin, peak)

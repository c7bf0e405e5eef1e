"""The commands that are given hostile files, in this process or in one of their own."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from spillway.experiments.run.folders import make_folder
from tools.hostile.files import Case, content, platform, workload

ADDRESS_SPACE = 4 << 30
TIME_LIMIT_S = 180
TWO_HOSTS = (
    '<host id="a" speed="1Gf"/><host id="m" speed="1Gf"><prop id="role" value="master"/></host>'
    '<link id="l" bandwidth="1GBps" latency="0"/><route src="a" dst="m"><link_ctn id="l"/></route>'
)

Arguments = Callable[[str, Path], list[str]]
"""Makes the arguments from the hostile file and a folder with ``good.xml`` and ``good.json``."""

_RUN = ["--policy", "fcfs", "--no-plots", "--workers", "1"]
COMMANDS: Mapping[str, Arguments] = {
    "info": lambda file, _: ["workload", "info", file],
    "convert": lambda file, good: ["workload", "convert", file, "--out", str(good / "converted.json")],
    "run": lambda file, good: ["run", "--workload", file, *_RUN, "--out", str(good / "results")],
    "run-on": lambda file, good: [
        *["run", "--workload", str(good / "good.json"), "--platform", file, *_RUN],
        *["--out", str(good / "results")],
    ],
    "campaign": lambda file, good: [file, "--workers", "1", "--out", str(good / "results")],
    "report": lambda file, _: ["report", file],
    "explain": lambda file, _: ["explain", file, "b"],
    "check": lambda file, _: ["platform", "check", file],
    "simulate": lambda file, good: [
        *["simulate", "-p", str(good / "good.xml"), "-w", file, "--no-sched", "-e", str(good / "out")],
    ],
    "simulate-on": lambda file, good: [
        *["simulate", "-p", file, "-w", str(good / "good.json"), "--no-sched", "-e", str(good / "out")],
    ],
    "events": lambda file, good: [
        *["simulate", "-p", str(good / "good.xml"), "-w", str(good / "good.json"), "--events", file],
        *["--no-sched", "-e", str(good / "out")],
    ],
}
"""Words of the command line by name."""


@dataclass(frozen=True)
class Outcome:
    """Outcome of a command: exit code, lines of standard error, MB of memory at most, seconds."""

    code: int
    lines: list[str]
    peak_mb: float
    seconds: float

    def fault(self, case: Case) -> str:
        """Description of the fault; "" if the command ended as it must."""
        if self.code != (0 if case.lawful else 2):
            return f"exit code {self.code}"
        if case.lawful:
            return "a traceback" if any("Traceback" in line for line in self.lines) else ""
        if len(self.lines) != 1:
            return f"{len(self.lines)} lines"
        return "a long line" if len(self.lines[0]) > 1000 else ""


def good_inputs(folder: Path) -> Path:
    """Make the inputs that go with a hostile one."""
    make_folder(folder)
    content(platform(TWO_HOSTS))(folder / "good.xml")
    content(workload())(folder / "good.json")
    return folder


def run(case: Case, command: str, folder: Path) -> Outcome:
    """Run a command on a hostile file in a process of its own, within limits of memory and time."""
    given = str(case.make(folder / case.name))
    call = [sys.executable, "-m", "spillway", *COMMANDS[command](given, good_inputs(folder / "good"))]
    begin = time.monotonic()
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(call, stdout=subprocess.DEVNULL, stderr=errors, preexec_fn=_limit)
        code, peak_mb = _wait(process, begin + TIME_LIMIT_S)
        errors.seek(0)
        lines = errors.read().decode(errors="replace").splitlines()
    return Outcome(code, lines, peak_mb, time.monotonic() - begin)


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))


def _highest_mark_mb(pid: int) -> float:
    """Largest resident size so far; 0 if the process has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), 0.0)


def _wait(process: subprocess.Popen[bytes], deadline: float) -> tuple[int, float]:
    """Exit code (-9 after the time limit) and the most memory of the process, MB.

    The system's own figure (``ru_maxrss``) also counts the parent's memory at the fork; so the highest mark is read
    while the process runs. It only rises, and its last reading is returned.
    """
    peak_mb = 0.0
    while True:
        peak_mb = _highest_mark_mb(process.pid) or peak_mb
        if process.poll() is not None:
            return process.returncode, peak_mb
        if time.monotonic() > deadline:
            process.kill()
        time.sleep(0.02)

"""SIGKILL at random moments: to the driver, to a worker, to a simulator, over three ways of running a campaign."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spillway.base import durable
from spillway.experiments.campaign.folder.verify import verify
from spillway.experiments.run.errors import SpecError
from tools.faults.campaign import play, schedules

TOKEN = "SPILLWAY_TEST_TOKEN"
"""Environment variable by which the processes of one command are found."""

LONG = ["run", "--workload", "kth-like:jobs=150", "--platform", "tiny", "--no-plots", "--policy", "conservative"]
LONG += ["--policy", "easy"]
BEGUN_S, ENDED_S, ORPHAN_S = 60.0, 120.0, 30.0
LATEST_S = 0.6
"""Longest time (s) from the beginning of the first run to a kill."""


@dataclass(frozen=True)
class Way:
    """A way of running a campaign, with its processes that can be killed."""

    name: str
    options: tuple[str, ...]
    targets: tuple[str, ...]


WAYS = (
    Way("direct", (), ("driver", "worker")),
    Way("zmq", ("--transport", "zmq"), ("driver", "worker", "simulate")),
    Way("dask", ("--transport", "zmq"), ("driver", "dask worker", "simulate")),
)


@dataclass(frozen=True)
class KillOutcome:
    """Outcome of a kill.

    Attributes
    ----------
    way, target
        The way of the campaign, and the killed process.
    exit_code
        Of the command.
    orphans
        Processes of the command that were still there afterwards.
    wrong
        Description of the error, "" without one.
    """

    way: str
    target: str
    exit_code: int
    orphans: int
    wrong: str


@contextlib.contextmanager
def cluster() -> Iterator[Any]:
    """Two Dask workers in processes of their own, restarted when they die."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as started:
        yield started


def kill(way: Way, target: str, delay_s: float, work: Path, dask: Any = None) -> KillOutcome | None:
    """Run the campaign in a new folder, kill one of its processes, and check the results.

    ``None`` if the process had ended before the kill.
    """
    reference, root = work / f"whole-{way.name}", work / "killed"
    if not reference.exists():
        assert play(reference, [*LONG, *way.options])[0] == 0
    shutil.rmtree(root, ignore_errors=True)
    token = uuid.uuid4().hex
    cluster_options = ["--dask", dask.scheduler_address] if dask is not None else ["--workers", "2"]
    command = [sys.executable, "run_experiments.py", *LONG, *way.options, *cluster_options, "--out", str(root)]
    environment = {**os.environ, TOKEN: token}
    driver = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + BEGUN_S
    while not list(root.glob(f"{durable.PARTIAL}/*/*")) and driver.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(delay_s)
    victim = _victim(target, driver.pid, token, root, dask)
    if victim is None or driver.poll() is not None:
        driver.wait(ENDED_S)
        return None
    with contextlib.suppress(ProcessLookupError):
        os.kill(victim, signal.SIGKILL)
    try:
        code = driver.wait(ENDED_S)
    except subprocess.TimeoutExpired:
        driver.kill()
        return KillOutcome(way.name, target, driver.wait(), 0, f"the command did not end within {ENDED_S:g} s")
    orphans = _orphans(token, root, patient=dask is not None)
    return KillOutcome(way.name, target, code, len(orphans), _wrong(root, reference, way))


def _wrong(root: Path, reference: Path, way: Way) -> str:
    lines: list[str] = []
    try:
        if verify(root, lines.append):
            return lines[0]
    except SpecError:
        lines.append("nothing is there")
    if play(root, [*LONG, *way.options])[0] != 0 or verify(root, lambda _: None) != 0:
        return "the next command did not finish it"
    if schedules(root) != schedules(reference):
        return "the next command gave other bytes"
    return "something half-written stayed" if (root / durable.PARTIAL).exists() else ""


def _victim(target: str, driver: int, token: str, root: Path, dask: Any) -> int | None:
    if target == "driver":
        return driver
    found = _processes(token, root)
    if target == "simulate":
        return next((pid for pid, words in found.items() if "simulate" in words), None)
    if target == "dask worker":
        nannies = list(dask.workers.values())
        return next((nanny.pid for nanny in nannies if nanny.pid is not None), None)
    forked = [pid for pid, words in found.items() if "forkserver" in words]
    return next((pid for pid in forked if _parent(pid) in forked), None)


def _orphans(token: str, root: Path, *, patient: bool) -> Mapping[int, str]:
    """Processes of a command that has ended; a Dask worker may finish the run that it has."""
    deadline = time.monotonic() + (ENDED_S if patient else ORPHAN_S)
    found = _processes(token, root)
    while found and time.monotonic() < deadline:
        time.sleep(0.05)
        found = _processes(token, root)
    for pid, words in found.items():
        with contextlib.suppress(OSError):
            state = Path(f"/proc/{pid}/status").read_text().split("State:")[1].split("\n")[0]
            print(pid, _parent(pid), state, words[-300:], flush=True)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return found


def _processes(token: str, root: Path) -> dict[int, str]:
    """Command lines of the running processes that have the token, or the folder among their arguments."""
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal() or int(entry.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            ours = token.encode() in (entry / "environ").read_bytes()
            if words and (ours or str(root) in words):
                found[int(entry.name)] = words
    return found


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def series(count: int, work: Path, ways: tuple[Way, ...] = WAYS, seed: int = 17) -> Iterator[KillOutcome]:
    """Kill ``count`` times, ways and targets in turn, at moments drawn from ``seed``."""
    draw = random.Random(seed)
    with contextlib.ExitStack() as stack:
        dask = stack.enter_context(cluster()) if any(way.name == "dask" for way in ways) else None
        done: dict[str, int] = dict.fromkeys((way.name for way in ways), 0)
        while sum(done.values()) < count:
            way = ways[sum(done.values()) % len(ways)]
            target = way.targets[done[way.name] % len(way.targets)]
            seen = kill(way, target, draw.uniform(0, LATEST_S), work, dask if way.name == "dask" else None)
            if seen is not None:
                done[way.name] += 1
                yield seen

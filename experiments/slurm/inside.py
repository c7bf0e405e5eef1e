"""``python -m spillway.experiments.slurm.inside ROOT FOLDER`` is the first process inside the namespaces.

It lays the unpacked packages over the system's folders, starts the daemons, submits the jobs of ``submissions.json``,
writes ``states.json`` (what ``squeue`` showed) and leaves when all jobs have gone. Its end ends everything inside; and
it ends when its standard input does, so that nothing outlives the process that started it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from spillway.experiments.slurm.configuration import HOST, Submission, job_script

UNCOVERED = 78
"""Exit code where mounts or the network of the namespaces cannot be had."""
COVERED = ("usr/bin", "usr/sbin", "usr/lib/x86_64-linux-gnu")
"""Folders of the system that are covered by the packages' files, inside."""
_NOBODY = "65534"
"""Who submits: root may have no buffers."""
POLL_S = 0.5
_LONGEST_START_S = 60.0
_SETTLED_S = 3.0
"""From idle nodes to the first submission, s."""
_LONGEST_QUIET_S = 600.0
"""Without any change of a state for so long Slurm is given up, s."""


class State(msgspec.Struct, frozen=True):
    """A job's state as ``squeue`` showed it first, at a time in s since the epoch."""

    at_s: float
    job: int
    state: str
    reason: str


def main(arguments: Sequence[str]) -> int:
    """Run; return the exit code."""
    root, folder = Path(arguments[0]), Path(arguments[1])
    threading.Thread(target=_end_with_input, daemon=True).start()
    try:
        _cover(root)
    except subprocess.CalledProcessError:
        return UNCOVERED
    os.environ["SLURM_CONF"] = str(folder / "slurm.conf")
    nodes = int((folder / "nodes").read_text())
    daemons = [_daemon(["slurmctld", "-D"], folder)]
    daemons += [_daemon(["slurmd", "-D", "-N", f"n{number + 1}"], folder) for number in range(nodes)]
    _until_idle(nodes, daemons)
    time.sleep(_SETTLED_S)
    jobs = msgspec.json.decode((folder / "submissions.json").read_bytes(), type=list[Submission])
    states = _play(jobs)
    (folder / "states.json").write_bytes(msgspec.json.encode(states))
    return 0


def _end_with_input() -> None:
    while os.read(0, 1):
        pass
    os._exit(1)


def _cover(root: Path) -> None:
    for name in COVERED:
        layers = f"lowerdir={root / name}:/{name}"
        subprocess.run(["mount", "-t", "overlay", "overlay", "-o", layers, f"/{name}"], check=True)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    # Names are resolved only where an interface has an address other than 127.0.0.1 (getaddrinfo, AI_ADDRCONFIG).
    subprocess.run(["ip", "address", "add", "10.255.255.1/32", "dev", "lo"], check=True)
    subprocess.run(["hostname", HOST], check=True)


def _daemon(command: list[str], folder: Path) -> subprocess.Popen[bytes]:
    with (folder / f"{'-'.join(command)}.out").open("wb") as out:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out)


def _answer(command: list[str], text: str = "") -> str:
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


def _until_idle(nodes: int, daemons: list[subprocess.Popen[bytes]]) -> None:
    """Wait until the controller says that all nodes are idle."""
    deadline = time.monotonic() + _LONGEST_START_S
    while _answer(["sinfo", "-h", "-t", "idle", "-o", "%D"]).strip() != str(nodes):
        ended = [daemon.args for daemon in daemons if daemon.poll() is not None]
        if ended or time.monotonic() > deadline:
            raise SystemExit(f"not all of {nodes} nodes are idle after {_LONGEST_START_S:g} s; ended: {ended}")
        time.sleep(POLL_S)


def _play(jobs: list[Submission]) -> list[State]:
    """Submit each job in its time and poll until none is left."""
    states: list[State] = []
    last: dict[int, tuple[str, str]] = {}
    left = sorted(range(len(jobs)), key=lambda number: jobs[number].at_s)
    origin, polled = time.time(), 0.0
    changed = origin
    while True:
        now = time.time()
        while left and jobs[left[0]].at_s <= now - origin:
            _submit(jobs[left[0]], left[0] + 1)
            left.pop(0)
        if now - polled >= POLL_S:
            polled = now
            seen = _squeue()
            for job, (state, reason) in seen.items():
                if last.get(job) != (state, reason):
                    states.append(State(round(now, 3), job, state, reason))
                    changed = now
            last |= seen
            if not seen and not left:
                return states
            if now - changed > _LONGEST_QUIET_S:
                raise SystemExit(f"no job has changed its state for {_LONGEST_QUIET_S:g} s; left: {seen}")
        time.sleep(max(0.0, min(0.05, polled + POLL_S - time.time())))


def _submit(job: Submission, number: int) -> None:
    as_nobody = ["setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups"]
    asked = ["sbatch", "--parsable", f"--job-name={number}", f"--nodes={job.nodes}", f"--time={job.limit_min}"]
    placed = ["--chdir=/", "--output=/dev/null"]
    done = subprocess.run(
        [*as_nobody, *asked, *placed], input=job_script(job), capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise SystemExit(f"job {number} was not accepted: {done.stderr.strip()}")


def _squeue() -> dict[int, tuple[str, str]]:
    rows = (line.split("|") for line in _answer(["squeue", "-h", "-o", "%j|%T|%r"]).splitlines())
    return {int(row[0]): (row[1], row[2]) for row in rows}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

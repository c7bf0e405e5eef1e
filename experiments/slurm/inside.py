"""``python -m spillway.experiments.slurm.inside ROOT FOLDER`` is the first process inside the namespaces.

It lays a layer over the unpacked packages, runs the daemons with that as their root folder, submits the jobs of
``submissions.json``, writes ``states.json`` (what ``squeue`` showed) and leaves when all jobs have gone. Its end ends
everything inside; and it ends when its standard input does, so that nothing outlives the process that started it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from spillway.experiments.slurm.configuration import HOST, Submission, job_script

UNCOVERED = 78
"""Exit code where mounts or the network of the namespaces cannot be had."""
_FROM_SYSTEM = ("proc", "dev", "sys")
"""Folders that the root folder inside has from the system."""
_ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"}
_NOBODY = 65534
"""User of the jobs: root may have no buffers."""
_PASSWD = f"""root:x:0:0:root:/root:/bin/sh
nobody:x:{_NOBODY}:{_NOBODY}:nobody:/:/bin/sh
"""
_GROUP = f"""root:x:0:
nogroup:x:{_NOBODY}:
"""
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
    unpacked, folder = Path(arguments[0]), Path(arguments[1])
    threading.Thread(target=_end_with_input, daemon=True).start()
    try:
        world = World(_mounted(unpacked, folder), folder)
        _network()
    except subprocess.CalledProcessError:
        return UNCOVERED
    nodes = int((folder / "nodes").read_text())
    daemons = {"slurmctld": world.daemon("slurmctld", ["slurmctld", "-D"])}
    for name in (f"n{number + 1}" for number in range(nodes)):
        daemons[name] = world.daemon(name, ["slurmd", "-D", "-N", name])
    _until_idle(world, nodes, daemons)
    time.sleep(_SETTLED_S)
    jobs = msgspec.json.decode((folder / "submissions.json").read_bytes(), type=list[Submission])
    states = _play(world, jobs)
    (folder / "states.json").write_bytes(msgspec.json.encode(states))
    return 0


def _end_with_input() -> None:
    while os.read(0, 1):
        pass
    os._exit(1)


def _mounted(unpacked: Path, folder: Path) -> Path:
    """Return the root folder of all programs: the unpacked packages below a layer in memory, and the run's folder."""
    top = folder / "top"
    top.mkdir()
    _mount("-t", "tmpfs", "tmpfs", top)
    for name in ("layer", "work", "root"):
        (top / name).mkdir()
    root = top / "root"
    layers = f"lowerdir={unpacked},upperdir={top / 'layer'},workdir={top / 'work'}"
    _mount("-t", "overlay", "overlay", "-o", layers, root)
    for name in _FROM_SYSTEM:
        _mount("--rbind", f"/{name}", root / name)
    run = root / folder.relative_to("/")
    run.mkdir(parents=True)
    _mount("--bind", folder, run)
    (root / "etc" / "passwd").write_text(_PASSWD, encoding="utf-8")
    (root / "etc" / "group").write_text(_GROUP, encoding="utf-8")
    return root


def _mount(*arguments: str | Path) -> None:
    subprocess.run(["mount", *arguments], check=True)


def _network() -> None:
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    # Names are resolved only where an interface has an address other than 127.0.0.1 (getaddrinfo, AI_ADDRCONFIG).
    subprocess.run(["ip", "address", "add", "10.255.255.1/32", "dev", "lo"], check=True)
    subprocess.run(["hostname", HOST], check=True)


class World:
    """Programs in the root folder inside.

    Parameters
    ----------
    root
        Root folder of the programs.
    folder
        Folder of the run, the same inside.
    """

    def __init__(self, root: Path, folder: Path) -> None:
        self._root = root
        self._folder = folder
        self._environment = _ENVIRONMENT | {"SLURM_CONF": str(folder / "slurm.conf")}

    def daemon(self, name: str, command: Sequence[str]) -> subprocess.Popen[bytes]:
        """Start a program that stays; what it prints goes into a file of the run with this name."""
        with self._output_of(name).open("wb") as out:
            return subprocess.Popen(
                ["chroot", self._root, *command],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                env=self._environment,
            )

    def last_line_of(self, name: str) -> str:
        """What a program that stays has printed last."""
        return (self._output_of(name).read_text(errors="replace").splitlines() or ["nothing was printed"])[-1]

    def _output_of(self, name: str) -> Path:
        return self._folder / f"{name}.out"

    def called(self, command: Sequence[str], text: str = "", *, user: int = 0) -> subprocess.CompletedProcess[str]:
        """Run a program to its end, as a user (number; 0: root)."""
        return subprocess.run(
            ["chroot", f"--userspec={user}:{user}", self._root, *command],
            input=text,
            capture_output=True,
            text=True,
            check=False,
            env=self._environment,
        )

    def answer(self, command: Sequence[str]) -> str:
        """Return what a program prints; nothing where it fails."""
        done = self.called(command)
        return done.stdout if done.returncode == 0 else ""


def _until_idle(world: World, nodes: int, daemons: Mapping[str, subprocess.Popen[bytes]]) -> None:
    """Wait until the controller says that all nodes are idle."""
    deadline = time.monotonic() + _LONGEST_START_S
    while world.answer(["sinfo", "-h", "-t", "idle", "-o", "%D"]).strip() != str(nodes):
        ended = [name for name, daemon in daemons.items() if daemon.poll() is not None]
        if ended:
            raise SystemExit(f"{ended[0]} has ended: {world.last_line_of(ended[0])}")
        if time.monotonic() > deadline:
            raise SystemExit(f"not all of {nodes} nodes are idle after {_LONGEST_START_S:g} s")
        time.sleep(POLL_S)


def _play(world: World, jobs: list[Submission]) -> list[State]:
    """Submit each job in its time and poll until none is left."""
    states: list[State] = []
    last: dict[int, tuple[str, str]] = {}
    left = sorted(range(len(jobs)), key=lambda number: jobs[number].at_s)
    origin, polled = time.time(), 0.0
    changed = origin
    while True:
        now = time.time()
        while left and jobs[left[0]].at_s <= now - origin:
            _submit(world, jobs[left[0]], left[0] + 1)
            left.pop(0)
        if now - polled >= POLL_S:
            polled = now
            seen = _squeue(world)
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


def _submit(world: World, job: Submission, number: int) -> None:
    asked = ["sbatch", "--parsable", f"--job-name={number}", f"--nodes={job.nodes}", f"--time={job.limit_min}"]
    asked += [f"--licenses={job.licenses}"] if job.licenses else []
    placed = ["--chdir=/", "--output=/dev/null"]
    done = world.called([*asked, *placed], job_script(job), user=_NOBODY)
    if done.returncode != 0:
        raise SystemExit(f"job {number} was not accepted: {done.stderr.strip()}")


def _squeue(world: World) -> dict[int, tuple[str, str]]:
    rows = (line.split("|") for line in world.answer(["squeue", "-h", "-o", "%j|%T|%r"]).splitlines())
    return {int(row[0]): (row[1], row[2]) for row in rows}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

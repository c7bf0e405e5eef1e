"""``python -m spillway.experiments.slurm.inside ROOT FOLDER`` is the first process inside the namespaces.

It lays a layer over the unpacked packages, runs the daemons with that as their root folder, submits the jobs of
``submissions.json``, writes ``seen.json`` (the output of ``squeue`` and others) and ends when all jobs have ended. Its
end ends everything inside; and it ends when its standard input does, so that nothing outlives the process that started
it.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from spillway.experiments.slurm.configuration import FOLDER, HOST, Settings, Submission, job_script
from spillway.experiments.slurm.recording import Instant, SlurmOutput
from spillway.experiments.slurm.site import FIRST_USER, OF_THE_MACHINE, SHOWN, Site, associations, reservation

UNCOVERED = 78
"""Exit code where mounts or the network of the namespaces are not available."""
_FROM_SYSTEM = ("proc", "dev", "sys")
"""Folders that the root folder inside has from the system."""
_ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"}
_NOBODY = 65534
"""User of the jobs: root may have no buffers."""
POLL_S = 0.5
_LONGEST_START_S = 60.0
_SETTLED_S = 3.0
"""Time from idle nodes to the first submission, s."""
_LONGEST_QUIET_S = 600.0
"""Time without any change of a state after which Slurm is given up, s."""
_INSTANTS = 10
_BETWEEN_S = 20.0
"""Time between two instants at which priorities and shares are recorded, s: a third of the shortest period in which
Slurm calculates them. The first of three is as long after the controller's start."""
_PRIORITIES = ["sprio", "-h", "-o", "%i %r %Y %A %F %J %P %Q %N %T"]
_SHARES = ["sshare", "-a", "-n", "-P", "-o", "Account,User,RawUsage,FairShare"]


def main(arguments: Sequence[str]) -> int:
    """Run; return the exit code."""
    unpacked, folder = Path(arguments[0]), Path(arguments[1])
    threading.Thread(target=_end_with_input, daemon=True).start()
    try:
        world = World(_mounted(unpacked, folder), folder)
        _network()
    except subprocess.CalledProcessError:
        return UNCOVERED
    settings = msgspec.json.decode((folder / "settings.json").read_bytes(), type=Settings)
    jobs = msgspec.json.decode((folder / "submissions.json").read_bytes(), type=list[Submission])
    seen = _run(world, settings, jobs)
    (folder / "seen.json").write_bytes(msgspec.json.encode(seen))
    return 0


def _run(world: World, settings: Settings, jobs: list[Submission]) -> SlurmOutput:
    site = settings.site
    _add_users(world, site)
    daemons = {} if site is None else _start_database(world, site)
    started_s = time.time()
    daemons["slurmctld"] = world.daemon("slurmctld", ["slurmctld", "-D"])
    for name in (f"n{number + 1}" for number in range(settings.nodes)):
        daemons[name] = world.daemon(name, ["slurmd", "-D", "-N", name])
    _until_idle(world, settings.nodes, daemons)
    time.sleep(_SETTLED_S)
    if site is None:
        return _Play(world, settings, jobs, {}, math.inf).to_the_end()
    users = {user.name: FIRST_USER + place for place, user in enumerate(site.users)}
    if made := reservation(site, round(time.time()) + 60 * site.maintenance_after_min, settings.nodes):
        _must(world, ["scontrol", *made])
    shown = {name: OF_THE_MACHINE.sub("", world.answer(command)) for name, command in SHOWN.items()}
    for name in ("slurm.conf", "burst_buffer.conf"):
        shown[name] = world.read(name)
    seen = _Play(world, settings, jobs, users, started_s).to_the_end()
    return msgspec.structs.replace(seen, site=shown)


def _add_users(world: World, site: Site | None) -> None:
    names = [user.name for user in site.users] if site is not None else []
    numbers = {"root": 0, "nobody": _NOBODY} | {name: FIRST_USER + place for place, name in enumerate(names)}
    world.write("etc/passwd", "".join(f"{name}:x:{number}:{number}::/:/bin/sh\n" for name, number in numbers.items()))
    world.write("etc/group", "".join(f"{name}:x:{number}:\n" for name, number in numbers.items()))


def _start_database(world: World, site: Site) -> dict[str, subprocess.Popen[bytes]]:
    """Start MariaDB and slurmdbd, and add accounts, users and QOS."""
    configured = f"--defaults-file={FOLDER}/my.cnf"
    world.write("run/mysqld/made", "")
    _must(world, ["mariadb-install-db", configured, "--skip-test-db", "--force"])
    daemons = {"mariadbd": world.daemon("mariadbd", ["mariadbd", configured])}
    _until(world, daemons, ["mariadb-admin", "ping"], "MariaDB answers")
    daemons["slurmdbd"] = world.daemon("slurmdbd", ["slurmdbd", "-D"])
    _until(world, daemons, ["sacctmgr", "-n", "show", "cluster"], "slurmdbd answers")
    _must(world, ["sacctmgr", "-i", "add", "cluster", "spillway"])
    for arguments in associations(site):
        _must(world, ["sacctmgr", "-i", *arguments])
    return daemons


def _must(world: World, command: Sequence[str]) -> None:
    done = world.called(command)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed: {' '.join((done.stderr or done.stdout).split())}")


def _until(world: World, daemons: Mapping[str, subprocess.Popen[bytes]], command: Sequence[str], what: str) -> None:
    """Wait until a command succeeds."""
    _wait(world, daemons, lambda: world.called(command).returncode == 0, what)


def _wait(world: World, daemons: Mapping[str, subprocess.Popen[bytes]], is_so: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + _LONGEST_START_S
    while not is_so():
        ended = [name for name, daemon in daemons.items() if daemon.poll() is not None]
        if ended:
            raise SystemExit(f"{ended[0]} has ended: {world.last_line_of(ended[0])}")
        if time.monotonic() > deadline:
            raise SystemExit(f"timed out after {_LONGEST_START_S:g} s: waiting until {what}")
        time.sleep(POLL_S)


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
    run = root / FOLDER.relative_to("/")
    run.mkdir()
    _mount("--bind", folder, run)
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
        Folder of the run.
    """

    def __init__(self, root: Path, folder: Path) -> None:
        self._root = root
        self._folder = folder
        self._environment = _ENVIRONMENT | {"SLURM_CONF": f"{FOLDER}/slurm.conf"}

    def daemon(self, name: str, command: Sequence[str]) -> subprocess.Popen[bytes]:
        """Start a program that stays; its output goes into a file of the run with this name."""
        with self._output_of(name).open("wb") as out:
            return subprocess.Popen(
                ["chroot", self._root, *command],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                env=self._environment,
            )

    def last_line_of(self, name: str) -> str:
        """The last line that a program that stays has printed."""
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

    def write(self, path: str, text: str) -> None:
        """Write a file below the root folder."""
        place = self._root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")

    def read(self, name: str) -> str:
        """Read a file of the run."""
        return (self._folder / name).read_text(encoding="utf-8")

    def answer(self, command: Sequence[str]) -> str:
        """Return the output of a program; "" where it fails."""
        done = self.called(command)
        return done.stdout if done.returncode == 0 else ""


def _until_idle(world: World, nodes: int, daemons: Mapping[str, subprocess.Popen[bytes]]) -> None:
    idle = ["sinfo", "-h", "-N", "-t", "idle", "-o", "%N"]
    _wait(world, daemons, lambda: len(set(world.answer(idle).split())) == nodes, f"all of {nodes} nodes are idle")


class _Play:
    """Submits jobs, each in its time, and records their states.

    Parameters
    ----------
    world
        Programs inside.
    settings
        Those of the Slurm.
    jobs
        The submissions.
    users
        Numbers of their users on the system; any other user is nobody.
    started_s
        When the controller was started, s since the epoch: priorities and shares are recorded at some times after it;
        infinite: never.
    """

    def __init__(
        self, world: World, settings: Settings, jobs: list[Submission], users: Mapping[str, int], started_s: float
    ) -> None:
        self._world = world
        self._whole = ["--exclusive"] if settings.cpus > 1 and settings.select == "cons_tres" else []
        self._jobs = jobs
        self._users = users
        self._states: list[tuple[float, int, str, str]] = []
        self._submitted: dict[int, str] = {}
        self._instants: list[Instant] = []
        self._look_s = started_s
        self._third = 0

    def to_the_end(self) -> SlurmOutput:
        """Submit and record until no job is left."""
        last: dict[int, tuple[str, str]] = {}
        left = sorted(range(len(self._jobs)), key=lambda number: self._jobs[number].at_s)
        origin, polled = time.time(), 0.0
        changed = origin
        while True:
            now = time.time()
            while left and self._jobs[left[0]].at_s <= now - origin:
                self._submit(self._jobs[left[0]], left[0] + 1)
                left.pop(0)
            if self._is_instant(now):
                self._look()
            if now - polled >= POLL_S:
                polled = now
                seen = self._squeue()
                for job, (state, reason) in seen.items():
                    if last.get(job) != (state, reason):
                        self._states.append((round(now, 3), job, state, reason))
                        changed = now
                last |= seen
                if not seen and not left:
                    return SlurmOutput(states=self._states, instants=self._instants, submitted=self._submitted)
                if now - changed > _LONGEST_QUIET_S:
                    raise SystemExit(f"no job has changed its state for {_LONGEST_QUIET_S:g} s; left: {seen}")
            time.sleep(max(0.0, min(0.05, polled + POLL_S - time.time())))

    def _is_instant(self, now: float) -> bool:
        """Whether priorities are recorded now: at the first and second third of a period, when jobs wait."""
        if len(self._instants) >= _INSTANTS or now < self._look_s + _BETWEEN_S:
            return False
        thirds = math.floor((now - self._look_s) / _BETWEEN_S)
        self._look_s += thirds * _BETWEEN_S
        self._third += thirds
        return self._third % 3 != 0

    def _look(self) -> None:
        priorities = self._world.answer(_PRIORITIES).splitlines()
        shares = self._world.answer(_SHARES).splitlines()
        if priorities:
            at_s = round(time.time(), 3)
            self._instants.append(Instant(at_s=at_s, priorities=priorities, shares=[share.strip() for share in shares]))

    def _submit(self, job: Submission, number: int) -> None:
        command = ["sbatch", "--parsable", f"--job-name={number}", f"--nodes={job.nodes}", f"--time={job.limit_min}"]
        command += ["--chdir=/", "--output=/dev/null", *self._whole]
        asked = {"partition": job.partition, "qos": job.qos, "licenses": job.licenses, "dependency": job.depends}
        command += [f"--{name}={value}" for name, value in asked.items() if value]
        done = self._world.called(command, job_script(job), user=self._users.get(job.user, _NOBODY))
        if done.returncode != 0:
            raise SystemExit(f"job {number} was not accepted: {done.stderr.strip()}")

    def _squeue(self) -> dict[int, tuple[str, str]]:
        rows = [line.split("|") for line in self._world.answer(["squeue", "-h", "-o", "%j|%T|%r|%V"]).splitlines()]
        self._submitted |= {int(row[0]): row[3] for row in rows}
        return {int(row[0]): (row[1], row[2]) for row in rows}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

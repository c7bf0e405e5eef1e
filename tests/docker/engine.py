"""A container engine for the tests: the one that is running, or one started for the tests and removed after them.

Run as a program (``python -m tests.docker.engine FOLDER``) this is the guard of an engine: it starts ``dockerd`` with
all its files in FOLDER, prints ``ready``, waits until its standard input is closed (at any end of the tests), and then
removes every container, the engine and the folder. Mounts made meanwhile are in the guard's own namespace, and end with
it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SETUP_VARIABLE = "SPILLWAY_DOCKER_SETUP"
"""Environment variable that allows the tests to install the programs of an engine, if they run as root."""

PACKAGES = ("docker.io", "docker-compose", "debootstrap")
START_S = 300.0
STOP_S = 30.0
MEMORY_BYTES = 4 * 2**30
"""Largest size of an engine's files (with our image a quarter of it); in memory if half as much again is free."""

HARMLESS = (
    "--bridge=none",
    "--iptables=false",
    "--ip6tables=false",
    "--ip-forward=false",
    "--ip-masq=false",
    "--userland-proxy=false",
)
"""Options that keep the machine's own network as it is: no bridge, no firewall rules, no forwarding."""


class NoEngine(Exception):
    """No engine runs and none can be started; the message is the reason."""


@dataclass(frozen=True)
class Engine:
    """An engine that answers.

    Attributes
    ----------
    host
        Its address, in the form of ``DOCKER_HOST``.
    own
        Whether it was started for the tests. Its containers have no network but the host's.
    """

    host: str
    own: bool

    @property
    def environment(self) -> dict[str, str]:
        """Environment of the engine's client programs."""
        return os.environ | {"DOCKER_HOST": self.host}


@contextlib.contextmanager
def an_engine() -> Iterator[Engine]:
    """The engine that runs, or one of our own.

    Raises
    ------
    NoEngine
        No engine runs, and none can be started here.
    """
    host = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")
    if answers(host):
        yield Engine(host, own=False)
        return
    if os.geteuid() != 0:
        raise NoEngine("no container engine answers, and only root can start one")
    _install_missing()
    with _guarded_engine() as socket:
        yield Engine(f"unix://{socket}", own=True)


def answers(host: str) -> bool:
    """Whether an engine listens there."""
    from docker.client import DockerClient
    from docker.errors import DockerException

    try:
        client = DockerClient(base_url=host, timeout=10)
        with contextlib.closing(client):
            return bool(client.ping())
    except (DockerException, OSError):
        return False


def _install_missing() -> None:
    if shutil.which("dockerd") is not None:
        return
    if os.environ.get(SETUP_VARIABLE) != "1" or shutil.which("apt-get") is None:
        raise NoEngine(
            f"no container engine answers and none is installed; on Debian: apt-get install {' '.join(PACKAGES)} "
            f"(or let the tests do it: {SETUP_VARIABLE}=1)"
        )
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for arguments in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", *PACKAGES]):
        done = subprocess.run(["apt-get", *arguments], env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise NoEngine(f"apt-get {arguments[0]} failed: {_last_line(done.stderr)}")


@contextlib.contextmanager
def _guarded_engine() -> Iterator[Path]:
    """Have a guard start an engine; yield its socket."""
    folder = Path(tempfile.mkdtemp(prefix="spillway-engine-", dir="/tmp"))  # short: a socket's path has 107 characters
    guard = subprocess.Popen(
        ["unshare", "--mount", sys.executable, "-m", "tests.docker.engine", str(folder)],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert guard.stdin is not None
    assert guard.stdout is not None
    try:
        said = guard.stdout.readline().strip()
        if said != "ready":
            raise NoEngine(f"the container engine cannot be started here: {said or 'it said nothing'}")
        yield folder / "socket"
    finally:
        guard.stdin.close()
        guard.wait(2 * STOP_S + START_S)
        guard.stdout.close()


# --------------------------------------------------------------------------- the guard


def main() -> int:
    """Guard an engine until standard input is closed."""
    folder = Path(sys.argv[1])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    try:
        in_memory(folder / "data", MEMORY_BYTES)
        places = [f"--data-root={folder}/data", f"--exec-root={folder}/exec", f"--pidfile={folder}/pid"]
        with (folder / "log").open("wb") as log:
            engine = subprocess.Popen(
                ["dockerd", f"--host=unix://{folder}/socket", f"--group={os.getegid()}", *HARMLESS, *places],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=_default_signals,
            )
        try:
            ready = _wait_until_ready(engine, f"unix://{folder}/socket")
            print("ready" if ready else _last_line((folder / "log").read_text(errors="replace")), flush=True)
            if ready:
                sys.stdin.read()
                _remove_containers(f"unix://{folder}/socket")
        finally:
            _stop(engine)
    finally:
        _remove(folder)
    return 0


def in_memory(folder: Path, size_bytes: int) -> None:
    """Make a folder, in memory if there is plenty: a disk takes minutes to delete an image."""
    folder.mkdir()
    meminfo = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
    if int(meminfo["MemAvailable"].split()[0]) * 1024 > 1.5 * size_bytes:
        command = ["mount", "-t", "tmpfs", "-o", f"size={size_bytes},mode=755", "tmpfs", str(folder)]
        subprocess.run(command, check=False, capture_output=True)


def _default_signals() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def _wait_until_ready(engine: subprocess.Popen[bytes], host: str) -> bool:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and engine.poll() is None:
        if answers(host):
            return True
        time.sleep(0.2)
    return False


def _remove_containers(host: str) -> None:
    from docker.client import DockerClient

    with contextlib.suppress(Exception), contextlib.closing(DockerClient(base_url=host)) as client:
        for container in client.containers.list(all=True):
            with contextlib.suppress(Exception):
                container.remove(force=True, v=True)
        client.networks.prune()


def _stop(engine: subprocess.Popen[bytes]) -> None:
    if engine.poll() is None:
        engine.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            engine.wait(STOP_S)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(engine.pid, signal.SIGKILL)  # all that is left of its session
    engine.wait()


def _remove(folder: Path) -> None:
    mounts = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
    for mount in sorted((mount for mount in mounts if mount.startswith(f"{folder}/")), reverse=True):
        subprocess.run(["umount", "--lazy", mount], check=False)
    shutil.rmtree(folder, ignore_errors=True)


def _last_line(text: str) -> str:
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1].strip() if lines else "it said nothing"


if __name__ == "__main__":
    sys.exit(main())

"""Runs with the simulator in a process of its own: the real Batsim, or ours, over ZeroMQ.

The scheduler's service stays in the run's process; the simulator is started beside it, watched, and always ended.
Batsim sends nothing when it aborts or deadlocks: its connection and its process show it at once. A simulator that runs
and is silent is given up only after a long time (``silence_s``). The time that the session takes for an answer never
counts, so a policy may compute for hours; our simulator detects by its connection that the run's process has died.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from spillway.base import durable
from spillway.base.errors import PeerLost
from spillway.core import Stopwatch
from spillway.experiments.run import memory, offspring
from spillway.experiments.run.errors import RunFailed, SpecError
from spillway.experiments.run.player_files import PREFIX, PlayerResult
from spillway.experiments.run.prepared_input import checked
from spillway.experiments.run.sessions import session_of
from spillway.experiments.run.spec import Engine, Playing, RunSpec, Task, Transport
from spillway.simulator.reading.events import drains

if TYPE_CHECKING:
    from spillway.schedulers.service.server import Tape

BATSIM_VARIABLE = "BATSIM"
"""Environment variable with the path of Batsim, if not on PATH."""

LOG = "simulator.log"
_CONTAINER = "spillway.experiments.run.docker_engine"
"""Module that runs Batsim in a container."""

OURS = ("-m", "spillway", "simulate")
"""Part of the command that starts our own simulator."""

QUIET = ("--disable-schedule-tracing", "--disable-machine-state-tracing")
"""Options that suppress the files that a campaign does not read."""

LONGEST_PATH = 100
"""Characters of a socket's path that every system accepts."""


def play_over_zmq(
    task: Task,
    folder: Path,
    session: Stopwatch,
    *,
    quiet: bool = True,
    recorder: Tape | None = None,
    spelled: Callable[[RunSpec, Path, Path, str], list[str]] | None = None,
) -> PlayerResult:
    """Start a run's simulator and serve it until its end; give it up when it is silent for longer than the task allows.

    ``spelled`` returns the options of another version than Batsim 4 (:func:`arguments`), which may also use another
    protocol.

    Raises
    ------
    RunFailed
        The simulator ended early or hangs; the message has its last output.
    SpillwayError
        The session refused a message.
    """
    from spillway.protocol.detect import AnyBatsim  # both codecs, which no other engine needs
    from spillway.schedulers.service.server import serve  # loads ZeroMQ, which runs in this process do not need

    codec = AnyBatsim(dynamic_jobs=session_of(task.run).needs().dynamic_jobs)
    began = sum(os.times()[2:4])
    with contextlib.ExitStack() as stack:
        log = stack.enter_context(durable.open_binary(folder / LOG))
        place = stack.enter_context(_endpoint(task.simulator))
        started: list[subprocess.Popen[bytes]] = []

        def start(endpoint: str) -> None:
            address = endpoint.replace("127.0.0.1", "localhost")
            options = (spelled or arguments)(task.run, task.root, folder, address)
            command = [*task.simulator, *options, *(QUIET if quiet else ())]
            started.append(
                stack.enter_context(offspring.running(command, log.fileno(), tie=not _sees_to_itself(command)))
            )

        def check_alive() -> None:
            if started[0].poll() is not None:
                raise RunFailed(_last_words(started[0], folder / LOG))

        def note(text: str) -> None:
            os.write(log.fileno(), f"schedulers: {text}\n".encode())

        try:
            serve(
                session, place, codec, watchdog_s=task.playing.silence_s, on_bound=start, check_alive=check_alive,
                note=note, recorder=recorder,
            )  # fmt: skip
        except PeerLost as lost:
            with contextlib.suppress(subprocess.TimeoutExpired):
                started[0].wait(offspring.GRACE_S)
            check_alive()
            raise RunFailed(f"{lost}: {offspring.tail(folder / LOG)}") from None
        code = _wait(started[0])
    if code != 0:
        raise RunFailed(f"the simulator ended with exit code {code}: {offspring.tail(folder / LOG)}")
    if not any(folder.rglob("*jobs.csv")):
        raise RunFailed(f"the simulator left no {PREFIX}_jobs.csv: {offspring.tail(folder / LOG)}")
    return PlayerResult(sum(os.times()[2:4]) - began, memory.children_peak_bytes())


def simulator_command(played: Playing | RunSpec) -> tuple[str, ...]:
    """Command of the simulator that a run needs in a separate process; empty where it runs in this one.

    Raises
    ------
    SpecError
        Batsim is requested and not installed, or an image without its engine.
    """
    engine = played.engine
    if engine is Engine.DOCKER:
        from spillway.experiments.run import docker_engine

        return docker_engine.command(played.image)
    if played.image:
        raise SpecError(f"an image ({played.image}) is for the engine 'docker', but the engine is {engine.value!r}")
    if engine is not Engine.BATSIM:
        if played.transport is not Transport.ZMQ:
            return ()
        return (sys.executable, *OURS, "--engine", engine.value, "--no-wall-clock", "--fail-on-deadlock")
    given = os.environ.get(BATSIM_VARIABLE, "")
    found = shutil.which(given or "batsim")
    if found is None:
        where = f"{BATSIM_VARIABLE}={given!r} is no program" if given else "there is no 'batsim' on PATH"
        raise SpecError(
            f"{where}; install Batsim 4 or set {BATSIM_VARIABLE} to its program, or use the embedded simulator "
            f"(--engine fluid)"
        )
    return (found,)


def arguments(run: RunSpec, root: Path, folder: Path, endpoint: str) -> list[str]:
    """Batsim 4's options for a run, after a check of its inputs.

    See :func:`spillway.experiments.run.prepared_input.checked`.
    """
    options = ["-p", str(checked(root, run.platform).resolve()), "-w", str(checked(root, run.workload).resolve())]
    options += ["-s", endpoint, "-e", str((folder / PREFIX).resolve())]
    if run.events is not None:
        events = checked(root, run.events).resolve()
        options += ["--events", str(events), *(["--forward-unknown-events"] if drains(events) else [])]
    needed = session_of(run).needs().options
    return [*options, *(f"--enable-{name.replace('_', '-')}" for name, is_needed in needed.items() if is_needed)]


def _sees_to_itself(command: Sequence[str]) -> bool:
    """Whether a simulator detects the end of its parent process: it must then still remove its container."""
    return _CONTAINER in command


@contextlib.contextmanager
def _endpoint(program: Sequence[str]) -> Iterator[str]:
    """Address of the service: closed to other users where the simulator is ours, on the loopback for a Batsim.

    A port of the loopback is open to all users of the machine; a second connection is refused.
    """
    if not any(tuple(program[at : at + 2]) == OURS for at in range(len(program))):
        yield "tcp://127.0.0.1:*"
        return
    with tempfile.TemporaryDirectory(prefix="spillway-") as folder:  # for this user only
        path = Path(folder) / "door"
        yield f"ipc://{path}" if len(str(path)) <= LONGEST_PATH else "tcp://127.0.0.1:*"


def _wait(process: subprocess.Popen[bytes]) -> int:
    try:
        return process.wait(offspring.GRACE_S)
    except subprocess.TimeoutExpired:
        raise RunFailed(f"the simulation has ended, but its process has not within {offspring.GRACE_S:g} s") from None


def _last_words(process: subprocess.Popen[bytes], log: Path) -> str:
    if process.returncode == 0:
        return f"the simulation deadlocked (its process ended without saying so): {offspring.tail(log)}"
    return f"the simulator's process ended with exit code {process.returncode} in the middle: {offspring.tail(log)}"

"""Tested schedulers: a policy in this process, or any command that speaks Batsim 4's or Batsim 5's protocol."""

from __future__ import annotations

import contextlib
import itertools
import shutil
import socket
import subprocess
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path

from spillway.base import durable
from spillway.base.errors import DecisionRefused, PeerLost, ProtocolError, SpillwayError
from spillway.base.plugins import split_spec
from spillway.core import Scheduler as CoreScheduler
from spillway.experiments.run import offspring
from spillway.experiments.run.errors import RunFailed, SpecError
from spillway.experiments.trials.observer import Breach, Observer
from spillway.experiments.trials.play import WorldObservations, simulate
from spillway.experiments.trials.world import World
from spillway.protocol.batsim4 import codec as batsim4
from spillway.protocol.batsim5.codec import Batsim5Simulator
from spillway.protocol.messages import Message, Reply
from spillway.schedulers.assembly import SessionSpec
from spillway.schedulers.description import ModelSpec, PolicySpec
from spillway.simulator.errors import Deadlock, SchedulerRefusal
from spillway.simulator.options import SimulationOptions
from spillway.simulator.wire.handshake import shake_hands
from spillway.simulator.wire.links import InProcessLink, Link
from spillway.simulator.wire.zmq_link import ZmqLink

SOCKET, PORT = "{socket}", "{port}"
"""Placeholders in a command for the endpoint of a socket in a private folder, and for a free port of the loopback."""


class Scheduler(ABC):
    """A scheduler that is started anew for each world; its conversation with the simulator is observed."""

    name: str
    """Name in reports."""

    @abstractmethod
    def talk(self) -> contextlib.AbstractContextManager[tuple[Link, SimulationOptions]]:
        """A conversation with a fresh scheduler, which ends with the context, and the options that it has requested."""

    def play(self, world: World) -> WorldObservations:
        """Play a world once."""
        observer = Observer()
        try:
            with self.talk() as (link, options):
                assert not isinstance(link.exchange, CoreScheduler)  # messages are watched as they are sent
                observer.answer = link.exchange
                simulate(world, observer, base=options)
        except Breach:
            pass
        except Deadlock:
            observer.stuck()
        except (ProtocolError, SchedulerRefusal, DecisionRefused, PeerLost, RunFailed) as error:
            observer.faults.setdefault("protocol", " ".join(str(error).split()))
        starts = {int(job_id.partition("!")[2]): at_s for job_id, at_s in observer.starts.items()}
        return WorldObservations(observer.faults, starts)


class OwnPolicy(Scheduler):
    """A policy in this process.

    Parameters
    ----------
    text
        ``NAME[:option=value,...]`` or ``FILE.py:CLASS[:option=value,...]``.

    Raises
    ------
    OptionError
        It is unknown, or does not schedule rigid jobs.
    """

    def __init__(self, text: str) -> None:
        self.name = text
        policy, options = split_spec(text)
        self._spec = spec = SessionSpec(PolicySpec(policy, options={**options}), ModelSpec("rigid"))
        spec.check()

    @contextlib.contextmanager
    def talk(self) -> Iterator[tuple[Link, SimulationOptions]]:
        """Open a new session; an exception of the policy ends the play as the crash of a process does."""
        session = self._spec.session()

        def handle(message: Message) -> Reply:
            try:
                return session.handle(message)
            except SpillwayError:
                raise
            except Exception as error:
                raise RunFailed(f"the policy fails with {type(error).__name__}: {error}") from error

        yield InProcessLink(handle), SimulationOptions()


LAST_WORDS_S = 5.0
"""Time for a process that closed its connection to write the reason (s of real time); no verdict depends on it."""


class Command(Scheduler):
    """A scheduler in a separate process, one for each world.

    Parameters
    ----------
    words
        Program and arguments, one of which contains :data:`SOCKET` or :data:`PORT`.
    silence_s
        Time (s) after which a reply counts as missing.
    batsim
        Version of the protocol that it speaks: 4 or 5.

    Raises
    ------
    SpecError
        The program does not exist, or no argument contains the endpoint.
    """

    def __init__(self, words: Sequence[str], silence_s: float, batsim: int = 4) -> None:
        if not any(SOCKET in word or PORT in word for word in words):
            raise SpecError(
                f"the command has no place for the endpoint: write {SOCKET} in place of an endpoint (--bind {SOCKET}), "
                f"or {PORT} in place of a port (-s tcp://*:{PORT})"
            )
        if shutil.which(words[0]) is None:
            raise SpecError(f"cannot start {words[0]!r}: there is no such program")
        self.name = " ".join(words)
        self.words, self.silence_s, self.batsim = words, silence_s, batsim

    @contextlib.contextmanager
    def talk(self) -> Iterator[tuple[Link, SimulationOptions]]:
        """Start a new process; it and its child processes are gone when the context ends."""
        with contextlib.ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="spillway-")))
            path, port = folder / "door", _free_port() if any(PORT in word for word in self.words) else 0
            words = [word.replace(SOCKET, f"ipc://{path}").replace(PORT, str(port)) for word in self.words]
            log = folder / "log"
            output = stack.enter_context(durable.open_binary(log))
            process = stack.enter_context(offspring.running(words, output.fileno(), whole_group=True))

            seen = itertools.count()

            def check_alive() -> None:
                if process.poll() is not None and next(seen):  # its last reply may be on its way
                    code, said = process.returncode, offspring.tail(log)
                    raise RunFailed(f"the scheduler's process ended with exit code {code} before it replied: {said}")

            endpoint = f"tcp://127.0.0.1:{port}" if port else f"ipc://{path}"
            codec = Batsim5Simulator() if self.batsim == 5 else batsim4
            link = ZmqLink(endpoint, self.silence_s, check_alive=check_alive, codec=codec)
            stack.callback(link.close)
            options = SimulationOptions()
            try:
                yield link, shake_hands(link, codec, options) if isinstance(codec, Batsim5Simulator) else options
            except PeerLost as error:  # its connection closes a moment before its process ends
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(LAST_WORDS_S)
                raise RunFailed(f"{error}; the last output of its process: {offspring.tail(log)}") from None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])

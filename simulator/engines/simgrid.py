"""The reference engine: SimGrid itself, through Debian's ``python3-simgrid``, in a child process per engine.

SimGrid allows one simulation per process, ends the process on errors, and its binding runs every actor in a thread;
the child (:mod:`spillway.simulator.engines.simgrid_child`) isolates all that, is pinned to one core, and ends with its
parent.
"""

from __future__ import annotations

import importlib.machinery
import itertools
import lzma
import math
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, NamedTuple, Self

from spillway.platforms.model import Platform
from spillway.platforms.simgrid.xml_reader import load_platform
from spillway.simulator.errors import EngineFailed, EngineUnavailable

FOLDERS = ("/usr/lib/python3/dist-packages", "/usr/local/lib/python3/dist-packages")
"""Folders in which distributions install the binding, beside the interpreter's own folders."""
_HINT = (
    "`apt-get install python3-simgrid` (Debian 12 or later), or use the engine `fluid`, which gives the same results"
)
_ENDED_WITHIN_S = 5.0
"""Seconds that a child has to exit before it is killed."""
_LOG_SHOWN = 2000
"""Last bytes of SimGrid's output that an error shows."""


class Binding(NamedTuple):
    """An interpreter that can import SimGrid's binding, and the folders in which it searches."""

    interpreter: str
    folders: tuple[str, ...]


def find_binding(folders: Sequence[str] = FOLDERS) -> Binding:
    """Find SimGrid's Python binding, first for the running interpreter, then for others on the ``PATH``.

    Raises
    ------
    EngineUnavailable
        If it is not installed, or no interpreter of this machine can load it.
    """
    if importlib.machinery.PathFinder.find_spec("simgrid", [path for path in sys.path if path]) is not None:
        return Binding(sys.executable, tuple(path for path in sys.path if path))
    if importlib.machinery.PathFinder.find_spec("simgrid", list(folders)) is not None:
        return Binding(sys.executable, tuple(folders))
    built = list(itertools.chain.from_iterable(Path(folder).glob("simgrid.cpython-*.so") for folder in folders))
    for file in built:
        version = file.name.split("-")[1]  # "311" in simgrid.cpython-311-x86_64-linux-gnu.so
        interpreter = shutil.which(f"python{version[0]}.{version[1:]}")
        if interpreter is not None:
            return Binding(interpreter, tuple(folders))
    found = f"; found only {', '.join(map(str, built))}, for which no interpreter is installed" if built else ""
    raise EngineUnavailable(f"the engine `simgrid` needs SimGrid's Python binding{found}. Install it with {_HINT}")


class SimgridEngine:
    """An engine as :class:`spillway.core.Engine` describes it; it cannot look ahead.

    Parameters
    ----------
    path
        SimGrid XML, also packed (``.xz``).
    platform
        The same platform as read by :func:`platforms.load_platform`; its host order counts. Read here by default.

    Raises
    ------
    EngineUnavailable
        If the binding is not installed.
    EngineFailed
        If SimGrid does not load the platform.
    """

    ends_at_once = True

    def __init__(self, path: str | Path, platform: Platform | None = None) -> None:
        self.platform = load_platform(path) if platform is None else platform
        binding = find_binding()
        self._clock = 0.0
        self._next_handle = 0
        self._active: set[int] = set()
        self._queued: list[tuple[str, tuple[Any, ...]]] = []
        self._resources = ExitStack()
        self._log = self._resources.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 (the stack closes it)
        self._process = self._spawn(binding, Path(path))
        self._receive()

    def _spawn(self, binding: Binding, path: Path) -> subprocess.Popen[bytes]:
        folder = Path(self._resources.enter_context(tempfile.TemporaryDirectory(prefix="simgrid-")))
        if path.suffix == ".xz":
            unpacked = folder / "platform.xml"
            with lzma.open(path) as packed, unpacked.open("wb") as file:
                shutil.copyfileobj(packed, file)
            path = unpacked
        names = folder / "hosts.txt"
        names.write_text("".join(f"{host.name}\n" for host in self.platform.hosts), encoding="utf-8")
        child = Path(__file__).with_name("simgrid_child.py")
        process = subprocess.Popen(
            [binding.interpreter, str(child), str(path), str(names), *binding.folders],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            process_group=0,  # the terminal's Ctrl-C is for this process to handle, not for SimGrid
        )
        self._resources.callback(self._end, process)
        return process

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        """End the child: it exits when its input closes."""
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()
        try:
            process.wait(_ENDED_WITHIN_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    @property
    def clock(self) -> float:
        """Seconds since the start of the simulation."""
        return self._clock

    @property
    def active(self) -> int:
        """Number of tasks that have started and neither ended nor been cancelled."""
        return len(self._active)

    def _queue(self, name: str, *arguments: Any) -> None:
        self._queued.append((name, arguments))

    def _ask(self, name: str, *arguments: Any) -> Any:
        """Send all queued commands and one more; return its result."""
        self._queue(name, *arguments)
        if self._process.stdin is None or self._process.stdin.closed:
            raise EngineFailed("the engine `simgrid` is closed")
        with suppress(BrokenPipeError):  # the answer, or its lack, shows why
            pickle.dump(self._queued, self._process.stdin, protocol=4)
            self._process.stdin.flush()
        self._queued.clear()
        return self._receive()

    def _receive(self) -> Any:
        assert self._process.stdout is not None
        try:
            kind, result = pickle.load(self._process.stdout)
        except EOFError:
            kind, result = "failed", "it ended without an answer"
        if kind != "failed":
            return result
        self._process.wait(_ENDED_WITHIN_S)
        self._log.seek(max(0, self._log.seek(0, os.SEEK_END) - _LOG_SHOWN))
        printed = self._log.read().decode(errors="replace").strip()
        self.close()
        raise EngineFailed(f"SimGrid's process failed: {result}; it printed: {printed or 'nothing'}")

    def _new_handle(self) -> int:
        handle = self._next_handle
        self._next_handle += 1
        self._active.add(handle)
        return handle

    def start(
        self,
        hosts: Sequence[int],
        flops: Sequence[float],
        each: float,
        sources: Sequence[int],
        destinations: Sequence[int],
        amounts: Sequence[float],
    ) -> int:
        """Start a task."""
        handle = self._new_handle()
        work = [*flops] if len(flops) == len(hosts) else [flops[0] if flops else 0.0] * len(hosts)
        if each > 0.0:
            self._queue("start_all_to_all", handle, [*hosts], work, each)
        else:
            self._queue("start", handle, [*hosts], work, [*sources], [*destinations], [*amounts])
        return handle

    def sleep(self, seconds: float) -> int:
        """Start a pause."""
        handle = self._new_handle()
        self._queue("sleep", handle, seconds)
        return handle

    def cancel(self, handle: int) -> float:
        """Remove a task; return its progress, or -1."""
        if handle not in self._active:
            return -1.0
        self._active.remove(handle)
        return float(self._ask("cancel", handle))

    def progress(self, handle: int) -> float:
        """Progress of a task, or -1."""
        return float(self._ask("progress", handle)) if handle in self._active else -1.0

    def next_completion(self) -> float:
        """Not implemented: SimGrid cannot look ahead."""
        raise NotImplementedError("the engine `simgrid` cannot look ahead; use advance")

    def advance(self, until: float) -> list[int]:
        """Move the clock; return the tasks that ended."""
        if until == math.inf and not self._active:
            return []
        now, late, ended = self._ask("advance", until)
        # SimGrid ends the wait for `until` up to a nanosecond early, together with tasks that end then: they came first
        self._clock = until if late and not ended else max(self._clock, min(now, until))
        self._active.difference_update(ended)
        return list(ended)

    def change_speed(self, host: int, speed: float) -> None:
        """Put a host into a power state of this speed."""
        self._queue("pstate", host, self.platform.hosts[host].speeds.index(speed))

    def cpu_s(self) -> float:
        """CPU seconds that the child process has used."""
        return float(self._ask("cpu"))

    def close(self) -> None:
        """End the child process and wait for it."""
        self._resources.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *about: object) -> None:
        self.close()

"""Measured from outside: how long every task computed and was blocked, and how long every answer took."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from platforms.model import Platform
from schedulers.core.session import Session
from schedulers.wire.messages import Message, Reply
from simulator.engines.base import Engine, TaskSpec


class MeteredEngine:
    """Passes everything on to an engine and notes each task that ends.

    Parameters
    ----------
    engine
        Does the work.
    platform
        The engine's: its speeds give how long a task computes.

    Attributes
    ----------
    rows
        ``(nodes, time held in s, time computing in s)`` of every task that ended. What it did not compute, it was
        blocked. Only tasks that ran to their end count.
    """

    def __init__(self, engine: Engine, platform: Platform) -> None:
        self._engine = engine
        self._speeds = platform.speeds
        self._stores = {index for index, host in enumerate(platform.hosts) if host.properties.get("role") == "storage"}
        self._running: dict[int, tuple[int, float, float]] = {}
        self.rows: list[tuple[int, float, float]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def start_many(self, tasks: Sequence[TaskSpec]) -> list[int]:
        """Start tasks and note them."""
        handles = self._engine.start_many(tasks)
        now = self._engine.clock
        for handle, task in zip(handles, tasks, strict=True):
            speeds = self._speeds[list(task.hosts)]
            flops = np.broadcast_to(np.asarray(task.flops, np.float64), speeds.shape)
            uncontended_s = float(np.divide(flops, speeds, out=np.zeros_like(flops, np.float64), where=flops > 0).max())
            nodes = sum(host not in self._stores for host in task.hosts)
            self._running[handle] = (nodes, now, uncontended_s)
        return handles

    def cancel(self, handle: int) -> float:
        """Take a task away; it does not count."""
        self._running.pop(handle, None)
        return self._engine.cancel(handle)

    def advance(self, until: float) -> list[int]:
        """Let time pass and note what ended."""
        ended = self._engine.advance(until)
        now = self._engine.clock
        for handle in ended:
            if handle in self._running:
                nodes, start_s, uncontended_s = self._running.pop(handle)
                self.rows.append((nodes, now - start_s, min(uncontended_s, now - start_s)))
        return ended


class Stopwatch:
    """Times every answer of a session but the first, in which the machine is read.

    Attributes
    ----------
    wall_s, cpu_s
        Wall-clock seconds, and CPU seconds of the thread, of every answer: what else the machine does counts in the
        former alone.
    first_s
        CPU seconds of the first answer.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self.wall_s: list[float] = []
        self.cpu_s: list[float] = []
        self.first_s: float | None = None

    def handle(self, message: Message) -> Reply:
        """Pass the message on and measure the answer."""
        cpu, wall = time.thread_time_ns(), time.perf_counter_ns()
        reply = self._session.handle(message)
        wall, cpu = time.perf_counter_ns() - wall, time.thread_time_ns() - cpu
        if self.first_s is None:
            self.first_s = cpu / 1e9
        else:
            self.wall_s.append(wall / 1e9)
            self.cpu_s.append(cpu / 1e9)
        return reply

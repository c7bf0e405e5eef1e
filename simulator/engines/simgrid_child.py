"""The process in which SimGrid runs for :mod:`spillway.simulator.engines.simgrid`.

It may run under another interpreter than its parent (the binding is built for one version of Python), so it imports
only the standard library and SimGrid's binding, nothing of spillway. It reads lists of commands from standard input and
answers on standard output, both pickled; the last command of a list moves the clock or is a query, and only that has an
answer.

One actor, the *driver*, executes the commands; every running task has a *waiter*, an actor that waits for its end.
Waiters are used again: each is a thread, and the binding never frees the arguments of a new actor.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any, BinaryIO

_CLOSED = 0
"""Exit code when the parent has closed the pipe."""
SHORTEST_S = 1e-15
"""Seconds to wait if no time may pass: SimGrid takes 0 for no limit."""
FAILED = 70
"""Exit code after an error, which was sent as the last answer."""


class _Driver:
    """Executes the parent's commands inside SimGrid.

    Parameters
    ----------
    simgrid
        The binding.
    hosts
        SimGrid's hosts in the parent's order.
    commands, answers
        The pipes.
    """

    def __init__(self, simgrid: Any, hosts: list[Any], commands: BinaryIO, answers: BinaryIO) -> None:
        self.simgrid = simgrid
        self.hosts = hosts
        self.commands = commands
        self.answers = answers
        self.ends = simgrid.Semaphore(0)
        self.ended: list[int] = []
        self.signalled = False
        self.execs: dict[int, Any] = {}
        self.sleeps: dict[int, tuple[float, float]] = {}
        self.waiters: dict[int, Any] = {}
        self.idle: list[tuple[int, Any]] = []
        self.errands: list[int] = []
        self.handlers: dict[str, Callable[..., Any]] = {
            "start": self.start,
            "start_all_to_all": self.start_all_to_all,
            "sleep": self.sleep,
            "cancel": self.cancel,
            "progress": self.progress,
            "pstate": self.set_pstate,
            "advance": self.advance,
            "cpu": time.process_time,
        }

    @property
    def now(self) -> float:
        """SimGrid's clock."""
        return float(self.simgrid.Engine.clock)

    def run(self) -> None:
        """Execute commands until the parent closes the pipe."""
        try:
            self.answer(("ready", self.now))
            while True:
                try:
                    batch = pickle.load(self.commands)
                except EOFError:
                    os._exit(_CLOSED)
                result: Any = None
                for name, arguments in batch:
                    result = self.handlers[name](*arguments)
                self.answer(("done", result))
        except self.simgrid.ActorKilled:  # SimGrid kills all actors when it finds a deadlock
            self.answer(("failed", "no task can make progress"))
            os._exit(FAILED)
        except BaseException:
            self.fail()

    def answer(self, message: tuple[str, Any]) -> None:
        """Send one answer."""
        pickle.dump(message, self.answers, protocol=4)
        self.answers.flush()

    def fail(self) -> None:
        """Report an error as the last answer: SimGrid would end the process without a message."""
        self.answer(("failed", traceback.format_exc()))
        os._exit(FAILED)

    def start(
        self, handle: int, hosts: list[int], flops: list[float], src: list[int], dst: list[int], amounts: list[float]
    ) -> None:
        """Start a task with transfers between some positions."""
        matrix = [0.0] * len(hosts) ** 2
        for i, j, amount in zip(src, dst, amounts, strict=True):
            matrix[i * len(hosts) + j] += amount
        self.start_matrix(handle, hosts, flops, matrix)

    def start_matrix(self, handle: int, hosts: list[int], flops: list[float], matrix: list[float]) -> None:
        """Start a task with a matrix of bytes, row after row."""
        places = [self.hosts[host] for host in hosts]
        task = self.simgrid.this_actor.exec_init(places, flops, matrix)
        task.start()
        self.execs[handle] = task
        self.send_waiter(handle)

    def start_all_to_all(self, handle: int, hosts: list[int], flops: list[float], amount: float) -> None:
        """Start a task with the same bytes between all ordered pairs."""
        n = len(hosts)
        matrix = [amount] * (n * n)
        matrix[:: n + 1] = [0.0] * n
        self.start_matrix(handle, hosts, flops, matrix)

    def sleep(self, handle: int, seconds: float) -> None:
        """Start a sleep."""
        self.sleeps[handle] = (self.now, seconds)
        self.send_waiter(handle)

    def send_waiter(self, handle: int) -> None:
        """Let an idle waiter, or a new one, wait for the end of a task."""
        if self.idle:
            place, actor = self.idle.pop()
            self.errands[place] = handle
            self.waiters[handle] = actor
            actor.resume()
            return
        place = len(self.errands)
        self.errands.append(handle)
        self.waiters[handle] = self.simgrid.Actor.create("waiter", self.hosts[0], self.wait, place)

    def wait(self, place: int) -> None:
        """Body of a waiter."""
        try:
            me = self.simgrid.Actor.self()
            while True:
                handle = self.errands[place]
                if self.wait_for(handle):
                    self.ended.append(handle)
                    if not self.signalled:
                        self.signalled = True
                        self.ends.release()
                self.waiters.pop(handle, None)  # absent if a new waiter's sleep was of no length
                self.idle.append((place, me))
                self.simgrid.this_actor.suspend()
        except self.simgrid.ActorKilled:
            raise
        except BaseException:
            self.fail()

    def wait_for(self, handle: int) -> bool:
        """Wait for the end of one task; return whether it ended, or else was cancelled."""
        if handle in self.sleeps:
            self.simgrid.this_actor.sleep_for(self.sleeps[handle][1])
            del self.sleeps[handle]
            return True
        try:
            self.execs[handle].wait()
        except self.simgrid.CancelException:
            return False
        del self.execs[handle]
        return True

    def progress(self, handle: int) -> float:
        """Done share of a task."""
        if handle in self.sleeps:
            begin, seconds = self.sleeps[handle]
            return (self.now - begin) / seconds if seconds else 1.0
        return 1.0 - float(self.execs[handle].remaining_ratio)

    def cancel(self, handle: int) -> float:
        """Remove a task; return its progress, which SimGrid drops once it is cancelled."""
        progress = self.progress(handle)
        if handle in self.sleeps:
            del self.sleeps[handle]
            self.waiters.pop(handle).kill()
        else:
            self.execs.pop(handle).cancel()
            self.simgrid.this_actor.yield_()
        return progress

    def set_pstate(self, host: int, pstate: int) -> None:
        """Change the power state of a host."""
        self.hosts[host].pstate = pstate

    def advance(self, until: float) -> tuple[float, bool, list[int]]:
        """Move the clock; return its time, whether that is ``until``, and the tasks that ended there."""
        span = until - self.now
        late = False
        if span == float("inf"):
            self.ends.acquire()
        else:
            late = self.ends.acquire_timeout(max(span, SHORTEST_S))
        if late:
            self.simgrid.this_actor.yield_()  # ends at the same instant may still be on their way here
            if not self.ends.would_block:
                self.ends.acquire()
        self.signalled = False
        ended = sorted(self.ended)
        self.ended.clear()
        return self.now, late, ended


def main(path: str, names_file: str, *folders: str) -> None:
    """Load a platform and execute the parent's commands."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # SimGrid ends the process on it; the parent handles it
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing that SimGrid prints may get between the answers
    if hasattr(os, "sched_setaffinity"):  # actors are threads that take turns: several cores only slow them down
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cores[os.getpid() % len(cores)]})
    here = os.path.dirname(os.path.realpath(__file__))  # its simgrid.py must not be taken for the binding
    sys.path[:] = [path for path in sys.path if os.path.realpath(path) != here]
    sys.path.extend(folders)
    import simgrid

    engine = simgrid.Engine(["simgrid", "--log=root.thresh:warning"])
    simgrid.Engine.set_config("host/model:ptask_L07")
    engine.load_platform(path)
    with open(names_file, encoding="utf-8") as file:
        hosts = [simgrid.Host.by_name(name) for name in file.read().splitlines()]
    driver = _Driver(simgrid, hosts, sys.stdin.buffer, answers)
    simgrid.Actor.create("driver", hosts[0], driver.run)
    engine.run()
    driver.answer(("failed", "SimGrid ended although tasks are left: nothing can make progress any more"))
    os._exit(FAILED)


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Worker processes: one fresh process per run, so that no run can disturb another.

A small server process imports the numerical code once; each run is forked from it, which costs milliseconds and
gives it memory of its own. A run that dies (killed, out of memory) is a failed run, not a failed campaign.

A single run needs no protection from others: it is played in the calling process (:meth:`Pool.run_here`), which saves
a second process with all its modules.
"""

from __future__ import annotations

import contextlib
import functools
import multiprocessing
import multiprocessing.forkserver
import multiprocessing.resource_tracker
import os
import signal
import sys
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from typing import Any, Generic, Protocol, TypeVar

from spillway.base.arguments import SIGNALLED
from spillway.base.main_script import without_main_script
from spillway.base.signals import deferred, raising
from spillway.base.users_line import users_line
from spillway.experiments.campaign.workers import signals
from spillway.experiments.run import offspring

Task = TypeVar("Task")

PRELOADED = "spillway.experiments.campaign.workers.preload"
POLL_S = 0.5
LAST_WORDS_S = 5.0


@dataclass(frozen=True)
class Progress:
    """Progress of a run.

    Attributes
    ----------
    time_s
        Simulated time.
    done, submitted, waiting
        Numbers of jobs that have ended, have been submitted, are in the queue.
    """

    time_s: float
    done: int
    submitted: int
    waiting: int


@dataclass(frozen=True)
class RunStart:
    """A run has begun."""


@dataclass(frozen=True)
class RunEnd:
    """A run has ended."""


@dataclass(frozen=True)
class RunFailure:
    """A run failed; ``cause`` is one line, ``details`` the traceback, if any."""

    cause: str
    details: str = ""


News = RunStart | Progress | RunEnd | RunFailure
Report = Callable[[Progress], None]


class Executor(Protocol[Task]):
    """Runs tasks somewhere."""

    def run(self, tasks: Iterable[Task]) -> Generator[tuple[Task, News], None, None]:
        """Yield events as they occur; each task ends with ``RunEnd`` or ``RunFailure``.

        Closing the iterator (or an exception in its user) ends all runs.
        """
        ...


class Pool(Generic[Task]):
    """Runs ``work(task, report)`` for each task in processes of their own.

    Parameters
    ----------
    work
        A function that can be imported by name; returning is success, raising is failure.
    workers
        Number of concurrent processes, at least 1.
    """

    def __init__(self, work: Callable[[Task, Report], None], workers: int) -> None:
        self._work = work
        self._workers = workers
        self._context = _context()
        self._running: dict[Connection, tuple[Task, BaseProcess]] = {}

    def run(self, tasks: Iterable[Task]) -> Generator[tuple[Task, News], None, None]:
        """See :meth:`Executor.run`; in a daemonic process, which may have no children, the tasks run in it itself."""
        todo = iter(tasks)
        if multiprocessing.current_process().daemon:
            yield from self._run_all_here(todo)
            return
        try:
            while True:
                yield from self._fill(todo)
                if not self._running:
                    return
                for ready in wait(list(self._running), POLL_S):
                    assert isinstance(ready, Connection)
                    yield from self._hear(ready)
        finally:
            self._end_all()

    def run_here(self, task: Task, hear: Callable[[News], None]) -> None:
        """Run one task in this process; ``hear`` is called with each event as it occurs.

        Raises
        ------
        KeyboardInterrupt
            A signal arrived; the task was left unfinished.
        """
        hear(RunStart())
        try:
            news = _end_of(self._work, task, hear)
        except SystemExit as end:  # of an outside policy: it would end this process and the remaining tasks
            news = RunFailure(_obituary(end.code if isinstance(end.code, int) else 1))
        hear(news)

    def _run_all_here(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, News]]:
        for task in tasks:
            heard: list[News] = []
            self.run_here(task, heard.append)
            yield from ((task, news) for news in heard)

    def _fill(self, todo: Iterator[Task]) -> Iterator[tuple[Task, News]]:
        while len(self._running) < self._workers:
            task = next(todo, None)
            if task is None:
                return
            _ensure_server(self._context)
            ours, theirs = self._context.Pipe(duplex=False)
            process = self._context.Process(target=_main, args=(self._work, task, theirs), daemon=True)  # type: ignore[attr-defined]
            with deferred():  # a signal between the two would leave a run that nobody ends
                with without_main_script(_plain(self._work), type(task)):
                    process.start()
                self._running[ours] = (task, process)
            theirs.close()
            yield task, RunStart()

    def _hear(self, connection: Connection) -> Iterator[tuple[Task, News]]:
        task, process = self._running[connection]
        try:
            news: News = connection.recv()
        except (EOFError, OSError):
            process.join(LAST_WORDS_S)
            news = RunFailure(_obituary(process.exitcode))
        if not isinstance(news, Progress):
            del self._running[connection]
            connection.close()
            process.join(LAST_WORDS_S)
            if process.is_alive():
                process.kill()
        yield task, news

    def _end_all(self) -> None:
        for _, process in self._running.values():
            process.terminate()
        for connection, (_, process) in self._running.items():
            process.join(LAST_WORDS_S)
            if process.is_alive():
                process.kill()
                process.join()
            connection.close()  # not before: the process would end at once, without tidying up
        self._running.clear()


def _main(work: Callable[[Any, Report], None], task: Any, connection: Connection) -> None:
    """Run one task in its own process and report the outcome."""
    offspring.die_with_parent(os.getppid())
    offspring.end_without_reader(connection.fileno())  # the fork server, its parent, runs as long as any worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as Ctrl-C: the driver receives it, too, and ends its workers
    try:
        with raising(lambda _: SystemExit(1), (signal.SIGTERM,)):
            connection.send(_end_of(work, task, connection.send))
    except BrokenPipeError:
        return
    except KeyboardInterrupt as stop:
        sys.exit(SIGNALLED + signals.number_of(stop))
    finally:
        connection.close()


def _end_of(work: Callable[[Any, Report], None], task: Any, report: Report) -> News:
    """Do a task, and return its end."""
    try:
        work(task, report)
    except Exception as error:
        return RunFailure(describe(error), traceback.format_exc())
    return RunEnd()


def describe(error: BaseException) -> str:
    """One line about an error: its message if it has an exit code (spillway's own error), else type, message and the
    line of the user's file."""
    text = " ".join(str(error).split())
    if hasattr(error, "exit_code") and text:
        return text
    return f"{type(error).__name__}{f': {text}' if text else ''}{users_line(error)}"


def _plain(work: Callable[..., Any]) -> Callable[..., Any]:
    """The function below any ``functools.partial``."""
    return _plain(work.func) if isinstance(work, functools.partial) else work


def _obituary(exit_code: int | None) -> str:
    if exit_code is not None and exit_code < 0:
        name = signal.Signals(-exit_code).name if -exit_code in set(signal.Signals) else str(-exit_code)
        hint = " (out of memory?)" if name == "SIGKILL" else ""
        return f"its process was ended by {name}{hint}"
    return f"its process ended early, with exit code {exit_code}"


def begin_loading() -> None:
    """Start the server process of later pools: it loads the modules of runs while inputs are prepared."""
    _ensure_server(_context())


def _in_child() -> None:
    """Forget the server in a forked process, of which it is no child: the first pool there starts its own."""
    server: Any = multiprocessing.forkserver._forkserver
    if server._forkserver_pid is not None:
        os.close(server._forkserver_alive_fd)
    server.__init__()


os.register_at_fork(after_in_child=_in_child)


def _ensure_server(context: BaseContext) -> None:
    """Start the server process if the start method needs one and it does not run yet.

    Ctrl-C, which all processes receive, is handled by this process alone (once the server runs): the server would print
    a traceback of its imports. Modules are not searched for in the working folder, which may be a stranger's.
    """
    if context.get_start_method() != "forkserver":
        return
    with _with_own_modules():
        multiprocessing.resource_tracker.ensure_running()  # first, since its start unblocks signals
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # the server inherits the mask
        try:
            multiprocessing.forkserver.ensure_running()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _with_own_modules() -> Iterator[None]:
    """Processes started in here have :func:`spillway.experiments.run.offspring.own_modules`."""
    wanted = offspring.own_modules()
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _context() -> BaseContext:
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([PRELOADED])
    return context

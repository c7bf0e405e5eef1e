"""A policy watched in each of its steps: changes of the view and uses of clocks and random numbers are detected."""

from __future__ import annotations

import contextlib
import datetime
import gc
import os
import random
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from types import FrameType
from typing import Any, TypeVar

import numpy as np

from spillway.schedulers.core.session import Session
from spillway.schedulers.model.decisions import Decision
from spillway.schedulers.policykit.view import Policy, View

MOST_PASSES = 1_000
"""Most passes over a small world; a policy that requests more does so without end."""
_MOST_DECISIONS = 1_000
"""Most decisions of one pass over a small world."""

CPU_S = 3.0
"""Seconds of CPU time for the play of one world; those of the built-in policies take less than 0.4."""

_AGAIN_S = 0.5
"""Further CPU time (s) after which it is interrupted again, if the first interruption was caught."""

Answer = TypeVar("Answer")


class Fault(Exception):
    """A check that a policy fails.

    Parameters
    ----------
    check
        Name of the check (:data:`spillway.experiments.trials.disciplines.CHECKS`).
    words
        The breach, in words.
    """

    def __init__(self, check: str, words: str) -> None:
        super().__init__(words)
        self.check = check
        self.words = words


class WatchedPolicy:
    """A policy with a check around each step.

    Parameters
    ----------
    policy
        The policy.

    Attributes
    ----------
    session
        The session that calls it; must be set before the first pass.
    faults
        Breaches that did not end the play, by check.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._passes = 0
        self.session: Session
        self.faults: dict[str, str] = {}

    def __getattr__(self, name: str) -> Any:
        """Attributes that the session reads from a policy besides its passes (``sharing``, ``starts_moldable``)."""
        return getattr(self.__dict__["_policy"], name)

    def __call__(self, view: View) -> Iterator[Decision]:
        """Run one pass, step by step."""
        self._passes += 1
        if self._passes > MOST_PASSES:
            raise Fault("stops", f"it requests passes without end: more than {MOST_PASSES:,} passes (WakeAt)")
        decisions = self._step(view, lambda: iter(self._iterable(view)))
        for _ in range(_MOST_DECISIONS):
            decision = self._step(view, lambda: next(decisions, None))
            if decision is None:
                return
            yield decision
        raise Fault("stops", f"one pass made more than {_MOST_DECISIONS:,} decisions")

    def line_of(self, error: BaseException) -> str:
        """The last line of the policy's own file in a traceback, in words; "" if the traceback has no such line."""
        own = type(self._policy).__call__.__code__.co_filename
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == own]
        return f" (line {lines[-1]} of {os.path.basename(own)})" if lines else ""

    def _iterable(self, view: View) -> Iterable[Decision]:
        found: Any = self._policy(view)
        if not isinstance(found, Iterable):
            raise Fault("decisions", f"expected an iterable of decisions from a pass, got {type(found).__name__}")
        return found

    def _step(self, view: View, act: Callable[[], Answer]) -> Answer:
        """Let the policy make one step, and compare the view before and after."""
        before, random_before, numpy_before = self._seen(view), random.getstate(), _numpy_state()
        noticed: list[str] = []
        former, collects = sys.getprofile(), gc.isenabled()
        gc.disable()  # calls by a garbage collection are not the policy's
        sys.setprofile(lambda frame, event, called: _notice(frame, event, called, noticed))
        try:
            answer = act()
        except Fault:
            raise
        except Exception as error:
            sys.setprofile(former)
            raise Fault("decisions", f"it fails with {type(error).__name__}: {error}{self.line_of(error)}") from error
        finally:
            sys.setprofile(former)
            if collects:
                gc.enable()
        if noticed:
            self.faults.setdefault("clock and chance", f"it calls {noticed[0]}")
        elif random.getstate() != random_before:
            self.faults.setdefault("clock and chance", "it draws from the module random; view.rng is seeded")
        elif _numpy_state() != numpy_before:
            self.faults.setdefault("clock and chance", "it draws from numpy.random; view.rng is seeded")
        for (what, old), (_, new) in zip(before, self._seen(view), strict=True):
            if old != new:
                self.faults.setdefault("view", f"it changes {what}; only view.notebook and view.timeline are its own")
        return answer

    def _seen(self, view: View) -> list[tuple[str, Any]]:
        """State that a policy must not change; from the book, as ``view.running`` is only made when it is read."""
        machine, book = view.machine, self.session.book
        jobs = [*view.queue, *(running.job for running in book.running.values())]
        return [
            ("view.now_s", view.now_s),
            ("view.queue", [job.id for job in view.queue]),
            ("the members of the view", (id(view.machine), id(view.rng), id(view.notebook), view.unavailable)),
            ("a job", [repr((job.profile, job.extras)) for job in jobs]),
            ("view.running", [*book.running.values()]),
            ("view.held", list(view.held.items())),
            ("view.machine", (machine.node_link.tobytes(), machine.nearest_storages.tobytes(), machine.node_index)),
        ]


_CLOCKS = frozenset(
    function
    for module, names in (
        (time, "time time_ns monotonic monotonic_ns perf_counter perf_counter_ns process_time process_time_ns"),
        (time, "localtime gmtime ctime sleep"),
        (os, "urandom"),
    )
    for name in names.split()
    if (function := getattr(module, name, None)) is not None
)


def _notice(frame: FrameType, event: str, called: Any, noticed: list[str]) -> None:
    """Record a call of a clock or of a source of random numbers."""
    if event == "c_call":
        owner = getattr(called, "__self__", None)
        if called in _CLOCKS if called.__hash__ else False:
            noticed.append(f"{called.__module__}.{called.__name__}(){_where(frame)}")
        elif isinstance(owner, type) and issubclass(owner, datetime.date) and called.__name__ in _NOW:
            noticed.append(f"{owner.__name__}.{called.__name__}(){_where(frame)}")
    elif event == "call" and frame.f_code is random.Random.seed.__code__ and frame.f_locals.get("a") is None:
        noticed.append("random.Random() without a seed")


_NOW = ("now", "utcnow", "today")


def _where(frame: FrameType) -> str:
    return f" (line {frame.f_lineno} of {os.path.basename(frame.f_code.co_filename)})"


def _numpy_state() -> tuple[Any, ...]:
    name, keys, *rest = np.random.get_state()
    return (name, np.asarray(keys).tobytes(), *rest)


class TimeLimitExceeded(BaseException):
    """The time limit is over. It is no :class:`Exception`, so that a policy that catches exceptions misses it."""


@contextlib.contextmanager
def cpu_limit(seconds: float) -> Iterator[None]:
    """Raise :class:`TimeLimitExceeded` in the block after this CPU time (s) of all threads of this process.

    The clock is the process's own, so that a busy machine changes nothing. Python handles signals between two of its
    instructions: compiled code is interrupted when it returns. The limit holds in the main thread only.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    former = signal.signal(signal.SIGPROF, _interrupt)
    signal.setitimer(signal.ITIMER_PROF, seconds, _AGAIN_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, former)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise TimeLimitExceeded

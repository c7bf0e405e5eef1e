"""Simulated time: timers, the server's mailbox, and the order in which things of one instant happen.

Batsim's parts are SimGrid actors which send one-byte messages to one server actor. Three facts of that machinery are
visible to a scheduler and are reproduced here:

* The server receives one message after another; each takes the latency of the route from the sender's host to the
  master. A message sent meanwhile waits in the mailbox, first come first served. (A message from the master host
  itself takes 1e-10 s in Batsim; here it takes none.)
* A sender goes on when its message has been received, after the server has dealt with it.
* All timers and tasks that end within a nanosecond end together, in the order in which they were made. What they send
  is in the mailbox before the server reads it. One exception follows from those 1e-10 s: a job starts after the
  messages that led to its start, so that its walltime ends as much after the nominal instant, and a call that was
  requested for that instant, with what the scheduler answers, comes before it.

There are no jobs or schedulers here.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Callable
from typing import Any, TypeAlias

from schedulers.limits import LATEST_S
from simulator.engines.base import Engine
from simulator.errors import SimulatorInputError

PRECISION = 1e-9
"""Timers closer together than this are one instant (SimGrid's ``precision/timing``), s."""

Action: TypeAlias = Callable[[Any], None]
Timer: TypeAlias = tuple[float, int, Action, Any]
Post: TypeAlias = tuple[float, Action, Any, Callable[[], None] | None]
"""A message on its way: latency (s), what the server does with it, its content, and how its sender goes on."""


class Kernel:
    """Clock, timers and mailbox.

    Parameters
    ----------
    engine
        Runs parallel tasks; its clock and this one move together.

    Attributes
    ----------
    clock
        Simulated time in s.
    mailbox
        Messages that wait for the server; it is empty while the only message is the one being received.
    stopped
        Set it to leave :meth:`run`.
    after_receive
        Called each time the server has dealt with a message.
    before_advance
        Called before time moves on, to start what was collected for this instant.
    task_ended
        Called with the handle of each task that has ended.
    """

    def __init__(self, engine: Engine) -> None:
        self.clock = 0.0
        self.mailbox: deque[Post] = deque()
        self.stopped = False
        self.instant_end = False
        self.after_receive: Callable[[], None] = _nothing
        self.before_advance: Callable[[], None] = _nothing
        self.task_order: Callable[[int], int] = _identity
        self.task_ended: Action = _ignore
        self._engine = engine
        self._timers: list[Timer] = []
        self._sequence = 0
        self._arrival = math.inf
        self._arriving: Post | None = None
        self._posts: list[Post] = []
        self._spawned: list[Callable[[], None]] = []
        self._dead: set[int] = set()
        self._calls: set[int] = set()
        self._limits: set[int] = set()
        self._held_back: list[Timer] = []

    # ------------------------------------------------------------------ what actors do

    def next_number(self) -> int:
        """A number greater than all before: the order in which timers and tasks were made."""
        self._sequence += 1
        return self._sequence

    def at(self, time: float, action: Action, argument: Any = None) -> int:
        """Call ``action(argument)`` at ``time`` (s); the number returned is for :meth:`forget`."""
        self._sequence = number = self._sequence + 1
        heapq.heappush(self._timers, (time, number, action, argument))
        return number

    def call_at(self, time: float, action: Action) -> None:
        """As :meth:`at`, for a call that was requested: it comes before walltimes that end at the same time."""
        self._calls.add(self.at(time, action))

    def limit_at(self, time: float, action: Action, argument: Any) -> int:
        """As :meth:`at`, for the end of a walltime."""
        number = self.at(time, action, argument)
        self._limits.add(number)
        return number

    def forget(self, number: int) -> None:
        """Drop a timer that has not rung yet."""
        self._dead.add(number)
        self._limits.discard(number)

    def post(
        self, latency: float, handler: Action, content: Any = None, resume: Callable[[], None] | None = None
    ) -> None:
        """Send a message to the server.

        Parameters
        ----------
        latency
            Of the route from the sender to the master, s.
        handler, content
            The server calls ``handler(content)``.
        resume
            Called when the message has been dealt with.
        """
        self._posts.append((latency, handler, content, resume))

    def post_first(self, handler: Action, content: Any = None, resume: Callable[[], None] | None = None) -> None:
        """Send a message from the master before what new actors have sent in this round.

        Actors woken by the server's work run before the actors which that work created.
        """
        self._posts.insert(0, (0.0, handler, content, resume))

    def spawn(self, actor: Callable[[], None]) -> None:
        """Run a new actor at this instant, once those that run now have sent what they send."""
        self._spawned.append(actor)

    @property
    def quiet(self) -> bool:
        """Whether a message sent now would be received before anything else can happen."""
        return not (self._arriving or self.mailbox or self._posts or self._spawned or self.instant_end)

    # ------------------------------------------------------------------ the loop

    def run(self) -> bool:
        """Let time pass until :attr:`stopped`; False when nothing can happen any more (a deadlock)."""
        self._settle()
        while True:
            self._drain()
            if self.stopped:
                return True
            if self._held_back:
                late, self._held_back = self._held_back, []
                self._ring(late)
                self._settle()
                continue
            self.before_advance()
            if not self._step():
                return False

    def _step(self) -> bool:
        """Move to the next instant and do what ends there.

        A message arrives after everything else of its instant: its one byte takes a moment more than its latency.
        """
        timers = self._timers
        dead = self._dead
        while timers and timers[0][1] in dead:
            dead.discard(heapq.heappop(timers)[1])
        until = min(timers[0][0], self._arrival) if timers else self._arrival
        engine = self._engine
        if until == math.inf and not engine.active:
            return False
        self.instant_end = False
        ended = engine.advance(until)
        self.clock = now = engine.clock
        if now > LATEST_S:
            raise SimulatorInputError(
                f"the simulated time has reached {now:.6g} s, more than {LATEST_S:.0f} s (272 years): a job takes "
                "longer than that (are its amounts in the wrong unit?), or the scheduler only waits"
            )
        due = self._due(now)
        if ended:
            if due:
                order = self.task_order
                due.extend((now, order(handle), self.task_ended, handle) for handle in ended)
                self._ring(due)
            else:
                for handle in ended:
                    self.task_ended(handle)
        elif due:
            self._ring(due)
        elif now >= self._arrival:
            post = self._arriving
            assert post is not None
            self._arriving, self._arrival = None, math.inf
            self._deal_with(post)
        self._settle()
        return True

    def _due(self, now: float) -> list[Timer]:
        """Timers that end at this instant."""
        timers, dead = self._timers, self._dead
        due: list[Timer] = []
        while timers and timers[0][0] <= now + PRECISION:
            timer = heapq.heappop(timers)
            if timer[1] in dead:
                dead.discard(timer[1])
            else:
                due.append(timer)
        return due

    def _ring(self, due: list[Timer]) -> None:
        dead = self._dead
        due.sort(key=_by_number)
        if len(due) > 1 and self._calls and any(timer[1] in self._calls for timer in due):
            self._held_back = [timer for timer in due if timer[1] in self._limits]
            due = [timer for timer in due if timer[1] not in self._limits]
        for _, number, action, argument in due:
            if number in dead:  # stopped by one that rang just before
                dead.discard(number)
            else:
                self._calls.discard(number)
                self._limits.discard(number)
                action(argument)

    def _deal_with(self, post: Post) -> None:
        """The server has received a message; then its sender goes on."""
        post[1](post[2])
        self.after_receive()
        if post[3] is not None:
            post[3]()

    def _drain(self) -> None:
        """Receive what waits in the mailbox, as far as that takes no time."""
        mailbox = self.mailbox
        while mailbox and self._arriving is None and not self.instant_end and not self.stopped:
            post = mailbox.popleft()
            if post[0] > 0.0:
                self._arriving = post
                self._arrival = self.clock + post[0]
            else:
                self._deal_with(post)
                self._settle()

    def _settle(self) -> None:
        """Deliver what was sent in this round, then let new actors run until none is left."""
        while True:
            if self._posts:
                self.mailbox.extend(self._posts)
                self._posts.clear()
            if not self._spawned:
                return
            spawned, self._spawned = self._spawned, []
            for actor in spawned:
                actor()


def _by_number(timer: Timer) -> int:
    return timer[1]


def _nothing() -> None:
    """Do nothing."""


def _ignore(_: Any) -> None:
    """Do nothing with something."""


def _identity(number: int) -> int:
    return number

"""Simulated time: timers, the server's mailbox, and the order of the events of one instant.

Batsim's parts are SimGrid actors which send one-byte messages to one server actor. Three facts of that machinery are
visible to a scheduler and are reproduced here:

* The server receives one message after another; each takes as long as one byte on the route from the sender's host to
  the master. A message sent meanwhile waits in the mailbox, first come first served. A message from the master host
  itself takes its own route: 1e-10 s if the platform states no such route, 15 us on some machines.
* A sender continues when its message has been received and handled by the server.
* Timers end up to a nanosecond early, together with events that end just before them; tasks and messages do not.
  Events that end together are handled in the order of their beginnings, and their messages are in the mailbox only
  afterwards.

There are no jobs or schedulers here.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, repeat
from typing import Any, NoReturn, TypeAlias

from spillway.protocol.limits import LATEST_S
from spillway.simulator.engines.base import Engine
from spillway.simulator.errors import SimulatorInputError

PRECISION = 1e-9
"""Timers closer together than this are one instant (SimGrid's ``precision/timing``), s."""

Action: TypeAlias = Callable[[Any], None]
_Timer: TypeAlias = tuple[float, int, Action, Any]
_Post: TypeAlias = tuple[float, Action, Any, Callable[[], None] | None]
"""A message on its way: latency (s), the server's handler, its content, and the continuation of its sender."""


class Kernel:
    """Clock, timers and mailbox.

    Parameters
    ----------
    engine
        Runs parallel tasks; its clock and this one move together.
    own_message_s
        Seconds that a message from the master to itself takes.

    Attributes
    ----------
    clock
        Simulated time in s.
    mailbox
        Messages that wait for the server; it is empty while the only message is the one being received.
    stopped
        Set it to leave :meth:`run`.
    paused
        Set by an actor that waits for an input from outside of simulated time: :meth:`run` returns at once, and the
        remaining events of this instant stay due. Clear it, resume the actor, and call :meth:`run` again.
    instant_end
        Whether a task without work has started in this instant: it ends before messages that take no time.
    unsettled
        Whether a task has started in this instant that may end in it (:attr:`..engines.base.Engine.ends_at_once`).
    after_receive
        Called each time the server has handled a message.
    before_advance, starting
        Called before time advances, to start the items collected for this instant, if there are any.
    tasks_ended
        Called with the handles of tasks that have ended.
    quiet, quiet_ones
        Handler of a message that changes only the server's own state while further messages wait; and the handler of
        several such messages, called with their contents and the moments (s) at which they arrive.
    """

    def __init__(self, engine: Engine, own_message_s: float = 0.0) -> None:
        self.clock = 0.0
        self.own_message_s = own_message_s
        self.mailbox: deque[_Post] = deque()
        self.stopped = self.paused = False
        self.instant_end = False
        self.unsettled = False
        self.after_receive: Callable[[], None] = _nothing
        self.before_advance: Callable[[], None] = _nothing
        self.starting: list[Any] = []
        self.task_order: Callable[[int], int] = _identity
        self.tasks_ended: Callable[[Sequence[int]], None] = _ignore
        self.quiet: Action = _ignore
        self.quiet_ones: Callable[[list[Any], Sequence[float]], None] = _pass_over
        self._engine = engine
        self._ended: list[int] = []
        self._timers: list[_Timer] = []
        self._sequence = 0
        self._arrival = math.inf
        self._arriving: _Post | None = None
        self._arriving_number = 0
        self._first_post = 0
        self._posts: list[_Post] = []
        self._spawned: list[Callable[[], None]] = []
        self._round: deque[Callable[[], None]] = deque()
        self._dead: set[int] = set()
        self._others = 0

    # ------------------------------------------------------------------ actions of actors

    def next_number(self, count: int = 1) -> int:
        """First of ``count`` numbers greater than all before: the order in which timers and tasks were made."""
        number = self._sequence + 1
        self._sequence += count
        return number

    def at(self, time: float, action: Action, argument: Any = None) -> int:
        """Call ``action(argument)`` at ``time`` (s); the number returned is for :meth:`forget`."""
        self._sequence = number = self._sequence + 1
        heapq.heappush(self._timers, (time, number, action, argument))
        return number

    def at_each(self, calls: Iterable[tuple[float, int, Action, Any]]) -> None:
        """As :meth:`at`, for several; each a time, a number of :meth:`next_number`, an action and its argument."""
        for call in calls:
            heapq.heappush(self._timers, call)

    def forget(self, *numbers: int) -> None:
        """Drop timers that have not fired yet."""
        self._dead.update(numbers)

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
            Called when the message has been handled.
        """
        self._posts.append((latency, handler, content, resume))

    def post_all(self, latencies: Sequence[float], handler: Action, contents: Sequence[Any]) -> None:
        """As :meth:`post`, for one message after another, without senders to resume."""
        self._posts.extend(zip(latencies, repeat(handler), contents, repeat(None)))

    def post_here(self, handler: Action, content: Any = None, resume: Callable[[], None] | None = None) -> None:
        """As :meth:`post`, from the master host itself."""
        self._posts.append((self.own_message_s, handler, content, resume))

    def post_first(self, handler: Action, content: Any = None, resume: Callable[[], None] | None = None) -> None:
        """As :meth:`post_here`, before the messages that new actors have sent in this round.

        Actors woken by the server's work run before the actors which that work created.
        """
        self._posts.insert(self._first_post, (self.own_message_s, handler, content, resume))

    def send_first(self, handler: Action) -> None:
        """As :meth:`post_first`, without a step of the loop if only tasks may end until the message arrives."""
        moments = self.own_arrivals(1)
        if not moments:
            self.post_first(handler)
            return
        if self.starting:
            self.before_advance()
        ended = self._engine.advance(moments[0])
        if ended or self._engine.clock != moments[0]:
            self.interrupted(moments[0], ended, handler)
            return
        self.clock = moments[0]
        self._first_post = 0
        self.instant_end = self.unsettled = False
        handler(None)
        self.after_receive()

    def spawn(self, actor: Callable[[], None]) -> None:
        """Run a new actor at this instant, after the present actors have sent their messages."""
        self._spawned.append(actor)

    @property
    def ends_at_once(self) -> bool:
        """Whether a task that has work can end at the instant of its start."""
        return self._engine.ends_at_once

    def at_once(self) -> bool:
        """Whether a message from the master host that is sent now arrives at this very instant, before all else.

        It does if the clock's resolution is coarser than :attr:`own_message_s` and nothing waits: its content can then
        be handled as if it had been posted, with the same results.
        """
        clock = self.clock
        timers = self._timers
        return (
            clock + self.own_message_s == clock
            and not self.instant_end
            and not self.unsettled
            and not self._others
            and not self.mailbox
            and not self._posts
            and not self._spawned
            and self._arriving is None
            and (not timers or timers[0][0] > clock + PRECISION)
        )

    def own_arrivals(self, messages: int) -> list[float]:
        """Times at which that many messages from the master host arrive, one after another (s).

        Empty if another message may arrive or a timer fire before (ends of tasks are left out), or they take no time.
        """
        own_s, timers = self.own_message_s, self._timers
        if (
            self._others
            or self.mailbox
            or self._posts
            or self._spawned
            or self._arriving is not None
            or self.clock + own_s == self.clock
        ):
            return []
        moments = list(accumulate(repeat(own_s, messages), initial=self.clock))
        return moments[1:] if not timers or timers[0][0] > moments[-1] + 2.0 * PRECISION else []

    def pass_to(self, moment: float) -> None:
        """Note that the engine has passed the moment (s) at which a message from the master host was received."""
        self.clock = moment
        self._first_post = 0
        self.instant_end = self.unsettled = False

    def interrupted(
        self, moment: float, ended: list[int], handler: Action, resume: Callable[[], None] | None = None
    ) -> None:
        """Note that tasks have ended while a message from the master host, which arrives at ``moment``, is under way.

        Parameters
        ----------
        ended
            Their handles, as the engine returned them.
        handler, resume
            As in :meth:`post`.
        """
        self._arriving, self._arrival = (self.own_message_s, handler, None, resume), moment
        self._arriving_number = self.next_number()
        self._ended = ended

    def deal(self, handler: Action, content: Any = None) -> None:
        """Let the server handle a message that :meth:`at_once` allows, as if it had been posted and received."""
        self._first_post = 0
        handler(content)
        self.after_receive()

    # ------------------------------------------------------------------ the loop

    def run(self) -> bool:
        """Advance time until stopped or paused; return ``False`` if no event can happen any more (a deadlock)."""
        self._settle()
        timers, dead, mailbox, starting = self._timers, self._dead, self.mailbox, self.starting
        engine = self._engine
        while True:
            while mailbox and self._arriving is None and not (self.stopped or self.paused):
                if mailbox[0][0] > 0.0:
                    self._arriving = post = mailbox.popleft()
                    self._sequence = self._arriving_number = self._sequence + 1
                    self._arrival = self.clock + post[0]
                elif self.instant_end:
                    break
                else:  # received in no time
                    self._deal_with(mailbox.popleft())
                    self._settle()
            if self.stopped or self.paused:
                return True
            if starting:
                self.before_advance()
            while dead and timers and timers[0][1] in dead:
                dead.discard(heapq.heappop(timers)[1])
            until = self._arrival
            if timers and timers[0][0] < until:
                until = timers[0][0]
            if until == math.inf and not engine.active:
                return False
            self.instant_end = self.unsettled = False
            ended = self._advance(until) if mailbox or self._ended else engine.advance(until)
            self.clock = now = engine.clock
            if now > LATEST_S:
                self._refuse_time(now)
            if (timers and timers[0][0] <= now + PRECISION) or (ended and now >= self._arrival):
                self._happen(now, ended)
            elif ended:
                self.tasks_ended(ended)
            elif now >= self._arrival:
                arrived, self._arriving, self._arrival = self._arriving, None, math.inf
                assert arrived is not None
                self._deal_with(arrived)
            if self._spawned:
                self._settle()
            elif self._posts:
                mailbox.extend(self._posts)
                self._posts.clear()

    def _happen(self, now: float, ended: list[int]) -> None:
        """Handle the ends of this instant: timers, tasks, receipt of a message, in the order of their beginnings."""
        due = self._due(now)
        if now >= self._arrival:
            due.append((now, self._arriving_number, self._deal_with, self._arriving))
            self._arriving, self._arrival = None, math.inf
        if due:
            if ended:
                order = self.task_order
                due.extend([(now, order(handle), self.tasks_ended, (handle,)) for handle in ended])
            self._fire(due)
        elif ended:
            self.tasks_ended(ended)

    def _refuse_time(self, now: float) -> NoReturn:
        raise SimulatorInputError(
            f"the simulated time has reached {now:.6g} s, more than {LATEST_S:.0f} s (272 years): a job takes longer "
            "than that (are its amounts in the wrong unit?), or the scheduler only waits"
        )

    def _advance(self, until: float) -> list[int]:
        """Move the engine to the next event other than the receipt of quiet messages; return the ended tasks."""
        ended, self._ended = self._ended, []
        if ended:
            return ended
        arriving = self._arriving
        if self.mailbox and arriving is not None and arriving[1] == self.quiet and self._arrival <= until:
            moments = self._quiet_arrivals()
            if moments:
                passed, _, ended = self._engine.advance_through(moments)
                self._receive_quiet(moments, passed)
                return ended
        return self._engine.advance(until)

    def _quiet_arrivals(self) -> list[float]:
        """Times at which the next quiet messages arrive, while each is followed by a waiting one and no timer fires."""
        latest = self._timers[0][0] - 2.0 * PRECISION if self._timers else math.inf
        moments: list[float] = []
        moment, quiet = self._arrival, self.quiet
        for post in self.mailbox:  # waits while the one before it is handled
            if moment >= latest:
                break
            moments.append(moment)
            if post[1] != quiet or post[0] <= 0.0:
                break
            moment += post[0]
        return moments

    def _receive_quiet(self, moments: Sequence[float], count: int) -> None:
        """Handle the first quiet messages, each at its moment; then the next one is on its way, if it has a moment."""
        post, mailbox = self._arriving, self.mailbox
        contents: list[Any] = []
        for following in range(1, count + 1):
            assert post is not None
            contents.append(post[2])
            post = mailbox.popleft() if following < len(moments) else None
        if contents:
            self.clock = moments[count - 1]
            self.quiet_ones(contents, moments[:count])
            self._arriving_number = self.next_number()
        self._arriving = post
        self._arrival = math.inf if post is None else moments[count]

    def _due(self, now: float) -> list[_Timer]:
        """Timers that end at this instant."""
        timers, dead = self._timers, self._dead
        due: list[_Timer] = []
        limit = max(now, now + PRECISION - 2.0 * math.ulp(now))
        while timers and timers[0][0] <= limit:
            timer = heapq.heappop(timers)
            if timer[1] in dead:
                dead.discard(timer[1])
            else:
                due.append(timer)
        return due

    def _fire(self, due: list[_Timer]) -> None:
        if len(due) == 1:
            due[0][2](due[0][3])
            return
        dead = self._dead
        due.sort(key=_by_number)
        self._others = len(due)
        for _, number, action, argument in due:
            self._others -= 1
            if number in dead:  # stopped by one that fired just before
                dead.discard(number)
            else:
                action(argument)

    def _deal_with(self, post: _Post) -> None:
        """Let the server handle a message that it has received; then resume its sender."""
        self._first_post = len(self._posts)
        post[1](post[2])
        self.after_receive()
        if post[3] is not None:
            post[3]()

    def _settle(self) -> None:
        """Deliver the messages of this round, then run new actors until no actor is left."""
        actors = self._round
        while True:
            while actors:
                actor = actors.popleft()
                self._others = len(actors)
                actor()
                if self.paused:
                    return
            if self._posts:
                self.mailbox.extend(self._posts)
                self._posts.clear()
            if not self._spawned:
                return
            actors.extend(self._spawned)
            self._spawned.clear()


def _by_number(timer: _Timer) -> int:
    return timer[1]


def _nothing() -> None:
    """Do nothing."""


def _ignore(_: Any) -> None:
    """Do nothing with an argument."""


def _pass_over(_: Any, __: Any) -> None:
    """Do nothing with some messages at some moments."""


def _identity(number: int) -> int:
    return number

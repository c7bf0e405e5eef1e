"""The conversation with the scheduler: one message, one reply, each request carried out at its own time."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import NoReturn

from spillway.protocol.limits import LATEST_S, time_fault
from spillway.protocol.messages import Event, Message, RegisterJob, RegisterProfile, Reply, Request
from spillway.simulator.errors import SchedulerFault
from spillway.simulator.jobs.execution import Executor, Start
from spillway.simulator.wire.kernel import PRECISION, Kernel
from spillway.simulator.wire.links import Link
from spillway.simulator.wire.requests import Requests
from spillway.simulator.wire.server import Server


class Conversation:
    """Sends the server's events to the scheduler, and plays the reply back to the server.

    Batsim does this with an actor of its own: it takes the requests in their order, sleeps until the time of each, and
    hands it to the server as a message, one after another; last it reports that the scheduler is ready again. It reads
    the next request just before the server handles the last one, unless it had to wait for the time of the last one. So
    the state before the last request decides whether registration is open.

    If such messages take no time at the clock's resolution and nothing else waits for the server
    (:meth:`~spillway.simulator.wire.kernel.Kernel.at_once`), they are handled one after another without a step of the
    kernel each. If they take time, messages that register or start jobs share a step while no other event can come
    between them: the engine passes all their moments and starts each task at its own moment.

    Parameters
    ----------
    kernel, server, requests, executor, link
        Parts of the simulation that it uses.
    wall_clock
        Whether to measure the time in which the scheduler answers.
    decimals
        Decimals of the times of messages.

    Attributes
    ----------
    messages
        Number of messages sent.
    thinking_s
        Real time spent waiting for the scheduler.
    """

    def __init__(
        self,
        kernel: Kernel,
        server: Server,
        requests: Requests,
        executor: Executor,
        link: Link,
        wall_clock: bool,
        decimals: int = 6,
    ) -> None:
        self._kernel = kernel
        self._server = server
        self._requests = requests
        self._executor = executor
        self._answered = link.exchange
        self._decimals = decimals
        self._clock: Callable[[], float] = time.perf_counter if wall_clock else _no_clock
        self._events: tuple[Request, ...] = ()
        self._now = 0.0
        self._index = 0
        self._closed = False
        self._outgoing: list[Event] = []
        self._further: deque[Start | None] = deque()
        self.messages = 0
        self.thinking_s = 0.0

    def send(self, events: list[Event]) -> None:
        """Exchange a message for a reply, once the actors of this moment have run."""
        self._outgoing = events
        self._kernel.spawn(self._exchange)

    def maybe_send(self) -> None:
        """Send the pending events, if a message is due."""
        server = self._server
        if not server.ready or self._kernel.mailbox:
            return
        if not server.pending and server.completed != server.submitted and not server.forced:
            return  # no event to send, and the simulation is not over
        events = server.next_message()
        if events is not None:
            self._outgoing = events
            self._kernel.spawn(self._exchange)

    def _exchange(self) -> None:
        message = Message(round(self._kernel.clock, self._decimals), tuple(self._outgoing))
        if self._clock is _no_clock:
            reply = self._answered(message)
        else:
            before = self._clock()
            reply = self._answered(message)
            self.thinking_s += self._clock() - before
        self.messages += 1
        if reply is None:
            self._kernel.paused = True
        else:
            self._start(reply)

    def answer(self, reply: Reply) -> None:
        """Continue with the reply to the last message, which the link did not have at once."""
        self._kernel.paused = False
        self._start(reply)

    def _start(self, reply: Reply) -> None:
        if not -LATEST_S <= reply.now <= LATEST_S:
            raise SchedulerFault(f"'now' {time_fault(reply.now)}", "$.now")
        self._now = reply.now
        self._events = reply.events
        self._index = 0
        self._closed = self._server.registration_finished
        self._proceed()

    def _proceed(self) -> None:
        """Send the next request at its time, or the note that the scheduler is ready."""
        kernel, own_s = self._kernel, self._kernel.own_message_s
        further, count = self._further, len(self._events)
        while True:
            if not further:
                more = self._index < count
                moment = self._check(self._index) if more else self._now
                if moment > kernel.clock:
                    kernel.at(moment, self._woken)
                    return
                if kernel.clock + own_s == kernel.clock and kernel.at_once():
                    if not more:
                        kernel.deal(self._server.reply_done)
                        return
                    kernel.deal(self._deliver, False)
                    continue
                if not more:
                    kernel.send_first(self._server.reply_done)
                    return
                self._look_ahead()
                if not further:
                    kernel.post_first(self._deliver, False, self._proceed)
                    return
            if kernel.clock + own_s == kernel.clock and kernel.at_once():
                kernel.deal(self._deliver_all)
            elif not self._pass_messages():
                return

    def _look_ahead(self) -> None:
        """Collect the starts of the next messages, up to a wrong request, or one to be carried out at its time."""
        kernel, events, index = self._kernel, self._events, self._index
        checked = index
        while index < len(events):
            try:
                due = index == checked or self._check(index) <= kernel.clock
                found = self._requests.ahead(events[index], index) if due else None
            except SchedulerFault:
                if self._further:
                    return
                raise
            if found is None:
                return
            self._closed = self._server.registration_finished
            self._further += found
            self._index = index = index + 1

    def _pass_messages(self) -> bool:
        """Deliver the collected messages to the server, one after another; return whether to continue at once.

        While no other event can come between them, the engine passes their moments in one call.
        """
        kernel, executor, further = self._kernel, self._executor, self._further
        moments = kernel.own_arrivals(len(further))
        tasks = executor.tasks_ahead(further, moments[-1] + 2.0 * PRECISION) if moments else []
        if not tasks:
            kernel.post_first(self._deliver_further, None, self._proceed)
            return False
        passed, handles, ended = executor.start_through(moments[: len(tasks)], tasks)
        if passed:
            kernel.pass_to(moments[passed - 1])
            self._begin(passed, moments, handles)
        if ended:
            kernel.interrupted(moments[passed], ended, self._deliver_further, self._proceed)
        return not ended

    def _begin(self, count: int, moments: Sequence[float], handles: Sequence[int] = ()) -> None:
        """Carry out the starts of the first collected messages, each at its moment (s)."""
        starts: list[Start] = []
        begun: list[float] = []
        for moment in moments[:count]:
            start = self._further.popleft()
            if start is not None:
                starts.append(start)
                begun.append(moment)
        if starts:
            self._requests.begin(starts, begun, handles)

    def _check(self, index: int) -> float:
        """Time at which a request is to be carried out (s); refuse an invalid one."""
        request = self._events[index]
        moment = request.timestamp
        if not moment <= self._now:
            self._refuse_moment(moment, index)
        if type(request) is RegisterJob or type(request) is RegisterProfile:
            self._requests.check_registration(index, self._closed)
        return moment

    def _deliver(self, slept: bool) -> None:
        index = self._index
        self._index = index + 1
        self._closed = self._server.registration_finished
        more = self._requests.handle(self._events[index], index)
        if self._server.forced:  # the rest of the reply is dropped, and the scheduler ready at once
            self._index, self._now = len(self._events), self._kernel.clock
        if more:
            self._further.extend(more)
        if slept:
            self._closed = self._server.registration_finished

    def _deliver_further(self, _: object) -> None:
        self._begin(1, (self._kernel.clock,))

    def _deliver_all(self, _: object) -> None:
        """Deliver the collected messages while each is received at once."""
        kernel, further = self._kernel, self._further
        while further:
            soon = kernel.clock + max(2.0 * PRECISION, 2.0 * math.ulp(kernel.clock))
            ahead = 0 if kernel.ends_at_once else len(self._executor.tasks_ahead(further, soon))
            count = max(ahead, 1)
            self._begin(count, [kernel.clock] * count)
            if not kernel.at_once():
                return

    def _woken(self, _: object) -> None:
        """Deliver the request that is due; other events of this instant may have sent messages before it."""
        kernel = self._kernel
        more = self._index < len(self._events)
        if kernel.at_once():
            kernel.deal(self._deliver if more else self._server.reply_done, True)
            if more:
                self._proceed()
        elif more:
            kernel.post_here(self._deliver, True, self._proceed)
        else:
            kernel.post_here(self._server.reply_done)

    def _refuse_moment(self, moment: float, index: int) -> NoReturn:
        raise SchedulerFault(
            f"an event's timestamp must not lie after the message's 'now' ({self._now!r}), got {moment!r}",
            f"$.events[{index}].timestamp",
        )


def _no_clock() -> float:
    return 0.0

"""Time, timers and the mailbox: the order of events."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillway.simulator.engines.base import TaskSpec
from spillway.simulator.wire.kernel import Kernel
from tests.simulator.worlds import GivenDurations


def make() -> tuple[Kernel, list[tuple[float, str]], Callable[[str], Callable[[object], None]]]:
    """A kernel, a log of times and names, and a maker of actions that write into it."""
    kernel = Kernel(GivenDurations())
    log: list[tuple[float, str]] = []

    def note(name: str) -> Callable[[object], None]:
        return lambda _: log.append((kernel.clock, name))

    return kernel, log, note


def test_timers_of_one_instant_ring_in_the_order_of_their_making() -> None:
    """Within a nanosecond it is one instant."""
    kernel, log, note = make()
    kernel.at(2.0 + 4e-10, note("first"))
    kernel.at(2.0, note("second"))
    kernel.at(1.0, note("before"))
    assert kernel.run() is False
    assert log == [(1.0, "before"), (2.0, "first"), (2.0, "second")]


def test_forgotten_timers_do_not_ring() -> None:
    """Neither before their time nor by one that fires in the same instant; they do not move the clock."""
    kernel, log, note = make()
    other = 0

    def forget(_: object) -> None:
        kernel.forget(other)

    kernel.at(1.0, forget)
    other = kernel.at(1.0, note("same instant"))
    kernel.forget(kernel.at(5.0, note("later")))
    kernel.run()
    assert log == []
    assert kernel.clock == 1.0


def test_messages_are_received_one_after_another() -> None:
    """First come, first served; each takes its latency; the sender continues after the server."""
    kernel, log, note = make()
    kernel.post(0.5, note("a"), None, lambda: note("sender of a")(None))
    kernel.post(0.0, note("b"))
    kernel.post(0.25, note("c"))
    kernel.run()
    assert log == [(0.5, "a"), (0.5, "sender of a"), (0.5, "b"), (0.75, "c")]


def test_a_message_of_the_master_takes_its_own_route() -> None:
    """Its latency is the kernel's argument; so is that of a message that overtakes others of its round."""
    kernel = Kernel(GivenDurations(), 0.25)
    seen: list[float] = []

    def server(_: object) -> None:
        seen.append(kernel.clock)

    kernel.post_here(server, None, lambda: kernel.post_first(server))
    kernel.run()
    assert seen == [0.25, 0.5]


def test_mailbox_is_empty_while_the_only_message_is_on_its_way() -> None:
    """Waiting messages count, the one being received does not."""
    kernel, _, _ = make()
    sizes: list[int] = []
    kernel.after_receive = lambda: sizes.append(len(kernel.mailbox))
    kernel.post(0.5, lambda _: None)
    kernel.post(0.5, lambda _: None)
    kernel.run()
    assert sizes == [1, 0]


@pytest.mark.parametrize(("moment", "waiting"), [(1.0 - 2e-9, 1), (1.0, 0), (1.0 + 5e-10, 0)])
def test_what_is_sent_at_an_arrival_is_not_in_the_mailbox_yet(moment: float, waiting: int) -> None:
    """Events that end together do not see each other's messages; earlier messages are there."""
    kernel, log, note = make()
    kernel.post(1.0, note("arrival"))
    kernel.at(moment, lambda _: kernel.post(0.0, note("sent")))
    seen: list[int] = []
    kernel.after_receive = lambda: seen.append(len(kernel.mailbox))
    kernel.run()
    assert [name for _, name in log] == ["arrival", "sent"]
    assert seen == [waiting, 0]


def test_new_actors_run_after_what_was_sent() -> None:
    """A spawned actor's message comes after those of its round; post_first overtakes these."""
    kernel, log, note = make()

    def server(_: object) -> None:
        kernel.spawn(lambda: kernel.post(0.0, note("spawned")))
        kernel.post(0.0, note("posted"))

    kernel.post(0.0, server, None, lambda: kernel.post_first(note("overtakes")))
    kernel.run()
    assert [name for _, name in log] == ["overtakes", "posted", "spawned"]


def test_tasks_and_timers_of_one_instant() -> None:
    """Tasks end in the order in which they were started, among the timers made meanwhile."""
    kernel, log, note = make()
    engine: GivenDurations = kernel._engine  # type: ignore[assignment]
    kernel.at(3.0, note("timer 1"))
    number = kernel.next_number()
    kernel.at(3.0, note("timer 2"))
    engine.start(TaskSpec((0,), 3e9))
    kernel.task_order = lambda handle: number
    kernel.tasks_ended = lambda handles: log.extend((kernel.clock, f"task {handle}") for handle in handles)
    kernel.run()
    assert [name for _, name in log] == ["timer 1", "task 0", "timer 2"]


def test_stop() -> None:
    """The loop is left on request."""
    kernel, log, note = make()

    def stop(_: object) -> None:
        kernel.stopped = True

    kernel.at(1.0, stop)
    kernel.at(2.0, note("never"))
    assert kernel.run() is True
    assert log == []


@given(st.lists(st.tuples(st.floats(0, 100), st.booleans()), max_size=30))
def test_time_never_goes_back(timers: list[tuple[float, bool]]) -> None:
    """All active timers ring once, in the order of their times, and messages are received in the order of posting."""
    kernel, log, note = make()
    expected = []
    for time, alive in timers:
        number = kernel.at(time, lambda _, t=time: kernel.post(0.125, note(str(t))))
        if alive:
            expected.append(time)
        else:
            kernel.forget(number)
    kernel.run()
    assert sorted(expected) == pytest.approx(sorted(float(name) for _, name in log))
    times = [time for time, _ in log]
    assert times == sorted(times)
    assert all(later - earlier >= 0.125 - 1e-9 for earlier, later in pairwise(times))


def test_a_paused_instant_goes_on_where_it_was_left() -> None:
    """Actors behind the waiting one, sent messages, and timers of later instants stay; then all in its order."""
    kernel, log, note = make()

    def wait() -> None:
        note("asks")(None)
        kernel.paused = True

    kernel.spawn(lambda: kernel.post(0.0, note("sent before")))
    kernel.spawn(wait)
    kernel.spawn(lambda: note("behind")(None))
    kernel.at(1.0, note("later"))
    assert kernel.run() is True
    assert log == [(0.0, "asks")]
    kernel.paused = False
    note("answered")(None)
    kernel.run()
    assert log == [(0.0, name) for name in ("asks", "answered", "behind", "sent before")] + [(1.0, "later")]

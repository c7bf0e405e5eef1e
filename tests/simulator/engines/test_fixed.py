"""Given durations: flop over speed, with any other tasks beside."""

from __future__ import annotations

import math

import pytest

from spillway.platforms import Platform
from tests.kit.tasks import AllToAll, FixedEngine, TaskError, TaskSpec
from tests.simulator.engines.conftest import DISK, FAR, ONE, TWO


def test_the_slowest_host_counts_and_nothing_is_shared(small: Platform) -> None:
    """Neither other tasks nor transfers nor repeated hosts change a duration."""
    engine = FixedEngine(small)
    alone = engine.start(TaskSpec((ONE, FAR), 2e9, AllToAll(1e12)))
    others = engine.start_many([TaskSpec((ONE, ONE), 2e9), TaskSpec((FAR,), 2e9)])
    assert engine.next_completion() == 1.0
    assert engine.advance(0.5) == []
    assert engine.clock == 0.5
    assert engine.advance(math.inf) == [others[1]]
    assert engine.progress(alone) == 0.5
    assert engine.advance(3.0) == [alone, others[0]]
    assert (engine.clock, engine.active) == (2.0, 0)


def test_tasks_without_work_end_at_once(small: Platform) -> None:
    """Also pure transfers: communication takes no time here."""
    engine = FixedEngine(small)
    handle = engine.start(TaskSpec((ONE, TWO), 0.0, AllToAll(1e9)))
    assert engine.advance(math.inf) == [handle]
    assert engine.clock == 0.0


def test_cancelled_tasks_do_not_end(small: Platform) -> None:
    """Progress is reported; the handle is unknown afterwards."""
    engine = FixedEngine(small)
    first, second = engine.start_many([TaskSpec((ONE,), 2e9), TaskSpec((ONE,), 4e9)])
    engine.advance(1.0)
    assert engine.cancel(first) == 0.5
    with pytest.raises(TaskError, match="handle 0"):
        engine.progress(first)
    assert engine.advance(math.inf) == [second]
    assert engine.clock == 4.0
    assert engine.next_completion() == math.inf


def test_sleeps_and_speeds(small: Platform) -> None:
    """Sleeps take their time; a new speed holds for the rest of running tasks."""
    engine = FixedEngine(small)
    task = engine.start(TaskSpec((ONE,), 2e9))
    sleep = engine.sleep(1.0)
    assert engine.advance(math.inf) == [sleep]
    engine.set_pstate(ONE, 1)
    assert engine.progress(task) == 0.5
    assert engine.advance(math.inf) == [task]
    assert engine.clock == 5.0


def test_work_on_a_host_of_no_speed_never_ends(small: Platform) -> None:
    """The clock stays: nothing can happen any more."""
    engine = FixedEngine(small)
    engine.start(TaskSpec((DISK,), 1.0))
    assert engine.advance(math.inf) == []
    assert engine.clock == 0.0
    assert engine.active == 1

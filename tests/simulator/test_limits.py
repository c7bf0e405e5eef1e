"""Endless simulations and unbounded memory are refused with the remedy: times, compositions, calls."""

import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from spillway.protocol.limits import DEEPEST_PROFILE, LATEST_S, MOST_TASKS
from spillway.protocol.messages import Message, RejectJob, Reply
from spillway.simulator.errors import SchedulerFault, SimulatorInputError
from spillway.simulator.reading.workload import workload_from_object
from spillway.simulator.wire import broker
from tests.simulator.worlds import call, greedy, jobs, run, scripted

DELAY = {"type": "delay", "delay": 1}


def composed(*seq: str, repeat: int = 1) -> dict[str, Any]:
    """A composed profile."""
    return {"type": "composed", "seq": list(seq), "repeat": repeat}


def refused(profiles: dict[str, Any]) -> str:
    """The error of a workload with one job of the profile ``p``, found within seconds."""
    begin = time.process_time()
    with pytest.raises(SimulatorInputError) as caught:
        workload_from_object(jobs({}, profiles=profiles))
    assert time.process_time() - begin < 5.0
    assert len(str(caught.value)) < 500
    return str(caught.value)


def chain(length: int, repeat: int = 1) -> dict[str, Any]:
    """Profiles that each run the next one; ``p`` is the outermost, of as many levels."""
    names = ["p", *(f"q{number}" for number in range(length - 2)), "end"]
    return {name: composed(after, repeat=repeat) for name, after in pairwise(names)} | {"end": DELAY}


def test_a_chain_of_profiles() -> None:
    """50,000 levels (RecursionError before), one level too many, and the deepest that is played."""
    assert f"deeper than {DEEPEST_PROFILE} levels" in refused(chain(50_000))
    assert f"deeper than {DEEPEST_PROFILE} levels" in refused(chain(DEEPEST_PROFILE + 1))
    result, _ = run(jobs({}, profiles=chain(DEEPEST_PROFILE)), greedy)
    assert result.totals.jobs == 1


def test_a_tree_of_profiles() -> None:
    """2^60 tasks in 31 levels of four each, by parts or by repetition: the innermost that is too large is named."""
    names = ["p", *(f"q{number}" for number in range(29))]
    wide = {name: composed(*[after] * 4) for name, after in zip(names, [*names[1:], "end"], strict=True)}
    assert "unfolds to 1.68e+07 tasks, more than" in refused(wide | {"end": DELAY})
    assert "unfolds to 1.68e+07 tasks, more than" in refused(chain(31, repeat=4))
    assert "lower 'repeat'" in refused({"p": composed("end", repeat=MOST_TASKS + 1), "end": DELAY})
    workload_from_object(jobs({}, profiles={"p": composed("end", repeat=MOST_TASKS), "end": DELAY}))


def test_a_long_circle_is_named_short() -> None:
    """A circle of 10,000 profiles."""
    names = [f"q{number}" for number in range(10_000)]
    profiles = {name: composed(after) for name, after in zip(names, [*names[1:], names[0]], strict=True)}
    assert "contains itself" in refused({"p": DELAY} | profiles)


def test_a_recv_that_runs_itself() -> None:
    """Its profile for the case without message is itself (RecursionError before)."""
    profiles = {"p": {"type": "recv", "timeout": "p"}}
    with pytest.raises(SimulatorInputError, match="does a 'recv' profile name itself"):
        run(jobs({}, profiles=profiles), greedy)


@pytest.mark.parametrize("changes", [{"subtime": 1.6e15}, {"subtime": LATEST_S * 1.01}])
def test_times_of_jobs(changes: dict[str, Any]) -> None:
    """A log in microseconds hung the simulator; the error suggests its unit."""
    with pytest.raises(SimulatorInputError, match="in microseconds"):
        workload_from_object(jobs(changes))


def test_times_of_profiles_and_events(tmp_path: Path) -> None:
    """Durations, and external events."""
    assert "in microseconds" in refused({"p": {"type": "delay", "delay": 2e13}})
    file = tmp_path / "events.txt"
    file.write_text('{"timestamp": 2e13, "type": "machine_unavailable", "resources": "0"}')
    with pytest.raises(SimulatorInputError, match=r"line 1.*in microseconds"):
        run(jobs({}), greedy, events=(file,))


def test_a_job_that_computes_for_ages() -> None:
    """1e300 flops: the clock does not reach times at which no double can count seconds."""
    profiles = {"p": {"type": "parallel_homogeneous", "cpu": 1e23, "com": 0}}
    with pytest.raises(SimulatorInputError, match="272 years"):
        run(jobs({}, profiles=profiles), greedy)


def test_times_of_requests() -> None:
    """A call, and a reply, beyond the limit."""
    with pytest.raises(SchedulerFault, match=r"must lie after the present time \S+ and be at most 8589934592"):
        run(jobs({}), scripted([call(2e13)]))
    with pytest.raises(SchedulerFault, match="'now' must be a finite number"):
        run(jobs({}), scripted_reply(2e13))


def scripted_reply(now_s: float) -> Any:
    """Answer at that time."""
    return lambda message: Reply(now_s, ())


def test_endless_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scheduler that requests nothing but calls while a job waits; the real Batsim would run for ever."""
    monkeypatch.setattr(broker, "MOST_IDLE_CALLS", 500)
    with pytest.raises(SchedulerFault, match=r"500 calls .* while no job runs or is to come \(1 wait\)"):
        run(jobs({}), lambda message: [call(message.now + 1.0, message.now)])


def test_calls_while_something_is_to_come(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before a late submission, while a job runs, and a few at the end: no limit."""
    monkeypatch.setattr(broker, "MOST_IDLE_CALLS", 50)
    late = jobs({"subtime": 300}, profiles={"p": {"type": "delay", "delay": 300}})

    def answer(message: Message) -> Any:
        if message.now < 640.0:
            yield call(message.now + 1.0, message.now)
        yield from greedy(message)

    result, scheduler = run(late, answer)
    assert result.totals.jobs == 1
    assert len(scheduler.messages) > 600


def test_a_decision_allows_more_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scheduler that rejects a waiting job every 40 calls; 160 calls in all."""
    monkeypatch.setattr(broker, "MOST_IDLE_CALLS", 50)
    waiting = [f"w0!{number}" for number in range(1, 5)]

    def answer(message: Message) -> Any:
        if waiting and message.now >= 40.0 * (5 - len(waiting)):
            yield RejectJob(message.now, waiting.pop(0))
        if waiting:
            yield call(message.now + 1.0, message.now)

    _, scheduler = run(jobs({}, {}, {}, {}), answer)
    assert len(scheduler.messages) > 160

"""Kills: reported events, their order, their progress (batsim4.md 4.4, 4.5)."""

from typing import Any

import pytest

from spillway.protocol.messages import JobCompleted, JobKilled, JobState, JobSubmitted, Message, Reply, RequestedCall
from spillway.simulator.errors import SchedulerFault
from tests.simulator.worlds import Scheduler, call, execute, jobs, kill, run, small_platform

PTASK = {"type": "parallel_homogeneous", "cpu": 1e10, "com": 0}


SLOW_LOOP = ("1e9Bps", "0s")
"""A message from the master to itself takes 1e-9 s, as on the machine of the thesis."""


def killing(
    data: dict[str, Any], moment: float, *requests: Any, allocations: tuple[tuple[int, ...], ...] = (), **options: Any
) -> Any:
    """Start all jobs at once, and send requests at some moment."""
    places = allocations or tuple((n,) for n in range(4))

    def answer(message: Message) -> Any:
        for event in message.events:
            if isinstance(event, JobSubmitted):
                yield execute(event.job_id, *places[int(event.job_id.split("!")[1]) - 1], at=message.now)
                if event.job_id == "w0!1":
                    yield call(moment, at=message.now)
            if isinstance(event, RequestedCall):
                yield from requests

    return run(data, Scheduler(answer), **options)


def test_kill_of_a_parallel_task() -> None:
    """JOB_COMPLETED (-2), then JOB_KILLED with the progress, in one message and without any latency."""
    _, scheduler = killing(jobs({}, profiles={"p": PTASK}), 4.0, kill("w0!1"))
    message = scheduler.messages[-2]
    completed, killed = message.events
    assert isinstance(completed, JobCompleted)
    assert (completed.state, completed.return_code) == (JobState.COMPLETED_KILLED, -2)
    assert completed.timestamp == killed.timestamp == 4.0
    assert killed.job_ids == ("w0!1",)
    progress = killed.progress["w0!1"]
    assert (progress.profile_name, progress.progress, progress.current_task_index) == ("p", 0.4, None)


def test_kill_of_a_delay() -> None:
    """A delay's actor is killed: return code -1; its progress is the share of the delay, not of the walltime."""
    _, scheduler = killing(jobs({"walltime": 8}), 2.5, kill("w0!1"))
    (completed,) = scheduler.events(JobCompleted)
    (killed,) = scheduler.events(JobKilled)
    assert (completed.state, completed.return_code) == (JobState.COMPLETED_KILLED, -1)
    assert killed.progress["w0!1"].progress == 0.25


def test_kill_of_a_sequence() -> None:
    """The index counts over repetitions; the current task has its own progress."""
    composed = {"type": "composed", "seq": ["a", "b"], "repeat": 3}
    profiles = {"a": {"type": "delay", "delay": 2}, "b": PTASK, "p": composed}
    _, scheduler = killing(jobs({}, profiles=profiles), 19.0, kill("w0!1"))
    progress = scheduler.events(JobKilled)[0].progress["w0!1"]
    assert (progress.profile_name, progress.progress, progress.current_task_index) == ("p", None, 3)
    assert (progress.current_task.profile_name, progress.current_task.progress) == ("b", 0.5)
    assert scheduler.events(JobCompleted)[0].return_code == -2


def test_kill_of_nested_sequences() -> None:
    """Progress is a tree."""
    profiles = {
        "d": {"type": "delay", "delay": 4},
        "inner": {"type": "composed", "seq": ["d", "d"]},
        "p": {"type": "composed", "seq": ["d", "inner"]},
    }
    _, scheduler = killing(jobs({}, profiles=profiles), 9.0, kill("w0!1"))
    outer = scheduler.events(JobKilled)[0].progress["w0!1"]
    inner = outer.current_task
    assert (outer.current_task_index, inner.profile_name, inner.current_task_index) == (1, "inner", 1)
    assert inner.current_task.progress == 0.25
    assert scheduler.events(JobCompleted)[0].return_code == -1


def test_kill_that_comes_too_late() -> None:
    """A job that has ended before the kill, but is not reported yet, is in job_ids and has no progress."""
    data = jobs({}, {"profile": "q"}, profiles={"p": PTASK, "q": {"type": "delay", "delay": 100}})

    def answer(message: Message) -> Reply:
        if any(isinstance(event, JobSubmitted) for event in message.events):
            requests = (execute("w0!1", 0), execute("w0!2", 1), kill("w0!1", "w0!2", at=10.25))
            return Reply(10.25, requests)
        return Reply(message.now, ())

    _, scheduler = run(data, Scheduler(answer))
    (killed,) = scheduler.events(JobKilled)
    assert killed.job_ids == ("w0!1", "w0!2")
    assert list(killed.progress) == ["w0!2"]
    states = {e.job_id: e.state for e in scheduler.events(JobCompleted)}
    assert states == {"w0!1": JobState.COMPLETED_SUCCESSFULLY, "w0!2": JobState.COMPLETED_KILLED}


@pytest.mark.parametrize(("profile", "code"), [(PTASK, -2), ({"type": "delay", "delay": 10}, -1)])
def test_a_kill_at_the_end_of_the_walltime(profile: dict[str, Any], code: int) -> None:
    """The walltime ends at 8 s, when a call was requested. The job started some messages of 1e-9 s after the full
    second: at the call it still runs, and its kill is answered without any latency."""
    data = jobs({"walltime": 8}, profiles={"p": profile})
    _, scheduler = killing(data, 8.0, kill("w0!1"), platform=small_platform(loop=SLOW_LOOP))
    (call_message,) = [m for m in scheduler.messages if any(isinstance(e, RequestedCall) for e in m.events)]
    assert call_message.now == 8.0
    (completed,) = scheduler.events(JobCompleted)
    (killed,) = scheduler.events(JobKilled)
    assert (completed.state, completed.return_code) == (JobState.COMPLETED_KILLED, code)
    assert completed.timestamp == killed.timestamp == 8.0
    assert killed.progress["w0!1"].progress == 0.8


@pytest.mark.parametrize("profile", [PTASK, {"type": "delay", "delay": 10}])
def test_a_walltime_that_ends_with_a_call_still_ends(profile: dict[str, Any]) -> None:
    """Without a kill the call changes nothing but the order."""
    data = jobs({"walltime": 8}, profiles={"p": profile})
    _, scheduler = killing(data, 8.0, platform=small_platform(loop=SLOW_LOOP))
    kinds = [type(e) for m in scheduler.messages for e in m.events if isinstance(e, RequestedCall | JobCompleted)]
    assert kinds == [RequestedCall, JobCompleted]
    assert scheduler.events(JobCompleted)[0].state is JobState.COMPLETED_WALLTIME_REACHED


@pytest.mark.parametrize("profile", [PTASK, {"type": "delay", "delay": 10}])
def test_a_walltime_within_a_nanosecond_of_a_call_ends_with_it(profile: dict[str, Any]) -> None:
    """Messages of 1e-10 s: the walltime would end 0.5 ns after the call, so SimGrid lets it end with the call.

    The walltime's wait began first, so that its job's message is in the mailbox before the call's, which waits until
    that one has ended. SimGrid itself gave both (tests/oracle/test_messages.py).
    """
    _, scheduler = killing(jobs({"walltime": 8}, profiles={"p": profile}), 8.0)
    (completed,) = scheduler.events(JobCompleted)
    (called,) = scheduler.events(RequestedCall)
    assert completed.state is JobState.COMPLETED_WALLTIME_REACHED
    assert called.timestamp == completed.timestamp == 8.5


@pytest.mark.parametrize("profile", [PTASK, {"type": "delay", "delay": 10}])
def test_a_walltime_on_a_submission_is_reported_first(profile: dict[str, Any]) -> None:
    """As recorded from the real Batsim: the end, then the submission, both when the end's message has ended."""
    data = jobs(*({"subtime": 2 * number, "walltime": 8} for number in range(5)), profiles={"p": profile})

    def answer(message: Message) -> Any:
        for event in message.events:
            if isinstance(event, JobSubmitted):
                yield execute(event.job_id, (int(event.job_id[-1]) - 1) % 4, at=message.now)

    _, scheduler = run(data, answer, compute_sharing=True)
    (message,) = (message for message in scheduler.messages if 8.0 <= message.now < 9.0 and len(message.events) > 1)
    kinds = [(type(event), event.timestamp) for event in message.events[:2]]
    assert kinds == [(JobCompleted, 8.5), (JobSubmitted, 8.5)]


def test_second_kill_is_dropped() -> None:
    """Jobs whose kill was requested already are left out; if no job is left there is no acknowledgement."""
    data = jobs({}, {}, profiles={"p": PTASK})
    _, scheduler = killing(data, 4.0, kill("w0!1"), kill("w0!1"), kill("w0!1", "w0!2"))
    assert [e.job_ids for e in scheduler.events(JobKilled)] == [("w0!1",), ("w0!2",)]


def test_killed_machines_are_free_at_once() -> None:
    """The next request of the same reply may use them."""
    data = jobs({}, {"subtime": 4}, profiles={"p": PTASK})

    def answer(message: Message) -> Any:
        for event in message.events:
            if isinstance(event, JobSubmitted):
                if event.job_id == "w0!2":
                    yield kill("w0!1", at=message.now)
                yield execute(event.job_id, 0, at=message.now)

    result, scheduler = run(data, Scheduler(answer))
    assert result.totals.success == 1
    assert result.totals.makespan == pytest.approx(14.0)
    message = next(m for m in scheduler.messages if any(isinstance(e, JobKilled) for e in m.events))
    assert message.now == 4.0
    assert [type(e).__name__ for e in message.events] == ["Notify", "JobCompleted", "JobKilled"]


def test_immediate_kill() -> None:
    """A job killed by the next request has run for as long as that message took, and has no progress to report."""

    def answer(message: Message) -> Any:
        for event in message.events:
            if isinstance(event, JobSubmitted):
                yield execute(event.job_id, 0)
                yield kill(event.job_id)

    result, scheduler = run(jobs({}, profiles={"p": PTASK}), Scheduler(answer))
    assert scheduler.events(JobKilled)[0].progress["w0!1"].progress == 0.0
    assert result.totals.makespan == pytest.approx(6e-10)


def test_kill_of_a_reported_job() -> None:
    """Once its completion has been sent, a job cannot be named any more."""
    with pytest.raises(SchedulerFault, match="does not exist any more"):
        killing(jobs({}, {"subtime": 50}, profiles={"p": PTASK}), 20.0, kill("w0!1", at=20.0))


def test_kill_of_a_usage_trace(tmp_path: Any) -> None:
    """Its tasks are removed; there is no progress to report."""
    (tmp_path / "t").write_text("r0\nr1\n")
    (tmp_path / "r0").write_text("0 m_usage 1 4e9\n0 m_usage 0.5 4e9\n")
    (tmp_path / "r1").write_text("# nothing\n1 m_usage 1 1e9\n")
    profile = {"type": "usage_trace", "trace": str(tmp_path / "t")}
    data = jobs({"res": 2}, profiles={"p": profile})
    result, scheduler = killing(data, 5.0, kill("w0!1"), allocations=((0, 1),))
    progress = scheduler.events(JobKilled)[0].progress["w0!1"]
    assert (progress.current_task_index, progress.current_task, progress.progress) == (-1, None, None)
    assert scheduler.events(JobCompleted)[0].return_code == -1
    assert result.totals.makespan == pytest.approx(5.0)

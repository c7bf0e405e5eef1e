"""Times: message latency, batching, walltimes, calls, and replies that lie in the future."""

import pytest

from spillway.protocol.messages import (
    CallMeLater,
    ExecuteJob,
    JobCompleted,
    JobState,
    JobSubmitted,
    Message,
    Notify,
    RejectJob,
    Reply,
    RequestedCall,
    SimulationBegins,
    SimulationEnds,
)
from spillway.simulator.errors import SchedulerFault
from tests.simulator.worlds import LATENCY, call, execute, greedy, jobs, run, scripted


def kinds(message: Message) -> list[str]:
    """Names of a message's events."""
    return [type(event).__name__ for event in message.events]


def test_first_messages_of_one_workload() -> None:
    """SIMULATION_BEGINS first, all submissions of t = 0 together, then the notification (batsim4.md 2.3)."""
    _, scheduler = run(jobs({}, {}), scripted((), (), (execute("w0!1", 0), execute("w0!2", 1))))
    assert [kinds(m) for m in scheduler.messages[:3]] == [
        ["SimulationBegins"],
        ["JobSubmitted", "JobSubmitted"],
        ["Notify"],
    ]
    assert [m.now for m in scheduler.messages[:3]] == [0.0, 0.0, 0.0]


def test_two_workloads_share_a_message() -> None:
    """With two workloads the notification comes with the submissions (batsim4.md 2.3)."""
    _, scheduler = run([jobs({}), jobs({})], scripted((), (execute("w0!1", 0), execute("w1!1", 1))))
    assert kinds(scheduler.messages[1]) == ["JobSubmitted", "JobSubmitted", "Notify"]


def test_no_workload_ends_after_the_first_reply() -> None:
    """Without workloads there is no notification, only the end (batsim4.md 4.2)."""
    result, scheduler = run(None)
    assert [kinds(m) for m in scheduler.messages] == [["SimulationBegins"], ["SimulationEnds"]]
    assert result.end_s == pytest.approx(2e-10)  # that the scheduler is ready, twice


def test_completion_is_late_by_the_latency() -> None:
    """The event's timestamp is the end plus the way to the master; the book's end is not (batsim4.md 2.3)."""
    result, scheduler = run(jobs({}))
    (event,) = scheduler.events(JobCompleted)
    assert event.timestamp == pytest.approx(10 + LATENCY)
    assert result.totals.makespan == pytest.approx(10.0)


def test_equal_ends_arrive_one_after_another() -> None:
    """Three jobs that end together: one message, timestamps one latency apart, `now` the last of them."""
    _, scheduler = run(jobs({}, {}, {}), scripted((), (execute("w0!1", 0), execute("w0!2", 1), execute("w0!3", 2))))
    message = next(m for m in scheduler.messages if any(isinstance(e, JobCompleted) for e in m.events))
    assert [e.timestamp for e in message.events] == [pytest.approx(10 + n * LATENCY) for n in (1, 2, 3)]
    assert message.now == message.events[-1].timestamp


def test_submission_order_is_text_order() -> None:
    """By time, then by full id as text: 10 before 9 (batsim4.md 4.3)."""
    data = jobs({"id": 9}, {"id": "10"}, {"id": 2, "subtime": 1})
    _, scheduler = run(data, lambda m: [RejectJob(m.now, e.job_id) for e in m.events if isinstance(e, JobSubmitted)])
    assert [e.job_id for e in scheduler.events(JobSubmitted)] == ["w0!10", "w0!9", "w0!2"]


@pytest.mark.parametrize(("profile", "walltime", "state"), [
    ({"type": "delay", "delay": 10}, 10, JobState.COMPLETED_WALLTIME_REACHED),
    ({"type": "delay", "delay": 10}, 10.000001, JobState.COMPLETED_SUCCESSFULLY),
    ({"type": "delay", "delay": 10}, 4, JobState.COMPLETED_WALLTIME_REACHED),
    ({"type": "parallel_homogeneous", "cpu": 1e10, "com": 0}, 10, JobState.COMPLETED_SUCCESSFULLY),
    ({"type": "parallel_homogeneous", "cpu": 1e10, "com": 0}, 10.00001, JobState.COMPLETED_SUCCESSFULLY),
    ({"type": "parallel_homogeneous", "cpu": 1e10, "com": 0}, 3.5, JobState.COMPLETED_WALLTIME_REACHED),
    ({"type": "parallel_homogeneous", "cpu": 1e10, "com": 0}, -1, JobState.COMPLETED_SUCCESSFULLY),
])  # fmt: skip
def test_walltime(profile: dict[str, object], walltime: float, state: JobState) -> None:
    """A delay that takes exactly its walltime has reached it; a one-host parallel task has ended.

    The real Batsim did the latter with all such jobs of the thesis's part-4 and part-11 (24 killed of each).
    """
    _, scheduler = run(jobs({"walltime": walltime}, profiles={"p": profile}))
    (event,) = scheduler.events(JobCompleted)
    assert event.state is state
    assert event.return_code == (0 if state is JobState.COMPLETED_SUCCESSFULLY else -1)
    assert event.timestamp == pytest.approx(min(10, walltime if walltime > 0 else 10) + LATENCY)


def test_no_runtime_becomes_1e_5() -> None:
    """A job without work has a runtime of 1e-5 s in the books, and ends at once (batsim4.md 6)."""
    data = jobs({"subtime": 3}, profiles={"p": {"type": "parallel_homogeneous", "cpu": 0, "com": 0}})
    result, scheduler = run(data)
    assert result.totals.makespan == pytest.approx(3.00001)
    assert result.totals.max_slowdown == pytest.approx(1.0, abs=1e-4)
    assert scheduler.events(JobCompleted)[0].timestamp == pytest.approx(3 + LATENCY)


def test_job_without_work_delays_later_requests_of_the_reply() -> None:
    """Its message is received between the second request and the third, so the third job starts a latency later."""
    profiles = {"p": {"type": "delay", "delay": 10}, "none": {"type": "parallel_homogeneous", "cpu": 0, "com": 0}}
    data = jobs({"profile": "none"}, {}, {}, profiles=profiles)
    _, scheduler = run(data, scripted((), (execute("w0!1", 0), execute("w0!2", 1), execute("w0!3", 2))))
    ends = {e.job_id: e.timestamp for e in scheduler.events(JobCompleted)}
    assert ends["w0!1"] == pytest.approx(LATENCY)
    assert ends["w0!2"] == pytest.approx(10 + LATENCY)
    assert ends["w0!3"] == pytest.approx(LATENCY + 10 + LATENCY)


def test_calls() -> None:
    """Each request gives one call, duplicates too, at its time (batsim4.md 5)."""
    _, scheduler = run(None, scripted((call(5.0), call(5.0), call(2.25))))
    assert [e.timestamp for e in scheduler.events(RequestedCall)] == [2.25, 5.0, 5.0]


def test_short_call_is_stretched() -> None:
    """Less than 1e-5 s becomes 1e-5 s."""
    _, scheduler = run(None, scripted((call(0.000002),)))
    assert scheduler.events(RequestedCall)[0].timestamp == 0.00001


@pytest.mark.parametrize("moment", [0.0, -1.0, float("inf"), float("nan")])
def test_call_must_lie_in_the_future(moment: float) -> None:
    """Equal to the clock, or before it, is an error (batsim4.md 5)."""
    with pytest.raises(SchedulerFault, match=r"CALL_ME_LATER: 'timestamp' must lie after.*events\[0\]"):
        run(None, scripted((call(moment),)))


def test_reply_in_the_future() -> None:
    """Requests are carried out at their timestamps; meanwhile events are reported later with their own times."""

    def answer(message: Message) -> Reply:
        if any(isinstance(e, JobSubmitted) and e.job_id == "w0!1" for e in message.events):
            return Reply(20.0, (execute("w0!1", 0), ExecuteJob(15.0, "w0!2", (1,))))
        return Reply(message.now, ())

    _, scheduler = run(jobs({}, {"subtime": 4}), answer)
    late = next(m for m in scheduler.messages if m.now == 20.0)
    assert [(type(e).__name__, e.timestamp) for e in late.events] == [
        ("JobSubmitted", 4.0),
        ("Notify", 4.0),
        ("JobCompleted", pytest.approx(10 + LATENCY)),
    ]
    assert scheduler.events(JobCompleted)[1].timestamp == pytest.approx(25 + LATENCY)


def test_timestamp_after_now_is_an_error() -> None:
    """The one rule on times that is enforced (batsim4.md 2.2)."""
    with pytest.raises(SchedulerFault, match=r"must not lie after the message's 'now'.*\$\.events\[0\]\.timestamp"):
        run(jobs({}), scripted((call(50.0, at=1.0),)))


def test_old_and_falling_timestamps_are_accepted() -> None:
    """Timestamps in the past and out of order, and a `now` before the message's, are carried out at once."""

    def answer(message: Message) -> Reply:
        if any(isinstance(e, JobSubmitted) for e in message.events):
            return Reply(2.0, (CallMeLater(2.0, 9.0), ExecuteJob(1.0, "w0!1", (0,))))
        return Reply(message.now, ())

    _, scheduler = run(jobs({"subtime": 7}), answer)
    assert scheduler.events(JobCompleted)[0].timestamp == pytest.approx(17 + LATENCY)


@pytest.mark.parametrize("now", [float("nan"), float("inf")])
def test_now_must_be_finite(now: float) -> None:
    """An endless or undefined `now` is refused."""
    with pytest.raises(SchedulerFault, match="'now' must be a finite number"):
        run(jobs({}), lambda message: Reply(now, ()))


def test_last_reply_must_ask_for_nothing() -> None:
    """A call requested in the reply to SIMULATION_ENDS is left over (batsim4.md 4.2)."""

    def answer(message: Message) -> list[CallMeLater]:
        ends = any(isinstance(e, SimulationEnds) for e in message.events)
        return [call(1e6, at=message.now)] if ends else []

    with pytest.raises(SchedulerFault, match=r"1 calls requested"):
        run(None, answer)


def test_submitter_waits_for_the_server() -> None:
    """While a completion is on its way, a submission waits; the next one is late by as much, the one after is not."""
    data = jobs({}, {"subtime": 10.25}, {"subtime": 12}, {"subtime": 14})
    _, scheduler = run(data, greedy_in_turn())
    stamps = [e.timestamp for e in scheduler.events(JobSubmitted)]
    assert stamps == [0.0, pytest.approx(10.5), pytest.approx(12.25), pytest.approx(14.0)]


def greedy_in_turn() -> object:
    """Each job on the next machine."""
    machines = iter(range(4))
    return lambda m: [ExecuteJob(m.now, e.job_id, (next(machines),)) for e in m.events if isinstance(e, JobSubmitted)]


def test_everything_is_rounded_to_six_decimals() -> None:
    """Times and numbers in objects are given as they would be printed (batsim4.md 2.1)."""
    data = jobs({"subtime": 1 / 3, "walltime": 100, "extra": [1 / 7, 2, True, None, "x"]})
    data["profiles"]["p"]["note"] = 2 / 3
    _, scheduler = run(data)
    (event,) = scheduler.events(JobSubmitted)
    assert event.timestamp == 0.333333
    assert event.job == {
        "id": "w0!1", "subtime": 0.333333, "res": 1, "profile": "p", "walltime": 100,
        "extra": [0.142857, 2, True, None, "x"],
    }  # fmt: skip
    assert type(event.job["walltime"]) is int
    begins: SimulationBegins = scheduler.events(SimulationBegins)[0]
    assert begins.profiles["w0"]["p"]["note"] == 0.666667


def test_the_end_comes_once() -> None:
    """SIMULATION_ENDS is the only event of the last message."""
    _, scheduler = run(jobs({}), greedy)
    assert kinds(scheduler.messages[-1]) == ["SimulationEnds"]
    assert sum(isinstance(e, SimulationEnds) for e in scheduler.events()) == 1
    assert [e.kind for e in scheduler.events(Notify)] == ["no_more_static_job_to_submit"]

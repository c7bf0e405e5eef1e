"""The session's conversation: legal order, rejections, availability, cadence, dynamic registration, refusals."""

from collections.abc import Iterator

import pytest

from spillway.base.errors import DecisionRefused, RemoteProtocolError
from spillway.protocol import messages as m
from spillway.schedulers.core.session import Session
from spillway.schedulers.core.terms import Cadence, Terms
from spillway.schedulers.model.decisions import Decision, Hold, Kill, Pause, Reject, SetPowerState, Start, WakeAt
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.policies import POLICIES
from spillway.schedulers.policykit.estimates import Correction, UserHistory
from spillway.schedulers.policykit.passes import try_start
from spillway.schedulers.policykit.view import View
from tests.kit.messages import begins, completed, submitted
from tests.schedulers.runtimes import rigid


def started(reply: m.Reply) -> list[str]:
    """Ids of executed jobs."""
    return [request.job_id for request in reply.events if isinstance(request, m.ExecuteJob)]


def opened(policy: str = "fcfs", nodes: int = 4, **options: object) -> Session:
    """A session that has seen its first message."""
    session = Session(POLICIES[policy].build({}), rigid(), **options)  # type: ignore[arg-type]
    session.handle(m.Message(0.0, (begins(nodes),)))
    return session


def test_nothing_before_the_beginning_nor_after_the_end() -> None:
    """A conversation starts with SIMULATION_BEGINS and ends with SIMULATION_ENDS."""
    with pytest.raises(RemoteProtocolError, match="before SIMULATION_BEGINS"):
        Session(POLICIES["fcfs"].build({}), rigid()).handle(m.Message(0.0, (submitted(0, 1),)))
    session = opened()
    assert session.handle(m.Message(1.0, (m.SimulationEnds(1.0),))).events == ()
    assert session.finished
    with pytest.raises(RemoteProtocolError, match="nothing may follow"):
        session.handle(m.Message(2.0, ()))


def test_registration_is_finished_once_when_dynamic_jobs_are_enabled() -> None:
    """NOTIFY registration_finished comes with the last end after the last submission, and only then."""
    session = Session(POLICIES["fcfs"].build({}), rigid())
    session.handle(m.Message(0.0, (begins(config=m.BatsimConfig(dynamic_jobs_enabled=True)),)))
    session.handle(m.Message(0.0, (submitted(0, 1),)))
    assert session.handle(m.Message(0.0, (m.Notify(0.0, "no_more_static_job_to_submit"),))).events == ()
    reply = session.handle(m.Message(5.0, (completed(0, 5.0),)))
    assert [type(request) for request in reply.events] == [m.NotifyRegistration]


class Scripted:
    """A policy that yields prepared decisions on its first pass with jobs."""

    def __init__(self, *decisions: object) -> None:
        self.decisions = decisions

    def __call__(self, view: View) -> Iterator[Decision]:
        """Yield the prepared decisions, with jobs given by their rank in the queue."""
        for decision in self.decisions:
            yield decision(view) if callable(decision) else decision  # type: ignore[misc]
        self.decisions = ()


@pytest.mark.parametrize(
    ("decision", "words"),
    [
        (lambda v: Start(v.queue[0], Allocation((0,))), "node"),
        (lambda v: Start(v.queue[0], Allocation((0, 9))), "9"),
        (lambda v: Start(v.queue[0], Allocation((1, 1))), "twice|duplicate"),
        (lambda v: Start(Job("w0!77", 0, 0, 1, 1), Allocation((0,))), "not waiting"),
        (lambda v: Reject(Job("w0!77", 0, 0, 1, 1), "x"), "only a waiting job"),
        (lambda v: Kill(v.queue[0], "x"), "only a running job"),
        (lambda v: WakeAt(0.0), "wake-up at 0.0 s"),
        (lambda v: Start(v.queue[0], None), "Start: allocation must be of type Allocation, got None"),  # type: ignore[arg-type]
        (lambda v: Start(v.queue[0].id, Allocation((0,))), "Start: job must be of type Job, got 'w0!0'"),
        (lambda v: Hold(v.queue[0].id, Allocation(()), 9.0), "Hold: job must be of type Job"),
        (lambda v: WakeAt("x"), "WakeAt: time_s must be of type float, got 'x'"),  # type: ignore[arg-type]
        (lambda v: "start please", "must yield decisions"),
    ],
)
def test_guard_refuses_and_names_the_reason(decision: object, words: str) -> None:
    """A faulty decision never reaches the wire."""
    session = Session(Scripted(decision), rigid())
    session.handle(m.Message(0.0, (begins(),)))
    with pytest.raises(DecisionRefused, match=words):
        session.handle(m.Message(0.0, (submitted(0, 2),)))


def test_wake_kill_and_power_state_reach_the_wire() -> None:
    """Accepted decisions become their requests."""
    session = Session(
        Scripted(
            lambda v: Start(v.queue[0], Allocation((0, 1))),
            lambda v: Kill(v.queue[0], "enough"),
            WakeAt(30.0),
            SetPowerState((3,), 1),
        ),
        rigid(),
    )
    session.handle(m.Message(0.0, (begins(),)))
    reply = session.handle(m.Message(0.0, (submitted(0, 2),)))
    assert [type(r) for r in reply.events] == [m.ExecuteJob, m.KillJob, m.CallMeLater, m.SetResourceState]
    assert session.handle(m.Message(30.0, (m.RequestedCall(30.0),))).events == ()


def test_power_state_of_a_busy_node_is_refused() -> None:
    """A node with a job keeps its power state."""
    session = Session(Scripted(lambda v: Start(v.queue[0], Allocation((0,))), SetPowerState((0,), 1)), rigid())
    session.handle(m.Message(0.0, (begins(),)))
    with pytest.raises(DecisionRefused, match="n0 is busy"):
        session.handle(m.Message(0.0, (submitted(0, 1),)))


def test_cadence_per_event_sees_half_of_simultaneous_ends() -> None:
    """One pass per event: a wide job behind a narrow one loses when two ends come together."""
    events = (completed(0, 5.0), completed(1, 5.0))
    first, winners = (submitted(0, 2), submitted(1, 2)), {}
    for cadence in Cadence:
        session = opened("filler", 4, terms=Terms(cadence=cadence))
        session.handle(m.Message(0.0, first))
        session.handle(m.Message(1.0, (submitted(2, 4, 1.0), submitted(3, 2, 1.0))))
        winners[cadence] = started(session.handle(m.Message(5.0, events)))
    assert winners == {Cadence.MESSAGE: ["w0!2"], Cadence.EVENT: ["w0!3"]}


def test_a_job_whose_end_the_same_message_reports_is_not_killed() -> None:
    """Batsim does not know such a job any more, and would abort; others of the same kill are named."""

    def policy(view: View) -> Iterator[Decision]:
        yield from (start for job in view.queue if (start := try_start(view, job)) is not None)
        if view.now_s == 5.0 and len(view.running) == 3:
            yield from (Kill(run.job, "too long") for run in view.running)

    session = Session(policy, rigid(), terms=Terms(cadence=Cadence.EVENT))
    session.handle(m.Message(0.0, (begins(4), *(submitted(number, 1) for number in range(3)))))
    reply = session.handle(m.Message(5.0, (m.RequestedCall(5.0), completed(0, 5.0))))
    assert [request.job_ids for request in reply.events if isinstance(request, m.KillJob)] == [("w0!1",), ("w0!2",)]
    session.check()


def test_prediction_is_corrected_when_exceeded() -> None:
    """A user's history shortens estimates; a job that outlives its own is booked on, in steps."""
    history = UserHistory()
    session = opened("easy", 2, terms=Terms(estimator=history))

    def of_user(number: int, at: float) -> m.JobSubmitted:
        event = submitted(number, 2, at, walltime=1000.0)
        return m.JobSubmitted(at, event.job_id, event.job | {"user": 7})

    session.handle(m.Message(0.0, (of_user(0, 0.0),)))
    session.handle(m.Message(20.0, (completed(0, 20.0),)))
    probe = Job("w0!9", 9, 0.0, 1000.0, 1, extras={"user": 7})
    assert history.estimate_s(probe) == 20.0
    session.handle(m.Message(20.0, (of_user(1, 20.0),)))
    session.handle(m.Message(50.0, (submitted(2, 1, 50.0),)))
    session.check()
    assert history.correct_s(probe, 30.0) == 90.0
    assert UserHistory(correction=Correction.WALLTIME).correct_s(probe, 30.0) == 1000.0


def _pausing(view: View) -> Iterator[Decision]:
    """Pause before each start."""
    for job in view.queue:
        yield Pause()
        start = try_start(view, job)
        assert start is not None
        yield start


def test_a_pause_keeps_the_place_in_the_pass() -> None:
    """The answer continues after the policy's pause; meanwhile the session has the state of the moment."""
    session = Session(_pausing, rigid())
    assert session.answer(m.Message(0.0, (begins(), submitted(0, 1), submitted(1, 2)))) is None
    assert (session.waiting, len(session.book.running)) == (2, 0)
    assert session.go_on() is None
    assert (session.waiting, len(session.book.running)) == (1, 1)
    reply = session.go_on()
    assert reply is not None
    assert started(reply) == ["w0!0", "w0!1"]


def test_a_pause_is_refused_where_nothing_can_wait() -> None:
    """A server and the direct player need the answer at once."""
    with pytest.raises(DecisionRefused, match="the policy pauses"):
        Session(_pausing, rigid()).handle(m.Message(0.0, (begins(), submitted(0, 1))))

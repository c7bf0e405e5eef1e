"""Impossible events are refused with one located RemoteProtocolError; events without effect are accepted."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillway.base.errors import MOST_SHOWN, RemoteProtocolError, shown
from spillway.protocol import messages as m
from spillway.protocol.limits import LATEST_S, LONGEST_NAME
from spillway.schedulers.core.session import Session
from spillway.schedulers.core.terms import Cadence, Terms
from spillway.schedulers.policies import POLICIES
from tests.schedulers.runtimes import rigid

BEGINS = m.SimulationBegins(0.0, tuple(m.ResourceInfo(i, f"n{i}") for i in range(4)), (m.ResourceInfo(4, "s0"),))


def job(number: int, at: float = 5.0, **changes: Any) -> m.JobSubmitted:
    """A job on two nodes; ``changes`` replace members of its object."""
    job_id = f"w0!{number}"
    return m.JobSubmitted(
        at, job_id, {"id": job_id, "subtime": at, "res": 2, "walltime": 10.0, "profile": "p"} | changes
    )


def done(name: str, at: float = 5.0, *, alloc: tuple[int, ...] = ()) -> m.JobCompleted:
    """A success."""
    return m.JobCompleted(at, name, m.JobState.COMPLETED_SUCCESSFULLY, 0, alloc)


def machine(kind: m.NotifyKind, *resources: int) -> m.Notify:
    """A notification about resources."""
    return m.Notify(5.0, kind.value, resources)


def opened() -> Session:
    """At 5 s job 0 has ended, 1 and 2 run on all nodes, 3 waits."""
    session = Session(POLICIES["fcfs"].build({}), rigid())
    session.handle(m.Message(0.0, (BEGINS,)))
    session.handle(m.Message(1.0, (job(0, 1.0), job(1, 1.0))))
    session.handle(m.Message(2.0, (done("w0!0", 2.0), job(2, 2.0), job(3, 2.0))))
    session.handle(m.Message(5.0, (m.RequestedCall(5.0),)))
    session.check()
    return session


def refused(session: Session, now_s: float, *events: m.Event) -> RemoteProtocolError:
    """The one error of a message; its text is short."""
    with pytest.raises(RemoteProtocolError) as caught:
        session.handle(m.Message(now_s, events))
    assert len(str(caught.value)) < 500
    return caught.value


TIMES: list[tuple[str, float, tuple[float, ...], str]] = [
    ("now goes back", 4.0, (4.0,), "$.now"),
    ("now goes back, no event", 4.999999, (), "$.now"),
    ("negative", -1.0, (), "$.now"),
    ("nan", math.nan, (), "$.now"),
    ("infinite", math.inf, (math.inf,), "$.now"),
    ("microseconds", 2e13, (2e13,), "$.now"),
    ("just beyond", math.nextafter(LATEST_S, math.inf), (), "$.now"),
    ("event ahead of now", 6.0, (7.0,), "$.events[0].timestamp"),
    ("events go back", 8.0, (7.0, 6.0), "$.events[1].timestamp"),
    ("event before the last message's", 8.0, (4.0,), "$.events[0].timestamp"),
    ("event at nan", 8.0, (math.nan,), "$.events[0].timestamp"),
]


@pytest.mark.parametrize(("now_s", "times", "path"), [c[1:] for c in TIMES], ids=[c[0] for c in TIMES])
def test_times_that_cannot_be(now_s: float, times: tuple[float, ...], path: str) -> None:
    """Backwards, not finite, so large that a little later is the same instant."""
    assert refused(opened(), now_s, *[m.RequestedCall(time_s) for time_s in times]).path == path


@pytest.mark.parametrize("before", [(), (0.0,), (0.0, 3.0)], ids=["first message", "begun", "nothing has run"])
def test_time_goes_back_in_every_state(before: tuple[float, ...]) -> None:
    """Also without any submitted job, and for the first message."""
    session = Session(POLICIES["easy"].build({}), rigid())
    for number, now_s in enumerate(before):
        session.handle(m.Message(now_s, (BEGINS,) if number == 0 else ()))
    assert refused(session, -0.5 if len(before) < 2 else 2.0).path == "$.now"


def test_the_latest_time_is_played() -> None:
    """At the limit a job still starts, outlives its estimate and ends: a millisecond later is another instant."""
    session = Session(POLICIES["easy"].build({}), rigid())
    session.handle(m.Message(0.0, (BEGINS,)))
    at = LATEST_S - 20.0
    session.handle(m.Message(at, (job(0, at), job(1, at))))
    session.handle(m.Message(LATEST_S, (done("w0!0", LATEST_S),)))
    session.check()


EVENTS: list[tuple[str, tuple[m.Event, ...], str]] = [
    ("submitted again while it waits", (job(3),), "$.events[0].data.job_id"),
    ("submitted again while it runs", (job(1),), "$.events[0].data.job_id"),
    ("submitted again after its end", (job(0),), "$.events[0].data.job_id"),
    ("submitted twice in a message", (job(7), job(7)), "$.events[1].data.job_id"),
    ("a sub-job that none registered", (m.JobSubmitted(5.0, "w0%1!0", {}),), "$.events[0].data.job_id"),
    ("an id without workload", (m.JobSubmitted(5.0, "7", {}),), "$.events[0].data.job_id"),
    ("an endless id", (m.JobSubmitted(5.0, "w0!" + "x" * 5000, {}),), "$.events[0].data.job_id"),
    ("completed, unknown", (done("w0!99"),), "$.events[0].data.job_id"),
    ("completed, waiting", (done("w0!3"),), "$.events[0].data.job_id"),
    ("completed again", (done("w0!0"),), "$.events[0].data.job_id"),
    ("completed twice in a message", (done("w0!1"), done("w0!1")), "$.events[1].data.job_id"),
    ("completed on unknown resources", (done("w0!1", alloc=(0, 9)),), "$.events[0].data.alloc"),
    ("killed, no kill requested", (m.JobKilled(5.0, ("w0!1",), {}),), "$.events[0].data.job_ids"),
    ("killed, unknown", (m.JobKilled(5.0, ("w0!99",), {}),), "$.events[0].data.job_ids"),
    ("progress of another job", (m.JobKilled(5.0, (), {"w0!1": m.TaskProgress("p", 0.5)}),),
     "$.events[0].data.job_progress"),
    ("an unknown machine fails", (machine(m.NotifyKind.MACHINE_UNAVAILABLE, 5),), "$.events[0].data.resources"),
    ("an unknown machine is back", (machine(m.NotifyKind.MACHINE_AVAILABLE, 0, 77),), "$.events[0].data.resources"),
    ("power of an unknown machine", (m.ResourceStateChanged(5.0, (8,), 0),), "$.events[0].data.resources"),
    ("a second beginning", (m.SimulationBegins(5.0, BEGINS.compute_resources, ()),), "$.events[0].data"),
    ("something after the end", (m.SimulationEnds(5.0), m.RequestedCall(5.0)), "$.events[1]"),
]  # fmt: skip


@pytest.mark.parametrize(("events", "path"), [c[1:] for c in EVENTS], ids=[c[0] for c in EVENTS])
def test_events_that_cannot_follow(events: tuple[m.Event, ...], path: str) -> None:
    """Twice, never requested, of jobs or machines that do not exist."""
    assert refused(opened(), 5.0, *events).path == path


def test_a_job_ends_before_its_start_was_sent() -> None:
    """A pass after each event starts it; its end in the same message comes from nowhere (it was accepted before)."""
    session = Session(POLICIES["fcfs"].build({}), rigid(), terms=Terms(cadence=Cadence.EVENT))
    session.handle(m.Message(0.0, (BEGINS,)))
    assert refused(session, 5.0, job(0), done("w0!0")).path == "$.events[1].data.job_id"


HARMLESS: list[tuple[str, tuple[m.Event, ...]]] = [
    ("a call that was not requested", (m.RequestedCall(5.0), m.RequestedCall(5.0))),
    ("no event", ()),
    ("unavailable twice", (machine(m.NotifyKind.MACHINE_UNAVAILABLE, 4),) * 2),
    ("available while it is", (machine(m.NotifyKind.MACHINE_AVAILABLE, 0, 4),)),
    ("the end of static jobs twice", (machine(m.NotifyKind.NO_MORE_STATIC_JOB_TO_SUBMIT),) * 2),
    ("an unknown notification", (m.Notify(5.0, "weather", (), {"type": "weather"}),)),
]


@pytest.mark.parametrize("events", [c[1] for c in HARMLESS], ids=[c[0] for c in HARMLESS])
def test_events_that_change_nothing(events: tuple[m.Event, ...]) -> None:
    """They are answered, and jobs continue as without them."""
    session = opened()
    session.handle(m.Message(5.0, events))
    session.check()
    session.handle(m.Message(6.0, (done("w0!1", 6.0),)))
    session.check()
    assert session.waiting == 0


DATA: list[tuple[str, dict[str, Any]]] = [
    *[("res", {"res": value}) for value in (-1, True, 2.0, "2", None, 2**31, [1])],
    *[("walltime", {"walltime": value}) for value in (0, -2.0, math.nan, math.inf, "10", None, True)],
    *[("subtime", {"subtime": value}) for value in (math.nan, -math.inf, 1.6e15, "0", [0])],
    *[("bb", {"bb": value}) for value in (-1, math.nan, math.inf, 2**62, "1 GB", {}, None)],
    *[("io_rate", {"io_rate": value}) for value in (-5.0, math.inf, 1e300, "fast")],
]


@pytest.mark.parametrize(("member", "changes"), DATA, ids=[f"{c[0]}-{next(iter(c[1].values()))!r}" for c in DATA])
def test_bad_job_data_is_the_peers_fault(member: str, changes: dict[str, Any]) -> None:
    """The error states the member and the expected value."""
    error = refused(opened(), 5.0, job(8, **changes))
    assert error.path == f"$.events[0].data.job.{member}"
    assert "must be" in str(error)


@pytest.mark.parametrize("walltime", [1e30, 10**400, 2**33 + 1])
def test_a_walltime_beyond_all_times_is_none(walltime: float) -> None:
    """2^33 s are 272 years: such a walltime counts as no walltime, and one line says so in the end."""
    session = opened()
    session.handle(m.Message(5.0, (job(8, walltime=walltime),)))
    session.check()
    assert any("walltimes of 1 jobs are above 8589934592 s" in warning for warning in session.warnings())


PROFILES: list[tuple[str, dict[str, Any]]] = [
    ("type", {"type": 5}),
    ("delay", {"type": "delay"}),
    ("delay", {"type": "delay", "delay": -1}),
    ("delay", {"type": "delay", "delay": 2e13}),
    ("cpu", {"type": "parallel_homogeneous", "cpu": "1e9", "com": 0}),
    ("com", {"type": "parallel_homogeneous", "cpu": 1e9}),
    ("cpu", {"type": "parallel", "cpu": [1.0, -1.0], "com": [0.0] * 4}),
    ("com", {"type": "parallel", "cpu": [1.0], "com": [math.nan]}),
]


@pytest.mark.parametrize(("member", "profile"), PROFILES)
def test_bad_profiles_are_the_peers_fault(member: str, profile: dict[str, Any]) -> None:
    """Of the types that job models read."""
    event = m.JobSubmitted(5.0, "w0!8", job(8).job, profile)
    assert refused(opened(), 5.0, event).path == f"$.events[0].data.profile.{member}"


def test_microseconds_are_named_as_a_cause() -> None:
    """A log in the wrong unit: the text names the probable cause."""
    assert "microseconds" in str(refused(opened(), 5.0, job(8, subtime=1.6e15)))
    assert "microseconds" in str(refused(opened(), 1.6e15))


@pytest.mark.parametrize("event", [
    m.SimulationBegins(0.0, (), ()),
    m.SimulationBegins(0.0, (m.ResourceInfo(0, "a"), m.ResourceInfo(0, "b")), ()),
    m.SimulationBegins(0.0, (m.ResourceInfo(0, "a"),), (m.ResourceInfo(0, "s"),)),
    m.SimulationBegins(0.0, (m.ResourceInfo(-1, "a"),), ()),
    m.SimulationBegins(0.0, (m.ResourceInfo(0, "n" * (LONGEST_NAME + 1)),), ()),
    m.SimulationBegins(0.0, (m.ResourceInfo(0, "a", properties={"io_path": "p=1/" * 100_000}),), ()),
    m.SimulationBegins(0.0, (m.ResourceInfo(0, "a", properties={"io_path": "p=" + "9" * 5000}),), ()),
    m.SimulationBegins(0.0, (m.ResourceInfo(0, "a", properties={"io_levels": "p=1:" + "9" * 5000}),), ()),
], ids=["no node", "id twice", "both", "negative id", "long name", "levels", "digits", "range"])  # fmt: skip
def test_machines_that_cannot_be(event: m.SimulationBegins) -> None:
    """Refused before anything is made of them."""
    session = Session(POLICIES["fcfs"].build({}), rigid())
    assert refused(session, 0.0, event).path.startswith("$.events[0].data")


@pytest.mark.parametrize("place", ["\u00b2", "9" * 5000, "\u0663", "", "/", "a" * 10**5])
def test_odd_places_are_sorted(place: str) -> None:
    """Digits of other scripts, or more of them than Python reads as a number (both ended in a ValueError)."""
    session = Session(POLICIES["fcfs"].build({}), rigid())
    infos = [m.ResourceInfo(number, f"n\u00b2{number}", properties={"location": place}) for number in range(3)]
    session.handle(m.Message(0.0, (m.SimulationBegins(0.0, tuple(infos), ()),)))
    assert [node.resource_id for node in session.machine.nodes] == [0, 1, 2]


@pytest.mark.parametrize(
    "value",
    ["x" * 10**6, {"a": ["y" * 4000] * 4000}, [[[[[]]]]] * 1000, 10**5000, b"z" * 5000, {"k" * 9999: 1}],
    ids=["text", "object", "lists", "integer", "bytes", "key"],
)
def test_values_are_shown_short(value: Any) -> None:
    """Values of any size."""
    assert len(shown(value)) <= MOST_SHOWN


@given(st.text(max_size=MOST_SHOWN + 2) | st.integers() | st.sampled_from([2**63, -(2**64), 2**64, True, "\x00" * 30]))
def test_short_values_are_shown_whole(value: str | int) -> None:
    """As their ``repr``, where that is short enough; integers beyond 64 bits by their size."""
    text, size = repr(value), abs(value) if isinstance(value, int) else 0
    assert (shown(value) == text) is (len(text) <= MOST_SHOWN and size < 2**64)

"""Jobs of several parts: the rest of a walltime, waits for messages, kills, energy; times worked out by hand."""

from pathlib import Path
from typing import Any

import pytest

from spillway.platforms.simgrid.xml_reader import parse_platform
from spillway.protocol.messages import JobCompleted, JobState, JobSubmitted, Message, RequestedCall, ToJobMsg
from spillway.simulator.errors import SimulatorInputError
from tests.simulator.worlds import LATENCY, Scheduler, call, execute, jobs, kill, run, small_platform

DONE, LATE = JobState.COMPLETED_SUCCESSFULLY, JobState.COMPLETED_WALLTIME_REACHED


def work(seconds: float) -> dict[str, Any]:
    """A parallel task of one machine."""
    return {"type": "parallel_homogeneous", "cpu": seconds * 1e9, "com": 0}


def wait(seconds: float) -> dict[str, Any]:
    """A delay."""
    return {"type": "delay", "delay": seconds}


def in_turn(*parts: dict[str, Any]) -> dict[str, Any]:
    """Profiles of a job with parts one after another."""
    names = [f"part{number}" for number in range(len(parts))]
    return {"p": {"type": "composed", "seq": names}} | dict(zip(names, parts, strict=True))


def ran(profiles: dict[str, Any], walltime: float, submitted: float = 0.0, **row: Any) -> tuple[float, JobState]:
    """Seconds that a job ran, and its state."""
    data = jobs({"walltime": walltime, "subtime": submitted, **row}, profiles=profiles)
    _, scheduler = run(data)
    (event,) = scheduler.events(JobCompleted)
    return event.timestamp - submitted - LATENCY, event.state


def talk(
    profiles: dict[str, Any],
    what: dict[float, Any],
    walltime: float = -1,
    submitted: float = 0.0,
    **options: Any,
) -> tuple[float, JobState]:
    """The same for a job to which the scheduler sends requests at some times (s)."""

    def answer(given: Message) -> Any:
        for event in given.events:
            if isinstance(event, JobSubmitted):
                yield execute(event.job_id, 0, at=given.now)
                yield from (call(moment, at=given.now) for moment in what)
            if isinstance(event, RequestedCall):
                yield from what[round(given.now, 1)]

    data = jobs({"walltime": walltime, "subtime": submitted}, profiles=profiles)
    _, scheduler = run(data, Scheduler(answer), **options)
    (event,) = scheduler.events(JobCompleted)
    return event.timestamp - submitted - LATENCY, event.state


def message(at: float) -> tuple[ToJobMsg, ...]:
    """A message for the job."""
    return (ToJobMsg(at, "w0!1", "go"),)


@pytest.mark.parametrize(("parts", "walltime", "seconds", "state"), [
    ((work(5), work(5)), 5.0, 5.0, LATE),
    ((work(5), work(5)), 5.5, 5.5, LATE),
    ((work(5), work(0.4)), 5.5, 5.4, DONE),
    ((work(5), work(1)), 5.0 + 1e-10, 5.0, LATE),
    ((work(5), wait(5)), 5.0, 5.0, LATE),
    ((work(5), wait(5)), 5.5, 5.5, LATE),
    ((wait(0.5), wait(0.4), wait(0.4)), 1.0, 1.0, LATE),
    ((wait(0.5), work(0.6)), 1.0, 1.0, LATE),
    ((wait(3), work(3)), -1, 6.0, DONE),
    ((work(5), {"type": "recv", "polltime": 1}), 5.0, 5.0, LATE),
    (({"type": "recv", "polltime": 1},), 0.5, 0.5, LATE),
])  # fmt: skip
def test_what_is_left_of_a_walltime(
    parts: tuple[dict[str, Any], ...], walltime: float, seconds: float, state: JobState
) -> None:
    """Each part has the rest of those before, which may be nothing; a task may end with the walltime, no wait."""
    assert ran(in_turn(*parts), walltime) == (pytest.approx(seconds), state)


@pytest.mark.parametrize(("walltime", "seconds"), [(2.0, 2.0), (2.5, 2.5)])
def test_what_is_left_of_a_walltime_for_a_trace(tmp_path: Path, walltime: float, seconds: float) -> None:
    """A usage trace of 10 s on two machines after 2 s of waiting or work; its walltime is over before."""
    (tmp_path / "t").write_text("r0\nr1\n")
    for rank in range(2):
        (tmp_path / f"r{rank}").write_text(f"{rank} m_usage 1 1e10\n")
    trace = {"type": "usage_trace", "trace": str(tmp_path / "t")}
    assert ran(in_turn(work(2), trace), walltime, res=2) == (pytest.approx(seconds), LATE)


def test_what_is_all_but_done_has_ended() -> None:
    """A share of 1e-14 may be missing at the walltime; half of the work of 231 days may not."""
    assert ran({"p": work(1e7 + 5e-8)}, 1e7)[1] is DONE
    assert ran({"p": work(2e7)}, 1e7)[1] is LATE
    assert ran({"p": work(5 + 1e-12)}, 5.0)[1] is LATE


@pytest.mark.parametrize("submitted", [0.0, 100_000.3, 1_000_000.7])
def test_the_clock_rounds_a_walltime(submitted: float) -> None:
    """A task as long as its walltime ends, at any time of the clock."""
    assert ran({"p": work(5)}, 5.0, submitted) == (pytest.approx(5.0), DONE)


@pytest.mark.parametrize(("polltime", "walltime", "submitted", "seconds", "state"), [
    (1.0, -1, 0.0, 4.0, DONE),
    (1.0, -1, 2.0, 2.0, DONE),
    (0.4, -1, 2.0, 1.6, DONE),
    (1.0, 4.0, 0.0, 4.0, LATE),
    (1.0, 4.5, 0.0, 4.0, DONE),
    (1.0, 3.9, 0.0, 3.9, LATE),
])  # fmt: skip
def test_a_message_is_taken_at_the_next_poll(
    polltime: float, walltime: float, submitted: float, seconds: float, state: JobState
) -> None:
    """It comes at 3.3 s; polls count from the job's start, and its walltime may come first."""
    profiles = {"p": {"type": "recv", "polltime": polltime}}
    found = talk(profiles, {3.3: message(3.3)}, walltime, submitted)
    assert found == (pytest.approx(seconds), state)


def test_what_a_poll_leaves_of_a_walltime() -> None:
    """4 s of 10 s: a wait of 7 s is cut at 10 s, and one of 5 s is not."""
    for seconds, expected in ((7.0, (10.0, LATE)), (5.0, (9.0, DONE))):
        profiles = in_turn({"type": "recv", "polltime": 1}, wait(seconds))
        assert talk(profiles, {3.3: message(3.3)}, 10.0) == (pytest.approx(expected[0]), expected[1])


def test_a_message_to_a_job_that_does_not_wait_for_one() -> None:
    """It is taken at once by the part that waits later; of two, each by one part, at its poll."""
    profiles = in_turn(wait(5), {"type": "recv", "polltime": 1}, wait(1))
    assert talk(profiles, {3.3: message(3.3)}) == (pytest.approx(6.0), DONE)
    twice = in_turn({"type": "recv", "polltime": 1}, {"type": "recv", "polltime": 1})
    assert talk(twice, {3.3: message(3.3), 3.5: message(3.5)}) == (pytest.approx(4.0), DONE)
    again = in_turn({"type": "recv", "polltime": 1}, wait(3), {"type": "recv", "polltime": 1})
    assert talk(again, {3.3: message(3.3), 5.0: message(5.0)}) == (pytest.approx(7.0), DONE)


def test_a_message_to_a_job_that_was_just_killed() -> None:
    """It changes nothing any more."""
    what = {3.3: (kill("w0!1", at=3.3), *message(3.3))}
    found = talk({"p": {"type": "recv", "polltime": 1}}, what)
    assert found == (pytest.approx(3.3 - LATENCY), JobState.COMPLETED_KILLED)


def nested(levels: int) -> float:
    """When a job ends that waits for one message after another, each a level deeper, and then runs a wait of 1 s."""
    profiles = {
        "p": {"type": "recv", "polltime": 1, "success": "p", "failure": "end", "regex": "go"},
        "end": wait(1),
        "keep": {"type": "composed", "seq": ["end"]},
    }
    what = {float(second) + 0.5: message(second + 0.5) for second in range(1, levels)}
    what[60.5] = (ToJobMsg(60.5, "w0!1", "stop"),)

    def answer(given: Message) -> Any:
        for event in given.events:
            if isinstance(event, JobSubmitted) and event.job_id == "w0!1":
                yield execute(event.job_id, 0, at=given.now)
                yield from (call(moment, at=given.now) for moment in what)
            elif isinstance(event, JobSubmitted):
                yield execute(event.job_id, 1, at=given.now)
            if isinstance(event, RequestedCall):
                yield from what[round(given.now, 1)]

    _, scheduler = run(jobs({}, {"profile": "keep", "subtime": 900}, profiles=profiles), Scheduler(answer))
    return float(scheduler.events(JobCompleted)[0].timestamp) - LATENCY


def test_profiles_that_run_each_other_fifty_levels_deep() -> None:
    """One level more is an error."""
    assert nested(50) == pytest.approx(62)
    with pytest.raises(SimulatorInputError, match="more than 50 levels deep"):
        nested(51)


@pytest.mark.parametrize(
    ("parts", "walltime", "seconds", "state"),
    [
        ((wait(3), {"type": "recv", "polltime": 1}), 3.5, 3.5, LATE),
        ((wait(3), {"type": "recv", "polltime": 0.2}, wait(0.4)), 3.9, 3.8, DONE),
        ((wait(3), {"type": "recv", "polltime": 0.2}, wait(0.6)), 3.9, 3.9, LATE),
    ],
)
def test_a_message_in_the_last_second_of_a_walltime(
    parts: tuple[dict[str, Any], ...], walltime: float, seconds: float, state: JobState
) -> None:
    """It comes at 3.3 s, after 3 s of waiting."""
    assert talk(in_turn(*parts), {3.3: message(3.3)}, walltime) == (pytest.approx(seconds), state)


def test_a_chain_goes_on_while_another_one_reports(tmp_path: Path) -> None:
    """The second rank ends at 1 s and reports for 4 ns; within them the first one begins its last 5 s."""
    (tmp_path / "t").write_text("r0\nr1\n")
    (tmp_path / "r0").write_text("0 m_usage 1 1000000002\n0 m_usage 1 5e9\n")
    (tmp_path / "r1").write_text("1 m_usage 1 1e9\n")
    profiles = {"p": {"type": "usage_trace", "trace": str(tmp_path / "t")}}
    assert ran(profiles, -1, res=2) == (pytest.approx(6.0), DONE)


def test_energy_of_half_a_machine(tmp_path: Path) -> None:
    """A task, or a trace, on one of two cores for 10 s: 70 W and half of the 50 W more that both take."""
    (tmp_path / "t").write_text("r0\n")
    (tmp_path / "r0").write_text("0 m_usage 0.5 1e10\n")
    watts = '<prop id="wattage_per_state" value="60:70:120"/>'
    platform = parse_platform(
        '<platform version="4.1"><zone id="z" routing="Full"><host id="master_host" speed="1Gf">'
        f'{watts}</host><host id="a" speed="1Gf" core="2">{watts}</host><link id="wire" bandwidth="1GBps" '
        'latency="500ms"/><route src="a" dst="master_host"><link_ctn id="wire"/></route></zone></platform>'
    )
    for profile in (work(10), {"type": "usage_trace", "trace": str(tmp_path / "t")}):
        result, _ = run(jobs({}, profiles={"p": profile}), platform=platform, energy=True)
        assert float(result.figures["consumed_joules"]) == pytest.approx(10 * 95.0)


def test_energy_after_the_walltime_of_a_trace(tmp_path: Path) -> None:
    """10 s of work end after 2 s; then the machine idles as the other three do, one of which waits for 10 s."""
    (tmp_path / "t").write_text("r0\n")
    (tmp_path / "r0").write_text("0 m_usage 1 1e10\n")
    data = jobs(
        {"walltime": 2},
        {"profile": "q"},
        profiles={"p": {"type": "usage_trace", "trace": str(tmp_path / "t")}, "q": wait(10)},
    )

    def answer(given: Message) -> Any:
        for event in given.events:
            if isinstance(event, JobSubmitted):
                yield execute(event.job_id, int(event.job_id[-1]) - 1, at=given.now)

    result, _ = run(data, answer, platform=small_platform(power=True), energy=True)
    assert float(result.figures["consumed_joules"]) == pytest.approx(4 * 10 * 90 + 2 * (200 - 90))


@pytest.mark.parametrize(
    ("profile", "killed_s", "joules"),
    [
        (work(10), 4.0, 4 * 200.0),
        (work(10), 50.0, 10 * 200.0),
        (wait(10), 4.0, 4 * 90.0),
        (wait(10), 50.0, 10 * 90.0),
    ],
)
def test_energy_of_a_job_that_may_be_killed(profile: dict[str, Any], killed_s: float, joules: float) -> None:
    """200 W at work and 90 W idle, as long as it lasted."""

    def answer(given: Message) -> Any:
        for event in given.events:
            if isinstance(event, JobSubmitted):
                yield execute(event.job_id, 0, at=given.now)
                yield call(killed_s, at=given.now)
            if isinstance(event, RequestedCall) and killed_s < 10:
                yield kill("w0!1", at=given.now)

    data = jobs({}, profiles={"p": profile})
    result, _ = run(data, Scheduler(answer), platform=small_platform(power=True), energy=True)
    last_s = min(killed_s, 10.0)
    assert float(result.figures["consumed_joules"]) == pytest.approx(joules + 3 * last_s * 90.0)

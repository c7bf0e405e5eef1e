"""Differences of the simulator when it plays Batsim 5: numbers of hosts, calls, kills, registration, the end."""

import json
import struct
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from spillway.platforms.catalogue import platform_from
from spillway.protocol import messages as m
from spillway.protocol.batsim5.codec import Batsim5, Batsim5Simulator
from spillway.simulator.errors import SchedulerFault, SimulatorInputError
from spillway.simulator.options import BATSIM_5
from spillway.simulator.wire.command import main
from spillway.simulator.world.machines import Machines, numbered
from tests.simulator.peers import listening
from tests.simulator.worlds import (
    BYTE_S,
    FINISHED,
    LATENCY,
    Scheduler,
    execute,
    greedy,
    jobs,
    kill,
    scripted,
    small_platform,
)
from tests.simulator.worlds import run as run_in_the_small_world

DELAY = {"p": {"type": "DelayProfile", "delay": 10}}


def run(*given: Any, **options: Any) -> Scheduler:
    """The scheduler after a simulation by Batsim 5's rules, with its messages."""
    return run_in_the_small_world(*given, rules=BATSIM_5, **options)[1]


def work(*rows: dict[str, Any], **profiles: Any) -> dict[str, Any]:
    """A workload in Batsim 5's words."""
    return jobs(*rows, profiles=profiles or DELAY)


def fault(data: dict[str, Any], *requests: m.Request, **options: Any) -> str:
    """The message that a reply to the first submissions provokes."""
    with pytest.raises(SchedulerFault) as caught:
        run(data, scripted((), requests), **options)
    return str(caught.value)


# --------------------------------------------------------------------------- hosts


def test_hosts_are_numbered_by_the_numbers_in_their_names() -> None:
    """4.2.1 numbers them by text: ``node_10`` is its second."""
    (begins,) = run(None, scripted()).events(m.SimulationBegins)
    assert [host.name for host in begins.compute_resources] == ["node_1", "node_2", "node_3", "node_10"]
    assert [host.id for host in begins.storage_resources] == [4, 5]
    assert begins.compute_resources[0].speeds == (1e9,)


def test_storage_hosts_are_numbered_by_text() -> None:
    """5.0.0-rc2 sorts its compute hosts only: on the thesis's machine 97 is node_18, and 105 is node_9."""
    (begins,) = run(None, scripted(), small_platform(("disk_9", "disk_18", "disk_105"))).events(m.SimulationBegins)
    assert [host.name for host in begins.storage_resources] == ["disk_105", "disk_18", "disk_9"]
    machines = Machines(platform_from("thesis"), {}, by_number=True).all
    found = {number: machines[number].name for number in (0, 9, 96, 97, 105)}
    assert found == {0: "node_1", 9: "node_11", 96: "node_0", 97: "node_18", 105: "node_9"}


@pytest.mark.parametrize(
    ("first", "second"),
    [("n2", "n10"), ("n1-2", "n1-10"), ("a-1", "a1"), ("a1", "aa"), ("n", "n0"), ("n10a", "n10b"), ("a9b", "a10a")],
)
def test_digits_count_as_numbers(first: str, second: str) -> None:
    """Other characters by their code; a name comes before those that it begins."""
    assert numbered(first) < numbered(second)


def test_an_allocation_of_another_size_changes_the_runtime() -> None:
    """Executors are distributed over the given hosts, without a message."""
    profiles = {"p": {"type": "ParallelTaskHomogeneousProfile", "cpu": 4e9, "com": 0}}
    many = run(work({"res": 2}, **profiles), scripted((), (execute("w0!1", 0, 1, 2),)))
    (ended,) = many.events(m.JobCompleted)
    assert ended.timestamp == pytest.approx(4 + LATENCY)
    assert ended.alloc == (0, 1, 2)


# --------------------------------------------------------------------------- calls


def calls(*requests: m.Request) -> list[tuple[float, str, bool]]:
    """Calls that a scheduler gets which requests this at 0, with a job that ends soon."""
    scheduler = run(work({}, p={"type": "DelayProfile", "delay": 0.1}), scripted((), (execute("w0!1", 0), *requests)))
    return [(round(event.timestamp, 6), event.name, event.last) for event in scheduler.events(m.RequestedCall)]


def test_calls_have_names_and_the_past_is_no_fault() -> None:
    """A call for a moment that is over comes at once."""
    assert calls(m.CallMeLater(0.0, 0.0, "now"), m.CallMeLater(0.0, 2.5, "then")) == [
        (0.0, "now", True), (2.5, "then", True)
    ]  # fmt: skip


def test_periodic_calls_come_at_multiples_of_the_period() -> None:
    """The last one is marked, and the simulation ends after it."""
    requests = m.CallMeLater(0.0, 0.0, "tick", 2.0, 3), m.CallMeLater(0.0, 0.0, "tock", 4.0, 1)
    assert calls(*requests) == [(2.0, "tick", False), (4.0, "tick", False), (4.0, "tock", True), (6.0, "tick", True)]


def test_periodic_calls_without_end_are_stopped() -> None:
    """Without a stop the simulation would not end; unknown names have no effect."""

    def answer(message: m.Message) -> Iterable[m.Request]:
        yield from greedy(message)
        for event in message.events:
            if isinstance(event, m.SimulationBegins):
                yield m.CallMeLater(message.now, 0.0, "tick", 4.0)
            elif isinstance(event, m.RequestedCall) and event.timestamp > 9:
                yield m.StopCalls(message.now, "nobody")
                yield m.StopCalls(message.now, "tick")

    got = run(work({}), answer).events(m.RequestedCall)
    assert [(round(event.timestamp, 6), event.last) for event in got] == [(4.0, False), (8.0, False), (12.0, False)]


def test_periods_that_do_not_fit_together_are_refused() -> None:
    """Batsim ends on them, as on a name in use."""
    tick = m.CallMeLater(0.0, 0.0, "tick", 4.0, 2)
    assert "multiple of the shorter ones, got 6 and 4 s" in fault(work({}), tick, m.CallMeLater(0.0, 0.0, "t", 6.0, 2))
    assert "name 'tick' are under way already" in fault(work({}), tick, tick)


# --------------------------------------------------------------------------- kills, the end


def test_a_second_kill_is_confirmed() -> None:
    """With the jobs that were still to be killed: an empty list."""
    scheduler = run(work({}), scripted((), (execute("w0!1", 0), kill("w0!1"), kill("w0!1"), m.KillJob(0.0, ()))))
    assert [event.job_ids for event in scheduler.events(m.JobKilled)] == [("w0!1",), (), ()]
    assert [event.state for event in scheduler.events(m.JobCompleted)] == [m.JobState.COMPLETED_KILLED]


def test_a_forced_stop_ends_everything() -> None:
    """Running, waiting and future jobs are dropped, and the rest of the reply too."""
    data = work({}, {}, {"subtime": 50})
    reply = (execute("w0!1", 0), m.CallMeLater(0.0, 2.5, "x"), m.StopSimulation(0.0), execute("w0!77", 0))
    result, scheduler = run_in_the_small_world(data, scripted((), reply), rules=BATSIM_5)
    assert [type(event) for event in scheduler.messages[-1].events] == [m.SimulationEnds]
    assert not result.deadlocked
    assert result.end_s < 1e-6
    assert result.totals.jobs == 0


# --------------------------------------------------------------------------- registration

HALF: dict[str, Any] = {"type": "parallel", "cpu": [0.1234567891e9], "com": [0]}


def register(job: str, profile: str, res: int = 1) -> m.RegisterJob:
    """Registration of a job."""
    return m.RegisterJob(0.0, job, {"id": job, "subtime": 0.0, "res": res, "profile": profile})


def test_registered_profiles_keep_their_digits_and_may_be_sequences() -> None:
    """Batsim 4 prints them with six decimals, and cannot run a sequence."""
    requests = (
        m.RegisterProfile(0.0, "d", "half", HALF),
        m.RegisterProfile(0.0, "d", "twice", {"type": "composed", "seq": ["half"], "repeat": 2}),
        m.RegisterProfile(0.0, "d", "all", {"type": "composed", "seq": ["twice", "half"], "repeat": 1}),
        register("d!1", "all"),
        execute("d!1", 0),
        FINISHED,
    )
    (ended,) = run(None, scripted(requests), dynamic_jobs=True).events(m.JobCompleted)
    assert ended.timestamp == pytest.approx(3 * 0.1234567891 + LATENCY + BYTE_S, abs=1e-8)


def test_a_sequence_of_unknown_parts_is_refused() -> None:
    """Its parts must exist first."""
    given = m.RegisterProfile(0.0, "d", "s", {"type": "composed", "seq": ["nothing"], "repeat": 1})
    assert "the profile 'nothing' in its 'seq' does not exist" in fault(work({}), given, dynamic_jobs=True)


def test_a_job_may_have_a_profile_of_another_workload() -> None:
    """Ids of profiles are global; the acknowledgement names it in full."""
    requests = (register("d!1", "w0!p"), execute("d!1", 1), execute("w0!1", 0), FINISHED)
    scheduler = run(work({}), scripted((), requests), dynamic_jobs=True, acknowledge_dynamic_jobs=True)
    assert [event.job_id for event in scheduler.events(m.JobSubmitted)] == ["w0!1", "d!1"]
    assert {event.job_id for event in scheduler.events(m.JobCompleted)} == {"w0!1", "d!1"}
    assert "workload 'w0' has no profile 'q'" in fault(work({}), register("d!1", "w0!q"), dynamic_jobs=True)


# --------------------------------------------------------------------------- files


def test_rows_of_jobs(tmp_path: Path) -> None:
    """Profiles with their workload, no metadata, energy 0 of registered jobs; they are submitted when registered."""
    requests = (
        m.RegisterProfile(1.0, "d", "q", {"type": "delay", "delay": 5}),
        m.RegisterJob(1.0, "d!1", {"id": "d!1", "subtime": 0.0, "res": 1, "profile": "q"}),
        m.RegisterJob(1.0, "d!2", {"id": "d!2", "subtime": 0.0, "res": 1, "profile": "w0!p"}),
        execute("w0!1", 0, at=1.0), execute("d!1", 1, at=1.0), execute("d!2", 2, at=1.0), m.NotifyRegistration(1.0),
    )  # fmt: skip
    data = work({"subtime": 1}, {"subtime": 20})

    def answer(message: m.Message) -> Iterable[m.Request]:
        for event in message.events:
            if isinstance(event, m.JobSubmitted):
                yield from requests if event.job_id == "w0!1" else (m.RejectJob(message.now, event.job_id),)

    scheduler = run(data, answer, dynamic_jobs=True, export=str(tmp_path / "x"))
    assert scheduler.events(m.JobSubmitted)[0].job["subtime"] == 1.0
    rows = [line.split(",") for line in (tmp_path / "x_jobs.csv").read_text().splitlines()[1:]]
    assert [[row[index] for index in (0, 1, 2, 3, 15, 16)] for row in rows] == [
        ["1", "d", "d!q", "1.000000", "0.000000", ""],
        ["1", "w0", "w0!p", "1.000000", "-1.000000", ""],
        ["2", "d", "w0!p", "1.000000", "0.000000", ""],
        ["2", "w0", "w0!p", "20.000000", "", ""],
    ]


def test_submissions_state_the_time_of_the_file() -> None:
    """Not the moment of the message; the profile is that of the workload that the job names."""
    codec = Batsim5Simulator()
    profile = {"type": "delay", "delay": 1}
    job = {"id": "d!1", "subtime": 1, "res": 1, "profile": "w0!p"}
    text = codec.encode_message(m.Message(1.25, (m.JobSubmitted(1.25, "d!1", job, profile),)))
    (event,) = json.loads(text[:-1])["events"]
    assert (event["timestamp"], event["event"]["submission_time"]) == (1.25, 1.0)
    assert event["event"]["job"]["profile_id"] == event["event"]["profile"]["id"] == "w0!p"


def test_workloads_of_batsim_4_are_refused() -> None:
    """Batsim 5 ends on unknown types; the error names the command that translates."""
    with pytest.raises(SimulatorInputError, match=r"in Batsim 5 it is DelayProfile.*convert FILE"):
        run(jobs({}))
    with pytest.raises(SimulatorInputError, match="unknown type 'ForkJoinProfile'"):
        run(work({}, p={"type": "ForkJoinProfile"}))


def test_what_a_job_says_is_passed_on_in_extra_data_alone() -> None:
    """Objects become texts; other members are dropped by the codec."""
    data = work({"extra_data": {"id": 7, "bb": 1.23456789}, "bb": 3})
    (event,) = run(data, greedy).events(m.JobSubmitted)
    assert event.job["extra_data"] == {"id": 7, "bb": 1.23456789}


def test_external_events_are_of_the_users_own(tmp_path: Path) -> None:
    """Nothing happens to a machine."""
    file = tmp_path / "events.jsonl"
    file.write_text('{"timestamp": 3, "type": "generic", "data": "hi"}\n')
    scheduler = run(work({}), greedy, events=(file,))
    assert scheduler.events(m.SimulationBegins)[0].event_lists == {"ee0": str(file)}
    (event,) = [event for event in scheduler.events(m.Notify) if event.kind == "generic"]
    assert (event.timestamp, event.data) == (pytest.approx(3), {"id": "ee0!0", "data": "hi"})
    file.write_text('{"timestamp": 3, "type": "machine_unavailable", "resources": "0", "data": ""}\n')
    with pytest.raises(SimulatorInputError, match="line 1: Batsim 5 has no external event of type 'machine_un"):
        run(work({}), greedy, events=(file,))


def test_hosts_are_switched() -> None:
    """As in Batsim 4, if power states are measured."""
    off, on = m.SetResourceState(0.0, (0,), 1), m.SetResourceState(200.0, (0,), 0)

    def answer(message: m.Message) -> Iterable[m.Request] | m.Reply:
        if isinstance(message.events[0], m.SimulationBegins):
            return m.Reply(200.0, (off, on))
        return ()

    states = run(None, answer, small_platform(power=True), energy=True).events(m.ResourceStateChanged)
    assert [(event.resources, event.state) for event in states] == [((0,), 1), ((0,), 0)]


# --------------------------------------------------------------------------- the command

PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="z" routing="Full">
<host id="m" speed="1f"><prop id="role" value="master"/></host><host id="n10" speed="1Gf"/><host id="n9" speed="1Gf"/>
<link id="l" bandwidth="1GBps" latency="0us" sharing_policy="FATPIPE"/>
<route src="m" dst="n10"><link_ctn id="l"/></route><route src="m" dst="n9"><link_ctn id="l"/></route>
<route src="n9" dst="n10"><link_ctn id="l"/></route>
</zone></platform>
"""


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Options that name a platform, a workload for Batsim 5, and an output."""
    (tmp_path / "p.xml").write_text(PLATFORM)
    (tmp_path / "w.json").write_text(json.dumps(work({"res": 2})))
    return ["-p", str(tmp_path / "p.xml"), "-w", str(tmp_path / "w.json"), "-e", str(tmp_path / "out")]


def answering(handle: Callable[[m.Message], Iterable[m.Request]], codec: Batsim5) -> Callable[[bytes], bytes]:
    """A scheduler of Batsim 5 as one of frames; the first one must be the init frame."""
    greeted: list[bytes] = []

    def answer(frame: bytes) -> bytes:
        if not greeted:
            greeted.append(frame)
            hello = codec.greet(frame)
            assert hello is not None
            return hello
        assert frame.endswith(b"}\0")
        message = codec.decode_message(frame)
        return codec.encode_reply(m.Reply(message.now, tuple(handle(message))))

    return answer


def test_the_command_plays_batsim_5(files: list[str], tmp_path: Path) -> None:
    """Handshake with the init text, profiles with jobs as requested, the end; the last byte of messages is zero."""
    scheduler, codec = Scheduler(greedy), Batsim5()

    def handle(message: m.Message) -> tuple[m.Request, ...]:
        return scheduler.exchange(message).events

    frames: list[bytes] = []
    answer = answering(handle, codec)

    def noted(frame: bytes) -> bytes:
        frames.append(frame)
        return answer(frame)

    with listening(noted) as endpoint:
        assert main([*files, "--batsim", "5", "-s", endpoint, "--sched-cfg", "some text", "-q"]) == 0
    (begins,) = scheduler.events(m.SimulationBegins)
    assert begins.config.sched_config == "some text"
    assert [host.name for host in begins.compute_resources] == ["n9", "n10"]
    sent = json.loads(frames[1][:-1])["events"][0]["event"]
    assert sent["batsim_arguments"] == [
        "batsim", "-p", files[1], "-w", files[3], "-s", endpoint, "some text", "-e", files[5],
    ]  # fmt: skip
    context = {"socket_endpoint": endpoint, "export_prefix": files[5]}
    assert json.loads(sent["batsim_execution_context_json"]) == context
    assert sent["external_event_lists"] == []
    (submitted,) = scheduler.events(m.JobSubmitted)
    assert submitted.profile == {"type": "delay", "delay": 10}
    assert "COMPLETED_SUCCESSFULLY" in (tmp_path / "out_jobs.csv").read_text()


def test_what_the_hello_decides_is_no_option(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Neither is an option that Batsim 5 does not have."""
    assert main([*files, "--batsim", "5", "--enable-dynamic-jobs"]) == 2
    assert "--enable-dynamic-jobs does not go with --batsim 5: the scheduler requests it" in capsys.readouterr().err
    assert main([*files, "--batsim", "5", "--no-sched"]) == 2
    assert "Batsim 5 has no such option" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("answer", "code", "fragment"),
    [
        (b'{"error":"no such policy"}\0', 2, "ended the conversation: no such policy"),
        (struct.pack("<I", 1) + b"flatbuffers", 1, "choose the JSON format"),
    ],
)
def test_a_handshake_that_fails(
    files: list[str], capsys: pytest.CaptureFixture[str], answer: bytes, code: int, fragment: str
) -> None:
    """One line says why."""
    with listening(lambda _: answer) as endpoint:
        assert main([*files, "--batsim", "5", "-s", endpoint]) == code
    assert fragment in capsys.readouterr().err


def test_a_deadlock_is_detected(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Batsim 4 ends in silence, with exit code 0."""
    with listening(answering(lambda _: (), Batsim5())) as endpoint:
        assert main([*files, "--batsim", "5", "-s", endpoint]) == 4
    assert "deadlock at" in capsys.readouterr().err


def test_hosts_may_be_shared() -> None:
    """A computing host is shared if the scheduler decides so: Batsim 5 does not check it."""
    scheduler = run(
        work({}, {}),
        scripted((), (m.ExecuteJob(0.0, "w0!1", (0,)), m.ExecuteJob(0.0, "w0!2", (0,)))),
        compute_sharing=True,
    )
    assert len(scheduler.events(m.JobCompleted)) == 2

"""Profile types: accepted fields, refused ones, durations (batsim4.md 6.1)."""

from pathlib import Path
from typing import Any

import pytest

from spillway.core import PLAIN_PROFILES
from spillway.platforms.simgrid.xml_reader import parse_platform
from spillway.protocol.messages import FromJobMsg, JobCompleted, JobState, JobSubmitted, Message, ToJobMsg
from spillway.simulator.engines.native import FluidEngine
from spillway.simulator.errors import SchedulerFault
from spillway.simulator.jobs.profiles import READERS, read_profile
from spillway.simulator.jobs.profiles.base import Origin
from spillway.simulator.reading.workload import workload_from_object
from spillway.simulator.wire.broker import Simulation
from tests.kit.cases import cases
from tests.simulator.worlds import LATENCY, Scheduler, execute, greedy, jobs, run, scripted, small_platform

DISK, PFS = 4, 5


def makespan(profiles: dict[str, Any], *requests: Any, res: int = 1, **options: Any) -> float:
    """End of a job of the profile ``p`` that starts at 0."""
    result, _ = run(jobs({"res": res}, profiles=profiles), scripted((), requests), **options)
    assert result.totals.success == 1
    return result.totals.makespan


@pytest.mark.parametrize(
    ("profile", "request_", "res", "seconds"),
    [
        ({"type": "delay", "delay": 2.5}, execute("w0!1", 0), 1, 2.5),
        ({"type": "parallel_homogeneous", "cpu": 2e9, "com": 1e9}, execute("w0!1", 0, 1), 2, 3.0),
        ({"type": "parallel_homogeneous", "cpu": 2e9, "com": 1e9}, execute("w0!1", 0), 1, 2.0),
        ({"type": "parallel_homogeneous_total", "cpu": 4e9, "com": 2e9}, execute("w0!1", 0, 1), 2, 3.0),
        ({"type": "parallel", "cpu": [1e9, 2e9], "com": [0, 3e9, 0, 0]}, execute("w0!1", 0, 1), 2, 5.0),
        (
            {"type": "parallel_homogeneous_pfs", "bytes_to_read": 1e9, "bytes_to_write": 3e9, "storage": "x"},
            execute("w0!1", 0, storage_mapping={"x": DISK}),
            1,
            3.0,
        ),
        (
            {"type": "parallel_homogeneous_pfs", "bytes_to_write": 3e9},
            execute("w0!1", 0, 1, storage_mapping={"pfs": PFS}),
            2,
            3.0,
        ),
        (
            {"type": "parallel_homogeneous_pfs", "bytes_to_read": 4e9, "host": "y"},
            execute("w0!1", 0, storage_mapping={"y": PFS}),
            1,
            4.0,
        ),
        (
            {"type": "data_staging", "nb_bytes": 5e9, "from": "a", "to": "b"},
            execute("w0!1", DISK, storage_mapping={"a": DISK, "b": PFS}),
            1,
            5.0,
        ),
        ({"type": "data_staging", "nb_bytes": 0, "from": "a", "to": "b"},
         execute("w0!1", DISK, storage_mapping={"a": DISK, "b": PFS}), 1, 1e-5),
    ],
)  # fmt: skip
def test_durations(profile: dict[str, Any], request_: Any, res: int, seconds: float) -> None:
    """Each type becomes the work that it describes."""
    assert makespan({"p": profile}, request_, res=res) == pytest.approx(seconds, abs=1e-9)


def test_sequence_takes_the_sum() -> None:
    """Parts one after another, the whole repeated."""
    profiles = {
        "a": {"type": "delay", "delay": 1},
        "b": {"type": "parallel_homogeneous", "cpu": 2e9, "com": 0},
        "p": {"type": "composed", "seq": ["a", "b", "a"], "repeat": 2},
    }
    assert makespan(profiles, execute("w0!1", 0)) == pytest.approx(8.0)


def test_sequence_shares_one_walltime() -> None:
    """Parts use up the same budget; the part in which it ends is stopped (batsim4.md 6)."""
    profiles = {
        "a": {"type": "delay", "delay": 4},
        "b": {"type": "parallel_homogeneous", "cpu": 4e9, "com": 0},
        "p": {"type": "composed", "seq": ["a", "b"], "repeat": 3},
    }
    for walltime, state in ((10.0, "COMPLETED_WALLTIME_REACHED"), (14.0, "COMPLETED_WALLTIME_REACHED"), (25, None)):
        data = jobs({"walltime": walltime}, profiles=profiles)
        result, scheduler = run(data)
        (event,) = scheduler.events(JobCompleted)
        assert event.state.value == (state or "COMPLETED_SUCCESSFULLY")
        assert result.totals.makespan == pytest.approx(min(24, walltime))


def test_sequence_stops_at_the_first_failure() -> None:
    """A part that does not return 0 ends it with its return code."""
    profiles = {
        "a": {"type": "delay", "delay": 1, "ret": 7},
        "p": {"type": "composed", "seq": ["a", "a"], "ret": 3},
    }
    result, scheduler = run(jobs({}, profiles=profiles))
    assert scheduler.events(JobCompleted)[0].return_code == 7
    assert result.totals.makespan == pytest.approx(1.0)


def test_sequence_has_its_own_return_code() -> None:
    """When all parts return 0 the sequence returns its own."""
    profiles = {"a": {"type": "delay", "delay": 1}, "p": {"type": "composed", "seq": ["a"], "ret": 3}}
    _, scheduler = run(jobs({}, profiles=profiles))
    assert scheduler.events(JobCompleted)[0].return_code == 3


def test_only_storage_host_needs_no_mapping() -> None:
    """With exactly one storage host an empty mapping is enough, for any label."""
    profile = {"type": "parallel_homogeneous_pfs", "bytes_to_read": 4e9, "storage": "whatever"}
    assert makespan({"p": profile}, execute("w0!1", 0), platform=small_platform(("pfs",))) == pytest.approx(4.0)


@pytest.mark.parametrize(("profile", "mapping", "expected"), [
    ({"type": "parallel_homogeneous_pfs", "bytes_to_read": 1}, None, "there are 2"),
    ({"type": "parallel_homogeneous_pfs", "bytes_to_read": 1}, {"x": DISK}, "must name the storage label 'pfs'"),
    ({"type": "parallel_homogeneous_pfs", "bytes_to_read": 1}, {"pfs": 0}, r"machine 0 \('node_1'\) is no storage"),
    ({"type": "parallel_homogeneous_pfs", "bytes_to_read": 1}, {"pfs": 9}, "no machine 9, the ids are 0..5"),
    ({"type": "data_staging", "nb_bytes": 1, "from": "a", "to": "b"}, {"a": DISK}, "storage label 'b'"),
    ({"type": "data_staging", "nb_bytes": 1, "from": "a", "to": "b"}, None, "storage label 'a'"),
])  # fmt: skip
def test_storage_mappings(profile: dict[str, Any], mapping: Any, expected: str) -> None:
    """Labels must be mapped to storage hosts."""
    with pytest.raises(SchedulerFault, match=expected):
        run(jobs({}, profiles={"p": profile}), scripted((), (execute("w0!1", 0, storage_mapping=mapping),)))


def test_parallel_needs_its_size() -> None:
    """Executors of a parallel profile are counted, also in a sequence."""
    profiles = {
        "a": {"type": "parallel", "cpu": [1, 1], "com": [0, 0, 0, 0]},
        "p": {"type": "composed", "seq": ["a"]},
    }
    with pytest.raises(SchedulerFault, match="made for 2 executors, got 1"):
        run(jobs({}, profiles=profiles))


def test_usage_trace(tmp_path: Path) -> None:
    """Ranks run side by side on different hosts, their lines one after another."""
    (tmp_path / "t").write_text("r0\nr1\n")
    (tmp_path / "r0").write_text("0 m_usage 1 4e9\n0 m_usage 0.5 2e9\n")
    (tmp_path / "r1").write_text("# nothing\n1 m_usage 0 1e9\n")
    profiles = {"p": {"type": "usage_trace", "trace": str(tmp_path / "t"), "ret": 2}}
    result, scheduler = run(jobs({"res": 2}, profiles=profiles))
    assert result.totals.makespan == pytest.approx(6.0)
    assert scheduler.events(JobCompleted)[0].return_code == 2
    _, scheduler = run(jobs({"res": 2, "walltime": 5}, profiles=profiles))
    assert scheduler.events(JobCompleted)[0].state is JobState.COMPLETED_WALLTIME_REACHED


@pytest.mark.parametrize(
    ("after", "walltime", "end_s", "state"),
    [
        ({"type": "delay", "delay": 10}, 8, 8.0, JobState.COMPLETED_WALLTIME_REACHED),
        ({"type": "delay", "delay": 10}, 4.5, 4.5, JobState.COMPLETED_WALLTIME_REACHED),
        ({"type": "delay", "delay": 10}, 17, 14.0, JobState.COMPLETED_SUCCESSFULLY),
        ({"type": "parallel", "cpu": [1e10, 1], "com": [0] * 4}, 9, 9.0, JobState.COMPLETED_WALLTIME_REACHED),
        ({"type": "parallel", "cpu": [1e10, 1], "com": [0] * 4}, 14.5, 14.0, JobState.COMPLETED_SUCCESSFULLY),
        ({"type": "delay", "delay": 10}, 4, 4.0, JobState.COMPLETED_WALLTIME_REACHED),
    ],
)  # fmt: skip
def test_what_is_left_of_a_walltime_after_a_usage_trace(
    after: dict[str, Any], walltime: float, end_s: float, state: JobState, tmp_path: Path
) -> None:
    """Two chains of 4 s and 1 s, then a profile of 10 s: it gets the rest of the walltime, not all of it again."""
    (tmp_path / "t").write_text("r0\nr1\n")
    (tmp_path / "r0").write_text("0 m_usage 1 4e9\n")
    (tmp_path / "r1").write_text("1 m_usage 1 1e9\n")
    trace = {"type": "usage_trace", "trace": str(tmp_path / "t")}
    profiles = {"t": trace, "after": after, "p": {"type": "composed", "seq": ["t", "after"]}}
    result, scheduler = run(jobs({"res": 2, "walltime": walltime}, profiles=profiles))
    assert scheduler.events(JobCompleted)[0].state is state
    assert result.totals.makespan == pytest.approx(end_s, abs=1e-6)


def test_the_ranks_of_a_usage_trace_report_their_ends(tmp_path: Path) -> None:
    """Four bytes from each to the job's first host, one after another: 264 us of latency each, after 21 us of work."""
    (tmp_path / "t").write_text("r0\nr1\nr2\n")
    for rank in range(3):
        (tmp_path / f"r{rank}").write_text(f"{rank} m_usage 1 21e3\n")
    hosts = "".join(f'<host id="{name}" speed="1Gf"/>' for name in ("master_host", "a", "b", "c"))
    routes = "".join(
        f'<route src="{one}" dst="{other}"><link_ctn id="wire"/></route>'
        for one, other in (("a", "b"), ("a", "c"), ("b", "c"), ("a", "master_host"), ("b", "master_host"))
    )
    routes += '<route src="c" dst="master_host"><link_ctn id="wire"/></route>'
    platform = parse_platform(
        f'<platform version="4.1"><zone id="z" routing="Full">{hosts}<link id="wire" bandwidth="1TBps" latency="264us" '
        f'sharing_policy="FATPIPE"/>{routes}</zone></platform>'
    )
    data = jobs({"res": 3}, profiles={"p": {"type": "usage_trace", "trace": str(tmp_path / "t")}})
    with FluidEngine(platform) as engine:
        result = Simulation(platform, [workload_from_object(data, "w0")], engine, Scheduler(greedy)).run()
    assert result.totals.makespan == pytest.approx(0.000549, abs=1e-8)  # the first host's own takes no latency


@pytest.mark.parametrize("line", ["0 m_usage 2 1", "0 m_usage 1", "0 compute 1 1", "0 m_usage x 1", "0 m_usage 1 -1"])
def test_bad_usage_traces(tmp_path: Path, line: str) -> None:
    """The message names file and line."""
    (tmp_path / "t").write_text("r0\n")
    (tmp_path / "r0").write_text(f"0 m_usage 1 1\n{line}\n")
    with pytest.raises(ValueError, match=r"r0, line 2: expected '0 m_usage USAGE FLOPS'"):
        read_profile("p", {"type": "usage_trace", "trace": "t"}, Origin(str(tmp_path)))


def test_missing_traces(tmp_path: Path) -> None:
    """Neither the list nor a rank's file may be missing, nor the list be empty."""
    with pytest.raises(ValueError, match="cannot be read"):
        read_profile("p", {"type": "usage_trace", "trace": "t"}, Origin(str(tmp_path)))
    (tmp_path / "t").write_text("\n")
    with pytest.raises(ValueError, match="names no rank"):
        read_profile("p", {"type": "usage_trace", "trace": "t"}, Origin(str(tmp_path)))


def test_send() -> None:
    """The message reaches the scheduler a latency later; the job continues when it has been received."""
    profiles = {"p": {"type": "send", "msg": {"a": 1}, "sleeptime": 3}}
    result, scheduler = run(jobs({}, profiles=profiles))
    (event,) = scheduler.events(FromJobMsg)
    assert (event.job_id, event.msg, event.timestamp) == ("w0!1", {"a": 1}, pytest.approx(LATENCY))
    assert result.totals.makespan == pytest.approx(LATENCY + 3)


def receiving(message: str | None, walltime: float = -1, **fields: Any) -> tuple[float, JobState, int]:
    """A job that waits for a message sent at 1 s."""
    profiles = {
        "p": {"type": "recv", "polltime": 0.4, **fields},
        "good": {"type": "delay", "delay": 10},
        "bad": {"type": "delay", "delay": 20, "ret": 5},
        "ping": {"type": "delay", "delay": 1},
        "keep": {"type": "composed", "seq": ["good", "bad", "ping"]},
    }
    data = jobs({"walltime": walltime}, {"profile": "ping"}, {"profile": "keep", "subtime": 900}, profiles=profiles)

    def answer(given: Message) -> Any:
        for event in given.events:
            if isinstance(event, JobSubmitted):
                yield execute(event.job_id, int(event.job_id[-1]) - 1, at=given.now)
            if isinstance(event, JobCompleted) and event.job_id == "w0!2" and message is not None:
                yield ToJobMsg(given.now, "w0!1", message)

    _, scheduler = run(data, Scheduler(answer))
    done = next(e for e in scheduler.events(JobCompleted) if e.job_id == "w0!1")
    return done.timestamp - LATENCY, done.state, done.return_code


def test_recv() -> None:
    """It polls until a message is there and runs the profile that belongs to it."""
    end, state, _ = receiving("yes please", regex="yes.*", success="good", failure="bad")
    assert (end, state) == (pytest.approx(1.6 + 10), JobState.COMPLETED_SUCCESSFULLY)
    end, state, code = receiving("no", regex="yes.*", success="good", failure="bad")
    assert (end, state, code) == (pytest.approx(1.6 + 20), JobState.COMPLETED_FAILED, 5)
    assert receiving("anything")[0] == pytest.approx(1.6)


def test_recv_without_message() -> None:
    """A profile named for that case runs at once; else it waits, at most for the walltime."""
    assert receiving(None, timeout="good")[0] == pytest.approx(10.0)
    end, state, _ = receiving(None, walltime=5)
    assert (end, state) == (pytest.approx(5.0), JobState.COMPLETED_WALLTIME_REACHED)
    end, state, _ = receiving("too late", walltime=1.55)
    assert (end, state) == (pytest.approx(1.55), JobState.COMPLETED_WALLTIME_REACHED)


def test_endless_recv_is_a_deadlock() -> None:
    """A job that waits for a message which nothing can send any more ends the simulation (Batsim polls for ever)."""
    result, _ = run(jobs({}, profiles={"p": {"type": "recv"}}))
    assert result.deadlocked


def test_recv_of_a_dropped_profile() -> None:
    """Profiles that only a recv names are dropped with the file; running them is an error (batsim4.md 4.1)."""
    profiles = {"p": {"type": "recv", "timeout": "q"}, "q": {"type": "delay", "delay": 1}}
    with pytest.raises(SchedulerFault, match=r"job 'w0!1'.*has no profile 'q' \(it existed, but is dropped"):
        run(jobs({}, profiles=profiles))


@pytest.mark.parametrize(("profile", "expected"), cases("simulator-profiles"))
def test_bad_profiles(profile: Any, expected: str) -> None:
    """The message names the profile and the field."""
    with pytest.raises(ValueError, match=expected) as caught:
        read_profile("p", profile)
    assert "profile 'p'" in str(caught.value)


def test_every_type_is_known() -> None:
    """All types of Batsim 4.2.1 but SMPI, and our own io_stream."""
    assert {*READERS, *PLAIN_PROFILES} == {
        "delay", "parallel", "parallel_homogeneous", "parallel_homogeneous_total", "composed",
        "parallel_homogeneous_pfs", "data_staging", "usage_trace", "send", "recv", "io_stream",
    }  # fmt: skip

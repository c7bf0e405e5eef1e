"""Batsim 5's JSON protocol, both sides: handshake, both directions, hidden members, refusals, garbage.

Written from the published protocol; recorded conversations are in ``tests/transcripts/test_batsim5.py``.
"""

import json
import struct
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.base.errors import LocalProtocolError, RemoteProtocolError
from spillway.protocol import messages as m
from spillway.protocol.batsim5.codec import Batsim5, Batsim5Simulator, is_hello
from spillway.protocol.batsim5.events import EVENTS
from spillway.protocol.batsim5.profiles import from_file, to_batsim4, to_batsim5
from spillway.protocol.batsim5.requests import REQUESTS, Features
from spillway.protocol.detect import AnyBatsim
from spillway.schedulers.assembly import Settings, assemble
from spillway.schedulers.model.job import read_job
from spillway.schedulers.policies.gang import Gang
from tests.kit.cases import cases
from tests.kit.specs import session_spec
from tests.protocol.strategies import json_values, messages, printed


def init_frame(text: bytes = b"") -> bytes:
    """Batsim 5's first frame."""
    return struct.pack("<I", len(text)) + text


def message(now: float, *events: tuple[str, Any]) -> bytes:
    """A message as Batsim 5 sends it, final zero byte included."""
    items = [{"timestamp": now, "event_type": kind, "event": members} for kind, members in events]
    return json.dumps({"now": now, "events": items}).encode() + b"\0"


def decode(kind: str, members: Any, codec: Batsim5 | None = None) -> m.Event:
    """Decode a message of one event."""
    (event,) = (codec or Batsim5()).decode_message(message(3.0, (kind, members))).events
    return event


def encode(*requests: Any, codec: Batsim5 | None = None, now: float = 9.0) -> list[tuple[str, Any]]:
    """Encode a reply; return its events as (type, members)."""
    data = (codec or Batsim5()).encode_reply(m.Reply(now, requests))
    assert data.endswith(b"}\0")
    value = json.loads(data[:-1])
    assert list(value) == ["now", "events"]
    return [(event["event_type"], event["event"]) for event in value["events"]]


# --------------------------------------------------------------------------- handshake


def test_the_hello_chooses_json_and_asks_for_features() -> None:
    """Flags, then one event with all members that Batsim dereferences unguarded, then the zero byte."""
    answer = Batsim5(dynamic_jobs=True).greet(init_frame(b"hi"))
    assert answer is not None
    assert struct.unpack_from("<I", answer) == (2,)
    assert answer.endswith(b"\0")
    value = json.loads(answer[4:-1])
    (event,) = value["events"]
    assert event["event_type"] == "EDCHelloEvent"
    hello = event["event"]
    assert set(hello) == {
        "batprotocol_version",
        "decision_component_name",
        "decision_component_version",
        "decision_component_commit",
        "requested_simulation_features",
    }
    assert hello["requested_simulation_features"] == {
        "dynamic_registration": True,
        "profile_reuse": True,
        "acknowledge_dynamic_jobs": False,
        "forward_profiles_on_job_submission": True,
        "forward_profiles_on_jobs_killed": False,
        "forward_profiles_on_simulation_begins": False,
    }


@pytest.mark.parametrize("text", [b"", b"x", b"--depth 3", b"\xff" * 200, bytes(70000)])
def test_an_init_frame_is_recognised(text: bytes) -> None:
    """A length and that number of bytes."""
    assert is_hello(init_frame(text))
    assert not is_hello(init_frame(text) + b"x")


@given(messages())
def test_no_message_of_batsim_4_looks_like_an_init_frame(neutral: m.Message) -> None:
    """The first frame distinguishes the versions, whatever is in it."""
    from spillway.protocol.batsim4 import codec as batsim4

    data = batsim4.encode_message(neutral)
    assert not is_hello(data)
    codec = AnyBatsim()
    assert codec.greet(data) is None
    assert codec.decode_message(data) == batsim4.decode_message(data)


@pytest.mark.parametrize(
    ("arguments", "requested"),
    [
        (["easy"], b"false"),
        (["gang"], b"true"),
        (["easy", "--model", "timeshared"], b"true"),
        (["easy", "--model", "io"], b"true"),
    ],
)
def test_the_service_requests_what_the_model_needs(arguments: list[str], requested: bytes) -> None:
    """Batsim 5 has no option for dynamic jobs: the hello must request their registration."""
    from spillway.schedulers.service.command import _codec, session_parser

    options = session_parser().parse_args(arguments)
    answer = _codec(options).greet(init_frame())
    assert answer is not None
    assert b'"dynamic_registration":' + requested in answer


def test_missing_dynamic_jobs_are_explained_for_batsim_5() -> None:
    """No option of Batsim 4 is named."""
    codec = AnyBatsim()
    codec.greet(init_frame())
    session = assemble(Gang(), Settings())
    begins = {
        "host_number": 1,
        "computation_host_number": 1,
        "computation_hosts": [HOST],
        "storage_host_number": 0,
        "storage_hosts": [],
        "batsim_arguments": ["batsim"],
        "batsim_execution_context_json": "{}",
        "workloads": [],
        "profiles": [],
    }
    with pytest.raises(RemoteProtocolError, match="hello requests dynamic_registration") as caught:
        session.handle(codec.decode_message(message(0.0, ("SimulationBeginsEvent", begins))))
    assert "--enable" not in str(caught.value)


def begins(**properties: str) -> tuple[str, Any]:
    """The first event, with one host of these properties."""
    host = HOST | {"properties": [{"key": key, "value": value} for key, value in properties.items()]}
    return "SimulationBeginsEvent", {"computation_hosts": [host], "storage_hosts": []}


def test_a_parallel_task_without_communications_does_not_end_the_conversation() -> None:
    """Batsim 5 prints ``null`` for missing members of a profile."""
    codec = AnyBatsim()
    codec.greet(init_frame())
    session = session_spec("easy").session()
    profile = {"computation_vector": [1e9], "communication_matrix": None}
    job = {"resource_request": 1, "walltime": 60.0, "profile_id": "w0!p", "extra_data": ""}
    submitted = {
        "job_id": "w0!1",
        "job": job,
        "submission_time": 1.0,
        "profile": {"id": "w0!p", "profile_type": "ParallelTaskProfile", "profile": profile},
    }
    session.handle(codec.decode_message(message(0.0, begins())))
    answer = session.handle(codec.decode_message(message(1.0, ("JobSubmittedEvent", submitted))))
    assert answer.events == (m.ExecuteJob(1.0, "w0!1", (0,)),)


def test_hosts_that_fall_asleep_or_wake_up_are_turned_off_and_on() -> None:
    """Other power states are changed by a request of their own; the platform states the sleeping ones."""
    codec = Batsim5()
    codec.greet(init_frame())
    codec.decode_message(message(0.0, begins(sleep_pstates="2:3:4, 5:6:7")))
    states = (1, 2, 0, 5, 1, 0)
    written = encode(*[m.SetResourceState(1.0, (0,), state) for state in states], codec=codec)
    assert [kind for kind, _ in written] == [
        "ChangeHostsPStateEvent",
        *["TurnOnOffHostsEvent"] * 4,
        "ChangeHostsPStateEvent",
    ]


def test_the_chooser_becomes_batsim_5() -> None:
    """After an init frame everything is Batsim 5's format."""
    codec = AnyBatsim(dynamic_jobs=True)
    answer = codec.greet(init_frame())
    assert answer is not None
    assert b'"dynamic_registration":true' in answer
    assert codec.decode_message(message(1.0, ("SimulationEndsEvent", {}))) == m.Message(1.0, (m.SimulationEnds(1.0),))
    assert codec.encode_reply(m.Reply(1.0, ())) == b'{"now":1.0,"events":[]}\0'


def test_a_first_frame_that_is_no_init_frame_is_refused() -> None:
    """By the codec itself, where no version was chosen."""
    with pytest.raises(RemoteProtocolError, match="init frame"):
        Batsim5().greet(b"{}")


# --------------------------------------------------------------------------- simulator -> scheduler

HOST = {
    "id": 0,
    "name": "n0",
    "pstate": 0,
    "pstate_count": 1,
    "state": "IDLE",
    "properties": [{"key": "location", "value": "0/1"}],
    "zone_properties": [],
    "core_count": 4,
    "computation_speed": [1e9],
}
DONE = m.JobState.COMPLETED_SUCCESSFULLY


def test_simulation_begins() -> None:
    """Hosts with their properties; profiles in Batsim 4's terms; the configuration that the hello requested."""
    codec = Batsim5(dynamic_jobs=True)
    codec.greet(init_frame(b"init text"))
    event = decode(
        "SimulationBeginsEvent",
        {
            "host_number": 2,
            "computation_host_number": 1,
            "computation_hosts": [HOST],
            "storage_host_number": 1,
            "storage_hosts": [HOST | {"id": 1, "name": "pfs", "properties": []}],
            "batsim_arguments": ["batsim"],
            "batsim_execution_context_json": "{}",
            "workloads": [{"name": "w0", "filename": "/w.json"}],
            "profiles": [
                {
                    "id": "w0!p",
                    "profile_type": "DelayProfile",
                    "profile": {"delay": 5.0},
                    "extra_data": '{"bb": 7}',
                }
            ],
        },
        codec,
    )
    assert isinstance(event, m.SimulationBegins)
    assert event.compute_resources == (m.ResourceInfo(0, "n0", "idle", {"location": "0/1"}, {}, 4, 0, (1e9,)),)
    assert event.storage_resources == (m.ResourceInfo(1, "pfs", "idle", {}, {}, 4, 0, (1e9,)),)
    assert event.workloads == {"w0": "/w.json"}
    assert event.profiles == {"w0": {"p": {"type": "delay", "delay": 5.0, "bb": 7}}}
    assert event.config.dynamic_jobs_enabled
    assert event.config.sched_config == "init text"


def test_job_submitted() -> None:
    """The job's object in Batsim 4's terms; user fields of job and profile from ``extra_data``."""
    job = {"resource_request": 2, "walltime": 60.5, "profile_id": "w0!p", "extra_data": '{"bb": 7, "user": "x"}'}
    profile = {"id": "w0!p", "profile_type": "DelayProfile", "profile": {"delay": 5.0}}
    event = decode("JobSubmittedEvent", {"job_id": "w0!1", "job": job, "submission_time": 2.5, "profile": profile})
    members = {"bb": 7, "user": "x", "id": "w0!1", "subtime": 2.5, "res": 2, "profile": "p", "walltime": 60.5}
    assert event == m.JobSubmitted(3.0, "w0!1", members, {"type": "delay", "delay": 5.0, "bb": 7, "user": "x"})


@pytest.mark.parametrize(
    ("extra", "user"),
    [('{"user":17,"site_wait_s":240.0}', "17"), ('{"user":"ann","bb":0}', "ann"), ('{"bb":7}', ""), ("user: ann", "")],
)
def test_the_user_of_a_job(extra: str, user: str) -> None:
    """The user in ``extra_data`` is ``Job.user``, which policies read; the message is whole, as Batsim's."""
    text = (
        '{"now":240.5,"events":[{"timestamp":240.5,"event_type":"JobSubmittedEvent","event":{"job_id":"w0!12",'
        '"job":{"resource_request":4,"walltime":3600.0,"rigid":true,"profile_id":"w0!12","extra_data":%s},'
        '"submission_time":240.5,"profile":{"id":"w0!12","profile_type":"DelayProfile","profile":{"delay":100.0}}}}]}'
    )
    (event,) = Batsim5().decode_message((text % json.dumps(extra)).encode() + b"\0").events
    assert isinstance(event, m.JobSubmitted)
    job = read_job(event.job_id, event.job, event.profile, 0, event.timestamp)
    assert (job.user, job.nodes, job.walltime_s) == (user, 4, 3600.0)


@pytest.mark.parametrize("walltime", [None, -1.0])
def test_no_walltime(walltime: float | None) -> None:
    """``null`` of newer versions and -1 of older ones both mean no walltime."""
    job = {"resource_request": 1, "walltime": walltime, "profile_id": "w0!p", "extra_data": "no json"}
    event = decode("JobSubmittedEvent", {"job_id": "w0!1", "job": job})
    assert isinstance(event, m.JobSubmitted)
    assert event.job == {"extra_data": "no json", "id": "w0!1", "subtime": 3.0, "res": 1, "profile": "p"}


def test_job_completed_gets_back_allocation_and_sign() -> None:
    """The allocation is remembered from the start; a return code of -2 comes as an unsigned number."""
    codec = Batsim5()
    encode(m.ExecuteJob(1.0, "w0!1", (2, 3)), codec=codec)
    members = {"job_id": "w0!1", "state": "COMPLETED_KILLED", "return_code": 4294967294}
    assert decode("JobCompletedEvent", members, codec) == m.JobCompleted(
        3.0, "w0!1", m.JobState.COMPLETED_KILLED, -2, (2, 3)
    )
    members = {"job_id": "w0!9", "state": "COMPLETED_SUCCESSFULLY", "return_code": 0}
    assert decode("JobCompletedEvent", members, codec) == m.JobCompleted(3.0, "w0!9", DONE, 0, ())


def test_jobs_killed() -> None:
    """Leaf, sequence, and a job without progress."""
    leaf = {
        "kill_progress_type": "KillProgressAtomicProfile",
        "kill_progress": {"profile_id": "w0!p", "progress": 0.25},
    }
    sequence = {
        "kill_progress_type": "KillProgressSequentialProfile",
        "kill_progress": {
            "profile_id": "w0!s",
            "current_repetition": 0,
            "current_task_index": 2,
            "current_task_progress": leaf,
        },
    }
    progresses = [{"job_id": "w0!1", "wrapper": leaf}, {"job_id": "w0!2", "wrapper": sequence}, {"job_id": "w0!3"}]
    event = decode("JobsKilledEvent", {"job_ids": ["w0!1", "w0!2", "w0!3"], "progresses": progresses})
    expected = m.TaskProgress("w0!p", 0.25)
    assert event == m.JobKilled(
        3.0,
        ("w0!1", "w0!2", "w0!3"),
        {"w0!1": expected, "w0!2": m.TaskProgress("w0!s", None, 2, expected)},
    )
    assert decode("JobsKilledEvent", {"job_ids": []}) == m.JobKilled(3.0, (), {})


@pytest.mark.parametrize(("kind", "members", "event"), [
    ("SimulationEndsEvent", {}, m.SimulationEnds(3.0)),
    ("AllStaticJobsHaveBeenSubmittedEvent", {}, m.Notify(3.0, "no_more_static_job_to_submit")),
    ("AllStaticExternalEventsHaveBeenInjectedEvent", {}, m.Notify(3.0, "no_more_external_event_to_occur")),
    ("RequestedCallEvent", {"call_me_later_id": "x", "last_periodic_call": False}, m.RequestedCall(3.0, "x", False)),
    ("HostsPStateChangedEvent", {"host_ids": "0-2", "pstate": 1}, m.ResourceStateChanged(3.0, (0, 1, 2), 1)),
    ("HostsTurnedOnOffEvent", {"host_ids": "4", "state": 2}, m.ResourceStateChanged(3.0, (4,), 2, True)),
    ("ExternalEventOccurredEvent",
     {"id": "ee0!1", "external_event_type": "GenericExternalEvent", "external_event": {"data": "hi"}},
     m.Notify(3.0, "generic", (), {"type": "generic", "timestamp": 3.0, "id": "ee0!1", "data": "hi"})),
])  # fmt: skip
def test_plain_events(kind: str, members: Any, event: m.Event) -> None:
    """Events that only change their names."""
    assert decode(kind, members) == event


def test_the_type_may_follow_its_event_and_new_members_are_ignored() -> None:
    """FlatBuffers' JSON leaves the order free; release candidates add members."""
    data = b'{"new":1,"events":[{"event":{"new":[]},"event_type":"RequestedCallEvent","timestamp":1}],"now":1}'
    assert Batsim5().decode_message(data) == m.Message(1.0, (m.RequestedCall(1.0),))
    assert Batsim5().decode_message(b'{"now":2.0}') == m.Message(2.0, ())


@pytest.mark.parametrize(("data", "path", "fragment"), cases("batsim5-wrong-messages"))
def test_errors_are_located(data: bytes, path: str, fragment: str) -> None:
    """Each fault is reported with its place."""
    with pytest.raises(RemoteProtocolError) as caught:
        Batsim5().decode_message(data)
    assert caught.value.path == path
    assert fragment in str(caught.value)


@settings(max_examples=100)
@given(st.sampled_from(EVENTS.types), json_values(printed), st.binary(max_size=3), st.integers(0, 200))
def test_garbage_decodes_or_raises_remote_protocol_error(kind: str, value: Any, dirt: bytes, place: int) -> None:
    """Wrong shapes and damaged bytes never raise anything else."""
    event = {"timestamp": 0.0, "event_type": kind, "event": value}
    clean = msgspec.json.encode({"now": 1, "events": [event]})
    for data in (clean, clean[:place] + dirt + clean[place:], dirt, clean[:place]):
        try:
            Batsim5().decode_message(data)
        except RemoteProtocolError:
            continue


# --------------------------------------------------------------------------- scheduler -> simulator

SPREAD = {
    "executor_placement_type": "PredefinedExecutorPlacementStrategyWrapper",
    "executor_placement": {"strategy": "SpreadOverHostsFirst"},
}


@pytest.mark.parametrize(("request_", "kind", "members"), [
    (m.ExecuteJob(1.0, "w0!1", (0, 1, 3)), "ExecuteJobEvent",
     {"job_id": "w0!1", "allocation": {"host_allocation": "0-1 3"} | SPREAD}),
    (m.ExecuteJob(1.0, "w0!1", (0, 1), mapping={1: 0, 0: 1, 2: 0}), "ExecuteJobEvent",
     {"job_id": "w0!1",
     "allocation": {"host_allocation": "0-1", "executor_placement_type": "CustomExecutorToHostMapping",
     "executor_placement": {"mapping": [1, 0, 0]}}}),
    (m.ExecuteJob(1.0, "d!1", (96, 108), storage_mapping={"source": 108, "destination": 96}), "ExecuteJobEvent",
     {"job_id": "d!1", "allocation": {"host_allocation": "96 108"} | SPREAD,
     "storage_placement": [{"storage_name": "source", "host_id": 108},
     {"storage_name": "destination", "host_id": 96}]}),
    (m.RejectJob(1.0, "w0!1"), "RejectJobEvent", {"job_id": "w0!1"}),
    (m.KillJob(1.0, ("w0!1", "w0!2")), "KillJobsEvent", {"job_ids": ["w0!1", "w0!2"]}),
    (m.CallMeLater(1.0, 12.0004), "CallMeLaterEvent",
     {"call_me_later_id": "call1", "when_type": "OneShot", "when": {"time": 12001, "time_unit": "Millisecond"}}),
    (m.RegisterJob(1.0, "d!1", {"id": "d!1", "subtime": 1.0, "res": 2, "profile": "p", "walltime": 60}),
     "RegisterJobEvent", {"job_id": "d!1", "job": {"resource_request": 2, "profile_id": "d!p", "walltime": 60}}),
    (m.RegisterJob(1.0, "d!1", {"id": "1", "subtime": 1.0, "res": 2, "profile": "e!p", "walltime": -1, "user": 3}),
     "RegisterJobEvent",
     {"job_id": "d!1", "job": {"resource_request": 2, "profile_id": "e!p", "extra_data": '{"user":3}'}}),
    (m.NotifyRegistration(1.0), "FinishRegistrationEvent", {}),
    (m.SetResourceState(1.0, (1, 2), 3), "ChangeHostsPStateEvent", {"host_ids": "1-2", "pstate": 3}),
    (m.StopCalls(1.0, "tick"), "StopCallMeLaterEvent", {"call_me_later_id": "tick"}),
    (m.StopSimulation(1.0), "ForceSimulationStopEvent", {}),
    (m.CallMeLater(1.0, 1.0, "tick", 0.5, 3), "CallMeLaterEvent",
     {"call_me_later_id": "call1", "when_type": "Periodic",
     "when": {"period": 500, "offset": 0, "time_unit": "Millisecond", "mode_type": "FinitePeriodNumber",
     "mode": {"nb_periods": 3}}}),
])  # fmt: skip
def test_requests(request_: m.Request, kind: str, members: Any) -> None:
    """Each request with exactly the members that the schema has (an unknown one makes Batsim abort)."""
    assert encode(request_) == [(kind, members)]


def test_a_call_never_comes_too_early_and_whole_milliseconds_stay() -> None:
    """Times become whole milliseconds, upwards; rounding noise does not add one."""
    codec = Batsim5()
    times = [5.0, 0.1 + 0.2, 1234567.891, 2.0000001]
    requested = [encode(m.CallMeLater(0.0, at), codec=codec)[0][1] for at in times]
    assert [call["when"]["time"] for call in requested] == [5000, 300, 1234567891, 2001]
    assert [call["call_me_later_id"] for call in requested] == ["call1", "call2", "call3", "call4"]


STAGING = {"type": "data_staging", "nb_bytes": 5, "from": "a", "to": "b", "ret": 0}


def transfers(profile: dict[str, Any], *jobs: tuple[tuple[int, ...], dict[str, int] | None]) -> list[tuple[str, Any]]:
    """Requests written for jobs of a profile on these hosts with these storages."""
    requests: list[m.Request] = [m.RegisterProfile(1.0, "d", "p", profile)]
    for number, (hosts, storage) in enumerate(jobs):
        job = {"id": f"d!{number}", "subtime": 1.0, "res": len(hosts), "profile": "p", "walltime": -1.0}
        requests.append(m.RegisterJob(1.0, f"d!{number}", job))
        requests.append(m.ExecuteJob(1.0, f"d!{number}", hosts, storage_mapping=storage))
    return encode(*requests)


def placed(hosts: str, *mapping: int) -> dict[str, Any]:
    """An allocation with executors placed one by one."""
    return {
        "host_allocation": hosts,
        "executor_placement_type": "CustomExecutorToHostMapping",
        "executor_placement": {"mapping": list(mapping)},
    }


def task(name: str, cpu: list[float], com: list[float]) -> tuple[str, Any]:
    """Registration of a parallel task."""
    members = {"computation_vector": cpu, "communication_matrix": com}
    return "RegisterProfileEvent", {
        "profile": {"id": f"d!{name}", "profile_type": "ParallelTaskProfile", "profile": members}
    }


def test_data_staging_is_a_parallel_task_of_two() -> None:
    """5.0.0-rc2 aborts at its own: from the emitter, the first executor, to the receiver, at any place."""
    assert transfers(STAGING, ((96, 108), {"a": 108, "b": 96}), ((97, 108), {"a": 108, "b": 97})) == [
        task("p-of-2", [0.0, 0.0], [0.0, 5.0, 0.0, 0.0]),
        ("RegisterJobEvent", {"job_id": "d!0", "job": {"resource_request": 2, "profile_id": "d!p-of-2"}}),
        ("ExecuteJobEvent", {"job_id": "d!0", "allocation": placed("96 108", 1, 0)}),
        ("RegisterJobEvent", {"job_id": "d!1", "job": {"resource_request": 2, "profile_id": "d!p-of-2"}}),
        ("ExecuteJobEvent", {"job_id": "d!1", "allocation": placed("97 108", 1, 0)}),
    ]


def test_access_to_a_storage_is_a_parallel_task_with_it() -> None:
    """5.0.0-rc2 writes the bytes to read: one profile per number of nodes, with the storage as last executor."""
    profile = {"type": "parallel_homogeneous_pfs", "bytes_to_read": 3, "bytes_to_write": 7, "storage": "bb", "ret": 0}
    assert transfers(profile, ((2, 4), {"bb": 9}), ((5,), {"bb": 8})) == [
        task("p-of-2", [0.0] * 3, [0.0, 0.0, 7.0, 0.0, 0.0, 7.0, 3.0, 3.0, 0.0]),
        ("RegisterJobEvent", {"job_id": "d!0", "job": {"resource_request": 3, "profile_id": "d!p-of-2"}}),
        ("ExecuteJobEvent", {"job_id": "d!0", "allocation": placed("2 4 9", 0, 1, 2)}),
        task("p-of-1", [0.0] * 2, [0.0, 7.0, 3.0, 0.0]),
        ("RegisterJobEvent", {"job_id": "d!1", "job": {"resource_request": 2, "profile_id": "d!p-of-1"}}),
        ("ExecuteJobEvent", {"job_id": "d!1", "allocation": placed("5 8", 0, 1)}),
    ]


def test_totals_become_the_share_of_each_node() -> None:
    """Batsim 5 shares out communications by another rule."""
    registered, _, executed = transfers({"type": "parallel_homogeneous_total", "cpu": 8.0, "com": 2.0}, ((1, 2), None))
    assert registered[1]["profile"]["profile"] == {
        "computation_amount": 4.0,
        "communication_amount": 1.0,
        "generation_strategy": "DefinedAmountsUsedForEachValue",
    }
    assert executed[1]["allocation"] == {"host_allocation": "1-2"} | SPREAD


def test_metadata_is_hidden() -> None:
    """Batsim 5 has no metadata; no decision is lost with it."""
    requests = (m.SetJobMetadata(1.0, "w0!1", "x"), m.RejectJob(1.0, "w0!1"))
    assert encode(*requests) == [("RejectJobEvent", {"job_id": "w0!1"})]


_IO = m.AdditionalIoJob((1,), "p")


@pytest.mark.parametrize(("requests", "fragment"), [
    ([m.ExecuteJob(1.0, "a!1", (1,), additional_io_job=_IO)], "no additional_io_job"),
    ([m.ExecuteJob(1.0, "a!1", ())], "must not be empty"),
    ([m.NotifyRegistration(1.0, False)], "registrations up again"),
    ([m.QueryEnergy(1.0)], "nothing for a QueryEnergy"),
    ([m.ChangeJobState(1.0, "a!1", DONE)], "nothing for a ChangeJobState"),
    ([m.ToJobMsg(1.0, "a!1", "x")], "nothing for a ToJobMsg"),
    ([m.RegisterProfile(1.0, "w", "p", {"type": "send"})], "no profile of type 'send'; it has delay"),
    ([m.RegisterProfile(1.0, "w", "p", {"type": "delay", "delay": 1, "ret": 3})], "return code 3"),
    ([m.RegisterProfile(1.0, "w", "p", {"type": "delay"})], "needs the member 'delay'"),
    ([m.RegisterProfile(1.0, "w", "p", STAGING | {"ret": 3})], "return code 3"),
    ([m.RegisterProfile(1.0, "w", "p", STAGING),
     m.RegisterJob(1.0, "w!1", {"id": "w!1", "subtime": 1.0, "res": 2, "profile": "p"}),
     m.ExecuteJob(1.0, "w!1", (4, 5))], "expected a storage mapping for the label 'a'"),
    ([m.RegisterJob(1.0, "d!1", {"id": "1"})], "RegisterJob cannot be written"),
    ([m.CallMeLater(1.0, float("inf"))], "cannot be requested"),
    ([m.RejectJob(5.0, "a!1"), m.RejectJob(4.0, "a!2")], "must ascend"),
    ([m.RejectJob(10.0, "a!1")], "up to the reply's now 9.0"),
])  # fmt: skip
def test_what_batsim_5_cannot_do_is_refused(requests: list[m.Request], fragment: str) -> None:
    """Our own fault, with a clear message, before Batsim aborts."""
    with pytest.raises(LocalProtocolError, match=fragment):
        encode(*requests)


# --------------------------------------------------------------------------- the simulator's side


def written(event: m.Event) -> tuple[str, Any]:
    """Type and members of an event as our simulator writes it."""
    codec = Batsim5Simulator()
    codec.features = Features(forward_profiles_on_simulation_begins=True)
    data = codec.encode_message(m.Message(3.0, (event,)))
    assert data.endswith(b"}\0")
    (found,) = json.loads(data[:-1])["events"]
    assert found["timestamp"] == event.timestamp
    return found["event_type"], found["event"]


def reply(now: float, *requests: tuple[str, Any], **more: Any) -> bytes:
    """A reply of any scheduler, without the final zero byte, which need not be there."""
    items = [{"timestamp": now, "event_type": kind, "event": members} for kind, members in requests]
    return json.dumps({"now": now, "events": items} | more).encode()


@pytest.mark.parametrize("event", [
    m.SimulationBegins(3.0, (m.ResourceInfo(0, "n0", "sleeping", {"location": "0/1"}, {"z": "1"}, 4, 1, (1e9, 2.0)),),
     (m.ResourceInfo(1, "pfs", speeds=(0.0,)),), workloads={"w0": "/w.json"},
     profiles={"w0": {"p": {"type": "delay", "delay": 5.0}}}),
    m.SimulationEnds(3.0),
    m.JobSubmitted(3.0, "w0!1", {"id": "w0!1", "subtime": 3.0, "res": 2, "profile": "p", "walltime": 60.5}),
    m.JobSubmitted(3.0, "w0!1", {"id": "w0!1", "subtime": 3.0, "res": 2, "profile": "p", "extra_data": "user: ann"},
     {"type": "composed", "seq": ["q", "r"], "repeat": 2, "extra_data": "user: ann"}),
    m.JobCompleted(3.0, "w0!1", m.JobState.COMPLETED_KILLED, -2, ()),
    m.JobKilled(3.0, ("w0!1", "w0!2"), {"w0!1": m.TaskProgress("w0!p", 0.25)}),
    m.RequestedCall(3.0, "tick", False),
    m.ResourceStateChanged(3.0, (0, 1, 5), 2),
    m.ResourceStateChanged(3.0, (4,), 2, True),
    m.Notify(3.0, "no_more_static_job_to_submit"),
    m.Notify(3.0, "no_more_external_event_to_occur"),
    m.Notify(3.0, "generic", (), {"type": "generic", "timestamp": 3.0, "id": "ee0!1", "data": "hi"}),
], ids=lambda event: type(event).__name__)  # fmt: skip
def test_the_simulator_writes_what_the_scheduler_reads(event: m.Event) -> None:
    """Each event comes through the wire unchanged; ids of profiles get their workload."""
    kind, members = written(event)
    if isinstance(event, m.JobKilled):
        assert members["progresses"][0]["wrapper"]["kill_progress"] == {"profile_id": "w0!w0!p", "progress": 0.25}
        members["progresses"][0]["wrapper"]["kill_progress"]["profile_id"] = "w0!p"
    assert decode(kind, members) == event


def test_events_of_batsim_4_are_no_events_of_batsim_5() -> None:
    """Machine events, energy and messages of jobs no longer exist."""
    for event in (
        m.Notify(3.0, "event_machine_unavailable", (1,)),
        m.EnergyAnswer(3.0, 1.0),
        m.FromJobMsg(3.0, "w0!1", {}),
    ):
        with pytest.raises(LocalProtocolError, match="is no event of Batsim 5"):
            written(event)


def test_the_progress_of_a_sequence_counts_within_a_repetition() -> None:
    """Batsim 4's index counts over all repetitions."""
    task = m.TaskProgress("s", None, 5, m.TaskProgress("p", 0.5), tasks=3)
    _, members = written(m.JobKilled(3.0, ("w0!1",), {"w0!1": task}))
    assert members["progresses"] == [
        {
            "job_id": "w0!1",
            "wrapper": {
                "kill_progress_type": "KillProgressSequentialProfile",
                "kill_progress": {
                    "profile_id": "w0!s",
                    "current_repetition": 1,
                    "current_task_index": 2,
                    "current_task_progress": {
                        "kill_progress_type": "KillProgressAtomicProfile",
                        "kill_progress": {"profile_id": "w0!p", "progress": 0.5},
                    },
                },
            },
        }
    ]


def test_doubles_have_at_most_twelve_decimals() -> None:
    """Trailing zeros are cut; a smaller time is written as zero."""
    codec = Batsim5Simulator()
    text = codec.encode_message(m.Message(3e-9, (m.RequestedCall(1e-13, "x"),))).decode()
    assert text.startswith('{"now":0.000000003,"events":[{"timestamp":0.0,')


@pytest.mark.parametrize("request_", [
    m.ExecuteJob(1.0, "w0!1", (0, 1, 3)),
    m.ExecuteJob(1.0, "w0!1", (0, 1), mapping={0: 1, 1: 0, 2: 0}),
    m.ExecuteJob(1.0, "d!1", (96, 108), storage_mapping={"source": 108, "destination": 96}),
    m.RejectJob(1.0, "w0!1"),
    m.KillJob(1.0, ("w0!1", "w0!2")),
    m.CallMeLater(1.0, 12.004, "call1"),
    m.CallMeLater(1.0, 1.0, "call1", 0.25),
    m.CallMeLater(1.0, 1.0, "call1", 60.0, 7),
    m.StopCalls(1.0, "tick"),
    m.StopSimulation(1.0),
    m.RegisterProfile(1.0, "d", "p", {"type": "delay", "delay": 5.5}),
    m.RegisterProfile(1.0, "d", "s", {"type": "composed", "seq": ["p", "w0!q"], "repeat": 2}),
    m.RegisterJob(1.0, "d!1", {"id": "d!1", "subtime": 1.0, "res": 2, "profile": "p", "walltime": 60}),
    m.RegisterJob(1.0, "d!1", {"id": "d!1", "subtime": 1.0, "res": 2, "profile": "w0!p", "extra_data": "x"}),
    m.NotifyRegistration(1.0),
    m.SetResourceState(1.0, (1, 2), 3),
], ids=lambda request: type(request).__name__)  # fmt: skip
def test_the_simulator_reads_what_the_scheduler_writes(request_: m.Request) -> None:
    """Each request comes through the wire unchanged."""
    data = Batsim5().encode_reply(m.Reply(9.0, (request_,)))
    assert Batsim5Simulator().decode_reply(data) == m.Reply(9.0, (request_,))


def test_the_hello_is_read() -> None:
    """The scheduler's requests there correspond to options of Batsim 4."""
    codec = Batsim5Simulator()
    first = codec.first_frame("init")
    assert first == init_frame(b"init")
    hello = Batsim5(dynamic_jobs=True).greet(first)
    assert hello is not None
    wanted = Features(dynamic_registration=True, profile_reuse=True, forward_profiles_on_job_submission=True)
    assert codec.read_hello(hello) == wanted == codec.features
    assert codec.read_hello(hello.rstrip(b"\0")) == wanted


@pytest.mark.parametrize(("frame", "fragment"), [
    (b"", "choose the JSON format"),
    (struct.pack("<I", 1) + b"flatbuffers", "choose the JSON format"),
    (struct.pack("<I", 2) + reply(0.0), "must have one event"),
    (struct.pack("<I", 2) + reply(0.0, ("RejectJobEvent", {"job_id": "a!1"})), "must have one event"),
    (struct.pack("<I", 2) + b"{", "expected a JSON object"),
])  # fmt: skip
def test_what_is_no_hello_is_refused(frame: bytes, fragment: str) -> None:
    """Batsim ends without a message; our error says what was expected."""
    with pytest.raises(RemoteProtocolError, match=fragment):
        Batsim5Simulator().read_hello(frame)


PLACEMENT = SPREAD | {"host_allocation": "0"}
ONCE = {"time": 5, "time_unit": "Second"}
JOB = {"resource_request": 1, "profile_id": "d!p"}


@pytest.mark.parametrize(
    ("data", "path", "fragment"),
    cases("batsim5-wrong-replies"),
)
def test_replies_that_would_end_batsim_are_refused(data: bytes, path: str, fragment: str) -> None:
    """With the place; its JSON reader refuses unknown members, and numbers with a point for whole ones."""
    with pytest.raises(RemoteProtocolError) as caught:
        Batsim5Simulator().decode_reply(data)
    assert caught.value.path == path
    assert fragment in str(caught.value)


@settings(max_examples=100)
@given(st.sampled_from(REQUESTS.types), json_values(printed), st.binary(max_size=3), st.integers(0, 200))
def test_garbage_replies_decode_or_raise_remote_protocol_error(kind: str, value: Any, dirt: bytes, place: int) -> None:
    """Wrong shapes and damaged bytes never raise anything else."""
    clean = msgspec.json.encode({"now": 1, "events": [{"timestamp": 0.0, "event_type": kind, "event": value}]})
    for data in (clean, clean[:place] + dirt + clean[place:], dirt, clean[:place]):
        try:
            Batsim5Simulator().decode_reply(data)
        except RemoteProtocolError:
            continue


@settings(max_examples=100)
@given(st.sampled_from(["ParallelTaskProfile", "SequentialCompositionProfile", "DelayProfile"]), json_values(printed))
def test_any_profile_is_read(kind: str, value: Any) -> None:
    """A profile's contents are checked where it is used."""
    members = {"computation_vector": value, "communication_matrix": value, "profile_ids": value, "delay": value}
    assert to_batsim4(kind, members)["type"] in ("parallel", "composed", "delay")


# --------------------------------------------------------------------------- profiles


@pytest.mark.parametrize("profile", [
    {"type": "delay", "delay": 10.5},
    {"type": "parallel", "cpu": [1, 2], "com": [0, 1, 1, 0]},
    {"type": "parallel_homogeneous", "cpu": 1e9, "com": 5},
    {"type": "parallel_homogeneous_total", "cpu": 1e9, "com": 0},
    {"type": "composed", "seq": ["w!a", "w!b"], "repeat": 3},
    {"type": "parallel_homogeneous_pfs", "storage": "bb", "bytes_to_read": 0, "bytes_to_write": 7},
    {"type": "data_staging", "nb_bytes": 5, "from": "a", "to": "b"},
], ids=lambda profile: profile["type"])  # fmt: skip
def test_profiles_keep_their_meaning(profile: dict[str, Any]) -> None:
    """Into Batsim 5's terms and back."""
    assert to_batsim4(*to_batsim5(profile, "w")) == profile


def test_a_parallel_task_may_lack_computations_or_communications() -> None:
    """Both are optional in Batsim 5; an absent one is printed as ``null``."""
    computes = to_batsim4("ParallelTaskProfile", {"computation_vector": [1.0, 2.0], "communication_matrix": None})
    assert computes == {"type": "parallel", "cpu": [1.0, 2.0], "com": [0.0] * 4}
    sends = to_batsim4("ParallelTaskProfile", {"communication_matrix": [0.0, 5.0, 0.0, 0.0]})
    assert sends == {"type": "parallel", "cpu": [0.0, 0.0], "com": [0.0, 5.0, 0.0, 0.0]}


def test_profiles_of_files_have_new_types_and_old_members() -> None:
    """Traces have a type of their own."""
    assert from_file({"type": "ParallelTaskProfile", "cpu": [1], "com": [0]}) == {
        "type": "parallel", "cpu": [1], "com": [0]
    }  # fmt: skip
    trace = {"type": "TraceReplayProfile", "trace_type": "FractionalComputation", "filename": "a.txt", "ret": 1}
    assert from_file(trace)["type"] == "usage_trace"
    assert from_file(trace)["trace"] == "a.txt"
    assert from_file({"type": "delay", "delay": 1}) == {"type": "delay", "delay": 1}


def test_children_of_a_sequence_get_their_workload() -> None:
    """Profile ids are global in Batsim 5."""
    _, members = to_batsim5({"type": "composed", "seq": ["a", "v!b"]}, "w")
    assert members == {"repetition_count": 1, "profile_ids": ["w!a", "v!b"]}


def test_an_unknown_profile_keeps_its_name() -> None:
    """Profiles from Batsim are never refused for their type."""
    assert to_batsim4("ForkJoinProfile", {"x": 1}) == {"type": "ForkJoinProfile", "x": 1}

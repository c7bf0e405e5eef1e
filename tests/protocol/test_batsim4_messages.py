"""Batsim 4, simulator to scheduler: golden texts, round trips, recorded conversations, located errors, garbage."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.base.errors import LocalProtocolError, RemoteProtocolError
from spillway.protocol import messages as m
from spillway.protocol.batsim4 import codec as batsim4
from spillway.protocol.batsim4.events import EVENTS as TABLE
from spillway.protocol.transcript import read_transcript
from tests.kit.cases import cases
from tests.protocol.strategies import EVENTS, json_values, messages, printed

DONE = m.JobState.COMPLETED_SUCCESSFULLY

BEGINS = (
    b'{"now":0.000000,"events":[{"timestamp":0.000000,"type":"SIMULATION_BEGINS","data":{"nb_resources":2,'
    b'"nb_compute_resources":1,"nb_storage_resources":1,"allow_compute_sharing":false,"allow_storage_sharing":true,'
    b'"config":{"redis-enabled":false,"redis-hostname":"127.0.0.1","redis-port":6379,"redis-prefix":"default",'
    b'"profiles-forwarded-on-submission":false,"dynamic-jobs-enabled":true,"dynamic-jobs-acknowledged":false,'
    b'"profile-reuse-enabled":false,"sched-config":"","forward-unknown-events":false},'
    b'"compute_resources":[{"id":0,"name":"n0","state":"idle","properties":{"role":""},"zone_properties":{}}],'
    b'"storage_resources":[{"id":1,"name":"pfs","state":"idle","properties":{"role":"storage"},'
    b'"zone_properties":{"z":"1"}}],"workloads":{"w0":"/tmp/w.json"},'
    b'"profiles":{"w0":{"p":{"type":"delay","delay":10.500000}}}}}]}'
)


GOLDEN = cases("batsim4-messages")
"""Texts of events, and the events."""


@pytest.mark.parametrize(("text", "event"), GOLDEN)
def test_golden(text: str, event: str) -> None:
    """Each event has exactly one text, and is read from it."""
    data = f'{{"now":9.000000,"events":[{text}]}}'.encode()
    message = batsim4.decode_message(data)
    assert (message.now, [repr(found) for found in message.events]) == (9.0, [event])
    assert batsim4.encode_message(message) == data


def test_golden_begins() -> None:
    """SIMULATION_BEGINS is read into machine and configuration, and written as it came."""
    message = batsim4.decode_message(BEGINS)
    (event,) = message.events
    assert isinstance(event, m.SimulationBegins)
    assert event.config.dynamic_jobs_enabled
    assert event.config.extras == {}
    assert event.storage_resources == (m.ResourceInfo(1, "pfs", "idle", {"role": "storage"}, {"z": "1"}),)
    assert event.profiles["w0"]["p"] == {"type": "delay", "delay": 10.5}
    assert batsim4.encode_message(message) == BEGINS


def test_every_event_type_is_covered() -> None:
    """The strategies and the golden texts have every event of the protocol."""
    kinds = set(m.Event.__args__)
    assert kinds == set(EVENTS)
    assert {event.partition("(")[0] for _, event in GOLDEN} == {kind.__name__ for kind in kinds - {m.SimulationBegins}}
    assert len(TABLE.types) == len(kinds)


@pytest.mark.parametrize("kind", list(EVENTS), ids=lambda kind: kind.__name__)
@settings(max_examples=40)
@given(data=st.data())
def test_round_trip(kind: type, data: st.DataObject) -> None:
    """Every event is read back as it was written (numbers of six decimals)."""
    message = m.Message(data.draw(printed), (data.draw(EVENTS[kind]),))
    wire = batsim4.encode_message(message)
    assert batsim4.decode_message(wire) == message
    assert batsim4.encode_message(batsim4.decode_message(wire)) == wire


@pytest.mark.reference
def test_recorded_messages_are_written_byte_by_byte(reference: Path) -> None:
    """Messages of the real Batsim 4.2.1 are read, and written again to the same bytes."""
    seen: dict[str, int] = {}
    for path in sorted((reference / "transcripts").glob("*.jsonl")):
        for exchange in read_transcript(path):
            message = batsim4.decode_message(exchange.received)
            assert batsim4.encode_message(message) == exchange.received, (path.name, exchange.line)
            for event in message.events:
                seen[type(event).__name__] = seen.get(type(event).__name__, 0) + 1
    assert len(seen) >= 7
    assert sum(seen.values()) > 1000


# --------------------------------------------------------------------------- faults and their places


def _event(kind: str, data: str) -> str:
    return (
        '{"now":1.0,"events":[{"timestamp":0.0,"type":"REQUESTED_CALL","data":{}},'
        f'{{"timestamp":1.0,"type":"{kind}","data":{data}}}]}}'
    )


_COMPLETED = '{"job_id":"a!1","job_state":"COMPLETED_SUCCESSFULLY","return_code":0'


TOO_MUCH = [
    (_event("FROM_JOB_MSG", '{"job_id":"a!1","msg":' + "[" * 100_000), "$", "nested too deeply"),
    ('{"now":1' + "0" * 500 + ',"events":[]}', "$", "beyond the range of doubles"),
]


@pytest.mark.parametrize(("text", "path", "fragment"), [*cases("batsim4-wrong-messages"), *TOO_MUCH])
def test_errors_are_located(text: str, path: str, fragment: str) -> None:
    """Each fault is reported with its place."""
    with pytest.raises(RemoteProtocolError) as caught:
        batsim4.decode_message(text.encode())
    assert caught.value.path == path
    assert fragment in str(caught.value)


def test_a_bad_configuration_is_located() -> None:
    """The path leads into the config object."""
    with pytest.raises(RemoteProtocolError, match="redis-port") as caught:
        batsim4.decode_message(BEGINS.replace(b"6379", b'"many"'))
    assert caught.value.path == "$.events[0].data.config.redis-port"


def test_old_and_documented_names_are_understood() -> None:
    """``job_alloc`` of old versions, and the documented ``profile`` in a progress object."""
    completed = _event("JOB_COMPLETED", _COMPLETED + ',"job_alloc":"2-3"}')
    assert batsim4.decode_message(completed.encode()).events[1] == m.JobCompleted(1.0, "a!1", DONE, 0, (2, 3))
    killed = _event("JOB_KILLED", '{"job_ids":["a!1"],"job_progress":{"a!1":{"profile":"p","progress":1}}}')
    event = batsim4.decode_message(killed.encode()).events[1]
    assert event == m.JobKilled(1.0, ("a!1",), {"a!1": m.TaskProgress("p", 1.0)})


def test_extra_members_are_ignored() -> None:
    """Unknown members do no harm, in the envelope and in events; those of config are kept."""
    data = BEGINS.replace(b'{"now"', b'{"extra":1,"now"').replace(b'"config":{', b'"config":{"tomorrow":2,')
    (event,) = batsim4.decode_message(data).events
    assert isinstance(event, m.SimulationBegins)
    assert event.config.extras == {"tomorrow": 2}


def test_integers_beyond_64_bits_are_doubles() -> None:
    """A profile's huge integer is a double, as for Batsim."""
    data = _event("JOB_SUBMITTED", '{"job_id":"a!1","job":{"cpu":100000000000000000000}}')
    event = batsim4.decode_message(data.encode()).events[1]
    assert isinstance(event, m.JobSubmitted)
    assert repr(event.job) == "{'cpu': 1e+20}"


@pytest.mark.parametrize(
    "event",
    [
        m.JobSubmitted(1.0, "a!1", {"cpu": 1e25}),
        m.JobSubmitted(1.0, "a!1", {"cpu": {1, 2}}),
        m.JobSubmitted(1.0, "a!1", {1: 2}),  # type: ignore[dict-item]
        m.JobSubmitted(1.0, "\ud800", {}),
        m.RequestedCall(float("nan")),
        m.RejectJob(1.0, "a!1"),
    ],
    ids=["too-long-double", "foreign-object", "key", "surrogate", "nan", "request"],
)
def test_what_cannot_be_sent_is_our_own_error(event: Any) -> None:
    """The simulator's side refuses to write messages that Batsim could not."""
    with pytest.raises(LocalProtocolError):
        batsim4.encode_message(m.Message(1.0, (event,)))


@pytest.mark.parametrize("depth", [200, 450, 700, 950, 5000])
def test_deep_nesting_never_overflows_the_stack(depth: int) -> None:
    """However deep the text, it is decoded or refused."""
    inner = '{"profile":"s","current_task":' * depth + '{"profile":"p"}' + "}" * depth
    for text in (
        _event("FROM_JOB_MSG", '{"job_id":"a!1","msg":' + "[" * depth + "]" * depth + "}"),
        _event("JOB_KILLED", '{"job_ids":["a!1"],"job_progress":{"a!1":' + inner + "}}"),
        _event("NOTIFY", '{"type":' + "[" * depth + "]" * depth + "}"),
    ):
        _decodes_or_refuses(text.encode())


# --------------------------------------------------------------------------- garbage


def _decodes_or_refuses(data: bytes) -> None:
    try:
        message = batsim4.decode_message(data)
    except RemoteProtocolError:
        return
    assert isinstance(message, m.Message)


@settings(max_examples=100)
@given(st.binary(max_size=60))
def test_any_bytes_decode_or_raise_remote_protocol_error(data: bytes) -> None:
    """Garbage never raises anything else."""
    _decodes_or_refuses(data)


@settings(max_examples=80)
@given(
    st.fixed_dictionaries(
        {
            "now": json_values(printed),
            "events": st.lists(
                st.fixed_dictionaries(
                    {
                        "timestamp": json_values(printed),
                        "type": st.sampled_from(TABLE.types),
                        "data": json_values(printed),
                    }
                ),
                max_size=2,
            ),
        }
    )
)
def test_any_json_decodes_or_raises_remote_protocol_error(value: Any) -> None:
    """Well-formed JSON of the wrong shape never raises anything else."""
    _decodes_or_refuses(msgspec.json.encode(value))


@settings(max_examples=100)
@given(messages(), st.data())
def test_damaged_messages_decode_or_raise_remote_protocol_error(message: m.Message, data: st.DataObject) -> None:
    """A message with a few bytes changed, lost or doubled never raises anything else."""
    wire = bytearray(batsim4.encode_message(message))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(wire) - 1))
        lost = data.draw(st.integers(0, 2))
        wire[place : place + lost] = data.draw(st.binary(max_size=2) | st.sampled_from([b'"', b"-", b"9", b"{"]))
        if not wire:
            break
    _decodes_or_refuses(bytes(wire))

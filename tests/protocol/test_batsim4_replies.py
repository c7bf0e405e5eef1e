"""Batsim 4's codec, scheduler to simulator: golden texts, round trips, every rule that Batsim enforces, garbage."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.base.errors import LocalProtocolError, RemoteProtocolError
from spillway.protocol import messages as m
from spillway.protocol.batsim4 import codec as batsim4
from spillway.protocol.batsim4.requests import REQUESTS as TABLE
from spillway.protocol.transcript import read_transcript
from tests.protocol.strategies import REQUESTS, json_values, printed, replies, reply_of

_JOB = {"id": "d!1", "subtime": 1.5, "res": 2, "profile": "p", "walltime": 60}

GOLDEN: list[tuple[m.Request, str]] = [
    (
        m.ExecuteJob(1.0, "w0!1", (0, 1, 2, 5)),
        '{"timestamp":1.0,"type":"EXECUTE_JOB","data":{"job_id":"w0!1","alloc":"0-2 5"}}',
    ),
    (
        m.ExecuteJob(1.0, "w0!1", (0, 1), mapping={0: 1, 1: 0, 2: 0}),
        '{"timestamp":1.0,"type":"EXECUTE_JOB","data":{"job_id":"w0!1","alloc":"0-1","mapping":{"0":1,"1":0,"2":0}}}',
    ),
    (
        m.ExecuteJob(1.0, "w0!1", (96, 108), storage_mapping={"source": 108, "destination": 96}),
        '{"timestamp":1.0,"type":"EXECUTE_JOB","data":{"job_id":"w0!1","alloc":"96 108",'
        '"storage_mapping":{"source":108,"destination":96}}}',
    ),
    (
        m.ExecuteJob(1.0, "w0!1", (3,), additional_io_job=m.AdditionalIoJob((3, 9), "io", {"type": "parallel"})),
        '{"timestamp":1.0,"type":"EXECUTE_JOB","data":{"job_id":"w0!1","alloc":"3",'
        '"additional_io_job":{"alloc":"3 9","profile_name":"io","profile":{"type":"parallel"}}}}',
    ),
    (m.RejectJob(2.0, "w0!1"), '{"timestamp":2.0,"type":"REJECT_JOB","data":{"job_id":"w0!1"}}'),
    (m.KillJob(2.5, ("w0!1", "a!2")), '{"timestamp":2.5,"type":"KILL_JOB","data":{"job_ids":["w0!1","a!2"]}}'),
    (m.CallMeLater(1.0, 101.1), '{"timestamp":1.0,"type":"CALL_ME_LATER","data":{"timestamp":101.1}}'),
    (
        m.RegisterProfile(1.0, "w0%15", "s", {"type": "delay", "delay": 0.1}),
        '{"timestamp":1.0,"type":"REGISTER_PROFILE","data":{"workload_name":"w0%15","profile_name":"s",'
        '"profile":{"type":"delay","delay":0.1}}}',
    ),
    (
        m.RegisterJob(1.0, "d!1", _JOB),
        '{"timestamp":1.0,"type":"REGISTER_JOB","data":{"job_id":"d!1",'
        '"job":{"id":"d!1","subtime":1.5,"res":2,"profile":"p","walltime":60}}}',
    ),
    (m.NotifyRegistration(1.0), '{"timestamp":1.0,"type":"NOTIFY","data":{"type":"registration_finished"}}'),
    (m.NotifyRegistration(1.0, False), '{"timestamp":1.0,"type":"NOTIFY","data":{"type":"continue_registration"}}'),
    (
        m.SetResourceState(1.0, (0, 2), 3),
        '{"timestamp":1.0,"type":"SET_RESOURCE_STATE","data":{"resources":"0 2","state":"3"}}',
    ),
    (
        m.SetJobMetadata(1.0, "w0!1", "5e10; x"),
        '{"timestamp":1.0,"type":"SET_JOB_METADATA","data":{"job_id":"w0!1","metadata":"5e10; x"}}',
    ),
    (
        m.ChangeJobState(1.0, "w0!1", m.JobState.RUNNING),
        '{"timestamp":1.0,"type":"CHANGE_JOB_STATE","data":{"job_id":"w0!1","job_state":"RUNNING"}}',
    ),
    (m.QueryEnergy(1.0), '{"timestamp":1.0,"type":"QUERY","data":{"requests":{"consumed_energy":{}}}}'),
    (
        m.AnswerEstimate(1.0, "w0!1", 30.25),
        '{"timestamp":1.0,"type":"ANSWER","data":{"estimate_waiting_time":'
        '{"job_id":"w0!1","estimated_waiting_time":30.25}}}',
    ),
    (m.ToJobMsg(1.0, "w0!1", "hi"), '{"timestamp":1.0,"type":"TO_JOB_MSG","data":{"job_id":"w0!1","msg":"hi"}}'),
]


@pytest.mark.parametrize(
    ("request_", "text"), GOLDEN, ids=[f"{type(r).__name__}-{i}" for i, (r, _) in enumerate(GOLDEN)]
)
def test_golden(request_: m.Request, text: str) -> None:
    """Each request has exactly one text, and is read back from it."""
    data = f'{{"now":9.0,"events":[{text}]}}'.encode()
    reply = m.Reply(9.0, (request_,))
    assert batsim4.encode_reply(reply) == data
    assert batsim4.decode_reply(data) == reply


def test_every_request_type_is_covered() -> None:
    """The strategies and the golden texts have every request, except Batsim 5's."""
    others = (m.StopCalls(1.0, "x"), m.StopSimulation(1.0))
    kinds = set(m.Request.__args__) - set(map(type, others))
    for request in others:
        with pytest.raises(LocalProtocolError, match=f"{type(request).__name__} is no request of Batsim 4"):
            batsim4.encode_reply(m.Reply(9.0, (request,)))
    with pytest.raises(LocalProtocolError, match="no periodic calls"):
        batsim4.encode_reply(m.Reply(9.0, (m.CallMeLater(1.0, 1.0, "x", 2.0),)))
    assert kinds == set(REQUESTS)
    assert {type(request) for request, _ in GOLDEN} == kinds
    assert len(TABLE.types) == len(kinds)


@pytest.mark.parametrize("kind", list(REQUESTS), ids=lambda kind: kind.__name__)
@settings(max_examples=40)
@given(data=st.data())
def test_round_trip(kind: type, data: st.DataObject) -> None:
    """Every request is read back exactly as it was written, all digits of its numbers included."""
    reply = reply_of(data.draw(REQUESTS[kind]))
    assert batsim4.decode_reply(batsim4.encode_reply(reply)) == reply


@pytest.mark.reference
def test_recorded_replies_are_read_and_mean_the_same(reference: Path) -> None:
    """Every recorded reply that Batsim accepted is read; our encoding of it has the same meaning."""
    refused: list[str] = []
    read = 0
    for path in sorted((reference / "transcripts").glob("*.jsonl")):
        for exchange in read_transcript(path):
            if exchange.sent is None:
                continue
            try:
                reply = batsim4.decode_reply(exchange.sent)
            except RemoteProtocolError:
                refused.append(path.stem)
                continue
            read += 1
            ours = batsim4.encode_reply(reply)
            assert batsim4.decode_reply(ours) == reply
            assert _plain(ours) == _plain(exchange.sent), (path.name, exchange.line)
    assert refused == ["probe-metadata"]  # the one on which Batsim aborted while it parsed
    assert read > 500


def _plain(data: bytes) -> Any:
    """JSON value with interval sets as sets."""
    value = msgspec.json.decode(data)
    for event in value["events"]:
        if "alloc" in event["data"]:
            event["data"]["alloc"] = set(_ids(event["data"]["alloc"]))
    return value


def _ids(text: str) -> list[int]:
    found = []
    for part in text.split():
        first, _, last = part.partition("-")
        found.extend(range(int(first), int(last or first) + 1))
    return found


# --------------------------------------------------------------------------- the rules that Batsim enforces


def _request(kind: str, data: str) -> str:
    return (
        '{"now":1.0,"events":[{"timestamp":0.0,"type":"REJECT_JOB","data":{"job_id":"a!9"}},'
        f'{{"timestamp":1.0,"type":"{kind}","data":{data}}}]}}'
    )


def _register(**changes: Any) -> str:
    job = {key: value for key, value in (_JOB | changes).items() if value is not ...}
    return _request("REGISTER_JOB", msgspec.json.encode({"job_id": "d!1", "job": job}).decode())


_DATA = "$.events[1].data"
WRONG: list[tuple[str, str, str]] = [
    ("", "$", "expected a JSON object"),
    ("null", "$", "expected `object`, got `null`"),
    ('{"now":1}', "$", "missing required field `events`"),
    ('{"events":[]}', "$", "missing required field `now`"),
    ('{"now":"0","events":[]}', "$.now", "expected `float`, got `str`"),
    ('{"now":0,"events":[{"timestamp":1,"type":"QUERY"}]}', "$.events[0]", "missing required field `data`"),
    ('{"now":4,"events":[{"timestamp":5,"type":"REJECT_JOB","data":{"job_id":"a!1"}}]}', "$.events[0].timestamp",
     "at most the reply's now = 4.0, got 5.0"),
    (_request("NOP", "{}"), "$.events[1].type", "known types: EXECUTE_JOB"),
    (_request("EXECUTE_JOB", "[]"), _DATA, "expected `object`"),
    (_request("EXECUTE_JOB", '{"job_id":"a!1"}'), _DATA, "got the 1 members job_id"),
    (_request("EXECUTE_JOB", '{"job_id":"a!1","alloc":"1","mapping":{"0":0},"storage_mapping":{}}'), _DATA,
     "at most one of 'mapping', 'storage_mapping' and 'additional_io_job'"),
    (_request("EXECUTE_JOB", '{"job_id":"a!1","foo":"1"}'), f"{_DATA}.alloc", "no member 'alloc'"),
    (_request("EXECUTE_JOB", '{"job_id":1,"alloc":"1"}'), f"{_DATA}.job_id", "expected a string, got 1"),
    (_request("EXECUTE_JOB", '{"job_id":"a","alloc":"1"}'), f"{_DATA}.job_id", "workload!name"),
    (_request("EXECUTE_JOB", '{"job_id":"a!b!c","alloc":"1"}'), f"{_DATA}.job_id", "workload!name"),
    (_request("EXECUTE_JOB", '{"job_id":"a!1","alloc":""}'), f"{_DATA}.alloc", "at least one resource id"),
    (_request("EXECUTE_JOB", '{"job_id":"a!1","alloc":"1;2"}'), f"{_DATA}.alloc", "expected resource ids"),
    (_request("EXECUTE_JOB", '{"job_id":"a!1","alloc":"1","mapping":{}}'), f"{_DATA}.mapping", "executor -> place"),
    (_request("EXECUTE_JOB", '{"job_id":"a!1","alloc":"5-6","mapping":{"0":2}}'), f"{_DATA}.mapping.0",
     "from 0 to 1 in the allocation, got 2"),
    (_request("EXECUTE_JOB", '{"job_id":"a!1","alloc":"5-6","mapping":{"0":0,"2":1}}'), f"{_DATA}.mapping",
     "executors 0 to 1 without gap"),
    (_request("EXECUTE_JOB", '{"job_id":"a!1","alloc":"5-6","mapping":{"0":0.5}}'), f"{_DATA}.mapping.0",
     "expected an integer"),
    (_request("EXECUTE_JOB", '{"job_id":"a!1","alloc":"5-6","mapping":{"zero":0}}'), f"{_DATA}.mapping",
     "whole number in a string, got 'zero'"),
    (_request("EXECUTE_JOB", '{"job_id":"a!1","alloc":"1","storage_mapping":{"pfs":"108"}}'),
     f"{_DATA}.storage_mapping.pfs", "as an integer, got '108'"),
    (_request("EXECUTE_JOB", '{"job_id":"a!1","alloc":"1","additional_io_job":{"alloc":"1"}}'),
     f"{_DATA}.additional_io_job.profile_name", "expected a string"),
    (_request("EXECUTE_JOB", '{"job_id":"a!1","alloc":"1","additional_io_job":{"alloc":"","profile_name":"p"}}'),
     f"{_DATA}.additional_io_job.alloc", "at least one"),
    (_request("REJECT_JOB", '{"job_id":"a!1","reason":"x"}'), _DATA, "unknown field `reason`"),
    (_request("REJECT_JOB", "{}"), _DATA, "missing required field `job_id`"),
    (_request("KILL_JOB", '{"job_ids":[]}'), f"{_DATA}.job_ids", "at least one job to kill"),
    (_request("KILL_JOB", '{"job_ids":["a!1","b"]}'), f"{_DATA}.job_ids[1]", "workload!name"),
    (_request("KILL_JOB", '{"job_ids":"a!1"}'), f"{_DATA}.job_ids", "expected `array`"),
    (_request("CALL_ME_LATER", '{"timestamp":"5"}'), f"{_DATA}.timestamp", "expected `float`"),
    (_request("CALL_ME_LATER", '{"timestamp":5,"id":1}'), _DATA, "unknown field `id`"),
    (_request("REGISTER_PROFILE", '{"workload_name":"a","profile_name":"b"}'), _DATA, "field `profile`"),
    (_request("REGISTER_PROFILE", '{"workload_name":"a","profile_name":"b","profile":{"cpu":1e25}}'),
     f"{_DATA}.profile", "Batsim cannot print this"),
    (_register(subtime=...), f"{_DATA}.job.subtime", "mandatory although undocumented"),
    (_register(res=1.0), f"{_DATA}.job.res", "a whole number of hosts, at least 0, got 1.0"),
    (_register(res=True), f"{_DATA}.job.res", "got True"),
    (_register(profile=3), f"{_DATA}.job.profile", "the name of a profile"),
    (_register(walltime=0), f"{_DATA}.job.walltime", "above 0, or -1"),
    (_register(walltime=4e-7), f"{_DATA}.job.walltime", "above 0, or -1 if none, got 0.0"),
    (_register(walltime=None), f"{_DATA}.job.walltime", "got None"),
    (_register(id="2"), f"{_DATA}.job.id", "expected the id of 'd!1', got '2'"),
    (_register(id="d1"), f"{_DATA}.job.id", "workload!name"),
    (_request("NOTIFY", '{"type":"hello"}'), f"{_DATA}.type", "registration_finished or continue_registration"),
    (_request("SET_RESOURCE_STATE", '{"resources":"1","state":2}'), f"{_DATA}.state", "expected `str`"),
    (_request("SET_RESOURCE_STATE", '{"resources":"1","state":"x"}'), f"{_DATA}.state", "in a string, got 'x'"),
    (_request("SET_RESOURCE_STATE", '{"resources":"","state":"0"}'), f"{_DATA}.resources", "at least one"),
    (_request("SET_JOB_METADATA", '{"job_id":"a!1","metadata":"a\\"b"}'), f"{_DATA}.metadata", "double quotes"),
    (_request("SET_JOB_METADATA", '{"job_id":"a!1","metadata":"a","x":1}'), _DATA, "unknown field `x`"),
    (_request("CHANGE_JOB_STATE", '{"job_id":"a!1","job_state":"COMPLETED_FAILED"}'), f"{_DATA}.job_state",
     "got COMPLETED_FAILED"),
    (_request("CHANGE_JOB_STATE", '{"job_id":"a!1","job_state":"DONE"}'), f"{_DATA}.job_state", "DONE"),
    (_request("QUERY", '{"requests":{}}'), f"{_DATA}.requests", "consumed_energy"),
    (_request("QUERY", '{"requests":{"consumed_energy":{},"x":{}}}'), f"{_DATA}.requests", "unknown field `x`"),
    (_request("ANSWER", '{"estimate_waiting_time":{"job_id":"a!1"}}'), f"{_DATA}.estimate_waiting_time",
     "estimated_waiting_time"),
    (_request("TO_JOB_MSG", '{"job_id":"a!1","msg":{}}'), f"{_DATA}.msg", "expected `str`"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "path", "fragment"), WRONG, ids=[f"{i}" for i in range(len(WRONG))])
def test_illegal_replies_are_refused_with_the_place(text: str, path: str, fragment: str) -> None:
    """Every reply that makes Batsim's parser abort is refused, with the place and the fault."""
    with pytest.raises(RemoteProtocolError) as caught:
        batsim4.decode_reply(text.encode())
    assert caught.value.path == path
    assert fragment in str(caught.value)


ODD_BUT_LEGAL: list[tuple[str, Any]] = [
    (
        _request("EXECUTE_JOB", '{"job_id":"a!!1","alloc":"3 1-2 2"}'),
        m.ExecuteJob(1.0, "a!1", (1, 2, 3)),
    ),
    (
        _request("EXECUTE_JOB", '{"job_id":"a!1","alloc":"1","unknown":[]}'),
        m.ExecuteJob(1.0, "a!1", (1,)),
    ),
    (
        _request("EXECUTE_JOB", '{"job_id":"a!1","alloc":"1-2","mapping":{"1":"0","0":1}}'),
        m.ExecuteJob(1.0, "a!1", (1, 2), mapping={1: 0, 0: 1}),
    ),
    (_register(id=1), m.RegisterJob(1.0, "d!1", _JOB | {"id": 1})),
    (
        _register(id="1", walltime=...),
        m.RegisterJob(1.0, "d!1", {k: v for k, v in (_JOB | {"id": "1"}).items() if k != "walltime"}),
    ),
    (_register(walltime=-1), m.RegisterJob(1.0, "d!1", _JOB | {"walltime": -1})),
    (_register(subtime=99, res=0, user="x"), m.RegisterJob(1.0, "d!1", _JOB | {"subtime": 99, "res": 0, "user": "x"})),
    (
        '{"now":1,"extra":0,"events":[{"x":1,"data":{"job_id":"a!9"},"type":"REJECT_JOB","timestamp":-5},'
        '{"timestamp":-7,"type":"QUERY","data":{"requests":{"consumed_energy":{}}}}]}',
        m.QueryEnergy(-7.0),
    ),
]


@pytest.mark.parametrize(("text", "request_"), ODD_BUT_LEGAL, ids=[f"{i}" for i in range(len(ODD_BUT_LEGAL))])
def test_what_batsim_accepts_is_accepted(text: str, request_: Any) -> None:
    """Odd replies that Batsim takes are taken: unknown third member, merged separators, any order of times."""
    assert batsim4.decode_reply(text.encode()).events[1] == request_


UNSENDABLE: list[tuple[m.Request, str]] = [
    (m.ExecuteJob(1.0, "a!1", ()), "must not be empty"),
    (m.ExecuteJob(1.0, "a!1", (1,), mapping={0: 0}, storage_mapping={"x": 1}), "only one of"),
    (m.KillJob(1.0, ()), "at least one job"),
    (m.CallMeLater(1.0, float("inf")), "no number for inf"),
    (m.RejectJob(10.0, "a!1"), "lies after the reply's now"),
    (m.SetJobMetadata(1.0, "a!1", 'say "x"'), "double quotes"),
    (m.ChangeJobState(1.0, "a!1", m.JobState.SUBMITTED), "cannot be set"),
    (m.SetResourceState(1.0, (), 1), "at least one host"),
    (m.RegisterProfile(1.0, "w", "p", {"x": float("nan")}), "no number for nan"),
    (m.RegisterProfile(1.0, "w", "p", {"x": object()}), "no value"),
]


@pytest.mark.parametrize(("request_", "fragment"), UNSENDABLE, ids=[f"{i}" for i in range(len(UNSENDABLE))])
def test_what_would_abort_batsim_is_not_sent(request_: m.Request, fragment: str) -> None:
    """The scheduler's side refuses to write it and calls it its own fault."""
    with pytest.raises(LocalProtocolError, match=fragment):
        batsim4.encode_reply(m.Reply(9.0, (request_,)))


@pytest.mark.parametrize("depth", [200, 450, 700, 950, 5000])
def test_deep_nesting_never_overflows_the_stack(depth: int) -> None:
    """However deep the text, it is decoded or refused."""
    deep = "[" * depth + "1" + "]" * depth
    for text in (
        _request("REGISTER_PROFILE", f'{{"workload_name":"a","profile_name":"b","profile":{{"x":{deep}}}}}'),
        _request("EXECUTE_JOB", f'{{"job_id":"a!1","alloc":{deep}}}'),
        _request("EXECUTE_JOB", f'{{"job_id":"a!1","alloc":"1","mapping":{{"0":{deep}}}}}'),
    ):
        _decodes_or_refuses(text.encode())


# --------------------------------------------------------------------------- garbage


def _decodes_or_refuses(data: bytes) -> None:
    try:
        reply = batsim4.decode_reply(data)
    except RemoteProtocolError:
        return
    assert isinstance(reply, m.Reply)


@settings(max_examples=100)
@given(st.binary(max_size=60))
def test_any_bytes_decode_or_raise_remote_protocol_error(data: bytes) -> None:
    """Garbage never raises anything else."""
    _decodes_or_refuses(data)


@settings(max_examples=100)
@given(st.sampled_from(TABLE.types), json_values(printed))
def test_any_json_decodes_or_raises_remote_protocol_error(kind: str, value: Any) -> None:
    """Well-formed JSON of the wrong shape never raises anything else."""
    event = {"timestamp": 0.0, "type": kind, "data": value}
    _decodes_or_refuses(msgspec.json.encode({"now": 1, "events": [event]}))


@settings(max_examples=100)
@given(replies(), st.data())
def test_replies_with_a_changed_member_decode_or_raise_remote_protocol_error(
    reply: m.Reply, data: st.DataObject
) -> None:
    """A reply in which one value anywhere is replaced by another never raises anything else."""
    value = msgspec.json.decode(batsim4.encode_reply(reply))
    node: Any = value
    for _ in range(data.draw(st.integers(0, 5))):
        keys = list(node) if isinstance(node, dict) else list(range(len(node))) if isinstance(node, list) else []
        if not keys:
            break
        key = data.draw(st.sampled_from(keys))
        if data.draw(st.booleans()):
            node[key] = data.draw(json_values(printed))
            break
        node = node[key]
    _decodes_or_refuses(msgspec.json.encode(value))

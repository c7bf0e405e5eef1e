"""Batsim 4's codec, scheduler to simulator: golden texts, round trips, every rule that Batsim enforces, garbage."""

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
from tests.kit.cases import cases
from tests.protocol.strategies import REQUESTS, json_values, printed, replies, reply_of

GOLDEN = cases("batsim4-replies")
"""Texts of requests, and the requests."""


@pytest.mark.parametrize(("text", "request_"), GOLDEN)
def test_golden(text: str, request_: str) -> None:
    """Each request has exactly one text, and is read from it."""
    data = f'{{"now":9.0,"events":[{text}]}}'.encode()
    reply = batsim4.decode_reply(data)
    assert (reply.now, [repr(found) for found in reply.events]) == (9.0, [request_])
    assert batsim4.encode_reply(reply) == data


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
    assert {request.partition("(")[0] for _, request in GOLDEN} == {kind.__name__ for kind in kinds}
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


@pytest.mark.parametrize(("text", "path", "fragment"), cases("batsim4-wrong-replies"))
def test_illegal_replies_are_refused_with_the_place(text: str, path: str, fragment: str) -> None:
    """Every reply that makes Batsim's parser abort is refused, with the place and the fault."""
    with pytest.raises(RemoteProtocolError) as caught:
        batsim4.decode_reply(text.encode())
    assert caught.value.path == path
    assert fragment in str(caught.value)


@pytest.mark.parametrize(("text", "request_"), cases("batsim4-odd-replies"))
def test_what_batsim_accepts_is_accepted(text: str, request_: str) -> None:
    """Odd replies that Batsim takes are taken: unknown third member, merged separators, any order of times."""
    assert repr(batsim4.decode_reply(text.encode()).events[1]) == request_


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

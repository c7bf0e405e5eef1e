"""Recording conversations and playing them again."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given

from spillway.base.errors import DecisionRefused, InputError, RemoteProtocolError
from spillway.protocol.batsim4 import codec as batsim4
from spillway.protocol.messages import ExecuteJob, JobSubmitted, RejectJob, Request
from spillway.protocol.transcript import Recorder, first_difference, read_transcript, replay
from tests.protocol.strategies import json_values, printed
from tests.schedulers.scripted import CONVERSATION, Scripted


def record(path: Path, session: Scripted | None = None) -> Path:
    """Record the scripted conversation."""
    session = session or Scripted()
    with Recorder(path) as recorder:
        for message in CONVERSATION:
            recorder.received(batsim4.encode_message(message))
            recorder.sent(batsim4.encode_reply(session.handle(message)))
    return path


def test_a_recording_keeps_every_digit(tmp_path: Path) -> None:
    """Messages are in the file byte by byte as they were sent."""
    lines = record(tmp_path / "t.jsonl").read_bytes().splitlines()
    assert lines[4] == b'{"dir":"B>S","n":2,"msg":' + batsim4.encode_message(CONVERSATION[2]) + b"}"
    assert b"5.500000" in lines[4]
    assert lines[5] == b'{"dir":"S>B","n":2,"msg":{"now":5.5,"events":[]}}'
    assert [(json.loads(line)["dir"], json.loads(line)["n"]) for line in lines] == [
        (direction, number) for number in range(4) for direction in ("B>S", "S>B")
    ]


def test_each_line_is_on_disk_at_once(tmp_path: Path) -> None:
    """A crash right after a message loses nothing of it."""
    recorder = Recorder(tmp_path / "t.jsonl")
    recorder.received(b'{"now":0.000000,"events":[]}')
    assert (tmp_path / "t.jsonl").read_bytes() == b'{"dir":"B>S","n":0,"msg":{"now":0.000000,"events":[]}}\n'
    recorder.close()


@pytest.mark.parametrize("data", [b"garbage", b'{"a":\xff}', b"", b"[" * 5000, b'"\xff"', b"{}\n{}"])
def test_what_is_no_json_is_recorded_as_text(tmp_path: Path, data: bytes) -> None:
    """Even garbage is recorded, in one line of JSON."""
    with Recorder(tmp_path / "t.jsonl") as recorder:
        recorder.received(data)
    (line,) = (tmp_path / "t.jsonl").read_bytes().splitlines()
    assert json.loads(line) == {"dir": "B>S", "n": 0, "raw": data.decode("latin-1")}
    (exchange,) = read_transcript(tmp_path / "t.jsonl")
    assert (exchange.received, exchange.sent) == (data, None)


def test_a_message_of_several_lines_becomes_one(tmp_path: Path) -> None:
    """A peer may print its JSON prettily; digits still stay."""
    with Recorder(tmp_path / "t.jsonl") as recorder:
        recorder.received(b'{\n  "now": 1.000000,\r\n  "events": []\n}')
    (line,) = (tmp_path / "t.jsonl").read_bytes().splitlines()
    assert b"1.000000" in line
    assert json.loads(line)["msg"] == {"now": 1.0, "events": []}


def test_an_unwritable_file_is_the_users_error(tmp_path: Path) -> None:
    """The message names the file and the reason."""
    with pytest.raises(InputError, match=r"cannot be written: Is a directory"):
        Recorder(tmp_path)


def test_a_full_disk_stops_the_recording_only(tmp_path: Path) -> None:
    """Failed before with an OSError: the conversation continues with one warning, and whole lines are kept."""
    path = tmp_path / "t.jsonl"
    warnings: list[str] = []
    with Recorder(path, warnings.append) as recorder:
        recorder.received(b'{"now":0.0}')
        recorder.sent(b'{"now":0.0}')

        write, left = recorder._file.write, 10

        def full(data: Any) -> int:
            nonlocal left
            if not left:
                raise OSError(28, "No space left on device")
            left, length = 0, left
            return write(data[:length])

        disk: Any = SimpleNamespace(write=full, truncate=recorder._file.truncate, close=recorder._file.close)
        recorder._file = disk
        for _ in range(3):
            recorder.received(b'{"now":1.0}')
            recorder.sent(b'{"now":1.0}')
    assert warnings == [recorder.incomplete]
    assert "the recording ends before exchange 1: No space left on device" in warnings[0]
    assert not path.exists()
    (exchange,) = read_transcript(tmp_path / "t.jsonl.incomplete")
    assert exchange.number == 0


def test_recording_into_a_full_device() -> None:
    """A file that cannot be renamed is left as it is."""
    warnings: list[str] = []
    with Recorder(Path("/dev/full"), warnings.append) as recorder:
        recorder.received(b"{}")
        recorder.sent(b"{}")
    assert warnings == [
        "the recording ends before exchange 0: No space left on device; the recorded part is in '/dev/full'"
    ]


GOOD = '{"dir":"B>S","n":0,"msg":{}}'
BROKEN = [
    ("nonsense", "line 1: expected"),
    (f'{GOOD}\n{{"dir":"S>B","n":0,"msg":{{}}', "line 2: the recording was cut in this line"),
    ('{"dir":"X","n":0,"msg":{}}', "line 1: expected"),
    ('{"dir":"B>S","n":0}', "line 1: expected the member 'msg'"),
    (GOOD.replace("B>S", "S>B"), "line 1: expected a message B>S, got S>B number 0"),
    (
        f"{GOOD}\n{GOOD.replace('B>S', 'S>B').replace('0', '1')}",
        "line 2: expected the answer S>B number 0, got S>B number 1",
    ),
]


@pytest.mark.parametrize(("text", "message"), BROKEN, ids=[f"{i}" for i in range(len(BROKEN))])
def test_a_broken_transcript_is_refused_with_the_line(tmp_path: Path, text: str, message: str) -> None:
    """The error states the file, the line and the expected form."""
    path = tmp_path / "t.jsonl"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        list(read_transcript(path))
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_missing_transcript_is_the_users_error(tmp_path: Path) -> None:
    """No traceback for a wrong name."""
    with pytest.raises(InputError, match="cannot be read: No such file"):
        list(read_transcript(tmp_path / "none.jsonl"))


def test_the_same_session_answers_as_recorded(tmp_path: Path) -> None:
    """A replay of an unchanged scheduler shows no difference."""
    assert replay(record(tmp_path / "t.jsonl"), Scripted(), batsim4) is None


def _rejecting(event: JobSubmitted) -> tuple[Request, ...]:
    return (RejectJob(event.timestamp, event.job_id),)


def _on_one_node(event: JobSubmitted) -> tuple[Request, ...]:
    return (ExecuteJob(event.timestamp, event.job_id, (0,)),)


def _silent(event: JobSubmitted) -> tuple[Request, ...]:
    return ()


def _refusing(event: JobSubmitted) -> tuple[Request, ...]:
    raise DecisionRefused(event.job_id, "node 0 is busy")


@pytest.mark.parametrize(
    ("policy", "path", "expected", "got"),
    [
        (_rejecting, "$.events[0].type", '"EXECUTE_JOB"', '"REJECT_JOB"'),
        (_on_one_node, "$.events[0].data.alloc", '"0-1"', '"0"'),
        (_silent, "$.events[0]", '{"timestamp":1.0,"type":"EXECUTE_JOB",', "nothing"),
        (_refusing, "$", '{"now":1.0,"events":[', "DecisionRefused: decision on job 'w0!1' refused: node 0 is busy"),
    ],
)
def test_the_first_difference_is_shown(tmp_path: Path, policy: Any, path: str, expected: str, got: str) -> None:
    """Exchange, time, line, path and both values."""
    found = replay(record(tmp_path / "t.jsonl"), Scripted(policy), batsim4)
    assert found is not None
    assert (found.exchange, found.line, found.now_s, found.path) == (1, 3, 1.0, path)
    assert found.expected.startswith(expected)
    assert found.got == got
    assert str(found).splitlines()[0] == f"first difference in exchange 1 (line 3, t = 1 s) at {path}:"


def test_only_meaning_is_compared(tmp_path: Path) -> None:
    """Another scheduler's blanks, interval sets and kinds of numbers make no difference."""
    path = record(tmp_path / "t.jsonl")
    foreign = (
        path.read_text().replace('"alloc":"0-1"}', '"alloc": "1 0 1"}').replace('"timestamp":1.0,', '"timestamp": 1,')
    )
    path.write_text(foreign)
    assert "1 0 1" in foreign
    assert replay(path, Scripted(), batsim4) is None


def test_a_recording_may_end_before_the_answer(tmp_path: Path) -> None:
    """The recording of a crash is replayed up to the message that caused it."""
    path = record(tmp_path / "t.jsonl")
    path.write_text("\n".join(path.read_text().splitlines()[:3]))
    session = Scripted()
    assert replay(path, session, batsim4) is None
    assert len(session.seen) == 2
    crash = replay(path, Scripted(_refusing), batsim4)
    assert crash is not None
    assert (crash.expected, crash.exchange) == ("nothing", 1)


def test_a_malformed_recorded_message_is_the_simulators_error(tmp_path: Path) -> None:
    """The recording of garbage, replayed, complains as the service did."""
    path = tmp_path / "t.jsonl"
    path.write_text('{"dir":"B>S","n":0,"raw":"garbage"}')
    with pytest.raises(RemoteProtocolError, match="garbage"):
        replay(path, Scripted(), batsim4)


@given(json_values(printed), json_values(printed))
def test_differences_are_found_exactly_when_values_differ(one: Any, other: Any) -> None:
    """A value equals itself; another value gives a difference, at the same path in both directions, texts exchanged."""
    assert first_difference(one, one) is None
    there, back = first_difference([one], [other]), first_difference([other], [one])
    if there is None:
        assert one == other
        assert back is None
    else:
        assert back is not None
        assert there[0].startswith("$[0]")
        assert there[1] != there[2]


@pytest.mark.parametrize(("one", "other", "expected"), [
    ({"a": 1}, {"a": 1.0}, None),
    ({"a": 1}, {"a": True}, ("$.a", "1", "true")),
    ({"a": [1, 2]}, {"a": [1]}, ("$.a[1]", "2", "nothing")),
    ({"a": [1]}, {"a": [1, {"b": 2}]}, ("$.a[1]", "nothing", '{"b":2}')),
    ({"a": 1}, {"a": 1, "b": None}, ("$.b", "nothing", "null")),
    ({"a": []}, {"a": {}}, ("$.a", "[]", "{}")),
])  # fmt: skip
def test_first_difference(one: Any, other: Any, expected: Any) -> None:
    """Numbers are compared as numbers; members that one side lacks are named."""
    assert first_difference(one, other) == expected

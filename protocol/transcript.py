"""Recording and replay of a conversation: a failure in the field becomes a test.

A transcript has one JSON line per message, ``{"dir":"B>S","n":0,"msg":{...}}``: the sender (``B>S`` is the simulator,
``S>B`` the scheduler), the number of the exchange, and the message exactly as it was sent, every digit of its numbers
included (except the zero byte that ends Batsim 5's messages). A message that is no JSON has ``raw``, one character for
each of its bytes, in the place of ``msg``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

import msgspec

from spillway.base.errors import InputError, SpillwayError
from spillway.protocol.batsim4 import codec as batsim4
from spillway.protocol.format import Conversation, SchedulerSide

_RECEIVED: Literal["B>S"] = "B>S"
_SENT: Literal["S>B"] = "S>B"

INCOMPLETE = ".incomplete"
"""Suffix of a transcript whose recording stopped before the conversation ended."""

_BYTES = "latin-1"
_END = b"\0"
_HEAD = b'{"dir"'


# --------------------------------------------------------------------------- recording


class Recorder:
    """Writes a transcript, one line with each message, so that it is complete at any time.

    If the disk is full or fails, recording stops and the conversation continues: the file keeps its whole lines under a
    name that ends in :data:`INCOMPLETE`.

    Parameters
    ----------
    path
        File to (over)write.
    warn
        Called once, when recording stops early.

    Attributes
    ----------
    incomplete
        Reason and place at which recording stopped; "" while it continues.

    Raises
    ------
    InputError
        The file cannot be opened.
    """

    def __init__(self, path: Path, warn: Callable[[str], None] = lambda _: None) -> None:
        try:
            self._file = path.open("wb", buffering=0)
        except OSError as error:
            raise InputError(f"the transcript {str(path)!r} cannot be written: {error.strerror}") from None
        self._path = path
        self._warn = warn
        self._exchange = 0
        self._whole_bytes = 0
        self.incomplete = ""

    def received(self, data: bytes) -> None:
        """Write a message of the simulator."""
        self._write(_RECEIVED, data)

    def sent(self, data: bytes) -> None:
        """Write the scheduler's answer, which ends the exchange."""
        self._write(_SENT, data)
        self._exchange += 1

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _write(self, direction: str, data: bytes) -> None:
        if self.incomplete:
            return
        head = f'{{"dir":"{direction}","n":{self._exchange},'.encode()
        line = head + _one_line(data) + b"}\n"
        try:
            rest = memoryview(line)
            while rest:
                rest = rest[self._file.write(rest) :]
            self._whole_bytes += len(line)
        except OSError as error:
            self._stop(error)

    def _stop(self, error: OSError) -> None:
        """Keep the whole lines, under a name that marks them as incomplete."""
        kept = self._path.with_name(self._path.name + INCOMPLETE)
        self.incomplete = f"the recording ends before exchange {self._exchange}: {error.strerror or error}"
        with suppress(OSError):
            self._file.truncate(self._whole_bytes)
        where = self._path
        if self._path.is_file():
            with suppress(OSError):
                where = self._path.rename(kept)
        self.incomplete += f"; the recorded part is in {str(where)!r}"
        self._warn(self.incomplete)


_SKIP = msgspec.json.Decoder(msgspec.Raw)


def _one_line(data: bytes) -> bytes:
    text = data.removesuffix(_END)
    try:
        text.decode()
        _SKIP.decode(text)
    except (UnicodeDecodeError, msgspec.DecodeError, RecursionError):
        return b'"raw":' + msgspec.json.encode(data.decode(_BYTES))
    data = text
    if b"\n" in data or b"\r" in data:
        data = msgspec.json.format(data, indent=-1)
    return b'"msg":' + data


# --------------------------------------------------------------------------- reading


class _Line(msgspec.Struct):
    dir: Literal["B>S", "S>B"]
    n: int
    msg: msgspec.Raw = msgspec.Raw()
    raw: str | None = None


@dataclass(frozen=True)
class Exchange:
    """One message of the simulator and the scheduler's answer.

    Attributes
    ----------
    number
        The exchange's number, from 0.
    line
        Line of the simulator's message in the file, from 1.
    received
        The simulator's message.
    sent
        The answer; ``None`` when the recording ends before it.
    """

    number: int
    line: int
    received: bytes
    sent: bytes | None


def read_transcript(path: Path) -> Iterator[Exchange]:
    """Read a transcript exchange by exchange.

    Raises
    ------
    InputError
        The file cannot be read, a line is no line of a transcript, or the lines are out of order (with the number).
    """
    question: tuple[int, _Line] | None = None
    for number, line in _lines(path):
        if line.dir == _RECEIVED:
            if question is not None:
                yield Exchange(question[1].n, question[0], _bytes(question[1]), None)
            question = (number, line)
            continue
        if question is None or question[1].n != line.n:
            expected = "a message B>S" if question is None else f"the answer S>B number {question[1].n}"
            raise InputError(f"{path}, line {number}: expected {expected}, got S>B number {line.n}")
        yield Exchange(line.n, question[0], _bytes(question[1]), _bytes(line))
        question = None
    if question is not None:
        yield Exchange(question[1].n, question[0], _bytes(question[1]), None)


def _lines(path: Path) -> Iterator[tuple[int, _Line]]:
    decoder = msgspec.json.Decoder(_Line)
    try:
        with path.open("rb") as file:
            for number, text in enumerate(file, 1):
                if text.strip():
                    yield number, _line(decoder, text, f"{path}, line {number}")
    except OSError as error:
        raise InputError(f"the transcript {str(path)!r} cannot be read: {error.strerror}") from None


def _line(decoder: msgspec.json.Decoder[_Line], text: bytes, place: str) -> _Line:
    try:
        line = decoder.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        cut = text.startswith(_HEAD) and not text.endswith(b"\n")
        if cut and not isinstance(error, msgspec.ValidationError):
            raise InputError(f"{place}: the recording was cut in this line; delete it to replay the rest") from None
        raise InputError(f'{place}: expected {{"dir": "B>S" or "S>B", "n": number, "msg": message}}: {error}') from None
    if not bytes(line.msg) and line.raw is None:
        raise InputError(f"{place}: expected the member 'msg'")
    return line


def _bytes(line: _Line) -> bytes:
    return bytes(line.msg) or _raw_bytes(line.raw or "")


def _raw_bytes(text: str) -> bytes:
    try:
        return text.encode(_BYTES)
    except UnicodeEncodeError:  # written by hand
        return text.encode()


# --------------------------------------------------------------------------- replaying


@dataclass(frozen=True)
class Difference:
    """The first difference between a replay's answers and the recording.

    Attributes
    ----------
    exchange, line
        Number of the exchange, and line in the file of the simulator's message.
    now_s
        Simulated time of the exchange in seconds.
    path
        JSON path inside the answer (``$.events[0].data.alloc``).
    expected, got
        The recorded and the replayed value, as JSON texts; "nothing" where one side has no such member.
    """

    exchange: int
    line: int
    now_s: float
    path: str
    expected: str
    got: str

    def __str__(self) -> str:
        return (
            f"first difference in exchange {self.exchange} (line {self.line}, t = {self.now_s:g} s) at {self.path}:\n"
            f"  recorded: {self.expected}\n"
            f"  replayed: {self.got}"
        )


def replay(path: Path, session: Conversation, codec: SchedulerSide) -> Difference | None:
    """Feed a transcript's messages to a fresh session and compare the answers.

    Numbers are compared as numbers and interval sets as sets, so that recordings of other schedulers can be compared.

    Returns
    -------
    Difference or None
        The first difference; an error that the session raises counts as one.

    Raises
    ------
    InputError
        The transcript cannot be read.
    RemoteProtocolError
        A recorded message of the simulator is malformed.
    """
    for exchange in read_transcript(path):
        if exchange.number == 0 and codec.greet(exchange.received) is not None:
            continue
        message = codec.decode_message(exchange.received)
        expected = None if exchange.sent is None else _comparable(exchange.sent)
        try:
            answer = codec.encode_reply(session.handle(message))
        except SpillwayError as error:
            shown = "nothing" if expected is None else _show(expected)
            return Difference(
                exchange.number, exchange.line, message.now, "$", shown, f"{type(error).__name__}: {error}"
            )
        if expected is None:
            continue
        found = first_difference(expected, _comparable(answer))
        if found is not None:
            place, old, new = found
            return Difference(exchange.number, exchange.line, message.now, place, old, new)
    return None


def first_difference(expected: Any, got: Any, path: str = "$") -> tuple[str, str, str] | None:
    """Find the first difference of two JSON values: its path and both texts, or ``None`` when they are equal."""
    if isinstance(expected, dict) and isinstance(got, dict):
        for key in [*expected, *(key for key in got if key not in expected)]:
            if key not in expected or key not in got:
                return f"{path}.{key}", _show_member(expected, key), _show_member(got, key)
            found = first_difference(expected[key], got[key], f"{path}.{key}")
            if found is not None:
                return found
        return None
    if isinstance(expected, list) and isinstance(got, list):
        for index, (old, new) in enumerate(zip(expected, got, strict=False)):
            found = first_difference(old, new, f"{path}[{index}]")
            if found is not None:
                return found
        if len(expected) == len(got):
            return None
        index = min(len(expected), len(got))
        return f"{path}[{index}]", _show_item(expected, index), _show_item(got, index)
    same = expected == got and isinstance(expected, bool) == isinstance(got, bool)
    return None if same else (path, _show(expected), _show(got))


def _comparable(data: bytes) -> Any:
    """A reply's JSON value; a legal reply to Batsim 4 in the normal form of spillway's codec."""
    with suppress(SpillwayError):  # recordings of illegal replies exist; they are compared unchanged
        data = batsim4.encode_reply(batsim4.decode_reply(data))
    try:
        return msgspec.json.decode(data.removesuffix(_END))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return data.decode(_BYTES)


def _show_member(value: dict[str, Any], key: str) -> str:
    return _show(value[key]) if key in value else "nothing"


def _show_item(value: list[Any], index: int) -> str:
    return _show(value[index]) if index < len(value) else "nothing"


def _show(value: Any) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= 300 else text[:297] + "..."

"""Tables of messages: one row defines a message on the wire, for both directions and both sides.

From each row a table makes the struct that msgspec checks, the reader that makes the neutral message of it, and the
writer of its text. Reader and writer are compiled from a line of source, as in :mod:`dataclasses`: a loop over the
fields would take half as long again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from functools import cached_property
from typing import Any, NamedTuple, Union

import msgspec

from spillway.base.errors import LocalProtocolError, RemoteProtocolError, shown
from spillway.protocol.intervals import format_intervals, parse_intervals
from spillway.protocol.jsontext import JsonWriter, decode_located, encoded, quote
from spillway.protocol.messages import JsonObject


class LocatedError(Exception):
    """A field is wrong; the table adds the event's number and makes a :class:`RemoteProtocolError` of it.

    ``path`` is relative to the event's body (``.alloc``).
    """

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.path = path


class Kind(NamedTuple):
    """Form of one kind of values on the wire.

    Attributes
    ----------
    wire
        Type that msgspec checks.
    read
        Converts it to the message's value, given its path; raises :class:`LocatedError`. ``None``: no conversion.
    write
        JSON text of the message's value. ``None``: as the table writes numbers and JSON values.
    """

    wire: Any
    read: Callable[[Any, str], Any] | None = None
    write: Callable[[Any], str] | None = None


def resources(text: str, path: str) -> tuple[int, ...]:
    """Read an interval set; raise :class:`LocatedError` at ``path``."""
    try:
        return parse_intervals(text)
    except ValueError as error:
        raise LocatedError(str(error), path) from None


TEXT = Kind(str, write=quote)
WHOLE = Kind(int, write=str)
NUMBER = Kind(float)
JSON = Kind(Any)
OBJECT = Kind(JsonObject)
FLAG = Kind(bool)
IDS = Kind(str, resources, lambda ids: f'"{format_intervals(ids)}"')


class Field(NamedTuple):
    """A member of a message's body.

    Attributes
    ----------
    name
        Attribute of the message.
    kind
        Form of its value on the wire.
    member
        Name on the wire, if it differs.
    default
        Value of a missing member, which is then optional; with the default ``None``, ``None`` is not written.
    also
        Another name under which it is read.
    needed
        Text of the error for a member under neither name (without it, msgspec's own).
    derived
        Computes its value on the wire from the message; such a member repeats data of others and is not read.
    """

    name: str
    kind: Kind = TEXT
    member: str = ""
    default: Any = msgspec.NODEFAULT
    also: str = ""
    needed: str = ""
    derived: Callable[[Any], Any] | None = None

    @property
    def key(self) -> str:
        """Name on the wire."""
        return self.member or self.name


@dataclass(frozen=True)
class Row:
    """A message, its name on the wire, and its fields in the order in which they are written.

    Attributes
    ----------
    message, name, fields
        As above.
    inside
        Members of the body that contain the fields (``requests.estimate_waiting_time``).
    strict
        Whether unknown members are refused.
    check
        Called with each message that was read; raises :class:`LocatedError`.
    refuse
        Returns the fault of a message that is to be written, or ``None``.
    read, write
        For a body that no list of fields describes: make the message from a timestamp and the body, and its JSON text.
    body
        Type of such a body, which msgspec checks.
    fixed
        Attributes of the message that its name implies; among several rows of one class, they select the row that
        writes a message.
    """

    message: type[Any]
    name: str
    fields: tuple[Field, ...] = ()
    inside: str = ""
    strict: bool = False
    check: Callable[[Any], None] | None = None
    refuse: Callable[[Any], str | None] | None = None
    read: Callable[[float, Any], Any] | None = None
    write: Callable[[Any], str] | None = None
    body: Any = JsonObject
    fixed: Mapping[str, Any] = dataclass_field(default_factory=dict)


class Table:
    """All messages of one direction in one version of the protocol.

    Parameters
    ----------
    rows
        The messages.
    foreign
        Error for an object that the table does not have; ``{}`` stands for its type.
    double, json
        Texts of numbers and of any JSON values.
    tag, body
        Members of an event that hold its type and its data.
    timely
        Whether no event may be later than the message that carries it.
    needed
        Whether a message must have the member ``events``.
    unknown
        Term in errors for a type that the table does not have.
    closed
        Whether unknown members of messages and events are refused, and the times of events must ascend.

    Attributes
    ----------
    types
        Names of all messages on the wire.
    """

    def __init__(
        self,
        rows: Sequence[Row],
        foreign: str,
        double: Callable[[float], str],
        json: JsonWriter,
        tag: str = "type",
        body: str = "data",
        timely: bool = False,
        needed: bool = True,
        unknown: str = "invalid value",
        closed: bool = False,
    ) -> None:
        self.types = tuple(row.name for row in rows)
        self._rows = rows
        self._foreign, self._double, self._json = foreign, double, json
        self._tag, self._body = tag, body
        self._timely, self._needed = timely, needed
        self._unknown, self._closed = unknown, closed

    @cached_property
    def _decoder(self) -> msgspec.json.Decoder[Any]:
        wire: Any = list[Union[tuple(map(self._struct, self._rows))]]  # type: ignore[misc]  # noqa: UP007
        events = ("events", wire) if self._needed else ("events", wire | None, None)
        members = [("now", float), events]
        envelope = msgspec.defstruct("Envelope", members, gc=False, forbid_unknown_fields=self._closed)
        return msgspec.json.Decoder(envelope)

    @cached_property
    def _writers(self) -> dict[type[Any], Callable[[Any], str]]:
        rows: dict[type[Any], list[Row]] = {}
        for row in self._rows:
            rows.setdefault(row.message, []).append(row)
        return {message: self._chosen(found) for message, found in rows.items()}

    def _chosen(self, rows: list[Row]) -> Callable[[Any], str]:
        """The writer of a message; among several rows its fixed attributes select one."""
        if len(rows) == 1:
            return self._writer(rows[0])
        choices = [(row.fixed.items(), self._writer(row)) for row in rows]

        def write(message: Any) -> str:
            for fixed, writer in choices:
                if all(getattr(message, name) == value for name, value in fixed):
                    return writer(message)
            raise LocalProtocolError(self._foreign.format(shown(message)))

        return write

    def decode(self, data: bytes) -> tuple[float, tuple[Any, ...]]:
        """Time and events of a message; raise :class:`RemoteProtocolError` with the place of a bad field."""
        events: list[Any] = []
        try:
            envelope: Any = decode_located(self._decoder, data)
            now = envelope.now
            if self._timely:
                self._check_times(envelope)
            for wire in envelope.events or ():
                events.append(wire.neutral())  # noqa: PERF401 - the length names the bad event
        except LocatedError as problem:
            path = f"$.events[{len(events)}].{self._body}{problem.path}"
            raise RemoteProtocolError(problem.message, path) from None
        except RemoteProtocolError as error:
            raise self._with_types(error) from None
        except RecursionError:
            raise RemoteProtocolError("the JSON text is nested too deeply") from None
        return now, tuple(events)

    def _check_times(self, envelope: Any) -> None:
        before = -math.inf
        for index, wire in enumerate(envelope.events):
            if wire.timestamp > envelope.now:
                message = f"expected a timestamp of at most the reply's now = {envelope.now!r}, got {wire.timestamp!r}"
            elif self._closed and wire.timestamp < before:
                message = f"expected a timestamp of at least that before it, {before!r}, got {wire.timestamp!r}"
            else:
                before = wire.timestamp
                continue
            raise RemoteProtocolError(message, f"$.events[{index}].timestamp")

    def _with_types(self, error: RemoteProtocolError) -> RemoteProtocolError:
        if not (error.path.startswith("$.events[") and error.path.endswith(f"].{self._tag}")):
            return error
        message = error.message.replace("invalid value", self._unknown, 1)
        return RemoteProtocolError(f"{message}; known types: {', '.join(self.types)}", error.path)

    def encode(self, now: float, events: Iterable[Any], name: str) -> bytes:
        """Text of a message; raise :class:`LocalProtocolError` for values that JSON or Batsim cannot express."""
        try:
            return self.joined(now, [self.text(event, now) for event in events])
        except (TypeError, RecursionError) as error:
            raise LocalProtocolError(f"the {name} cannot be written as JSON: {error}") from None

    def joined(self, now: float, texts: Iterable[str]) -> bytes:
        """A message from the texts of its events."""
        return encoded(f'{{"now":{self._double(now)},"events":[{",".join(texts)}]}}')

    def text(self, event: Any, now: float) -> str:
        """Text of one event."""
        write = self._writers.get(type(event))
        if write is None:
            raise LocalProtocolError(self._foreign.format(type(event).__name__))
        if self._timely and event.timestamp > now:
            raise LocalProtocolError(
                f"the timestamp {event.timestamp!r} of a request lies after the reply's now {now!r}"
            )
        return write(event)

    # ------------------------------------------------------------------ made from a row

    def _struct(self, row: Row) -> type[Any]:
        """The struct of an event that msgspec checks; its method ``neutral`` makes the message."""
        body: Any = row.body
        if row.read is None:
            members: list[Any] = []
            for field in row.fields:
                wire: Any = field.kind.wire
                if field.needed:
                    members += [(name, wire | None, None) for name in (field.key, field.also) if name]
                elif field.derived is None:
                    members.append((field.key, wire if field.default is not None else wire | None, field.default))
            body = msgspec.defstruct(row.name, members, gc=False, kw_only=True, forbid_unknown_fields=row.strict)
            for outer in reversed(row.inside.split(".") if row.inside else ()):
                body = msgspec.defstruct(outer, [(outer, body)], gc=False, forbid_unknown_fields=row.strict)
        return msgspec.defstruct(
            row.name,
            [("timestamp", float), (self._body, body)],
            namespace={"neutral": self._reader(row)},
            tag_field=self._tag,
            tag=row.name,
            gc=False,
            forbid_unknown_fields=self._closed,
        )

    def _reader(self, row: Row) -> Callable[[Any], Any]:
        names: dict[str, Any] = {"message": row.message, "read": row.read, "missing": _missing}
        if row.read is not None:
            return _compiled(f"lambda wire: read(wire.timestamp, wire.{self._body})", names)
        within = f".{row.inside}" if row.inside else ""
        values = ["timestamp=wire.timestamp"]
        at = f"(at := wire.{self._body}{within})"
        for number, field in enumerate(row.fields):
            if field.derived is not None:
                continue
            value, at = f"{at}.{field.key}", "at"
            if field.needed:
                value = f"found if (found := {value}) is not None else "
                value += f"found if (found := at.{field.also}) is not None else " if field.also else ""
                value += f"missing({field.needed!r})"
            if field.kind.read is not None:
                names[f"read{number}"] = field.kind.read
                value = f"read{number}({value}, {f'{within}.{field.key}'!r})"
            values.append(f"{field.name}={value}")
        values += [f"{name}={value!r}" for name, value in row.fixed.items()]
        if [value.split("=")[0] for value in values] == list(row.message.__struct_fields__[: len(values)]):
            values = [value.split("=", 1)[1] for value in values]  # a little faster
        read = _compiled(f"lambda wire: message({', '.join(values)})", names)
        check = row.check
        if check is None:
            return read

        def checked(wire: Any) -> Any:
            message = read(wire)
            check(message)
            return message

        return checked

    def _writer(self, row: Row) -> Callable[[Any], str]:
        names: dict[str, Any] = {"double": self._double, "write": row.write}
        head = f'{{"timestamp":<double(it.timestamp)>,"{self._tag}":"{row.name}","{self._body}":'
        if row.write is not None:
            write = _template(head + "<write(it)>}", names)
        else:
            outer = row.inside.split(".") if row.inside else []
            text = head + "".join([f'{{"{name}":' for name in outer]) + "{"
            for number, field in enumerate(row.fields):
                value = f"it.{field.name}"
                names[f"text{number}"] = self._kind_writer(field.kind)
                lead = f'{"," if number else ""}"{field.key}":'
                if field.derived is not None:
                    names[f"derived{number}"] = field.derived
                    value = f"derived{number}(it)"
                if field.default is None:
                    names[f"text{number}"] = _unless_none(lead, names[f"text{number}"])
                    lead = ""
                text += f"{lead}<text{number}({value})>"
            write = _template(text + "}" * (len(outer) + 2), names)
        refuse = row.refuse
        if refuse is None:
            return write

        def guarded(message: Any) -> str:
            fault = refuse(message)
            if fault is not None:
                raise LocalProtocolError(fault)
            return write(message)

        return guarded

    def _kind_writer(self, kind: Kind) -> Callable[[Any], str]:
        return kind.write or (self._double if kind.wire is float else self._json)


def _missing(text: str) -> Any:
    raise LocatedError(text)


def _unless_none(lead: str, write: Callable[[Any], str]) -> Callable[[Any], str]:
    return lambda value: "" if value is None else lead + write(value)


def _template(text: str, names: dict[str, Any]) -> Callable[[Any], str]:
    """A function of ``it`` for a text with expressions between angle brackets."""
    source = text.replace("{", "{{").replace("}", "}}").replace("<", "{").replace(">", "}")
    return _compiled(f"lambda it: f'{source}'", names)


def _compiled(source: str, names: dict[str, Any]) -> Callable[[Any], Any]:
    made: Callable[[Any], Any] = eval(source, names)
    return made

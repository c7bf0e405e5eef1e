"""JSON below the codecs: typed reading with located errors, writing with a chosen number format.

No JSON library offers Batsim's output of every double with exactly six decimals, or errors that are, for any bytes,
:class:`~spillway.base.errors.RemoteProtocolError` with the path of the bad field.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from json.encoder import encode_basestring
from typing import Any, NoReturn, TypeVar

import msgspec

from spillway.base.errors import LocalProtocolError, RemoteProtocolError, shown

T = TypeVar("T")

_DECIMALS = 6
"""Decimals of every double that Batsim 4 prints."""

LONGEST_DOUBLE = 31
"""Characters of the longest double that Batsim 4's 32-byte print buffer holds; a longer one aborts it."""


# --------------------------------------------------------------------------- reading

_DIGITS_TO_ZERO = bytes.maketrans(b"123456789", b"000000000")
_LONG_INTEGER = b"0" * 19
_LONG_QUOTED = re.compile(r"'([^']{60,})'", re.DOTALL)
_PLACE = re.compile(r"(.*) - at `(.*)`", re.DOTALL)


def decode_located(decoder: msgspec.json.Decoder[T], data: bytes) -> T:
    """Decode typed JSON; raise :class:`RemoteProtocolError` with the JSON path of any fault.

    Text that nests too deeply raises RecursionError: the caller, which also traverses the result, catches it.
    """
    try:
        if _LONG_INTEGER in data.translate(_DIGITS_TO_ZERO):  # a tenth of the time of a regular expression
            data = msgspec.json.encode(narrow(msgspec.json.decode(data)))
        return decoder.decode(data)
    except msgspec.ValidationError as error:
        raise located(error) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RemoteProtocolError(f"expected a JSON object, got {_excerpt(data)}: {error}") from None
    except OverflowError:
        raise RemoteProtocolError("an integer lies beyond the range of doubles") from None


def located(error: msgspec.ValidationError, prefix: str = "$") -> RemoteProtocolError:
    """Turn msgspec's error, with the place in its text, into spillway's; ``prefix`` replaces the leading ``$``."""
    match = _PLACE.fullmatch(str(error))
    text, place = (match[1], match[2]) if match else (str(error), "$")
    text = _LONG_QUOTED.sub(lambda found: shown(found[1]), text)
    return RemoteProtocolError(text[:1].lower() + text[1:], prefix + place[1:])


def narrow(value: Any) -> Any:
    """Make doubles of integers beyond 64 bits, as Batsim's JSON reader does; raise OverflowError beyond doubles."""
    if isinstance(value, dict):
        return {key: narrow(item) for key, item in value.items()}
    if isinstance(value, list):
        return [narrow(item) for item in value]
    if type(value) is int and not -(1 << 63) <= value < 1 << 64:
        return float(value)
    return value


def _excerpt(data: bytes) -> str:
    return f"{len(data)} bytes {data[:40]!r}" + ("..." if len(data) > 40 else "")


# --------------------------------------------------------------------------- writing

_ESCAPES = {code: f"\\u{code:04X}" for code in range(0x20)}
_ESCAPES |= {ord(char): f"\\{letter}" for char, letter in zip('\b\t\n\f\r"\\', 'btnfr"\\', strict=True)}


def quote(text: str) -> str:
    """Write a string as Batsim does: no escapes beyond JSON's own, hexadecimal digits in capitals."""
    quoted = encode_basestring(text)
    if "\\u" in quoted:
        return f'"{text.translate(_ESCAPES)}"'
    return quoted


def six_decimals(value: float) -> str:
    """Write a double as Batsim does (``5.250000``); raise :class:`LocalProtocolError` where Batsim would abort."""
    if not -1e23 < value < 1e24:  # also true for nan
        raise LocalProtocolError(
            f"a double of {_DECIMALS} decimals must fit {LONGEST_DOUBLE} characters, got {value!r}"
        )
    return f"{value:.6f}"


def twelve_decimals(value: float) -> str:
    """Write a double as Batsim 5 does (``5.25``): at most twelve decimals; raise :class:`LocalProtocolError`."""
    if not math.isfinite(value):
        raise LocalProtocolError(f"JSON has no number for {value!r}")
    text = f"{value:.12f}".rstrip("0")
    return f"{text}0" if text.endswith(".") else text


def exact(value: float) -> str:
    """Write a number so that it is read back unchanged; raise :class:`LocalProtocolError` if it is not finite."""
    if not math.isfinite(value):
        raise LocalProtocolError(f"JSON has no number for {value!r}")
    return repr(value if type(value) in (float, int) else float(value))


class JsonWriter(dict[type, Callable[[Any], str]]):
    """Writes JSON values without blanks, doubles by a given function; a table from a value's type to its writer.

    Parameters
    ----------
    double
        Text of a float.
    """

    def __init__(self, double: Callable[[float], str]) -> None:
        super().__init__()
        self._double = double
        self[str] = quote
        self[int] = self._integer
        self[float] = double
        self[bool] = lambda value: "true" if value else "false"
        self[type(None)] = lambda _: "null"
        self[dict] = self._object
        self[list] = self[tuple] = self._array

    def __call__(self, value: Any) -> str:
        """Text of a value; raise :class:`LocalProtocolError` for a value that JSON cannot express."""
        return self[type(value)](value)

    def __missing__(self, kind: type) -> Callable[[Any], str]:
        raise LocalProtocolError(f"JSON has no value for an object of type {kind.__name__}")

    def _integer(self, value: int) -> str:
        if -(1 << 63) <= value < 1 << 64:
            return str(value)
        return self._double(float(value) if abs(value) < 10**308 else math.inf)

    def _array(self, value: list[Any] | tuple[Any, ...]) -> str:
        return "[" + ",".join([self[type(item)](item) for item in value]) + "]"

    def _object(self, value: dict[str, Any]) -> str:
        return "{" + ",".join([f"{quote(key)}:{self[type(item)](item)}" for key, item in value.items()]) + "}"


write_six_decimals = JsonWriter(six_decimals)
"""Text of any JSON value as Batsim prints it."""

write_twelve_decimals = JsonWriter(twelve_decimals)
"""Text of any JSON value as Batsim 5 prints it."""

write_exact = JsonWriter(exact)
"""Text of any JSON value, numbers read back unchanged."""


def refuse_printed(value: Any) -> NoReturn:
    """Refuse a value that Batsim cannot print (:func:`spillway.core.as_printed`)."""
    if type(value) is float:
        raise ValueError(f"the number {value!r} has too many digits to be printed (limit 1e+24)")
    raise ValueError(f"a value of type {type(value).__name__} is no JSON")


def encoded(text: str) -> bytes:
    """UTF-8 of a JSON text; raise :class:`LocalProtocolError` for a string that is no Unicode text."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise LocalProtocolError(f"a string is no valid Unicode text: {error}") from None

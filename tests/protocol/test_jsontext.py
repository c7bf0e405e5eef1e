"""JSON below the codecs: Batsim's number format and escapes, integers beyond 64 bits, rounding."""

import json
import math
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillway.base.errors import LocalProtocolError, RemoteProtocolError
from spillway.core import as_printed
from spillway.protocol.batsim4 import codec
from spillway.protocol.jsontext import LONGEST_DOUBLE, narrow, quote, write_exact, write_six_decimals
from tests.protocol.strategies import json_values


@pytest.mark.parametrize(("value", "text"), [
    (5.25, "5.250000"),
    (0.0, "0.000000"),
    (-0.0, "-0.000000"),
    (1e-7, "0.000000"),
    (0.0000005, "0.000000"),
    (0.0000015, "0.000002"),
    (2617.0001, "2617.000100"),
    (1e16, "10000000000000000.000000"),
    (7, "7"),
    (2**64, "18446744073709551616.000000"),
    (True, "true"),
    (None, "null"),
    ([1, 2.5, "x"], '[1,2.500000,"x"]'),
    ({"a": {"b": 1.0}}, '{"a":{"b":1.000000}}'),
])  # fmt: skip
def test_doubles_have_six_decimals_and_integers_none(value: Any, text: str) -> None:
    """Doubles are printed like printf's %6f, integers stay integers."""
    assert write_six_decimals(value) == text


@pytest.mark.parametrize(("text", "written"), [
    ('a"b\\c/d', '"a\\"b\\\\c/d"'),
    ("\n\t\r\b\f", '"\\n\\t\\r\\b\\f"'),
    ("\x0b\x1f", '"\\u000B\\u001F"'),
    ("\\u001f", '"\\\\u001f"'),
    ("é中😀\x7f", '"é中😀\x7f"'),
])  # fmt: skip
def test_strings_are_escaped_as_rapidjson_does(text: str, written: str) -> None:
    """Only characters that JSON requires are escaped, with capital hexadecimal digits."""
    assert quote(text) == written


@given(json_values(st.floats(allow_nan=False, allow_infinity=False)))
def test_exact_writing_is_read_back_unchanged(value: Any) -> None:
    """Any JSON value survives the exact writer, types of numbers included."""
    assert repr(json.loads(write_exact(value))) == repr(value)


@given(st.floats(-1e22, 1e22))
def test_rounding_equals_printing_and_reading(value: float) -> None:
    """Rounding an object is the same as sending it through Batsim's printer."""
    assert as_printed({"x": [value]}) == json.loads(write_six_decimals({"x": [value]}))


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e24, -1e23, -1.5e308])
def test_doubles_that_overflow_batsims_buffer_are_refused(value: float) -> None:
    """Batsim aborts on them; our own writers do not write them."""
    with pytest.raises(LocalProtocolError):
        write_six_decimals([value])
    with pytest.raises(ValueError, match=rf"the number {re.escape(repr(value))} has too many digits"):
        as_printed({"a": value})


def test_the_longest_double_fits() -> None:
    """The bound lies exactly where 32 bytes with their final zero are full."""
    assert len(write_six_decimals(math.nextafter(1e24, 0))) == LONGEST_DOUBLE
    assert len(write_six_decimals(math.nextafter(-1e23, 0))) == LONGEST_DOUBLE


@pytest.mark.parametrize("value", [math.nan, math.inf, {1, 2}, b"x", object()])
def test_the_exact_writer_refuses_what_json_cannot_say(value: Any) -> None:
    """No NaN, no infinity, no foreign objects."""
    with pytest.raises(LocalProtocolError):
        write_exact({"a": value})


def test_integers_beyond_64_bits_become_doubles() -> None:
    """Batsim's JSON reader has no larger integers."""
    assert narrow({"a": [2**64, 2**64 - 1, -(2**63), -(2**63) - 1]}) == {
        "a": [float(2**64), 2**64 - 1, -(2**63), float(-(2**63) - 1)]
    }
    assert type(narrow(2**64)) is float


def test_errors_show_little_of_the_input() -> None:
    """An enumeration, a tag and a key of 5,000 characters (the whole input came back before)."""
    long = "x" * 5000
    for text in (
        f'{{"now":1,"events":[{{"timestamp":1,"type":"{long}","data":{{}}}}]}}',
        '{"now":1,"events":[{"timestamp":1,"type":"JOB_COMPLETED","data":'
        f'{{"job_id":"w0!1","job_state":"{long}","return_code":0,"alloc":"0"}}}}]}}',
        f'{{"now":1,"events":[{{"timestamp":1,"type":"NOTIFY","data":{{"type":{{"{long}":["{long}"]}}}}}}]}}',
        '{"now":1,"events":[{"timestamp":1,"type":"NOTIFY","data":{"type":"event_machine_available",'
        f'"resources":{{"{long}":1}}}}}}]}}',
        '{"now":1,"events":[{"timestamp":1,"type":"NOTIFY","data":{"type":"event_machine_available",'
        f'"resources":"{"9" * 5000}"}}}}]}}',
        f'{{"now":"{long}","events":[]}}',
        f'{{"now":{"9" * 5000},"events":[]}}',
    ):
        with pytest.raises(RemoteProtocolError) as caught:
            codec.decode_message(text.encode())
        assert len(str(caught.value)) < 500, text[:60]

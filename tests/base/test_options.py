"""Options of policies: declared once, listed, built from texts, refused with all necessary information."""

import enum
import json
import math
import struct
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.base.errors import OptionError
from spillway.base.options import OptionInfo, build, describe, option, parse, plain, show, split_assignments
from spillway.schedulers.assembly import Settings
from spillway.schedulers.policies import POLICIES


class Colour(enum.Enum):
    """A closed set."""

    RED = "red"
    DARK_BLUE = "dark-blue"


@dataclass(frozen=True)
class Sample:
    """A policy with one option of each kind."""

    source: ClassVar[str] = "Author 1999, section 1"

    depth: int = option(1, unit="jobs", low=0, high=100, help="how many")
    weight: float = option(0.5, low=0.0, help="how much")
    slack: float = option(2.0, low=1.0, high=math.inf)
    eager: bool = option(True)
    order: str = option("fcfs", choices=("fcfs", "sjf"))
    label: str = option("x")
    colour: Colour = option(Colour.RED)
    some: Colour = option(Colour.RED, choices=(Colour.RED,))
    cap_s: float | None = option(None, unit="s", low=0)
    inner: int = 7
    """No option: only code sets it."""


@dataclass(frozen=True)
class Bare:
    """A policy without options."""


def test_describe_lists_options_in_order() -> None:
    """Every declared field is listed with its facts; other fields are not."""
    infos = {info.name: info for info in describe(Sample)}
    assert list(infos) == ["depth", "weight", "slack", "eager", "order", "label", "colour", "some", "cap_s"]
    depth = infos["depth"]
    assert (depth.type, depth.default, depth.unit, depth.low, depth.high, depth.help) == (
        int,
        1,
        "jobs",
        0,
        100,
        "how many",
    )
    assert infos["colour"].choices == tuple(Colour)
    assert infos["some"].choices == (Colour.RED,)
    assert infos["cap_s"].optional
    assert infos["cap_s"].type is float


@pytest.mark.parametrize(("name", "type_name", "expected"), [
    ("depth", "int", "a whole number from 0 to 100 (jobs)"),
    ("weight", "float", "a number of at least 0"),
    ("eager", "bool", "true or false"),
    ("order", "choice", "one of fcfs, sjf"),
    ("colour", "choice", "one of red, dark-blue"),
    ("cap_s", "float", "a number of at least 0 (s), or none"),
    ("label", "str", "a text"),
])  # fmt: skip
def test_expectations_in_words(name: str, type_name: str, expected: str) -> None:
    """The words in lists and error messages come from one place."""
    info = {info.name: info for info in describe(Sample)}[name]
    assert info.type_name == type_name
    assert info.expected == expected


@pytest.mark.parametrize(("options", "field", "value"), [
    ({}, "depth", 1),
    ({"depth": "100"}, "depth", 100),
    ({"depth": " 3 "}, "depth", 3),
    ({"depth": 3}, "depth", 3),
    ({"depth": 3.0}, "depth", 3),
    ({"weight": 1000001.0}, "weight", 1000001.0),
    ({"label": " a, b "}, "label", " a, b "),
    ({"weight": "1e3"}, "weight", 1000.0),
    ({"weight": 2}, "weight", 2.0),
    ({"slack": "inf"}, "slack", math.inf),
    ({"eager": "no"}, "eager", False),
    ({"eager": "ON"}, "eager", True),
    ({"eager": False}, "eager", False),
    ({"order": "sjf"}, "order", "sjf"),
    ({"colour": "dark-blue"}, "colour", Colour.DARK_BLUE),
    ({"colour": Colour.DARK_BLUE}, "colour", Colour.DARK_BLUE),
    ({"cap_s": "2.5"}, "cap_s", 2.5),
    ({"cap_s": "None"}, "cap_s", None),
    ({"cap_s": None}, "cap_s", None),
    ({}, "inner", 7),
])  # fmt: skip
def test_build_reads_texts_and_typed_values(options: dict[str, Any], field: str, value: Any) -> None:
    """Texts come from the command line, typed values from TOML files; both give the same."""
    built = getattr(build(Sample, options), field)
    assert built == value
    assert type(built) is type(value)


@pytest.mark.parametrize(("options", "message"), [
    ({"depth": "-1"}, "option 'depth' must be a whole number from 0 to 100 (jobs), got '-1'"),
    ({"depth": "101"}, "got '101'"),
    ({"depth": "2.5"}, "must be a whole number"),
    ({"depth": 2.5}, "got '2.5'"),
    ({"depth": True}, "got 'true'"),
    ({"depth": math.inf}, "got 'inf'"),
    ({"weight": 10**400}, "must be a number of at least 0, got '1000"),
    ({"weight": None}, "must be a number of at least 0, got 'none'"),
    ({"eager": 1}, "option 'eager' must be true or false, got '1'"),
    ({"depth": ""}, "got ''"),
    ({"weight": "nan"}, "option 'weight' must be a number of at least 0, got 'nan'"),
    ({"weight": "inf"}, "got 'inf'"),
    ({"slack": "-inf"}, "got '-inf'"),
    ({"eager": "maybe"}, "option 'eager' must be true or false, got 'maybe'"),
    ({"order": "lifo"}, "option 'order' must be one of fcfs, sjf, got 'lifo'"),
    ({"colour": "green"}, "option 'colour' must be one of red, dark-blue, got 'green'"),
    ({"some": "dark-blue"}, "must be one of red, got 'dark-blue'"),
    ({"cap_s": "-1"}, "or none, got '-1'"),
    ({"dept": "1"}, "unknown option 'dept'; known options: depth, weight"),
    ({"dept": "1"}, "did you mean 'depth'?"),
    ({"inner": "1"}, "unknown option 'inner'"),
])  # fmt: skip
def test_build_refuses(options: dict[str, Any], message: str) -> None:
    """The error names the option, the permitted values, the given value, and the known names."""
    with pytest.raises(OptionError) as caught:
        build(Sample, options)
    assert message in str(caught.value)
    assert caught.value.exit_code == 2


def test_a_policy_without_options_says_so() -> None:
    """There is nothing to list then."""
    assert describe(Bare) == []
    with pytest.raises(OptionError, match="it has no options"):
        build(Bare, {"x": "1"})


def test_presets_are_defaults() -> None:
    """A preset is shown as the default, and an option given wins over it."""
    preset = {"depth": 5, "colour": Colour.DARK_BLUE}
    defaults = {info.name: info.default for info in describe(Sample, preset)}
    assert (defaults["depth"], defaults["colour"]) == (5, Colour.DARK_BLUE)
    assert build(Sample, {}, preset).depth == 5
    assert build(Sample, {"depth": "6"}, preset).depth == 6
    with pytest.raises(TypeError, match="no option"):
        build(Sample, {}, {"nope": 1})


def test_an_option_of_an_impossible_type_is_a_mistake_in_the_code() -> None:
    """The author of a policy learns it at once."""

    @dataclass(frozen=True)
    class Wrong:
        """Has a list."""

        items: list[int] | int = option(3)

    with pytest.raises(TypeError, match=r"Wrong\.items"):
        describe(Wrong)


@pytest.mark.parametrize(("value", "text"), [
    (1000001.0, "1000001"),
    (400000.0, "400000"),
    (3.6e12, "3.6e+12"),
    (1e16 + 2, "1.0000000000000002e+16"),
    (0.1, "0.1"),
    (-0.0, "-0"),
    (math.inf, "inf"),
    (1000001, "1000001"),
    (True, "true"),
    (None, "none"),
    (Colour.DARK_BLUE, "dark-blue"),
])  # fmt: skip
def test_texts_of_values(value: Any, text: str) -> None:
    """As short as may be, and no digit is lost (1000001.0 was shown as 1e+06)."""
    assert show(value) == text


def values_of(info: OptionInfo) -> st.SearchStrategy[Any]:
    """Every value that an option can have."""
    least, most = info.low, info.high
    if info.choices:
        found: st.SearchStrategy[Any] = st.sampled_from(info.choices)
    elif info.type is bool:
        found = st.booleans()
    elif info.type is int:
        found = st.integers(None if least is None else math.ceil(least), None if most is None else math.floor(most))
    elif info.type is float:
        low, high = -1e300 if least is None else float(least), 1e300 if most is None else float(most)
        first, last = math.ceil(max(low, -1e17)), math.floor(min(high, 1e17))
        found = st.floats(low, high)
        if first <= last:
            found |= st.integers(first, last).map(float)
    else:
        found = st.text()
    return st.none() | found if info.optional else found


INFOS = {
    f"{title}.{info.name}": info
    for title, infos in (
        ("Sample", describe(Sample)),
        ("Settings", describe(Settings)),
        *((name, entry.options()) for name, entry in POLICIES.items()),
    )
    for info in infos
}


def same(one: Any, other: Any) -> bool:
    """Equal bit for bit, and of one type."""
    bits = (struct.pack("<d", value) if isinstance(value, float) else value for value in (one, other))
    return type(one) is type(other) and next(bits) == next(bits)


@pytest.mark.parametrize("name", INFOS)
@settings(max_examples=25)
@given(data=st.data())
def test_shown_values_are_read_back(name: str, data: st.DataObject) -> None:
    """The text of a value, and its plain form through JSON, give the value again; a typed value stays as it is."""
    info = INFOS[name]
    value = data.draw(values_of(info))
    assert same(parse(info, show(value)), value)
    assert same(parse(info, json.loads(json.dumps(plain(value), allow_nan=False))), value)
    assert same(parse(info, value), value)


def test_a_text_that_may_be_none_is_a_mistake_in_the_code() -> None:
    """The text ``none`` would be two values."""

    @dataclass(frozen=True)
    class Wrong:
        """Has a text or nothing."""

        name: str | None = option(None)

    with pytest.raises(TypeError, match="cannot be distinguished from 'none'"):
        describe(Wrong)


def test_assignments() -> None:
    """``key=value`` texts; a hyphen in a key is an underscore, as on command lines; values keep theirs."""
    assert split_assignments(["a=1", "fill-order=wide-first", "c="]) == {"a": "1", "fill_order": "wide-first", "c": ""}


@pytest.mark.parametrize(
    ("texts", "message"), [(["a"], "key=value, got 'a'"), (["=1"], "key=value"), (["a=1", "a=2"], "given twice")]
)
def test_broken_assignments(texts: list[str], message: str) -> None:
    """A text that is no assignment is quoted."""
    with pytest.raises(OptionError, match=message):
        split_assignments(texts)

"""A policy's options: the fields of a frozen dataclass, each with its unit, range and meaning.

A policy author writes ::

    @dataclass(frozen=True)
    class Greedy:
        \"\"\"Start every job that fits.\"\"\"

        source: ClassVar[str] = "Author 2020, section 3"
        depth: int = option(1, unit="jobs", low=0, help="number of jobs that get a reservation")

and gets listing (:func:`describe`), construction from values or texts (:func:`build`) and the error messages without
further code.

Values keep their type everywhere in between: texts are parsed where a user writes them (a command line), and made where
a user reads them (:func:`show`, without loss).
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import math
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

import msgspec

from spillway.base.errors import OptionError, shown
from spillway.base.near import near

T = TypeVar("T")

Value = bool | int | float | str | None
"""Type of an option's value outside the policy: an enum's member is its text (:func:`plain`)."""

_METADATA = "spillway.option"


class Form(msgspec.Struct, frozen=True):
    """Notation of values where their type does not define it: quantities with units, names, lists of hosts.

    Attributes
    ----------
    read
        Converts a TOML value to the option's; raises :class:`ValueError` that states the expected and the actual value.
    write
        Converts the option's value to a TOML value.
    expected
        Description of valid values.
    example
        An example of a TOML value.
    unit
        Unit of a bare number; "" without one.
    repeats
        Whether the value is a list, and a command line gives its members one by one.
    """

    read: Callable[[Any], Any]
    write: Callable[[Any], Any]
    expected: str
    example: str
    unit: str = ""
    repeats: bool = False


def form_of(is_valid: Callable[[Any], bool], expected: str) -> Form:
    """The form of values that are taken as they are, if they are valid."""

    def read(value: Any) -> Any:
        if not is_valid(value):
            raise ValueError(f"must be {expected}, got {shown(show(value))}")
        return value

    return Form(read, lambda value: value, expected, "")


class OptionInfo(msgspec.Struct, frozen=True):
    """Description of one option of a policy.

    Attributes
    ----------
    name
        Field name, and the key on the command line (``-o name=value``).
    type
        The value's type: ``int``, ``float``, ``bool``, ``str`` or an :class:`enum.Enum` subclass; for a table the
        dataclass into which it is read (:mod:`spillway.base.tables`).
    default
        Value when the option is not given; ``dataclasses.MISSING`` for a mandatory option.
    optional
        Whether the text ``none`` (the value ``None``) is allowed.
    unit, low, high, choices, help, form
        See :func:`option`.
    several
        Whether it is a tuple of tables.
    """

    name: str
    type: Any
    default: Any
    optional: bool = False
    unit: str = ""
    low: float | None = None
    high: float | None = None
    choices: tuple[Any, ...] = ()
    help: str = ""
    form: Form | None = None
    several: bool = False

    @property
    def required(self) -> bool:
        """Whether it has no default."""
        return self.default is dataclasses.MISSING

    @property
    def is_table(self) -> bool:
        """Whether it is a table, or several, with options of its own."""
        return dataclasses.is_dataclass(self.type)

    @property
    def type_name(self) -> str:
        """Word for the type: ``int``, ``float``, ``bool``, ``str`` or ``choice``."""
        return "choice" if self.choices else self.type.__name__

    @property
    def expected(self) -> str:
        """Description of valid values: type, unit and range, or the choices."""
        if self.form is not None:
            return self.form.expected
        if self.choices:
            words = "one of " + ", ".join(show(choice) for choice in self.choices)
        else:
            words = f"{_ARTICLES[self.type]}{_range(self.low, self.high)}"
            words += f" ({self.unit})" if self.unit else ""
        return f"{words}, or none" if self.optional else words


def option(
    default: T,
    *,
    unit: str = "",
    low: float | None = None,
    high: float | None = None,
    choices: tuple[Any, ...] = (),
    help: str = "",
    form: Form | None = None,
) -> T:
    """Declare a dataclass field as an option.

    Parameters
    ----------
    default
        Value when the option is not given (a dict is copied); its field must be annotated ``int``, ``float``,
        ``bool``, ``str``, an :class:`enum.Enum`, or one of them ``| None``.
    unit
        Unit of the value (``s``, ``bytes``, ``jobs`` ...).
    low, high
        Inclusive bounds of a number. A float may only be infinite when that very infinity is its bound.
    choices
        The only values allowed; default for an enum: all its members.
    help
        One sentence of meaning, without a full stop.
    form
        Notation of the value, where its type does not define it; the field may then have any type.
    """
    info = {"unit": unit, "low": low, "high": high, "choices": choices, "help": help, "form": form}
    own: Any = {"default_factory": default.copy} if isinstance(default, dict) else {"default": default}
    return cast(T, dataclasses.field(**own, metadata={_METADATA: info}))


def required(**declared: Any) -> Any:
    """Declare a dataclass field as a mandatory option; the parameters are those of :func:`option` without a default."""
    return option(cast(Any, dataclasses.MISSING), **declared)


def describe(policy_class: type, preset: Mapping[str, Any] | None = None) -> list[OptionInfo]:
    """List a policy class's options in order of declaration.

    Parameters
    ----------
    policy_class
        A dataclass; fields not declared by :func:`option` are not listed.
    preset
        Defaults that replace the class's own.

    Raises
    ------
    TypeError
        A field has a type no option can have, or ``preset`` names no option: a mistake in the policy's code.
    """
    found = list(_declared(policy_class))
    if preset:
        unknown = preset.keys() - {info.name for info in found}
        if unknown:
            raise TypeError(f"{policy_class.__name__} has no option {sorted(unknown)} to preset")
        found = [
            msgspec.structs.replace(info, default=preset[info.name]) if info.name in preset else info for info in found
        ]
    return found


@functools.cache
def _declared(policy_class: type) -> tuple[OptionInfo, ...]:
    """A class's options with its own defaults; cached, as evaluating annotations takes most of a small run."""
    hints = typing.get_type_hints(policy_class)
    return tuple(
        _info(policy_class, field, hints[field.name])
        for field in dataclasses.fields(policy_class)
        if _METADATA in field.metadata
    )


def build(
    policy_class: Callable[..., T],
    options: Mapping[str, Any],
    preset: Mapping[str, Any] | None = None,
    *,
    typed: bool = False,
    **others: Any,
) -> T:
    """Make a policy from values of its options.

    Parameters
    ----------
    policy_class
        A dataclass with fields declared by :func:`option`.
    options
        Values of the right type, as a TOML file gives them, or texts, as a command line does.
    preset
        Values of fields that are not the class's defaults; ``options`` take precedence.
    typed
        See :func:`parse`.
    others
        Fields that are no options.

    Raises
    ------
    OptionError
        An unknown name, a text that is no value of the type, or a value out of range.
    """
    infos = {info.name: info for info in describe(cast(type, policy_class), preset)}
    values = {name: info.default for name, info in infos.items()}
    for name, value in options.items():
        if name not in infos:
            raise OptionError(unknown(name, list(infos)))
        values[name] = parse(infos[name], value, typed=typed)
    return policy_class(**values, **others)


def check(made: Any) -> None:
    """Refuse values out of range in an instance of a dataclass with options (for its ``__post_init__``)."""
    for info in describe(type(made)):
        parse(info, getattr(made, info.name), typed=True)


def parse(info: OptionInfo, value: Any, *, typed: bool = False) -> Any:
    """Read a value of the option: a text as on a command line, or a typed value, which is not converted to a text.

    A whole number is a float option's value too, and 2.0 is a whole number. If values are ``typed``, a text is no
    number and no boolean.

    Raises
    ------
    OptionError
        The value is not valid for the option.
    """
    try:
        return value_of(info, value, typed=typed)
    except ValueError as error:
        raise OptionError(f"option {info.name!r}{':' if info.form else ''} {error}") from None


def value_of(info: OptionInfo, value: Any, *, typed: bool = False) -> Any:
    """As :func:`parse`, but raise :class:`ValueError` with the expected and the actual value, without the name."""
    if info.form is not None:
        return info.form.read(value)
    try:
        if isinstance(value, str) and not (typed and info.type_name in ("int", "float", "bool")):
            found = None if info.optional and value.strip().lower() == "none" else _read(info, value)
        else:
            found = _take(info, value)
    except (ValueError, OverflowError):
        raise _refusal(info, value) from None
    if found is None:
        return None
    if info.choices and found not in info.choices:
        raise _refusal(info, value)
    if isinstance(found, int | float) and not isinstance(found, bool) and not _within(info, found):
        raise _refusal(info, value)
    return found


def show(value: Any) -> str:
    """Text of a value for a command line: :func:`parse` reads the same value from it, bit for bit."""
    if isinstance(value, enum.Enum):
        return str(value.value)
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, float) or not value.is_integer():
        return str(value)
    short = f"{value:g}"
    return short if float(short) == value else repr(value).removesuffix(".0")


def plain(value: Any) -> Value:
    """Convert a value to the types of JSON: an enum's member and an infinity become their texts."""
    if isinstance(value, enum.Enum) or (isinstance(value, float) and math.isinf(value)):
        return show(value)
    return cast(Value, value)


def first_paragraph(thing: object) -> str:
    """First paragraph of a docstring, on one line."""
    return " ".join((thing.__doc__ or "").strip().partition("\n\n")[0].split())


def split_assignments(texts: list[str]) -> dict[str, str]:
    """Split ``key=value`` texts; raise :class:`OptionError` for a text without ``=`` or a key given twice."""
    found: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        key = key.strip().replace("-", "_")
        if not equals or not key:
            raise OptionError(f"an option is given as key=value, got {shown(text)}")
        if key in found:
            raise OptionError(f"option {shown(key)} is given twice: {shown(found[key])} and {shown(value)}")
        found[key] = value
    return found


def _boolean(text: str) -> bool:
    if text.lower() not in _BOOLEANS:
        raise ValueError
    return _BOOLEANS[text.lower()]


def _whole(text: str) -> int:
    """A whole number, also as 1e9."""
    try:
        return int(text)
    except ValueError:
        if not (value := float(text)).is_integer():
            raise
        return int(value)


def _read(info: OptionInfo, text: str) -> Any:
    """Read a text; raise :class:`ValueError` for an invalid one."""
    if info.type is str and not info.choices:
        return text
    if info.type in _PARSERS:
        return _PARSERS[info.type](text.strip())
    for choice in info.choices:
        if show(choice) == text.strip():
            return choice
    raise ValueError


def _take(info: OptionInfo, value: Any) -> Any:
    """Take a typed value; raise :class:`ValueError` for another type."""
    if value is None and info.optional:
        return None
    if type(value) is info.type:
        return value
    if isinstance(value, int | float) and not isinstance(value, bool) and info.type in (int, float):
        found = info.type(value)
        if found == value:
            return found
    raise ValueError


_BOOLEANS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
_PARSERS: dict[type, Callable[[str], Any]] = {int: _whole, float: float, bool: _boolean, str: str}
_ARTICLES: dict[type, str] = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}


def _info(policy_class: type, field: dataclasses.Field[Any], hint: Any) -> OptionInfo:
    arms = typing.get_args(hint) if typing.get_origin(hint) in (types.UnionType, typing.Union) else (hint,)
    kinds = [arm for arm in arms if arm is not types.NoneType]
    kind = kinds[0] if len(kinds) == 1 else None
    several = typing.get_origin(kind) is tuple and dataclasses.is_dataclass(typing.get_args(kind)[0])
    kind = typing.get_args(kind)[0] if several else kind
    is_enum = isinstance(kind, type) and issubclass(kind, enum.Enum)
    free = dataclasses.is_dataclass(kind) or field.metadata[_METADATA]["form"] is not None
    if not free and (not isinstance(kind, type) or not (is_enum or kind in _PARSERS)):
        raise TypeError(f"{policy_class.__name__}.{field.name}: an option cannot be of type {hint}")
    metadata = dict(field.metadata[_METADATA])
    if is_enum and not metadata["choices"]:
        metadata["choices"] = tuple(vars(kind)["_member_map_"].values())
    if kind is str and len(arms) > len(kinds) and not metadata["choices"] and not free:
        raise TypeError(
            f"{policy_class.__name__}.{field.name}: a text that may be None cannot be distinguished from 'none'"
        )
    optional, factory = len(arms) > len(kinds), field.default_factory
    default = field.default if factory is dataclasses.MISSING else factory()
    return OptionInfo(name=field.name, type=kind, default=default, optional=optional, several=several, **metadata)


def _within(info: OptionInfo, value: float) -> bool:
    if math.isnan(value) or (math.isinf(value) and value not in (info.low, info.high)):
        return False
    return (info.low is None or info.low <= value) and (info.high is None or value <= info.high)


def _range(low: float | None, high: float | None) -> str:
    if low is not None and high is not None:
        return f" from {show(low)} to {show(high)}"
    if low is not None:
        return f" of at least {show(low)}"
    return f" of at most {show(high)}" if high is not None else ""


def _refusal(info: OptionInfo, value: Any) -> ValueError:
    return ValueError(f"must be {info.expected}, got {shown(show(value))}")


def unknown(name: str, known: list[str]) -> str:
    """The error about an option that is not among these."""
    if not known:
        return f"unknown option {name!r}: it has no options"
    return f"unknown option {name!r}; known options: {', '.join(known)}{near(name, known)}"

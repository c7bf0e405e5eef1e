"""Tables of a TOML file, read into dataclasses with options as fields."""

from dataclasses import dataclass
from typing import Any

import pytest

from spillway.base.errors import OptionError
from spillway.base.options import Form, describe, option, parse, required
from spillway.base.tables import read_table


def _minutes(value: Any) -> float:
    if not isinstance(value, str) or not value.endswith("min"):
        raise ValueError(f"expected minutes such as '5min', got {value!r}")
    return 60.0 * float(value.removesuffix("min"))


MINUTES = Form(_minutes, lambda value: f"{value / 60:g}min", "minutes", "5min", "s")


@dataclass(frozen=True)
class Shelf:
    """A table in a table."""

    width: int = required(low=1, high=9)
    label: str | None = option(None, form=Form(str, str, "a label", "a"))


@dataclass(frozen=True)
class Cupboard:
    """A table."""

    shelf: tuple[Shelf, ...] = required()
    door: Shelf | None = option(None)
    opens: float = option(60.0, form=MINUTES)
    colour: str = option("red", choices=("red", "green"))

    def __post_init__(self) -> None:
        if self.colour == "green" and self.door is None:
            raise ValueError("what is green needs a door")


def test_tables_in_tables() -> None:
    """Values have their types, formatted texts are parsed, and omitted keys have their defaults."""
    found = read_table(
        Cupboard, {"shelf": [{"width": 3}, {"width": 1, "label": "none"}], "door": {"width": 9}, "opens": "5min"}
    )
    assert found == Cupboard((Shelf(3), Shelf(1, "none")), Shelf(9), 300.0, "red")


@pytest.mark.parametrize(("table", "words"), [
    ({}, "shelf: this key is missing"),
    ({"shelf": []}, r"shelf: expected one table or more in a list, got \[\]"),
    ({"shelf": [{"width": 3}, 4]}, r"shelf\[1\]: expected a table, got 4"),
    ({"shelf": [{"width": 3}, {}]}, r"shelf\[1\].width: this key is missing"),
    ({"shelf": [{"width": 10}]}, r"shelf\[0\].width: must be a whole number from 1 to 9, got '10'"),
    ({"shelf": [{"width": "3"}]}, r"shelf\[0\].width: must be a whole number from 1 to 9, got '3'"),
    ({"shelf": [{"width": 3}], "door": {"widht": 1}}, "door.widht: unknown key; known here: width, label"),
    ({"shelf": [{"width": 3}], "opens": 5}, "opens: expected minutes such as '5min', got 5"),
    ({"shelf": [{"width": 3}], "colour": "blue"}, "colour: must be one of red, green, got 'blue'"),
    ({"shelf": [{"width": 3}], "colour": "green"}, "^what is green needs a door"),
])  # fmt: skip
def test_what_is_wrong_is_named(table: dict[str, Any], words: str) -> None:
    """The error states the key with its path, the expected value and the given one."""
    with pytest.raises(OptionError, match=words):
        read_table(Cupboard, table)


def test_a_form_says_what_is_expected() -> None:
    """In lists of options and in the error of one that is given by name."""
    opens = next(info for info in describe(Cupboard) if info.name == "opens")
    assert (opens.expected, opens.form) == ("minutes", MINUTES)
    with pytest.raises(OptionError, match=r"^option 'opens': expected minutes such as '5min', got '5'"):
        parse(opens, "5")

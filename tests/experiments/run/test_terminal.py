"""Tables on terminals of all widths."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from spillway.analysis.document.blocks import Table
from spillway.experiments.run.terminal import show


def printed(table: Table, width: int, names: int = 1) -> list[str]:
    """The lines of a table."""
    stream = io.StringIO()
    show(Console(file=stream, width=width), table, "title", names=names)
    return stream.getvalue().splitlines()


@pytest.mark.parametrize("width", [60, 80, 100])
@pytest.mark.parametrize("name", ["storage.capacity=+20%", "a name of more than twenty-four characters"])
def test_the_last_column_of_a_wide_table_is_not_cut_off(name: str, width: int) -> None:
    """Was: names took their width after the others had shrunk, and the right columns were lost."""
    table = Table(("setting", "policy", *(f"figure {place}" for place in range(5))), [(name, "easy", *["-46 %"] * 5)])
    lines = printed(table, width, 2)
    assert all(line.rstrip()[-1] in "┓┃┩│┘" for line in lines[1:])
    assert {len(line.rstrip()) for line in lines[1:]} == {len(lines[1])}
    assert any(name.split()[0] in line for line in lines)


def test_names_are_whole_where_there_is_room() -> None:
    """Only a narrow terminal breaks them."""
    name = "a name of more than twenty-four characters"
    assert any(name in line for line in printed(Table(("policy", "figure"), [(name, "1")]), 100))

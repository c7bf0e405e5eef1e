"""Output of commands: plain sentences, and tables of the document kit."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from rich.console import Console
from rich.table import Table as Lines
from rich.text import Text

from spillway.analysis.document.blocks import Table
from spillway.base.errors import visible

WHOLE = 24
"""Characters of a name that a narrow terminal does not break."""

_UNBROKEN = 10_000
"""Width, in characters, at which no line is broken."""


def say(console: Console, text: str) -> None:
    """Print a text without markup; only the terminal breaks its lines."""
    console.print(visible(text), markup=False, highlight=False, soft_wrap=True)


def show(console: Console, table: Table, title: str, *, ends: Collection[int] = (), names: int = 1) -> None:
    """Print a table: names and texts on the left, numbers on the right.

    Parameters
    ----------
    ends
        Rows (from 0) with a line below them.
    names
        Number of columns, from the left, that are names.
    """
    lines = Lines(title=Text(visible(title)), title_justify="left", header_style="bold")
    for place, (name, is_text) in enumerate(zip(table.headings, table.texts(), strict=True)):
        justify: Literal["left", "right"] = "left" if place < names or is_text else "right"
        lines.add_column(Text(visible(name)), justify=justify, overflow="fold")
    for place, row in enumerate(table.rows):
        lines.add_row(*(Text(visible(str(cell))) for cell in row), end_section=place in ends)
    if (
        table.rows
        and console.measure(lines, options=console.options.update(max_width=_UNBROKEN)).maximum > console.width
    ):
        for place, column in enumerate(lines.columns[:names]):  # a minimum width would apply after the others shrank
            cells = [visible(str(row[place])) for row in table.rows]
            column.width = min(max(map(len, [*cells, *table.headings[place].split()]), default=0), WHOLE) or None
    console.print(lines)

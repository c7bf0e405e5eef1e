"""Documents on a terminal: the one way of the commands' output, without what a terminal would obey."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Any, Literal

from rich.console import Console
from rich.segment import Segment
from rich.table import Table as Lines
from rich.text import Text

from spillway.analysis.document import blocks as kit
from spillway.base.errors import visible

WHOLE = 24
"""Characters of a name that a narrow terminal does not break."""

WIDE = 160
"""Width of the output in a file or a pipe, in characters."""

_UNBROKEN = 10_000
"""Width, in characters, at which no line is broken."""


class Terminal(Console):
    """A console that shows control characters of a text (a name in a log, say) as escapes, wherever the text is."""

    def render(self, *arguments: Any, **options: Any) -> Iterable[Segment]:
        """Segments with texts that no terminal obeys; only rich's own control codes stay."""
        for text, style, control in super().render(*arguments, **options):
            yield Segment(text if control else visible(text), style, control)


def terminal(width: int = WIDE, *, stderr: bool = False) -> Terminal:
    """The terminal of a stream; where that is a file or a pipe, ``width`` characters wide."""
    found = Terminal(stderr=stderr)
    return found if found.is_terminal else Terminal(stderr=stderr, width=width)


def say(console: Console, text: object) -> None:
    """Print a text without markup; only the terminal breaks its lines."""
    console.print(visible(str(text)), markup=False, highlight=False, soft_wrap=True)


def _text(cell: kit.Cell) -> Text:
    """A cell; of a plain text, code between backquotes is bold."""
    if not isinstance(cell, str):
        return Text(visible(str(cell)))
    parts = re.split(r"`([^`]+)`", visible(cell))
    return Text.assemble(*((part, "bold" if place % 2 else "") for place, part in enumerate(parts)))


def write(console: Console, blocks: Iterable[kit.Block]) -> None:
    """Print a document; pictures and parts that are for pages only are left out."""
    for block in blocks:
        match block:
            case kit.Heading(text, level):
                line = f"\n{'=' * len(visible(text))}" if level == 1 else ""
                console.print(Text(f"\n{visible(text)}{line}", style="bold"), soft_wrap=True)
            case kit.Paragraph(text):
                console.print(_text(text), soft_wrap=True)
            case kit.Listing(points):
                for point in points:
                    say(console, f"- {point}")
            case kit.Terms(lines):
                for name, about in lines:
                    say(console, f"{name}: {'; '.join(about)}")
            case kit.Code(text):
                say(console, f"\n{text}")
            case kit.Table():
                show(console, block)
            case kit.Section(inner):
                write(console, inner)


def show(console: Console, table: kit.Table, title: str = "", *, ends: Collection[int] = (), names: int = 1) -> None:
    """Print a table: names and texts on the left, numbers on the right.

    Parameters
    ----------
    ends
        Rows (from 0) with a line below them.
    names
        Number of columns, from the left, that are names.
    """
    lines = Lines(title=Text(visible(title)) if title else None, title_justify="left", header_style="bold")
    for place, (name, kind) in enumerate(zip(table.headings, table.kinds(), strict=True)):
        justify: Literal["left", "right"] = "left" if place < names or kind else "right"
        lines.add_column(Text(visible(name)), justify=justify, overflow="fold")
    for place, row in enumerate(table.rows):
        lines.add_row(*map(_text, row), end_section=place in ends)
    if (
        table.rows
        and console.measure(lines, options=console.options.update(max_width=_UNBROKEN)).maximum > console.width
    ):
        for place, column in enumerate(lines.columns[:names]):  # a minimum width would apply after the others shrank
            cells = [_text(row[place]).plain for row in table.rows]
            column.width = min(max(map(len, [*cells, *table.headings[place].split()]), default=0), WHOLE) or None
    console.print(lines)

"""Blocks of documents: headings, paragraphs, lists, tables, figures, sections."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from spillway.analysis.document.markup import Html
from spillway.base.units import NONE

_LONGEST_NUMBER = 32
"""Characters of a cell that is a number with its interval; a longer cell is a text."""


@dataclass(frozen=True)
class Words:
    """A text that is shown as it is; in a plain ``str``, text between backquotes is code.

    ``mark`` is the class of its look (``better``, ``worse``, ``hint``), ``value`` a number by which a table is sorted
    (NaN: not known). ``small`` follows in smaller letters, a square of ``colour`` (``#rrggbb``) precedes.
    """

    text: str
    mark: str = ""
    value: float | None = None
    small: str = ""
    colour: str = ""

    def __str__(self) -> str:
        """All of the text."""
        return f"{self.text} {self.small}".rstrip()


Cell = str | Words


@dataclass(frozen=True)
class Column:
    """A column of figures: its name in the source, its heading, the format of a figure, and its meaning.

    ``words`` are a sentence or two, shown when the pointer is on the heading.
    """

    name: str
    title: str
    shown: Callable[[float], str]
    words: str

    def cell(self, value: float) -> Words:
        """A figure, sorted by its full value; a dash for NaN."""
        return Words(NONE if math.isnan(value) else self.shown(value), value=value)


@dataclass(frozen=True)
class Heading:
    """A heading; ``level`` 1 is the title."""

    text: str
    level: int = 2


@dataclass(frozen=True)
class Paragraph:
    """A paragraph; ``mark`` is the class of its look."""

    text: Cell
    mark: str = ""


@dataclass(frozen=True)
class Listing:
    """A list of points."""

    points: Sequence[Cell]


@dataclass(frozen=True)
class Terms:
    """Names, each with lines of explanation."""

    lines: Sequence[tuple[str, Sequence[str]]]


@dataclass(frozen=True)
class Code:
    """Lines of a program or of a terminal, as they are."""

    text: str


@dataclass(frozen=True)
class Table:
    """A table; the first column is a name, those with a longer cell are text, the others numbers or verdicts."""

    columns: Sequence[str | Column]
    rows: Sequence[Sequence[Cell]]

    @property
    def headings(self) -> list[str]:
        """Headings of the columns."""
        return [column if isinstance(column, str) else column.title for column in self.columns]

    def texts(self) -> list[bool]:
        """Whether each column is text, which is aligned to the left, and wrapped where the page is narrow."""
        places = range(1, len(self.columns))
        return [False, *(any(len(str(row[place])) > _LONGEST_NUMBER for row in self.rows) for place in places)]


@dataclass(frozen=True)
class Image:
    """A picture (PNG or SVG) and its caption."""

    path: Path
    caption: Cell


@dataclass(frozen=True)
class Section:
    """Blocks with a look of their own (``mark``: a class); with a ``summary`` they are folded unless ``is_open``."""

    blocks: Sequence[Block]
    mark: str = ""
    summary: str = ""
    is_open: bool = False


Block = Heading | Paragraph | Listing | Terms | Code | Table | Image | Section | Html
"""A piece of a document; :class:`Html` is for pages only (a form, a chart), other forms leave it out."""

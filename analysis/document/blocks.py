"""Blocks of documents: headings, paragraphs, lists, tables, figures, sections."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from spillway.base.units import NONE

_LONGEST_NUMBER = 32
"""Characters of a cell that is a number with its interval; a longer cell is a text."""

_FIGURE = re.compile(r"[-+−±(<>≤≥]?\d|inf|never")
"""Begin of a cell that is a figure."""


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
    """Lines of a program or of a terminal, as they are, and the name of their language."""

    text: str
    language: str = "text"


@dataclass(frozen=True)
class Table:
    """A table; the first column is a name, the others figures, words, or texts of more than a few words."""

    columns: Sequence[str | Column]
    rows: Sequence[Sequence[Cell]]

    @property
    def headings(self) -> list[str]:
        """Headings of the columns."""
        return [column if isinstance(column, str) else column.title for column in self.columns]

    def kinds(self) -> list[str]:
        """The class of each column.

        ``text`` and ``word`` are aligned to the left and take several lines where the page is narrow; ``text`` keeps
        some width. "": a name or figures, on one line.
        """
        return ["", *(self._kind([row[place] for row in self.rows]) for place in range(1, len(self.columns)))]

    @staticmethod
    def _kind(cells: Sequence[Cell]) -> str:
        if any(isinstance(cell, Words) and cell.value is not None for cell in cells):
            return ""
        if any(len(str(cell)) > _LONGEST_NUMBER for cell in cells):
            return "text"
        filled = [str(cell).strip("`") for cell in cells if str(cell) not in ("", NONE)]
        figures = sum(_FIGURE.match(cell) is not None for cell in filled)
        return "word" if 2 * figures < len(filled) else ""


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


Block = Heading | Paragraph | Listing | Terms | Code | Table | Image | Section | Markup
"""A piece of a document; :class:`~markupsafe.Markup` is for pages only (a form, a chart), other forms leave it out."""

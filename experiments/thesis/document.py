"""A small document that can be written as Markdown and as one HTML file with everything in it."""

from __future__ import annotations

import base64
import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Heading:
    """A heading; ``level`` 1 is the title."""

    text: str
    level: int = 2


@dataclass(frozen=True)
class Paragraph:
    """A paragraph; ``code`` between backquotes is code."""

    text: str


@dataclass(frozen=True)
class Listing:
    """A list of points."""

    points: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """A table; the first column is text, the others are numbers or verdicts."""

    columns: tuple[str, ...]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Image:
    """A picture and what it shows."""

    path: Path
    caption: str


Block = Heading | Paragraph | Listing | Table | Image

MARKS = ("met", "missed", "within", "beyond")
"""Cells with these words get a colour in HTML."""

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 1180px; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.7rem } h2 { margin-top: 2.5rem; border-bottom: 2px solid #ddd; padding-bottom: .2rem }
h3 { margin-top: 1.8rem }
.wide { overflow-x: auto }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; margin: .8rem 0 }
th, td { padding: .22rem .6rem; border-bottom: 1px solid #e4e4e4; text-align: right; white-space: nowrap }
th:first-child, td:first-child { text-align: left }
thead th { border-bottom: 2px solid #bbb }
.met, .within { color: #00654a; font-weight: 600 } .missed { color: #b3261e; font-weight: 700 }
.beyond { color: #8a5a00; font-weight: 600 }
figure { margin: 1rem 0 } img { max-width: 100% } figcaption { color: #555; font-size: 13px }
code { background: #f3f3f3; padding: 0 .25em; border-radius: 3px }
nav ul { columns: 2; list-style: none; padding: 0 }
"""


def to_markdown(blocks: Sequence[Block], folder: Path) -> str:
    """Write the document as Markdown; pictures are links, relative to ``folder``."""
    return "\n\n".join(_markdown(block, folder) for block in blocks) + "\n"


def to_html(blocks: Sequence[Block]) -> str:
    """Write the document as one HTML page that needs no other file."""
    title = next((block.text for block in blocks if isinstance(block, Heading) and block.level == 1), "")
    sections = [block.text for block in blocks if isinstance(block, Heading) and block.level == 2]
    links = "".join(f'<li><a href="#{_anchor(text)}">{escape(text)}</a></li>' for text in sections)
    body = "\n".join(_html(block) for block in blocks)
    head, end, rest = body.partition("</h1>")
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}</style></head><body>\n'
        f"{head}{end}\n<nav><ul>{links}</ul></nav>{rest}\n</body></html>\n"
    )


def to_csv(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Write a table as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()


def _markdown(block: Block, folder: Path) -> str:
    match block:
        case Heading(text, level):
            return f"{'#' * level} {text}"
        case Paragraph(text):
            return text
        case Listing(points):
            return "\n".join(f"- {point}" for point in points)
        case Table(columns, rows):
            rule = [":---", *["---:"] * (len(columns) - 1)]
            return "\n".join(f"| {' | '.join(cells)} |" for cells in (columns, rule, *rows))
        case Image(path, caption):
            return f"![{caption}]({path.relative_to(folder).as_posix()})"


def _html(block: Block) -> str:
    match block:
        case Heading(text, level):
            return f'<h{level} id="{_anchor(text)}">{escape(text)}</h{level}>'
        case Paragraph(text):
            return f"<p>{_inline(text)}</p>"
        case Listing(points):
            return "<ul>" + "".join(f"<li>{_inline(point)}</li>" for point in points) + "</ul>"
        case Table(columns, rows):
            head = "".join(f"<th>{_inline(text)}</th>" for text in columns)
            body = "\n".join("<tr>" + "".join(_cell(text) for text in row) + "</tr>" for row in rows)
            return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table></div>'
        case Image(path, caption):
            data = base64.b64encode(path.read_bytes()).decode()
            return (
                f'<figure><img alt="{escape(caption)}" src="data:image/png;base64,{data}">'
                f"<figcaption>{_inline(caption)}</figcaption></figure>"
            )


def _cell(text: str) -> str:
    mark = f' class="{text}"' if text in MARKS else ""
    return f"<td{mark}>{_inline(text)}</td>"


def _inline(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _anchor(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")

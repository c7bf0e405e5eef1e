"""A small document that can be written as Markdown and as one HTML file with everything in it."""

from __future__ import annotations

import base64
import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spillway.analysis.markup import Html, fill, fill_page, html_of, join


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
    """A table; the first column is a name, those with a longer cell are text, the others numbers or verdicts."""

    columns: tuple[str, ...]
    rows: Sequence[Sequence[str]]

    def texts(self) -> list[bool]:
        """Which columns are text: it begins on the left, and goes on in a line below where the page is narrow."""
        places = range(1, len(self.columns))
        return [False, *(any(len(row[place]) > LONGEST_NUMBER for row in self.rows) for place in places)]


@dataclass(frozen=True)
class Image:
    """A picture and what it shows."""

    path: Path
    caption: str


Block = Heading | Paragraph | Listing | Table | Image

LONGEST_NUMBER = 32
"""Characters of a cell that is a number with its interval; more of them are a text."""

MARKS = {"reproduced": "met", "not reproduced": "missed", "fitted": "open"}
"""Classes of the cells with these words: they get a colour in HTML."""

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 1180px; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.7rem } h2 { margin-top: 2.5rem; border-bottom: 2px solid #ddd; padding-bottom: .2rem }
h3 { margin-top: 1.8rem }
.wide { overflow-x: auto }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; margin: .8rem 0 }
th, td { padding: .22rem .6rem; border-bottom: 1px solid #e4e4e4; text-align: right; white-space: nowrap }
th:first-child, td:first-child { text-align: left }
.text { text-align: left } td.text { white-space: normal; min-width: 15em }
thead th { border-bottom: 2px solid #bbb }
.met { color: #00654a; font-weight: 600 } .missed { color: #b3261e; font-weight: 700 }
.open { color: #8a5a00; font-weight: 600 }
figure { margin: 1rem 0 } img { max-width: 100% } figcaption { color: #555; font-size: 13px }
code { background: #f3f3f3; padding: 0 .25em; border-radius: 3px }
nav ul { columns: 2; list-style: none; padding: 0 }
"""


PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">$policy<title>$title</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>$style</style></head><body>
$head
<nav><ul>$links</ul></nav>$rest
</body></html>
"""


def to_markdown(blocks: Sequence[Block], folder: Path) -> str:
    """Write the document as Markdown; pictures are links, relative to ``folder``."""
    return "\n\n".join(_markdown(block, folder) for block in blocks) + "\n"


def to_html(blocks: Sequence[Block]) -> str:
    """Write the document as one HTML page that needs no other file."""
    title = next((block.text for block in blocks if isinstance(block, Heading) and block.level == 1), "")
    sections = [block.text for block in blocks if isinstance(block, Heading) and block.level == 2]
    links = join(fill('<li><a href="#{anchor}">{text}</a></li>', anchor=_anchor(text), text=text) for text in sections)
    body = join(map(_html, blocks), "\n").text
    head, end, rest = body.partition("</h1>")
    return fill_page(PAGE, style=STYLE, title=title, head=Html(head + end), links=links, rest=Html(rest)).text


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
            return f"{'#' * level} {_plain(text)}"
        case Paragraph(text):
            return _plain(text)
        case Listing(points):
            return "\n".join(f"- {_plain(point)}" for point in points)
        case Table(columns, rows):
            rule = [":---", *(":---" if text else "---:" for text in block.texts()[1:])]
            lines = ([_plain(cell).replace("|", "\\|") for cell in cells] for cells in (columns, *rows))
            head, *body = (f"| {' | '.join(cells)} |" for cells in lines)
            return "\n".join([head, f"| {' | '.join(rule)} |", *body])
        case Image(path, caption):
            return f"![{_plain(caption)}]({path.relative_to(folder).as_posix()})"


def _plain(text: str) -> str:
    """Text on one line in which ``<`` begins no element of HTML; ``code`` stays as it is."""
    parts = re.split(r"(`[^`]+`)", " ".join(text.splitlines()))
    return "".join(part if place % 2 else re.sub(r"<(?=[A-Za-z/!?])", r"\\<", part) for place, part in enumerate(parts))


def _html(block: Block) -> Html:
    match block:
        case Heading(text, level):
            return fill('<h{level} id="{anchor}">{text}</h{level}>', level=level, anchor=_anchor(text), text=text)
        case Paragraph(text):
            return fill("<p>{text}</p>", text=_inline(text))
        case Listing(points):
            return fill("<ul>{points}</ul>", points=join(fill("<li>{p}</li>", p=_inline(point)) for point in points))
        case Table(columns, rows):
            kinds = ["text" if text else "" for text in block.texts()]
            return fill(
                '<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table></div>',
                head=join(_cell("th", name, kind) for name, kind in zip(columns, kinds, strict=True)),
                body=join((fill("<tr>{cells}</tr>", cells=_cells(row, kinds)) for row in rows), "\n"),
            )
        case Image(path, caption):
            return fill(
                '<figure><img alt="{caption}" src="data:image/png;base64,{data}">'
                "<figcaption>{words}</figcaption></figure>",
                caption=caption,
                data=base64.b64encode(path.read_bytes()).decode(),
                words=_inline(caption),
            )


def _cells(row: Sequence[str], kinds: Sequence[str]) -> Html:
    return join(_cell("td", text, MARKS.get(text, kind)) for text, kind in zip(row, kinds, strict=True))


def _cell(name: str, text: str, kind: str) -> Html:
    mark = fill(' class="{kind}"', kind=kind) if kind else Html("")
    return fill("<{name}{mark}>{text}</{name}>", name=name, mark=mark, text=_inline(text))


def _inline(text: str) -> Html:
    return Html(re.sub(r"`([^`]+)`", r"<code>\1</code>", html_of(text)))


def _anchor(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")

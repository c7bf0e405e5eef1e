"""Documents as one HTML page with everything in it: it opens from disk, needs no network, light and dark."""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Iterable, Sequence
from importlib import resources
from pathlib import Path

from spillway.analysis.document import blocks as kit
from spillway.analysis.document.markup import Html, fill, fill_page, html_of, join

MARKS = {"reproduced": "met", "not reproduced": "missed", "fits one run": "met", "fitted": "open"}
"""Classes of the cells with these words: they get a colour."""

_MEDIA = {".svg": "image/svg+xml", ".png": "image/png"}


def shown(paths: Iterable[Path]) -> list[Path]:
    """The file of each figure that a page shows: SVG, else PNG; figures in other formats are left out."""
    found: dict[Path, list[Path]] = {}
    for path in paths:
        if path.suffix in _MEDIA:
            found.setdefault(path.with_suffix(""), []).append(path)
    return [min(files, key=lambda path: list(_MEDIA).index(path.suffix)) for files in found.values()]


_PAIRS = (("#222222", "#e6e6ea"), ("#111111", "#e6e6ea"), ("#000000", "#e6e6ea"), ("#ffffff", "#17171a"))
_RULES = "".join(
    f'[style*="{kind}: {light}"]{{{kind}:{dark}!important}}'
    for kind in ("fill", "stroke")
    for light, dark in (*_PAIRS, ("#dddddd", "#3b3b43"), ("#f4f4f4", "#222227"))
)
_DARK = f"<style>@media screen and (prefers-color-scheme: dark){{{_RULES}}}</style>"
"""For SVG as Matplotlib writes it: every element has its colours in its style."""


def to_html(blocks: Sequence[kit.Block], *, contents: bool = True, script: str = "", data: str = "") -> str:
    """Write a document as a page.

    Parameters
    ----------
    contents
        Whether links to the headings of level 2 follow the title.
    script, data
        The page's own program, and its input in the element ``data``.
    """
    title = next((block.text for block in blocks if isinstance(block, kit.Heading) and block.level == 1), "")
    links = [block.text for block in blocks if isinstance(block, kit.Heading) and block.level == 2] if contents else []
    items = join(fill('<li><a href="#{anchor}">{text}</a></li>', anchor=_anchor(text), text=text) for text in links)
    nav = fill("\n<nav><ul>{items}</ul></nav>", items=items) if links else Html("")
    body = []
    for block in blocks:
        made = _to_element(block, anchors=contents)
        body.append(join([made, nav]) if isinstance(block, kit.Heading) and block.level == 1 else made)
    program = Html("")
    if script:
        element = '<script type="application/octet-stream" id="data">{data}</script>\n<script>{script}</script>'
        program = fill(element, data=data, script=Html(script))
    page, style = (
        resources.files("spillway.analysis.document").joinpath(f"page.{kind}").read_text(encoding="utf-8")
        for kind in ("html", "css")
    )
    return fill_page(page, style=style, script=script, title=title, body=join(body, "\n"), program=program).text


def _to_element(block: kit.Block, *, anchors: bool = False) -> Html:
    """Write a block as HTML; ``anchors``: headings of level 2 can be linked to."""
    match block:
        case kit.Heading(text, 2) if anchors:
            return fill('<h2 id="{anchor}">{text}</h2>', anchor=_anchor(text), text=text)
        case kit.Heading(text, level):
            return fill("<h{level}>{text}</h{level}>", level=level, text=text)
        case kit.Paragraph(text, mark):
            return fill("<p{mark}>{text}</p>", mark=_class(mark), text=_inline(text))
        case kit.Listing(points):
            return fill("<ul>\n{items}\n</ul>", items=join((_cell("li", point) for point in points), "\n"))
        case kit.Terms(lines):
            return fill("<dl>{items}</dl>", items=join((_term(name, about) for name, about in lines), "\n"))
        case kit.Code(text):
            return fill("<pre>{text}</pre>", text=text)
        case kit.Table(columns, rows):
            kinds = ["text" if text else "" for text in block.texts()]
            return fill(
                '<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table></div>',
                head=join(_head(column, kind) for column, kind in zip(columns, kinds, strict=True)),
                body=join((fill("<tr>{cells}</tr>", cells=_cells(row, kinds)) for row in rows), "\n"),
            )
        case kit.Image(path, caption):
            return fill(
                '<figure><img alt="{caption}" src="data:{media};base64,{data}">'
                "<figcaption>{words}</figcaption></figure>",
                caption=caption,
                media=_MEDIA[path.suffix],
                data=base64.b64encode(_dark_too(path.read_bytes())).decode(),
                words=_inline(caption),
            )
        case kit.Section(blocks, mark, summary, is_open):
            inner = join((_to_element(one, anchors=anchors) for one in blocks), "\n")
            if not summary:
                return fill("<section{mark}>\n{inner}\n</section>", mark=_class(mark), inner=inner)
            return fill(
                "<details{mark}{opened}><summary>{summary}</summary>\n{inner}\n</details>",
                mark=_class(mark), opened=Html(" open" * is_open), summary=summary, inner=inner,
            )  # fmt: skip
        case Html():
            return block


def _dark_too(picture: bytes) -> bytes:
    """Add a style to an SVG figure: letters and lines light on dark in a dark page; colours stay. PNG is unchanged."""
    return re.sub(rb"(<svg\b[^>]*[^/]>)", rb"\1" + _DARK.encode(), picture, count=1)


def _term(name: str, about: Iterable[str]) -> Html:
    return join([fill("<dt>{name}</dt>", name=name), *(fill("<dd>{line}</dd>", line=line) for line in about)])


def _head(column: str | kit.Column, kind: str) -> Html:
    if isinstance(column, str):
        return _cell("th", column, kind)
    return fill('<th title="{words}">{title}</th>', title=column.title, words=column.words)


def _cells(row: Sequence[kit.Cell], kinds: Sequence[str]) -> Html:
    return join(
        _cell("td", cell, MARKS.get(cell, kind) if isinstance(cell, str) else kind)
        for cell, kind in zip(row, kinds, strict=True)
    )


def _cell(name: str, cell: kit.Cell, kind: str = "") -> Html:
    mark, value = (cell.mark or kind, cell.value) if isinstance(cell, kit.Words) else (kind, None)
    number = "" if value is None or math.isnan(value) else repr(float(value))
    sorted_by = Html("") if value is None else fill(' data-value="{number}"', number=number)
    return fill("<{name}{mark}{by}>{text}</{name}>", name=name, mark=_class(mark), by=sorted_by, text=_inline(cell))


def _class(mark: str) -> Html:
    return fill(' class="{mark}"', mark=mark) if mark else Html("")


def _inline(cell: kit.Cell) -> Html:
    if isinstance(cell, str):
        return Html(re.sub(r"`([^`]+)`", r"<code>\1</code>", html_of(cell)))
    square = '<svg class="swatch" viewBox="0 0 10 10"><rect width="10" height="10" rx="2" fill="{colour}"/></svg>'
    before = fill(square, colour=cell.colour) if cell.colour else ""
    return join([before, cell.text, fill(" <small>{small}</small>", small=cell.small) if cell.small else ""])


def _anchor(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")

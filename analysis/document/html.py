"""Documents as one HTML page with everything in it: it opens from disk, needs no network, light and dark.

The template ``page.html`` has the form of every block. What is put into it is escaped there, once, with control
characters; only :class:`markupsafe.Markup`, made of texts of the program, stays as it is.
"""

from __future__ import annotations

import base64
import hashlib
import math
import re
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import resources
from pathlib import Path

from jinja2 import Environment, Template
from markupsafe import Markup, escape

from spillway.analysis.document import blocks as kit
from spillway.base.errors import visible

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

    Its Content-Security-Policy lets the browser run the page's own script and take its own style sheet, both known by
    their checksums, and nothing else: no handler or style in an attribute, no address outside the page. The script
    itself cannot make elements from text (trusted types).

    Parameters
    ----------
    contents
        Whether links to the headings of level 2 follow the title.
    script, data
        The page's own program, and its input in the element ``data``.
    """
    title = next((block.text for block in blocks if isinstance(block, kit.Heading) and block.level == 1), "")
    links = [block.text for block in blocks if isinstance(block, kit.Heading) and block.level == 2] if contents else []
    style = _text("page.css")
    for name, text in (("style", style), ("script", script)):
        ends = (f"</{name}" in text.lower(), "<!--" in text)
        assert not any(ends), f"the {name} of the page would end early"
    return _page().render(
        title=title, blocks=blocks, links=links, style=Markup(style), script=Markup(script), data=data
    )


def fragment(block: kit.Block) -> str:
    """Write a block without a page around it, as a notebook shows it."""
    return str(_page().make_module({"blocks": [], "script": "", "style": ""}).element(block))  # type: ignore[attr-defined]


@cache
def _page() -> Template:
    env = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True, finalize=_plain)
    env.filters |= {"anchor": _anchor, "code": _code, "data": _data, "figure": _figure, "source": _source}
    env.filters["kind"] = lambda block: type(block).__name__
    env.globals["verdicts"] = MARKS
    return env.from_string(_text("page.html"))


def _text(name: str) -> str:
    return resources.files("spillway.analysis.document").joinpath(name).read_text(encoding="utf-8")


def _plain(value: object) -> object:
    """A text without control characters, before it is escaped."""
    return visible(value) if type(value) is str else value


def _code(text: str) -> Markup:
    """A text with code between backquotes."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(visible(text)))))


def _figure(value: float) -> str:
    return "" if math.isnan(value) else repr(float(value))


def _anchor(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _data(path: Path) -> str:
    """A picture in an address; to an SVG a style is added: letters and lines are light in a dark page, colours stay."""
    picture = re.sub(rb"(<svg\b[^>]*[^/]>)", rb"\1" + _DARK.encode(), path.read_bytes(), count=1)
    return f"{_MEDIA[path.suffix]};base64,{base64.b64encode(picture).decode()}"


def _source(text: str) -> Markup:
    """Source of an inline script or style sheet in a Content-Security-Policy: its sha256."""
    checksum = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return Markup(f"'sha256-{checksum}'" if text else "'none'")

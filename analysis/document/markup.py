"""HTML by type: only :class:`Html` is trusted; every other value is escaped when it is put into a page."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from string import Template

from spillway.base.errors import visible


@dataclass(frozen=True, slots=True)
class Html:
    """A fragment of a page that is trusted as it is.

    Made from the text of a program or of a file of the package, never from data: data comes in through :func:`fill`.

    Attributes
    ----------
    text
        The HTML.
    """

    text: str


def html_of(value: object) -> str:
    """HTML of a value: a fragment as it is, all else as text, with ``& < > " '`` and control characters escaped."""
    return value.text if isinstance(value, Html) else escape(visible(str(value)))


def fill(template: str, **values: object) -> Html:
    """Put values into a template written in the program: ``fill("<td>{cell}</td>", cell=name)``.

    Parameters
    ----------
    template
        HTML with names in braces, each between tags or inside a quoted attribute.
    values
        Fragments stay as they are; everything else is escaped.
    """
    return Html(template.format_map({name: html_of(value) for name, value in values.items()}))


def join(parts: Iterable[object], between: str = "") -> Html:
    """One fragment of several; texts among them are escaped."""
    return Html(between.join(map(html_of, parts)))


def fill_page(template: str, *, style: str, script: str = "", **values: object) -> Html:
    """Fill a whole page's template (``$name``) and state its Content-Security-Policy.

    The browser then runs the page's own script and takes its own style sheet, both known by their checksums, and
    nothing else: no other script, no handler or style in an attribute, no address outside the page (pictures are in
    it, as ``data:``). The script itself cannot make elements from text (trusted types).

    Parameters
    ----------
    template
        With ``<style>$style</style>``, ``<script>$script</script>`` if there is a script, and ``$policy`` in the head
        before both.
    style, script
        Contents of the two elements; neither may hold the end of its element.
    values
        As in :func:`fill`.
    """
    for name, text in (("style", style), ("script", script)):
        ends = (f"</{name}" in text.lower(), "<!--" in text)
        assert not any(ends), f"the {name} of the page would end early"
    policy = Html(
        '<meta http-equiv="Content-Security-Policy" content="'
        f"default-src 'none'; script-src {_source(script)}; style-src {_source(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'\">"
    )
    known: dict[str, object] = {"policy": policy, "style": Html(style), "script": Html(script)}
    return Html(Template(template).substitute({name: html_of(value) for name, value in (known | values).items()}))


def _source(text: str) -> str:
    """Source of an inline script or style sheet in a Content-Security-Policy: its sha256."""
    if not text:
        return "'none'"
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

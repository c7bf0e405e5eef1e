"""Hostile names in every place of a name: they are shown as text in a real browser, and no script of theirs runs."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from spillway.analysis.document.blocks import Heading, Listing, Paragraph, Table
from spillway.analysis.document.html import to_html
from spillway.analysis.report.build import build_report
from tests.analysis.report.browser import PROGRAMS, Page, browser, program
from tests.analysis.report.hostile_names import BASELINE, NAMES, write_hostile_campaign

pytestmark = pytest.mark.skipif(program() is None, reason=f"no browser: none of {', '.join(PROGRAMS)} is installed")

CAUGHT = "window.ran = []; window.hacked = (where) => window.ran.push(where);"
"""Defines, before a page is read, the function that the names try to call."""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A browser, shared by the tests, whose pages record any call by a script of a name."""
    with browser(tmp_path_factory.mktemp("browser")) as started:
        started.call("Page.enable")
        started.call("Page.addScriptToEvaluateOnNewDocument", source=CAUGHT)
        yield started


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the hostile campaign."""
    folder = write_hostile_campaign(tmp_path_factory.mktemp("hostile"))
    return build_report(folder, folder.parent / "report.html")


def test_names_in_the_report_are_text(page: Page, report: Path) -> None:
    """Nothing of theirs runs, on loading, hovering or searching; the console is clean; all names are to be read."""
    page.complaints.clear()
    page.open(report)
    seen = page.evaluate("document.body.textContent")
    on_page = ("campaign", "platform", "policy", "workload", "model", "repeat", "version", "commit")
    assert [kind for kind in on_page if NAMES[kind] not in seen] == []
    assert BASELINE in seen
    assert NAMES["campaign"] in page.evaluate("document.title")
    page.evaluate("document.querySelector('.chart canvas').scrollIntoView({block: 'center'}), 0")
    box = page.evaluate(
        "(() => { const r = document.querySelector('.chart canvas').getBoundingClientRect();"
        " return [r.left + 62 + (r.width - 62) * charts[0].run.start[2] / charts[0].run.end + 5, r.top + 20]; })()"
    )
    page.mouse("mouseMoved", *box)
    tip = page.evaluate("byId('tip').hidden ? '' : byId('tip').textContent")
    assert [kind for kind in ("job", "user", "blocker") if NAMES[kind] not in tip] == []
    page.evaluate("find(runs[0].id[3])")
    status = page.evaluate("byId('status').textContent")
    assert [kind for kind in ("job", "user", "blocker", "policy") if NAMES[kind] not in status] == []
    page.evaluate("byId('colour').value = 'state', byId('colour').dispatchEvent(new Event('change'))")
    assert page.evaluate("document.querySelectorAll('#key i').length") == 4
    assert page.evaluate("window.ran") == []
    assert page.complaints == []
    foreign = "iframe, object, img, svg:not(.swatch), main script, main style, meta[http-equiv=refresh]"
    assert page.evaluate(f"document.querySelectorAll('{foreign}').length") == 0


def test_the_policy_stops_what_would_get_through(page: Page, report: Path, tmp_path: Path) -> None:
    """Were a name put into the page as it is, the browser would not run it either."""
    raw = "<script>hacked('script')</script><img src=x onerror=hacked('handler')>"
    unsafe = tmp_path / "unsafe.html"
    unsafe.write_text(report.read_text(encoding="utf-8").replace("<h1>", f"{raw}<h1>", 1), encoding="utf-8")
    page.complaints.clear()
    page.open(unsafe)
    assert page.evaluate("window.ran") == []
    assert any("Content Security Policy" in text for text in page.complaints)
    sink = "(() => { try { document.body.innerHTML = '<b>x</b>'; return 'made'; } catch (e) { return e.name; } })()"
    assert page.evaluate(sink) == "TypeError"


def test_names_in_a_studys_page_are_text(page: Page, tmp_path: Path) -> None:
    """Headings, paragraphs, lists and tables of a document."""
    names = list(NAMES.values())
    blocks = [
        Heading(names[0], 1),
        Heading(names[1]),
        *map(Paragraph, names),
        Listing(tuple(names)),
        Table(tuple(names), [names]),
    ]
    path = tmp_path / "document.html"
    path.write_text(to_html(blocks), encoding="utf-8")
    page.complaints.clear()
    page.call("Page.navigate", url=path.as_uri())
    page.evaluate(
        "new Promise((done) => { document.readyState === 'complete' ? done() : addEventListener('load', done); })"
    )
    seen = page.evaluate("document.body.textContent")
    assert [kind for kind, name in NAMES.items() if name.replace("`a`", "a") not in seen] == []
    assert page.evaluate("window.ran") == []
    assert page.complaints == []

"""The built documentation, opened from disk in a real browser: search works, nothing is fetched, nothing is clipped."""

import io
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from docs.theme import hooks
from docs.tools import reference
from tests.analysis.report.browser import PATIENCE_S, PROGRAMS, Page, browser, program

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("docs", "spillway", "base", "schedulers", "analysis", "experiments", "mkdocs.yml")
LONGEST = 12_000
"""Most pixels of a page of the reference at 1280 pixels of width; one page with every command had 19,285."""

CLIPPED = """[...document.querySelectorAll(".md-content table")].filter((table) => {
  let box = table.parentElement;
  while (box && getComputedStyle(box).overflowX !== "auto") box = box.parentElement;
  return !box && table.getBoundingClientRect().right > innerWidth;
}).length"""


def is_new(site: Path) -> bool:
    """Whether ``make docs`` has built the site since its sources changed."""
    if not (site / "search" / "search_index.js").exists():
        return False
    built_s = (site / "index.html").stat().st_mtime
    files = [ROOT / "mkdocs.yml"]
    files += [
        path for name in SOURCES for kind in ("*.md", "*.py", "*.js", "*.ipynb") for path in (ROOT / name).rglob(kind)
    ]
    return all(path.stat().st_mtime <= built_s for path in files)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site that ``make docs`` left, or one built here."""
    if is_new(ROOT / "site"):
        return ROOT / "site"
    folder = tmp_path_factory.mktemp("site")
    reference.write()
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"})
    return folder


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A browser, shared by the tests."""
    if program() is None:
        pytest.skip(f"no browser: none of {', '.join(PROGRAMS)} is installed")
    with browser(tmp_path_factory.mktemp("browser")) as started:
        for domain in ("Runtime", "Log", "Page"):
            started.call(f"{domain}.enable")
        yield started


def show(page: Page, path: Path, width: int, query: str = "") -> None:
    """Open a page from disk and wait until it is loaded."""
    page.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
    url = path.as_uri() + query
    page.call("Page.navigate", url=url)
    wait_for(page, f"location.href === {url!r} && document.readyState === 'complete'")


def wait_for(page: Page, condition: str) -> None:
    """Wait until an expression is true, as long as for any answer of the browser."""
    deadline = time.monotonic() + PATIENCE_S
    while page.evaluate(condition) is not True:
        assert time.monotonic() < deadline, f"not after {PATIENCE_S:g} s: {condition}"
        time.sleep(0.05)


def test_search_works_from_disk(page: Page, site: Path) -> None:
    """A word of a reference page is found on a page opened as a file, and its result leads there."""
    show(page, site / "index.html", 1280, "?q=sjf-easy")
    wait_for(page, "document.querySelectorAll('.md-search-result__item a').length > 0")
    links = page.evaluate("[...document.querySelectorAll('.md-search-result__item a')].map((a) => a.href)")
    found = {link.partition("?")[0].partition("#")[0] for link in links}
    assert (site / "reference" / "policies.html").as_uri() in found
    assert all(url.startswith("file://") for url in found)
    assert page.complaints == []


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("name", [
    "index",
    "reference/policies",
    "reference/commands/run",
    "architecture",
    "api/view",
    "gallery",
    "models",
    "thesis",
])  # fmt: skip
def test_nothing_is_clipped(page: Page, site: Path, name: str, width: int) -> None:
    """The page is no wider than the window; a table that is wider scrolls in its own box."""
    show(page, site / f"{name}.html", width)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate("document.querySelectorAll('.md-content :is(table, img, .doc-object)').length") > 0
    wait_for(page, f"{CLIPPED} === 0")
    assert page.complaints == []


def test_the_site_is_dark_where_the_system_is(page: Page, site: Path) -> None:
    """A dark ground and dark pictures, without a click."""
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    try:
        show(page, site / "gallery.html", 1280)
        wait_for(page, "document.body.dataset.mdColorScheme === 'slate'")
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
        assert max(ground[:3]) < 80
        shown = page.evaluate(
            "[...document.querySelectorAll('figure img')].filter((one) => one.offsetParent).map((one) => one.src)"
        )
        assert len(shown) > 20
        assert all(source.endswith("-dark.png#only-dark") for source in shown)
    finally:
        page.call("Emulation.setEmulatedMedia", features=[])


def test_answers_wrap_on_a_phone(page: Page, site: Path) -> None:
    """Long lines of commands and answers take several lines; no sentence is behind a scrollbar."""
    show(page, site / "own-log.html", 400)
    blocks = "[...document.querySelectorAll('.md-content pre > code')]"
    assert page.evaluate(f"{blocks}.length") > 5
    assert page.evaluate(f"{blocks}.filter((code) => code.scrollWidth > code.clientWidth).length") == 0


def test_tables_show_that_they_scroll(page: Page, site: Path) -> None:
    """The box of a table that is wider than a phone has shadows at its sides, which the table's own ground covers."""
    show(page, site / "thesis.html", 400)
    boxes = "[...document.querySelectorAll('.md-typeset__scrollwrap')]"
    wait_for(page, f"{boxes}.filter((box) => box.scrollWidth > box.clientWidth).length > 0")
    grounds = page.evaluate(f"{boxes}.map((box) => getComputedStyle(box).backgroundAttachment)")
    assert set(grounds) == {"local, local, scroll, scroll"}


def test_commands_are_grouped(page: Page, site: Path) -> None:
    """The navigation shows the groups of the command line, not a list of all pages."""
    show(page, site / "reference" / "commands" / "run.html", 1280)
    words = page.evaluate("[...document.querySelectorAll('.md-nav__link')].map((link) => link.textContent.trim())")
    assert {"Play and compare", "Read results", "Machines and jobs"} <= set(words)
    path = page.evaluate(
        "[...document.querySelector('.md-nav__link--active').closest('.md-nav').querySelectorAll('a')].length"
    )
    assert path < 20


def test_no_page_of_the_reference_is_endless(page: Page, site: Path) -> None:
    """Commands have a page each, and so have the parts of the API: of their pages, the largest files are shown."""
    longest = {}
    pages = [*(site / "reference").rglob("*.html"), *(site / "api").glob("*.html")]
    page.call("Emulation.setScriptExecutionDisabled", value=True)  # each page would read the whole search index
    try:
        for path in sorted(pages, key=lambda page: -page.stat().st_size)[:12]:
            show(page, path, 1280)
            longest[path.relative_to(site).as_posix()] = page.evaluate("document.body.scrollHeight")
    finally:
        page.call("Emulation.setScriptExecutionDisabled", value=False)  # the browser is shared
    assert {name: height for name, height in longest.items() if height > LONGEST} == {}


def test_nothing_is_fetched(site: Path) -> None:
    """No page names a script, style, font or picture of another site."""
    fetched = re.compile(r"<(?:script|img|iframe)[^>]*src=.?https?:|<link[^>]*stylesheet[^>]*href=.?https?:|@import")
    pages = sorted(site.rglob("*.html"))
    assert pages
    assert [path.name for path in pages if fetched.search(path.read_text(encoding="utf-8"))] == []


def test_tables_show_no_escapes(site: Path) -> None:
    r"""``NAME|FILE`` in a table's code is shown so, not as ``NAME\|FILE``, which its source must say."""
    source = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert "\\|" in source
    cells = re.compile(r"<td.*?</td>", re.DOTALL)
    for path in site.rglob("*.html"):
        assert not [cell for cell in cells.findall(path.read_text(encoding="utf-8")) if "\\|" in cell], path.name


def test_the_api_is_documented(site: Path) -> None:
    """Names that authors import have an entry that is made from their docstring."""
    text = "".join(path.read_text(encoding="utf-8") for path in (site / "api").glob("*.html"))
    for name in (
        "spillway.schedulers.policykit.view.View",
        "spillway.core.Timeline.earliest_fit",
        "spillway.schedulers.model.job.Job",
        "spillway.schedulers.model.decisions.Start",
        "spillway.schedulers.policykit.passes.serve_first",
        "spillway.schedulers.policykit.passes.fill",
        "spillway.schedulers.jobmodels.base.JobModel.program",
        "spillway.schedulers.controllers.scene.Controller",
        "spillway.analysis.measures.metrics.summarise",
        "spillway.experiments.api.calls.compare",
        "spillway.experiments.api.results.Results.plot",
    ):
        assert f'id="{name}"' in text, name


def test_dark_copies_of_pictures() -> None:
    """White becomes the page's dark ground and black its ink; a policy keeps its colour."""
    colours = [(255, 255, 255), (0, 0, 0), (0, 114, 178)]
    picture = Image.new("RGB", (3, 1))
    picture.putdata(colours)
    written = io.BytesIO()
    picture.save(written, format="PNG")
    with Image.open(io.BytesIO(hooks._dark(written.getvalue()))) as copy:
        pixels = copy.convert("RGB")
        assert [pixels.getpixel((x, 0)) for x in range(3)] == [hooks.GROUND, hooks.INK, colours[2]]

"""The report in a real browser: it loads without complaint, zooms, shows a job's figures, sorts, fits on a phone."""

import re
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from spillway.analysis.errors import AnalysisError
from spillway.analysis.plots.colours import RAMP
from spillway.analysis.plots.distributions import bars
from spillway.analysis.plots.style import drawing, save
from spillway.analysis.report.build import build_report
from spillway.analysis.report.columns import SERVICE
from spillway.analysis.report.pdf import print_pdf
from tests.analysis.report.browser import PROGRAMS, Page, browser, program
from tests.analysis.report.campaigns import write_campaign
from tests.analysis.report.responsive import measure

pytestmark = pytest.mark.skipif(program() is None, reason=f"no browser: none of {', '.join(PROGRAMS)} is installed")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A browser, shared by the tests."""
    with browser(tmp_path_factory.mktemp("browser")) as started:
        yield started


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small report."""
    return build_report(write_campaign(tmp_path_factory.mktemp("campaign")))


def chart(page: Page, place: int = 0) -> tuple[float, float, float, float]:
    """Left, top, width, height of a chart in the window."""
    page.evaluate(f"document.querySelectorAll('.chart canvas')[{place}].scrollIntoView({{block: 'center'}}), 0")
    found = page.evaluate(
        f"(() => {{ const r = document.querySelectorAll('.chart canvas')[{place}].getBoundingClientRect();"
        " return [r.left, r.top, r.width, r.height]; })()"
    )
    left, top, width, height = found
    return left, top, width, height


def test_loads_without_complaint(page: Page, report: Path) -> None:
    """No error in the console; both schedules are drawn."""
    page.open(report)
    assert page.complaints == []
    assert page.evaluate("[charts[0].run.label, charts[1].run.label]") == [
        "easy · log, seed 0",
        "sjf-easy · log, seed 0",
    ]
    painted = "(canvas) => canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some((v) => v)"
    assert page.evaluate(f"[...document.querySelectorAll('.chart canvas')].every({painted})")


def test_hovering_tells_about_a_job(page: Page, report: Path) -> None:
    """User, times and reasons; and the same job in the other schedule."""
    page.open(report)
    left, top, width, height = chart(page)
    page.mouse("mouseMoved", left + width * 0.5, top + height * 0.3)
    tip = page.evaluate("byId('tip').hidden ? '' : byId('tip').innerText")
    assert "job " in tip
    assert "user" in tip
    assert "(backfilled)" in tip
    assert "waited for: burst buffers 100 %" in tip or "at once" in tip
    assert "in the other schedule: after" in tip
    page.mouse("mouseMoved", left + 10, top - 40)
    assert page.evaluate("byId('tip').hidden") is True


def test_wheel_zooms_about_the_pointer_and_dragging_moves(page: Page, report: Path) -> None:
    """The time under the pointer stays; dragging to the left shows later times; 'all' goes back."""
    page.open(report)
    left, top, width, _ = chart(page)
    begin, end = page.evaluate("[view.begin, view.end]")
    page.mouse("mouseWheel", left + 62 + (width - 62) / 2, top + 50, deltaX=0, deltaY=-600)
    closer_begin, closer_end = page.evaluate("[view.begin, view.end]")
    assert closer_end - closer_begin < 0.6 * (end - begin)
    assert (closer_begin + closer_end) / 2 == pytest.approx((begin + end) / 2, rel=0.02)
    page.drag(left + width * 0.7, top + 50, left + width * 0.5)
    moved_begin, moved_end = page.evaluate("[view.begin, view.end]")
    assert moved_begin > closer_begin
    assert moved_end - moved_begin == pytest.approx(closer_end - closer_begin)
    page.evaluate("byId('zoom-all').click()")
    assert page.evaluate("[view.begin, view.end]") == pytest.approx([begin, end], abs=0.02 * (end - begin))
    assert page.complaints == []


def test_tables_sort_and_filter(page: Page, report: Path) -> None:
    """A click sorts by number, a second one the other way round; the filter hides rows."""
    page.open(report)
    column = "[...document.querySelectorAll('.runs tbody tr')].map((row) => row.children[2].textContent)"
    heading = "[...document.querySelectorAll('.runs th')].find((th) => th.textContent === 'mean wait')"
    assert page.evaluate(column) == ["easy", "sjf-easy"]
    page.evaluate(f"{heading}.click()")
    assert page.evaluate(column) == ["sjf-easy", "easy"]
    page.evaluate(f"{heading}.click()")
    assert page.evaluate(column) == ["easy", "sjf-easy"]
    page.evaluate("byId('filter').value = 'sjf'; byId('filter').dispatchEvent(new Event('input'))")
    assert page.evaluate("[...document.querySelectorAll('.runs tbody tr')].map((row) => row.hidden)") == [True, False]


def test_finding_a_job(page: Page, report: Path) -> None:
    """A job's id leads to its place and its story in both schedules; an unknown one is said to be unknown."""
    page.open(report)
    page.evaluate("find('17')")
    status = page.evaluate("byId('status').innerText")
    assert "easy · log, seed 0: job 17" in status
    assert "sjf-easy · log, seed 0: job 17" in status
    page.evaluate("find('unknown')")
    assert page.evaluate("byId('status').innerText") == (
        "There is no job unknown in these schedules. These have 60 jobs that ran, such as 0, 1, 2; jobs that were "
        "rejected never ran."
    )
    page.evaluate("byId('find').value = '16', byId('find').dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter'}))")
    assert "job 16" in page.evaluate("byId('status').innerText")


def test_what_a_pointer_finds_is_where_and_why(page: Page, report: Path) -> None:
    """Nodes and storage nodes, begin and end; the command that finds the reasons if the run kept no reasons."""
    page.open(report)
    told = page.evaluate(
        "story(runs[0], 3).map((line) => line.map((part) => part.textContent || part).join('')).join('|')"
    )
    run = page.evaluate("[runs[0].start[3], runs[0].finish[3]].map(clock)")
    assert f"started {run[0]}" in told
    assert f"ended {run[1]}, ran " in told
    assert "on node 3" in told
    assert "burst buffer on storage 1 (host s1)" in told
    page.evaluate("runs[0].why = []")
    late = page.evaluate("runs[0].start.findIndex((start, job) => start > runs[0].submit[job])")
    told = page.evaluate(f"story(runs[0], {late}).flat().join('|')")
    assert f"the reasons of its wait are not on record: spillway explain log_easy {late}" in told


def test_colours_of_jobs_have_a_legend(page: Page, report: Path) -> None:
    """Waiting time is the default; each choice has its words, and a user the same colour in both schedules."""
    page.open(report)
    assert page.evaluate("byId('colour').value") == "wait"
    assert page.evaluate("byId('key').innerText").split("\n")[:3] == ["waited:", "≤ 1 min", "≤ 10 min"]
    found = page.evaluate("[0, 1].map((place) => new Set(charts[place].colours).size)")
    assert min(found) > 1
    for kind, words in {"user": "user0", "size": "≤ 256", "buffer": "none", "state": "killed"}.items():
        page.evaluate(f"byId('colour').value = '{kind}', byId('colour').dispatchEvent(new Event('change'))")
        assert words in page.evaluate("byId('key').innerText")
    page.evaluate("byId('colour').value = 'user', byId('colour').dispatchEvent(new Event('change'))")
    page.evaluate("charts.forEach((chart) => chart.draw())")
    both = page.evaluate(
        "charts.map((chart) => chart.run.user.map((user, job) => user + chart.colours[job]).sort().join())"
    )
    assert both[0] == both[1]
    assert page.complaints == []


def test_slowdown_and_utilisation_are_seen_without_scrolling(page: Page, tmp_path: Path) -> None:
    """At 1280 px the table of policies ends within its box, with all the columns of a real campaign."""
    folder = write_campaign(tmp_path)
    header, *rows = (folder / "summary.csv").read_text().splitlines()
    names = [column.name for column in SERVICE if column.name not in header]
    lines = [f"{header},{','.join(names)}", *(f"{row},{','.join(['273727.77'] * len(names))}" for row in rows)]
    (folder / "summary.csv").write_text("".join(f"{line}\n" for line in lines))
    page.open(build_report(folder))
    box = "document.querySelector('.scroll')"
    assert page.evaluate(f"{box}.scrollWidth <= {box}.clientWidth")
    heads = page.evaluate(f"[...{box}.querySelectorAll('th')].map((th) => th.textContent)")
    assert [column.title for column in SERVICE] == heads[1:]
    assert page.evaluate(f"[...{box}.querySelectorAll('th')].slice(1).every((th) => th.title.length > 20)")


def test_phone(page: Page, report: Path) -> None:
    """At the width of a phone nothing sticks out sideways, and the charts are as wide as the window allows."""
    page.open(report, 390, 844, touch=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert chart(page)[2] > 340
    page.evaluate(
        "window.wide = [...document.querySelectorAll('p, table, pre, figure, dl')].filter((part) => !part.closest("
        "'.scroll, #tip') && part.getBoundingClientRect().right > 391), 0"
    )
    assert page.evaluate("window.wide.map((part) => part.outerHTML.slice(0, 80))") == []
    assert page.complaints == []


def test_long_names_do_not_make_a_phone_scroll_sideways(page: Page, tmp_path: Path) -> None:
    """The lists of schedules are no wider than the page, however long the names of machines and workloads are."""
    name = "site on nodes-60 burst_buffer_total=16TB storage.capacity=x1.2 and much more"
    page.open(build_report(write_campaign(tmp_path, workloads=(name,))), 400, 800)
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_a_printed_report_is_all_on_paper(report: Path, tmp_path: Path) -> None:
    """A PDF of several pages, with the jobs of the schedules in their colours."""
    content = print_pdf(report, tmp_path / "report.pdf").read_bytes()
    assert content.startswith(b"%PDF-")
    assert content.count(b"/Type /Page\n") + content.count(b"/Type /Page ") > 1
    drawn = b"".join(map(_inflated, re.findall(rb"stream\r?\n(.*?)endstream", content, flags=re.DOTALL)))
    colour = " ".join(f"{int(RAMP[0][at : at + 2], 16) / 255:.4f}".lstrip("0") for at in (1, 3, 5))
    assert drawn.count(f"{colour} rg".encode()) > 20


def _inflated(stream: bytes) -> bytes:
    try:
        return zlib.decompress(stream)
    except zlib.error:  # a font or a picture
        return b""


def test_no_browser_no_pdf(report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the missing program and the other way; an old file stays."""
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "report.pdf").write_text("old")
    with pytest.raises(AnalysisError, match=r"PATH has no chromium, .*: install one, or open .* and print it"):
        print_pdf(report, tmp_path / "report.pdf")
    failing = tmp_path / "chromium"
    failing.write_text("#!/bin/sh\necho no display >&2\nexit 3\n")
    failing.chmod(0o755)
    with pytest.raises(AnalysisError, match=r"printed nothing \(exit code 3\): no display"):
        print_pdf(report, tmp_path / "report.pdf")
    assert (tmp_path / "report.pdf").read_text() == "old"


def test_a_report_without_charts(page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs that are too large to be drawn leave the tables, and a word about it."""
    monkeypatch.setattr("spillway.analysis.report.build.CHART_JOBS", 10)
    page.open(build_report(write_campaign(tmp_path)))
    assert page.complaints == []
    assert "2 runs have too many jobs" in page.evaluate("byId('status').innerText")


def test_dark(page: Page, report: Path) -> None:
    """On a dark system the page is dark, too: light letters on dark ground, also in the charts and after a change."""
    luminance = (
        "(name) => { const [r, g, b] = getComputedStyle(document.body)[name].match(/\\d+/g).map(Number);"
        " return 0.2126 * r + 0.7152 * g + 0.0722 * b; }"
    )
    bright = f"['color', 'backgroundColor'].map({luminance})"
    page.open(report)
    letters, ground = page.evaluate(bright)
    assert ground > 240 > 60 > letters
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    try:
        letters, ground = page.evaluate(bright)
        assert letters > 200 > 60 > ground
        assert page.evaluate("ink('outline')") == "#fff"
        assert page.complaints == []
    finally:
        page.call("Emulation.setEmulatedMedia", features=[])


def test_a_figure_is_dark_with_the_page(page: Page, tmp_path: Path) -> None:
    """Its ground and letters change; the colour of a policy stays, so that it is that of the paper."""
    folder = write_campaign(tmp_path)
    with drawing():
        save(bars({"easy": [np.array([10.0, 20.0])]}), folder / "plots" / "waiting-time")
    path = build_report(folder)
    found = {}
    for scheme in ("light", "dark"):
        page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        page.open(path)
        found[scheme] = page.evaluate(
            "(() => { const image = document.querySelector('figure img'), canvas = document.createElement('canvas');"
            " canvas.width = image.naturalWidth; canvas.height = image.naturalHeight;"
            " const context = canvas.getContext('2d'); context.drawImage(image, 0, 0);"
            " const at = (x, y) => [...context.getImageData(x, y, 1, 1).data.slice(0, 3)];"
            " return [at(2, 2), at(canvas.width / 2, canvas.height / 2)]; })()"
        )
    page.call("Emulation.setEmulatedMedia", features=[])
    assert min(found["light"][0]) > 240 > 60 > max(found["dark"][0])
    assert found["light"][1] == found["dark"][1] != found["dark"][0]


def test_figures_fit_a_phone(page: Page, tmp_path: Path) -> None:
    """At 400 px a figure is as wide as the page and not wider, though it was drawn for more."""
    folder = write_campaign(tmp_path)
    (folder / "plots").mkdir()
    (folder / "plots" / "queue.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg" width="900" height="300"/>')
    page.open(build_report(folder), 400, 800, touch=True)
    left, right = page.evaluate(
        "(() => { const r = document.querySelector('figure img').getBoundingClientRect();"
        " return [r.left, r.right]; })()"
    )
    assert 0 <= left < 20
    assert 380 < right <= 400
    assert page.evaluate("document.documentElement.scrollWidth") == 400


@pytest.mark.slow
@pytest.mark.alone
def test_thirty_thousand_jobs_stay_responsive(page: Page, tmp_path: Path) -> None:
    """Two schedules of 30,000 jobs each, whole, zoomed in, pointed at; ``python -m tests.analysis.report`` prints."""
    found = measure(page, build_report(write_campaign(tmp_path, 30_000)))
    assert found.jobs == 60_000
    assert found.load_s < 20
    assert found.whole_ms < 1000
    assert max(found.zoomed_ms, found.hover_ms) < 300
    assert page.complaints == []

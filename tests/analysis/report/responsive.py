"""Response times of a report in a headless Chromium."""

import time
from dataclasses import dataclass
from pathlib import Path

from tests.analysis.report.browser import Page

TIMES = 9
"""Repetitions; the median counts."""

_MEDIAN = (
    "((act) => {{ const found = []; for (let time = 0; time < {times}; time += 1) {{ const begin = performance.now(); "
    "act(time); found.push(performance.now() - begin); }} return found.sort((a, b) => a - b)[{middle}]; }})"
)


@dataclass(frozen=True)
class Measured:
    """Sizes and response times of a report.

    Attributes
    ----------
    jobs
        In both schedules together.
    page_bytes
        Size of the file.
    load_s
        From the address to the first drawing.
    whole_ms, zoomed_ms
        Drawing both schedules, whole and a hundredth of their time.
    hover_ms
        Finding the job at a point of the whole chart, and its words.
    """

    jobs: int
    page_bytes: int
    load_s: float
    whole_ms: float
    zoomed_ms: float
    hover_ms: float


def measure(page: Page, report: Path) -> Measured:
    """Open a report with two schedules, and measure."""
    begin = time.monotonic()
    page.open(report)
    load_s = time.monotonic() - begin
    median = _MEDIAN.format(times=TIMES, middle=TIMES // 2)
    draw = f"{median}(() => charts.forEach((chart) => chart.draw()))"
    whole_ms = page.evaluate(draw)
    page.evaluate("zoom(0.01, 0.5), 0")
    zoomed_ms = page.evaluate(draw)
    page.evaluate("setView(0, view.whole), 0")
    point = (
        "const canvas = charts[0].canvases[0], job = charts[0].at(canvas, 80 + 113 * time, 20 + 23 * time);"
        " if (job >= 0) { story(charts[0].run, job); comparison(charts[0], charts[0].run.id[job]); }"
    )
    hover_ms = page.evaluate(f"{median}((time) => {{ {point} }})")
    jobs = page.evaluate("runs[0].id.length + runs[1].id.length")
    return Measured(jobs, report.stat().st_size, load_s, whole_ms, zoomed_ms, hover_ms)

"""Figures for a paper: of a column's width, by a style of one's own, in formats that print; one legend."""

import re
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from spillway.analysis.plots.distributions import bars
from spillway.analysis.plots.gantt import gantt
from spillway.analysis.plots.points import pareto
from spillway.analysis.plots.style import drawing, save
from spillway.analysis.tables.jobs import JobTable


def test_a_figure_has_the_width_that_is_asked_for(table: JobTable, tmp_path: Path) -> None:
    """To a hundredth of a millimetre in PDF, the same bytes twice, and no text of the axes' names is lost."""
    for draw in (lambda: bars({"easy": [table.ran().wait_s]}), lambda: gantt(table, title="easy")):
        made = []
        for name in "ab":
            with drawing(84.0):
                made += save(draw(), tmp_path / name, ("pdf",))
        first, second = (path.read_bytes() for path in made)
        box = re.search(rb"/MediaBox \[ ?([-0-9. ]+) ?\]", first)
        assert box is not None
        left, _, right, _ = map(float, box[1].split())
        assert (right - left) / 72 * 25.4 == pytest.approx(84.0, abs=0.01)
        assert first == second


def test_the_gantt_says_once_what_its_colours_mean(table: JobTable) -> None:
    """It was above the nodes and again above the burst buffers; on narrow figures nothing is beside the page."""
    with drawing(84.0):
        figure = gantt(table, title="easy").get_figure()
    assert isinstance(figure, Figure)
    figure.draw_without_rendering()
    found = [legend for ax in figure.axes if (legend := ax.get_legend()) is not None]
    titles = [legend.get_texts()[0].get_text() for legend in found]
    assert titles.count("waited:") == 1
    assert all(ax.get_window_extent().width > 0.6 * figure.bbox.width for ax in figure.axes)
    for legend in found:
        box = legend.get_window_extent()
        assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1


def test_a_style_comes_before_our_settings(tmp_path: Path) -> None:
    """Letters and width are the style's, and only inside the block."""
    style = tmp_path / "journal.mplstyle"
    style.write_text("font.size: 6\nfigure.figsize: 3.5, 2\n")
    with drawing(style=str(style)):
        ax = pareto({"a": (1.0, 3.0), "b": (3.0, 1.0)})
        ax.figure.draw_without_rendering()
        sizes = {text.get_fontsize() for text in (*ax.get_xticklabels(), ax.xaxis.label, *ax.texts)}
    assert sizes == {6.0}
    assert ax.figure.get_figwidth() == 3.5  # type: ignore[union-attr]
    assert pareto({"a": (1.0, 3.0)}).figure.get_figwidth() > 5  # type: ignore[union-attr]


def test_long_names_of_axes_go_on_below(tmp_path: Path) -> None:
    """At 84 mm a sentence below the axis is wider than the page."""
    with drawing(84.0):
        ax = bars({"easy": []})
        ax.set_xlabel("word " * 30)
        save(ax, tmp_path / "x", ("svg",))
    assert ax.get_xlabel().count("\n") >= 2

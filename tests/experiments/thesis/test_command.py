"""``run_experiments.py thesis`` from end to end, on a small log in place of the KTH log."""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from experiments.cli import main
from experiments.thesis import inputs
from experiments.thesis.command import parse_parts

pytestmark = pytest.mark.slow
ARGUMENTS = ["thesis", "--model", "alloc", "--parts", "0,2", "--seeds", "2", "--workers", "2"]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished reproduction on inputs that had to be drawn, reported on again by a second command.

    Figures are drawn by the second command only: the first leaves out the half of its CPU time that goes into the same.
    """
    folder = tmp_path_factory.mktemp("thesis")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(inputs.VARIABLE, raising=False)
        patch.setattr(inputs, "LOG", "kth-like:jobs=240")
        with pytest.MonkeyPatch.context() as undrawn:
            undrawn.setattr(Figure, "savefig", lambda _figure, stream, **_kind: stream.write(b"not drawn yet"))
            assert main([*ARGUMENTS, "--out", str(folder)]) == 0
        assert main([*ARGUMENTS, "--out", str(folder)]) == 0
    assert not [path for path in folder.rglob("*.png") if path.read_bytes()[:4] != b"\x89PNG"]
    return folder


def test_report_says_that_inputs_were_drawn(report: Path) -> None:
    """Only statistics can be compared then, and nothing is judged."""
    text = (report / "REPORT.md").read_text()
    assert "drawn anew from the KTH log" in text
    with (report / "comparison.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["verdict"] for row in rows} <= {"within", "beyond"}
    assert {row["workload"] for row in rows} == {"parts"}


def test_every_kind_of_figure_is_there(report: Path) -> None:
    """Distributions, parts, ratios, loads, makespan and Gantt; every picture that is linked exists."""
    text = (report / "REPORT.md").read_text()
    linked = [line.partition("](")[2].rstrip(")") for line in text.splitlines() if line.startswith("![")]
    assert all((report / path).is_file() for path in linked)
    for number in ("4.1", "4.2", "4.3", "4.4", "4.8", "4.9", "4.10", "4.41", "4.42", "4.49"):
        assert f"### Figure {number}:" in text, number
    assert "Figure 4.16" not in text


def test_seeds_and_costs_are_told(report: Path) -> None:
    """Two seeds of the annealing and their mean; on inputs that were drawn no distance from the published value."""
    text = (report / "REPORT.md").read_text()
    assert "| schedule | model | metric | published | our mean | one draw | distance | by seed |" in text
    rows = [line for line in text.splitlines() if line.startswith("| plan-square-0 |") and " | - | " in line]
    assert len(rows) == 2
    for row in rows:
        cells = [cell.strip() for cell in row.split("|")[1:-1]]
        mean, seeds = float(cells[4].replace(",", "")), [float(cell.replace(",", "")) for cell in cells[7].split()]
        assert len(seeds) == 2
        assert mean == pytest.approx(sum(seeds) / 2, rel=0.01, abs=0.01)
        assert cells[6] == "-"
    assert "## What it cost" in text


def test_what_has_finished_can_be_reported_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``--report`` runs nothing: what is missing is left out, here everything."""
    monkeypatch.delenv(inputs.VARIABLE, raising=False)
    monkeypatch.setattr(inputs, "LOG", "kth-like:jobs=240")
    assert main([*ARGUMENTS, "--report", "--out", str(tmp_path)]) == 0
    assert (tmp_path / "REPORT.md").read_text().startswith("# The thesis's evaluation, repeated\n\n0 runs")
    assert not list(tmp_path.glob("part-*"))


def test_page_is_one_file(report: Path) -> None:
    """All pictures are in the page."""
    page = (report / "report.html").read_text()
    assert page.count("data:image/png;base64,") == (report / "REPORT.md").read_text().count("![")
    assert 'src="plots' not in page


def test_parts() -> None:
    """Ranges and lists, counted from 0."""
    assert parse_parts("0-3,9") == (0, 1, 2, 3, 9)
    assert parse_parts("4") == (4,)
    for wrong in ("", "16", "3-", "a", "-1"):
        with pytest.raises(argparse.ArgumentTypeError):
            parse_parts(wrong)


def test_wrong_options_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong option is an error of the command line."""
    assert main(["thesis", "--parts", "99"]) == 2
    line = "spillway: error: --parts: parts are numbered from 0 to 15, got '99' (see spillway study thesis --help)\n"
    assert capsys.readouterr().err == line

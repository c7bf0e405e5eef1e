"""``spillway thesis`` from end to end, on a small log in place of the KTH log."""

from __future__ import annotations

from pathlib import Path

import pytest
from matplotlib.figure import Figure

from spillway.experiments.cli import main
from spillway.experiments.studies.thesis import inputs
from tests.kit.tables import csv_rows

pytestmark = pytest.mark.slow
SCHEDULES = "policy=no-future-1;backfill-1;backfill-sjf-1"
ARGUMENTS = [
    "study",
    "thesis",
    "--quick",
    "--set",
    "model=rigid",
    "--set",
    "workload=part-0;part-2",
    "--set",
    SCHEDULES,
]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished study on inputs that had to be drawn, reported on again by a second command.

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


def test_nothing_is_judged(report: Path) -> None:
    """Quick conditions are not the paper's; no published value is printed beside ours."""
    rows = csv_rows(report / "claims.csv")
    assert {row["verdict"] for row in rows} == {"not judged"}
    assert "published" not in rows[0]
    assert any(row["ours [95 %]"] for row in rows)


def test_every_kind_of_figure_is_there(report: Path) -> None:
    """Distributions, parts and ratios, each in the report."""
    text = (report / "report.md").read_text()
    wait = "mean_waiting_time_s"
    for stem in (
        f"4.2.1-rigid-{wait}-full",
        f"4.2.1-rigid-{wait}-parts",
        "4.6.1-rigid-mean_turnaround_time_s-normalised",
    ):
        assert (report / "figures" / f"{stem}.png").is_file(), stem
        assert f"figures/{stem}.svg" in text
    assert not list((report / "figures").glob("*-io-*"))


def test_wrong_data_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder without the published inputs is named in one line."""
    assert main(["study", "thesis", "--data", str(tmp_path), "--out", str(tmp_path / "out")]) == 2
    assert "expected the thesis's files there" in capsys.readouterr().err

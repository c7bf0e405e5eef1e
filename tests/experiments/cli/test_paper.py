"""``--figures``, ``--width``, ``--style`` and ``--tables``, and errors in them."""

from pathlib import Path

import pytest

from spillway.experiments.cli import main

RUN = ["run", "kth-like:jobs=20", "--platform", "thesis", "--policy", "fcfs", "--workers", "1", "--no-replay"]


def test_figures_and_tables_for_a_paper(tmp_path: Path) -> None:
    """Each figure in each format, nothing left of another one; the table as LaTeX and parquet."""
    parquet = pytest.importorskip("pyarrow.parquet")
    out = ["--out", str(tmp_path / "out")]
    assert main([*RUN, *out]) == 0
    plots = tmp_path / "out" / "plots"
    stems = {path.stem for path in plots.iterdir()}
    assert {path.suffix for path in plots.iterdir()} == {".png", ".svg"}
    assert main([*RUN, *out, "--figures", "pdf,svg", "--width", "84mm", "--tables", "tex,parquet"]) == 0
    assert {path.name for path in plots.iterdir()} == {f"{stem}.{kind}" for stem in stems for kind in ("pdf", "svg")}
    lines = (tmp_path / "out" / "summary.tex").read_text().splitlines()
    assert lines[0] == r"\begin{tabular}{lr}"
    assert r" & fcfs \\" in lines
    (row,) = parquet.read_table(tmp_path / "out" / "summary.parquet").to_pylist()
    assert (row["policy"], row["jobs"]) == ("fcfs", 20)
    assert main([*RUN, *out, "--no-plots"]) == 0
    assert not (tmp_path / "out" / "summary.tex").exists()


def test_a_report_draws_its_figures_again(tmp_path: Path) -> None:
    """Was an option only of commands that play; the folder stays whole, and earlier figures are kept."""
    out = tmp_path / "out"
    assert main([*RUN, "--out", str(out)]) == 0
    before = {path.stem for path in (out / "plots").iterdir()}
    assert main(["report", str(out), "--figures", "pdf,svg", "--width", "84mm"]) == 0
    kinds = {suffix: {path.stem for path in (out / "plots").glob(f"*{suffix}")} for suffix in (".png", ".svg", ".pdf")}
    assert kinds == {".png": before, ".svg": before, ".pdf": before}
    assert b"/MediaBox [ 0 0 238.1102362205 " in (out / "plots" / "waiting-time.pdf").read_bytes()
    assert 'width="238.110236pt"' in (out / "plots" / "waiting-time.svg").read_text()
    assert main(["verify", str(out)]) == 0


def test_a_study_draws_for_a_paper(tmp_path: Path) -> None:
    """Its report shows SVG, else PNG."""
    page = Path(__file__).parents[3] / "docs" / "studies.md"
    file = tmp_path / "small.py"
    file.write_text(page.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0], encoding="utf-8")
    played = ["study", str(file), "--quick", "--out", str(tmp_path / "out"), "--workers", "1"]
    assert main([*played, "--figures", "pdf,svg", "--width", "84mm"]) == 0
    drawn = list((tmp_path / "out" / "figures").iterdir())
    assert {path.suffix for path in drawn} == {".pdf", ".svg"}
    assert all(b"/MediaBox [ 0 0 238.1102362205 " in path.read_bytes() for path in drawn if path.suffix == ".pdf")
    page = (tmp_path / "out" / "report.html").read_text()
    assert page.count("<figure") == len(drawn) // 2
    assert main([*played, "--figures", "pdff"]) == 2


def test_what_is_not_installed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """LaTeX for pgf, pyarrow for parquet."""
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("importlib.util.find_spec", lambda name, *_: None)
    assert main([*RUN, "--figures", "pgf", "--out", str(tmp_path)]) == 2
    assert "needs xelatex for the size of letters" in capsys.readouterr().err
    assert main([*RUN, "--tables", "parquet", "--out", str(tmp_path)]) == 2
    assert "pip install 'spillway[parquet]'" in capsys.readouterr().err

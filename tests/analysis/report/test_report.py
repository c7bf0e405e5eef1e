"""The report's file: self-contained, complete, the same bytes twice."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from analysis.campaign import baseline_of, read_campaign
from analysis.errors import AnalysisError
from analysis.report.build import build_report
from analysis.report.tables import number
from tests.analysis.report.campaigns import write_campaign


def chart_data(page: str) -> Any:
    """The data that the page carries."""
    found = re.search(r'id="data">([^<]*)<', page)
    assert found is not None
    return json.loads(gzip.decompress(base64.b64decode(found.group(1))))


def test_page_has_everything(tmp_path: Path) -> None:
    """Findings, tables, schedules and how to repeat them are in one file."""
    page = build_report(write_campaign(tmp_path)).read_text()
    assert (
        "easy waits 1.97 times as much as sjf-easy here; whether it does elsewhere is open: there is no interval"
        in page
    )
    assert "Waiting time by class of jobs" in page
    assert "python run_experiments.py run --policy &lt;easy&gt;" in page
    assert "python 3.11" in page
    data = chart_data(page)
    assert [run["label"] for run in data["runs"]] == ["easy · log, seed 0", "sjf-easy · log, seed 0"]
    run = data["runs"][0]
    assert len(run["id"]) == len(run["start"]) == len(run["why"]) == 60
    assert run["nodes"] == 4
    assert run["storages"] == ["s0", "s1"]
    assert {why for why in run["why"] if "|" in why} == {"backfilled|burst buffers 100 %"}


@pytest.mark.parametrize("rejecting", [("easy",), ("easy", "sjf-easy")])
def test_a_policy_that_rejects_everything(tmp_path: Path, rejecting: tuple[str, ...]) -> None:
    """The comparison says so; the page is built."""
    folder = write_campaign(tmp_path)
    for policy in rejecting:
        path = folder / f"log_{policy}" / "jobs.csv"
        header, *rows = path.read_text().splitlines(keepends=True)
        refused = [",".join([*row.split(",")[:6], "0", "REJECTED", *[""] * 8, "\n"]) for row in rows]
        path.write_text("".join([header, *refused]))
    page = build_report(folder).read_text()
    counts = " jobs, ".join(f"{policy} rejected {60 * (policy in rejecting)} of 60" for policy in ("easy", "sjf-easy"))
    assert f"easy and sjf-easy cannot be compared: no job ran under both ({counts} jobs)." in page


def test_runs_of_other_code_are_marked(tmp_path: Path) -> None:
    """A reader of the page learns which figures come from code that has changed since."""
    folder = write_campaign(tmp_path)
    lines = (folder / "summary.csv").read_text().splitlines()
    marks = ["other_code", "1", "0"]
    (folder / "summary.csv").write_text("".join(f"{line},{mark}\n" for line, mark in zip(lines, marks, strict=True)))
    page = build_report(folder).read_text()
    assert "1 of the runs (marked *: easy) were made by other code" in page
    assert page.count("easy *<") == 1
    assert "sjf-easy *" not in page


def test_page_needs_no_network(tmp_path: Path) -> None:
    """Nothing is loaded from elsewhere: no address, no linked script, style or font."""
    page = build_report(write_campaign(tmp_path)).read_text()
    assert "http://" not in page
    assert "https://" not in page
    assert not re.findall(r'(?:src|href)="(?!data:)', page)
    assert "@import" not in page


def test_figures_of_several_machines(tmp_path: Path) -> None:
    """They lie in folders named after platform and model, made safe as the figures' writer does; never elsewhere."""
    folder = write_campaign(tmp_path / "campaign")
    summary = (folder / "summary.csv").read_text()
    (folder / "summary.csv").write_text(summary.replace(",toy,sjf-easy", ",../a b,sjf-easy"))
    for name, picture in (("plots/a-b-alloc", b"right"), ("../a b-alloc", b"wrong")):
        (folder / name).mkdir(parents=True)
        (folder / name / "queue.png").write_bytes(picture)
    page = build_report(folder).read_text()
    assert base64.b64encode(b"right").decode() in page
    assert base64.b64encode(b"wrong").decode() not in page


def test_the_same_campaign_gives_the_same_bytes(tmp_path: Path) -> None:
    """No clock, no random number."""
    folder = write_campaign(tmp_path)
    first = build_report(folder, tmp_path / "a.html").read_bytes()
    assert build_report(folder, tmp_path / "b.html").read_bytes() == first


def test_many_parts_are_compared_as_parts(tmp_path: Path) -> None:
    """From five workloads on there is an interval, over runs; never one over jobs."""
    folder = write_campaign(tmp_path, 20, tuple(f"part-{i}" for i in range(5)))
    page = build_report(folder).read_text()
    assert "over 5 runs, 100 jobs" in page
    assert len(chart_data(page)["runs"]) == 10


def test_too_many_jobs_for_the_charts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs beyond the limit stay in the tables, and the page says how many."""
    monkeypatch.setattr("analysis.report.build.CHART_JOBS", 70)
    page = build_report(write_campaign(tmp_path)).read_text()
    data = chart_data(page)
    assert len(data["runs"]) == 1
    assert data["left"] == 1
    monkeypatch.setattr("analysis.report.build.CHART_JOBS", 10)
    assert chart_data(build_report(tmp_path).read_text()) == {"runs": [], "left": 2}


COLUMNS = "workload,platform,policy,engine,model,seed,jobs,run"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{COLUMNS}\n", "no finished run"),
        ("workload,run\na,b\n", "no column 'platform'"),
        (f"{COLUMNS}\na,b,c,d,e,0,many,r\n", "line 2: column 'jobs' must hold numbers, got 'many'"),
        (f"{COLUMNS}\na,b,c,d,e,0,1,../r\n", "line 2: 'run' must name a folder"),
        (f"{COLUMNS}\na,b,c,d,e,0,,r\n", "line 2: column 'jobs' must hold a"),
        (f"{COLUMNS}\na,b\n", "line 2: expected 8 fields, got 2"),
        (f'{COLUMNS}\n"{"x" * 200_000}"', "line 2: no line of a table: field larger than field limit"),
        (f"{COLUMNS}\n\udcff\n", "no line of a table: 'utf-8' codec"),
    ],
)
def test_damaged_campaigns(tmp_path: Path, text: str, message: str) -> None:
    """The message names the file and the place."""
    (tmp_path / "summary.csv").write_text(text, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(AnalysisError, match=message):
        read_campaign(tmp_path)


def test_no_campaign(tmp_path: Path) -> None:
    """A folder without a campaign is named."""
    with pytest.raises(AnalysisError, match=r"summary\.csv: cannot be read"):
        build_report(tmp_path)


def test_baseline() -> None:
    """The thesis's reference where it is there."""
    assert baseline_of(["fcfs", "sjf-easy", "replay"]) == "replay"
    assert baseline_of(["fcfs", "sjf-easy", "easy"]) == "sjf-easy"
    assert baseline_of(["fcfs", "easy"]) == "easy"
    assert baseline_of(["fcfs", "plan"]) == "fcfs"


def test_numbers_for_people() -> None:
    """Digits without a use are left out."""
    assert [number(value) for value in (1234567.8, 12, 12.345, 0.123456)] == ["1,234,568", "12", "12.35", "0.123"]

"""The report's file: self-contained, complete, the same bytes twice."""

import base64
import gzip
import json
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from spillway.analysis.errors import AnalysisError
from spillway.analysis.measures.insights import insights
from spillway.analysis.measures.metrics import Summary
from spillway.analysis.report.build import build_report
from spillway.analysis.report.columns import FURTHER, LOSSES, SERVICE
from spillway.analysis.tables.campaign import baseline_of, read_campaign
from spillway.analysis.tables.jobs import JobTable
from spillway.experiments.campaign.folder.summary import TIMINGS
from tests.analysis.report.campaigns import write_campaign


def chart_data(page: str) -> Any:
    """The data that the page carries."""
    found = re.search(r'id="data">([^<]*)<', page)
    assert found is not None
    return json.loads(gzip.decompress(base64.b64decode(found.group(1))))


def test_page_has_everything(tmp_path: Path) -> None:
    """Findings, tables, schedules and the commands that repeat them are in one file."""
    page = build_report(write_campaign(tmp_path)).read_text()
    order = ["Answer", "Assumptions", "Policies side by side", "Waiting time by class of jobs", "The schedules"]
    places = [page.index(f">{title}</h") for title in order]
    assert places == sorted(places)
    assert "60 jobs of log under 2 policies: 2 runs. Every policy plays the same jobs." in page
    assert "In these runs sjf-easy has the smallest mean waiting time: sjf-easy 50.5 s, easy 1 min 40 s." in page
    assert "Whether this holds elsewhere is open: 1 run of each policy with 60 jobs in all gives no interval" in page
    assert "toy: 4 compute nodes, 2 storage nodes of 100 B, 200 B in all" in page
    assert "easy: the mean wait is 97 % higher than under sjf-easy for these 60 jobs." in page
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


def test_drained_parts_are_named(tmp_path: Path) -> None:
    """With the machine; a campaign without drains does not mention them."""
    folder = write_campaign(tmp_path)
    assert "drains.csv" not in build_report(folder).read_text()
    rows = ("time_s,storage,drained_bytes,left_bytes", "5.000000,s1,30,70", "6.000000,s1,40,-10", "9.000000,s1,0,50")
    (folder / "log_easy" / "drains.csv").write_text("\n".join(rows) + "\n")
    page = build_report(folder).read_text()
    assert "log: part of 1 storage node was drained for a time (drains.csv), at most 40 B" in page


@pytest.mark.parametrize("rejecting", [("easy",), ("easy", "sjf-easy")])
def test_a_policy_that_rejects_everything(tmp_path: Path, rejecting: tuple[str, ...]) -> None:
    """The comparison reports it; the page is built."""
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
    assert page.count("</svg>easy *<") == 2  # both tables of policies
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
    assert "5 runs, 100 jobs" in page
    assert len(chart_data(page)["runs"]) == 10


def test_too_many_jobs_for_the_charts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs beyond the limit stay in the tables, and the page states their number."""
    monkeypatch.setattr("spillway.analysis.report.build.CHART_JOBS", 70)
    page = build_report(write_campaign(tmp_path)).read_text()
    data = chart_data(page)
    assert len(data["runs"]) == 1
    assert data["left"] == 1
    monkeypatch.setattr("spillway.analysis.report.build.CHART_JOBS", 10)
    data = chart_data(build_report(tmp_path).read_text())
    assert (data["runs"], data["left"]) == ([], 2)


COLUMNS = "workload,platform,policy,engine,model,seed,jobs,run"


@pytest.mark.parametrize(("text", "message"), [
    (f"{COLUMNS}\n", "no finished run"),
    ("workload,run\na,b\n", "no column 'platform'"),
    (f"{COLUMNS}\na,b,c,d,e,0,many,r\n", "line 2: column 'jobs' must hold numbers, got 'many'"),
    (f"{COLUMNS}\na,b,c,d,e,0,1,../r\n", "line 2: 'run' must name a folder"),
    (f"{COLUMNS}\na,b,c,d,e,0,,r\n", "line 2: column 'jobs' must hold a"),
    (f"{COLUMNS}\na,b\n", "line 2: expected 8 fields, got 2"),
    (f'{COLUMNS}\n"{"x" * 200_000}"', "line 2: expected 8 fields, got 1"),
    (f"{COLUMNS}\n\udcff\n", "no line of a table: 'utf-8' codec"),
])  # fmt: skip
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
    """The thesis's reference, if it was run."""
    assert baseline_of(["fcfs", "sjf-easy", "replay"]) == "replay"
    assert baseline_of(["fcfs", "sjf-easy", "easy"]) == "sjf-easy"
    assert baseline_of(["fcfs", "easy"]) == "easy"
    assert baseline_of(["fcfs", "plan"]) == "fcfs"


def test_figures_are_vector_graphics_where_there_are_some(tmp_path: Path) -> None:
    """SVG before PNG; campaigns of before have PNG only."""
    folder = write_campaign(tmp_path)
    (folder / "plots").mkdir()
    for name, content in (("queue.svg", b"<svg/>"), ("queue.png", b"old"), ("trade-off.png", b"only")):
        (folder / "plots" / name).write_bytes(content)
    page = build_report(folder).read_text()
    assert f"data:image/svg+xml;base64,{base64.b64encode(b'<svg/>').decode()}" in page
    assert f"data:image/png;base64,{base64.b64encode(b'only').decode()}" in page
    assert base64.b64encode(b"old").decode() not in page


def test_what_was_assumed_is_on_the_page(tmp_path: Path) -> None:
    """Loads with their warning, notes of several seeds as one, the model's words, uncommitted code, rejected jobs."""
    folder = write_campaign(tmp_path)
    for path in folder.glob("*/run.json"):
        record = json.loads(path.read_text()) | {
            "assumed": {"notes": [], "offered_load": {"compute": 1.7, "storage": 0.4}},
            "configuration": {"model": {"name": "rigid"}},
            "job_model": "A job computes.",
            "versions": {"spillway": "0.1.0"},
            "commit": "abc+changes",
        }
        path.write_text(json.dumps(record))
    notes = [f"log, seed {seed}: 3 jobs were left out" for seed in range(3)]
    (folder / "assumptions.txt").write_text("\n".join([*notes, "log, seed 0: offered load: 1.70 of the compute nodes"]))
    page = build_report(folder).read_text()
    assert "log: 1.70 of the compute nodes; 0.40 of the burst buffers" in page
    assert page.count("The jobs request up to 1.70 times the compute nodes of the machine") == 2
    assert "log, seeds 0, 1, 2: 3 jobs were left out" in page
    assert "rigid: A job computes." in page
    assert "spillway 0.1.0, commit abc, with changes that were not committed" in page
    assert "offered load:" not in page


def test_every_figure_of_the_summary_has_a_name_and_words(table: JobTable, run_folder: Path) -> None:
    """No column of ``summary.csv`` and no further figure is without."""
    names = {column.name for column in (*SERVICE, *FURTHER, *LOSSES)}
    assert {field.name for field in fields(Summary)} | {*TIMINGS, *insights(table, run_folder)} == names
    assert all("_" not in column.title and column.words.endswith(".") for column in (*SERVICE, *FURTHER, *LOSSES))

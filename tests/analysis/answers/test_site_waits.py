"""Errors against the site's own waits: figures by hand, and the table of a run with partitions."""

from pathlib import Path

import numpy as np
import pytest

from spillway.analysis.answers.site_waits import CSV, errors
from spillway.experiments.cli import main
from tests.kit.tables import csv_by, csv_rows

SITE = """
nodes = 4
[[partition]]
name = "short"
nodes = "0-1"
[[partition]]
name = "long"
nodes = "2-3"
[[reservation]]
name = "down"
start = 2026-12-31T00:00:00
length_s = 3600
flags = ["MAINT", "ALL_NODES"]
[burst_buffer]
stage_in_timeout_s = 60
"""


def test_errors_by_hand() -> None:
    """Waits of 0, 10 and 7,200 s; 5, 10 and 0 s at the site: errors of 5, 0 and 7,200 s."""
    found = errors(np.array([0.0, 10.0, 7200.0]), np.array([5.0, 10.0, 0.0]))
    assert found == {
        "jobs": 3.0,
        "site_wait_s": 5.0,
        "wait_s": pytest.approx(7210 / 3),
        "deviation": pytest.approx(7210 / 15 - 1),
        "median_error_s": 5.0,
        "mean_error_s": pytest.approx(7205 / 3),
        "within_hour": pytest.approx(2 / 3),
    }
    assert np.isnan(errors(np.array([]), np.array([]))["deviation"])


def test_by_partition(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two jobs of each partition, two nodes each, of 60 s: the second waits for the first. At the site the second of
    ``short`` waited 160 s, of which 60 s, less the messages' time, are played; ``long`` is played as recorded."""
    rows = []
    for number, (partition, wait_s) in enumerate([("short", 0), ("short", 160), ("long", 0), ("long", 60)], start=1):
        start, end = (f"2026-12-01T08:{s // 60:02}:{s % 60:02}" for s in (wait_s, wait_s + 60))
        times = f"2026-12-01T08:00:00|2026-12-01T08:00:00|{start}|{end}|60|00:02:00"
        rows.append(f"{number}|ann|lab|{partition}|normal|COMPLETED|{times}|2|2\n")
    head = "JobID|User|Account|Partition|QOS|State|Submit|Eligible|Start|End|ElapsedRaw|Timelimit|NNodes|NCPUS\n"
    (tmp_path / "jobs.txt").write_text(head + "".join(rows))
    (tmp_path / "site.toml").write_text(SITE)
    out = tmp_path / "out"
    options = ["--policy", "easy", "--site", str(tmp_path / "site.toml"), "--out", str(out), "--figures", "svg"]
    assert main(["run", str(tmp_path / "jobs.txt"), *options]) == 0
    table = csv_by(out / CSV, "partition")
    assert set(table) == {"all", "short", "long"}
    short = {name: round(float(table["short"][name])) for name in ("jobs", "site_wait_s", "wait_s", "mean_error_s")}
    assert short == {"jobs": 2, "site_wait_s": 80, "wait_s": 30, "mean_error_s": 50}
    assert round(float(table["long"]["mean_error_s"])) == 0
    assert float(table["all"]["within_hour"]) == 1.0
    assert "waits beside the site's own" in capsys.readouterr().out
    page = (out / "report.html").read_text()
    assert "Errors against the site&#39;s own waits" in page
    assert "of the site: settings of burst buffers" in page


def test_attempts_after_an_outage(tmp_path: Path) -> None:
    """Of two jobs of 60 s, one at a time, the first loses its node at 30 s and starts over at 40 s: the log says when
    it started at the site, not when its second attempt did, and waits are compared without that. The second job waits
    60 s at the site, until 100 s here.
    """
    rows = []
    for number, wait_s in enumerate((0, 60), start=1):
        start, end = (f"2026-12-01T08:{s // 60:02}:{s % 60:02}" for s in (wait_s, wait_s + 60))
        times = f"2026-12-01T08:00:00|2026-12-01T08:00:00|{start}|{end}|60|00:02:00"
        rows.append(f"{number}|ann|lab|short|normal|COMPLETED|{times}|1|1\n")
    head = "JobID|User|Account|Partition|QOS|State|Submit|Eligible|Start|End|ElapsedRaw|Timelimit|NNodes|NCPUS\n"
    (tmp_path / "jobs.txt").write_text(head + "".join(rows))
    events = [(30, "machine_unavailable"), (40, "machine_available")]
    (tmp_path / "out.jsonl").write_text(
        "".join(f'{{"timestamp": {time_s}, "type": "{what}", "resources": "0"}}\n' for time_s, what in events)
    )
    out = tmp_path / "out"
    options = ["--policy", "fcfs", "--events", str(tmp_path / "out.jsonl"), "--on-outage", "requeue", "--no-plots"]
    assert main(["run", str(tmp_path / "jobs.txt"), *options, "--out", str(out)]) == 0
    (row,) = csv_rows(out / CSV)
    assert [round(float(row[name])) for name in ("jobs", "site_wait_s", "wait_s")] == [2, 30, 50]

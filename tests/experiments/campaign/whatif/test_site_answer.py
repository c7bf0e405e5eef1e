"""``spillway answer``: who waits, what binds, and what would help, on one page."""

from pathlib import Path

import numpy as np
import pytest

from spillway.analysis.answers.bindings import BUFFERS, NODES, POLICY, bound, groups
from spillway.analysis.answers.whatif import read_table
from spillway.analysis.tables.jobs import read_run
from spillway.experiments.campaign.whatif.site_answer import candidates
from spillway.experiments.cli import main
from spillway.experiments.run.spec import PlatformSpec
from spillway.schedulers.site_file import read_site

SITE = """
nodes = 8
[[partition]]
name = "batch"
nodes = "0-7"
default = true
longest_s = 3600
[[license]]
name = "matlab"
count = 2
[[reservation]]
name = "maint"
start = 1990-12-01T08:00:00
length_s = 3600
flags = ["MAINT"]
nodes = "0-7"
"""


def test_changes_that_are_tried(tmp_path: Path) -> None:
    """Only what the machine and the site have; capacity where somebody states it."""
    (tmp_path / "site.toml").write_text(SITE)
    site = read_site(tmp_path / "site.toml")
    auto = PlatformSpec(source="auto")
    assert candidates(auto, None, "easy") == ["policy=sjf-easy", "policy=conservative", "nodes=+10%"]
    assert candidates(PlatformSpec(source="thesis"), None, "fcfs")[3:] == ["storage.capacity=x1.25"]
    assert candidates(PlatformSpec(source="uniform-2048"), None, "fcfs")[3:] == []
    assert candidates(PlatformSpec(source="auto,burst_buffer_total=0"), None, "fcfs")[3:] == ["nodes=+10%"]
    assert candidates(auto, site, "slurm-backfill")[3:] == [
        "partition.batch.nodes=+10%", "license.matlab=+1", "limits=none", "reservation.maint=none",
    ]  # fmt: skip


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an answer: eight nodes, of which the site left half idle until the hour."""
    folder = tmp_path_factory.mktemp("answer")
    row = "{n} {submit} {wait} 600 4 -1 -1 4 900 -1 1 {user} 1 -1 -1 -1 -1 -1\n"
    jobs = [row.format(n=n, submit=300 * n, wait=300 * n + 600, user=n % 3) for n in range(1, 41)]
    (folder / "log.swf").write_text("; MaxNodes: 8\n" + "".join(jobs))
    options = ["--no-plots", "--workers", "1", "--burst-buffer-total", "0", "--out", str(folder / "out")]
    assert main(["answer", str(folder / "log.swf"), *options]) == 0
    return folder / "out"


def test_waits_are_divided_completely(page: Path) -> None:
    """Each second of waiting is of one kind; the site's own schedule waits although nodes were free."""
    (site,) = page.glob("*replay*")
    found = bound(site, read_run(site).ran())
    assert found.seconds.sum(axis=1) == pytest.approx(found.table.wait_s)
    assert next(iter(found.node_hours)) == POLICY
    assert found.node_hours.get(BUFFERS) is None
    assert sum(found.node_hours.values()) == pytest.approx((found.table.wait_s * found.table.nodes).sum() / 3600)
    row = int(np.argmax(found.seconds[:, 0]))
    assert found.kind_of(row) in (NODES, POLICY)


def test_groups_hold_all_jobs(page: Path) -> None:
    """In each kind of group."""
    (site,) = page.glob("*replay*")
    table = read_run(site).ran()
    found = groups(table)
    assert {group.kind for group in found} == {"users"}  # all jobs are short and narrow, without burst buffers
    assert sum(group.jobs for group in found) == len(table) == 40


def test_one_wait_of_the_site(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The log's own, wherever it stands, also where the replay starts jobs late; was: one of three numbers."""
    row = "{n} {submit} 60 6000 6 -1 -1 6 6000 -1 1 1 1 -1 -1 -1 -1 -1\n"
    (tmp_path / "log.swf").write_text(
        "; MaxNodes: 8\n" + "".join(row.format(n=n, submit=3000 * n) for n in range(1, 31))
    )
    options = ["--no-plots", "--workers", "1", "--burst-buffer-total", "0", "--out", str(tmp_path / "out"), "--force"]
    assert main(["answer", str(tmp_path / "log.swf"), *options]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "the log states a mean wait of 1 min; the log's schedule does not fit the stated machine" in printed
    assert "the replay has" not in printed
    rows = {row["setting"]: row for row in read_table(tmp_path / "out" / "whatif.csv")}
    site = rows["what the site did"]
    assert (site["compared_wait_s"], site["max_waiting_time_s"], site["starved"]) == (60, 60, 0)
    assert rows["unchanged"]["to_site_before_s"] == 60
    (replay,) = (tmp_path / "out").glob("*replay*")
    assert read_run(replay).wait_s.max() > 3600


def test_the_page(page: Path) -> None:
    """What was not played first, then the tables; the sentences of the changes last."""
    text = (page / "answer.html").read_text()
    places = [text.index(f"<h2>{words}</h2>") for words in (
        "Not read, not played", "Who waits", "What binds", "What would help most", "The longest waits", "All changes",
    )]  # fmt: skip
    assert places == sorted(places)
    assert "at the site" in text
    assert "it would have fitted" in text
    assert main(["verify", str(page)]) == 0

"""Jobs without a walltime have that of their partition."""

from pathlib import Path

import pytest

from tests.kit.runs import play_run
from tests.kit.tables import csv_rows
from tests.kit.workloads import delays

_SITE = """
nodes = 4
[[partition]]
name = "p"
default = true
longest_s = 500
default_s = 100
"""


@pytest.mark.parametrize("model", ["rigid", "checkpointed"])
def test_the_default_walltime_is_enforced(tmp_path: Path, model: str) -> None:
    """Job 1 states no walltime and would run for 300 s: it is killed after 100 s, when job 2, which needs all nodes,
    starts. Job 2 states 200 s, more than the default, and runs for 150; 3 ends before its default walltime is over."""
    jobs = [{"seconds": 300}, {"subtime": 1, "seconds": 150, "walltime": 200}, {"subtime": 2, "seconds": 50}]
    (tmp_path / "site.toml").write_text(_SITE)
    folder = play_run(
        tmp_path, delays(4, jobs, res=4), "--policy", "fcfs", "--model", model, "--site", str(tmp_path / "site.toml")
    )
    rows = {int(row["job_id"]): row for row in csv_rows(folder / "jobs.csv")}
    ends = {job: (row["success"], round(float(row["finish_time"]))) for job, row in rows.items()}
    assert ends == {1: ("0", 100), 2: ("1", 250), 3: ("1", 300)}
    assert rows[1]["final_state"] in ("COMPLETED_KILLED", "COMPLETED_WALLTIME_REACHED")

"""``spillway workload streams``: files in both forms, and its refusals."""

from pathlib import Path

import pytest

from spillway.workloads.batsim.json_file import read_batsim
from spillway.workloads.cli import main
from spillway.workloads.swf import SwfHeader, SwfLog, SwfRecord, write_swf


@pytest.fixture
def log(tmp_path: Path) -> str:
    """A small log as a file."""
    path = tmp_path / "log.swf"
    records = [SwfRecord(i, 60 * i, 0, 50 + i, 2, requested_s=600, status=1, user=i % 3) for i in range(30)]
    write_swf(SwfLog(SwfHeader(), tuple(records)), path)
    return str(path)


def test_both_forms_hold_the_same_jobs(log: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Our own profile type, and one that Batsim reads with the bytes in the job; otherwise equal, larger on request."""
    own, portable = tmp_path / "own.json", tmp_path / "portable.json.xz"
    given = ["streams", log, "--jobs", "20", "--seed", "3", "--size-factor", "4", "--mix", "diverse"]
    assert main([*given, "--out", str(own)]) == 0
    assert main([*given, "--out", str(portable), "--portable"]) == 0
    assert capsys.readouterr().out.count("20 jobs, submitted within") == 2
    one, two = read_batsim(own), read_batsim(portable)
    assert [(job.subtime, job.res, job.extras["io_rate"]) for job in one.jobs] == [
        (job.subtime, job.res, job.extras["io_rate"]) for job in two.jobs
    ]
    assert {job.res for job in one.jobs} == {8}
    assert {profile["type"] for profile in one.profiles.values()} == {"io_stream"}
    assert all("io_bytes" in job.extras for job in two.jobs)

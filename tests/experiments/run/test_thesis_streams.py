"""Streams on the machine of the thesis, by hand: two schedulers, the link of 5 GB/s; and stages that are booked."""

import json
from pathlib import Path

import pytest

from spillway.experiments.cli import main
from spillway.platforms import resolve_platform
from tests.kit.tables import csv_by

MB = 1_000_000


def rows(folder: Path, *arguments: str) -> dict[str, dict[str, str]]:
    """Run and read the jobs' rows."""
    assert main(["run", *arguments, "--no-plots", "--workers", "1", "--out", str(folder)]) == 0
    (path,) = folder.glob("*/jobs.csv")
    return csv_by(path)


def streams(path: Path) -> Path:
    """Four jobs: 48 nodes x 62.5 MB/s for 100 s, 32 x 93.75 for 60 s, 16 x 125 for 40 s, 16 x 125 for 80 s."""
    shapes = [(48, 62_500_000, 100), (32, 93_750_000, 60), (16, 125 * MB, 40), (16, 125 * MB, 80)]
    jobs, profiles = [], {}
    for number, (nodes, rate, seconds) in enumerate(shapes):
        profiles[f"p{number}"] = {"type": "io_stream", "cpu": seconds * 1e9, "io_bytes": rate * seconds}
        job = {"id": str(number), "subtime": 0, "res": nodes, "profile": f"p{number}"}
        jobs.append(job | {"requested_s": seconds, "io_rate": rate})
    path.write_text(json.dumps({"nb_res": 96, "jobs": jobs, "profiles": profiles}), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("bandwidth", "starts", "ends"),
    [("aware", [0, 100, 0, 40], [100, 160, 40, 120]), ("ignorant", [0, 0, 0, 96], [118, 108, 96, 183])],
)
def test_streams_by_hand(tmp_path: Path, bandwidth: str, starts: list[float], ends: list[float]) -> None:
    """Herbein's case on the thesis's machine under EASY.

    Jobs 0 and 1 stream 48 x 62.5 = 32 x 93.75 = 3,000 MB/s, jobs 2 and 3 16 x 125 = 2,000 MB/s. All nodes are there
    for 0, 1 and 2 (48 + 32 + 16 = 96), but two streams of 3 GB/s are more than the link's 5 GB/s.

    Aware: 0 starts; 1 would make 6 GB/s and is promised the end of 0, at 100 s; 2 fills the link to 5 GB/s exactly and
    ends at 40 s, before the promise. 3 finds the link full and starts at 40 s; it runs until 120 s, beside 1 as well
    (3 + 2 = 5). All stream as they request: ends at 100, 160, 40, 120 s.

    Ignorant: 0, 1, 2 start at once with 8 GB/s. Each node requests more than an equal share of 5,000 / 96 = 52.083
    MB/s and gets that, so 0 proceeds at 5/6, 1 at 5/9, 2 at 5/12 of its pace. 2 ends at 40 x 12/5 = 96 s, then 3 starts
    on its nodes at the same pace. 1 ends at 60 x 9/5 = 108 s; 0 has done 90 s of its 100, 3 has done 5 s of its 80, and
    their 3 + 2 GB/s fit: they end at 118 and 183 s.
    """
    arguments = ["--workload", str(streams(tmp_path / "w.json")), "--platform", "thesis", "--engine", "waterfill"]
    arguments += ["--policy", "easy", "--estimates", "requested", "--bandwidth", bandwidth]
    found = rows(tmp_path / "out", *arguments)
    assert [float(found[str(i)]["starting_time"]) for i in range(4)] == pytest.approx(starts, abs=1e-3)
    assert [float(found[str(i)]["finish_time"]) for i in range(4)] == pytest.approx(ends, abs=2e-3)


def test_paths_of_an_own_file_change_nothing_that_is_simulated(tmp_path: Path) -> None:
    """A SimGrid file without levels is annotated on its way into a campaign: its runs are the same, row by row, as with
    bandwidth ignored; and its copy states the levels."""
    bare = resolve_platform("thesis").replace('<prop id="io_path" value="pfs=5000000000"/>', "")
    own = tmp_path / "own.xml"
    own.write_text(bare, encoding="utf-8")
    arguments = ["--workload", "kth-like:jobs=40", "--policy", "easy"]
    one = rows(tmp_path / "own", *arguments, "--platform", str(own))
    other = rows(tmp_path / "built-in", *arguments, "--platform", "thesis", "--bandwidth", "ignorant")
    assert one == other
    (copy,) = (tmp_path / "own" / "inputs").glob("*.xml")
    assert copy.read_text(encoding="utf-8").count('<prop id="io_path" value="link_pfs=5000000000"/>') == 108


def test_an_own_file_whose_levels_are_unknown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The file system's link is a fat pipe: the user is warned, jobs with a rate are rejected unless its bandwidth is
    given."""
    bare = resolve_platform("thesis").replace('<prop id="io_path" value="pfs=5000000000"/>', "")
    before, _, after = bare.partition('<link id="link_pfs"')
    own = tmp_path / "own.xml"
    own.write_text(before + '<link id="link_pfs"' + after.replace("SHARED", "FATPIPE", 1), encoding="utf-8")
    arguments = ["--workload", str(streams(tmp_path / "w.json")), "--platform", str(own), "--policy", "easy"]
    arguments += ["--estimates", "requested", "--engine", "fixed"]
    refused = rows(tmp_path / "none", *arguments)
    assert {row["final_state"] for row in refused.values()} == {"REJECTED"}
    assert "jobs with an I/O rate will be rejected" in capsys.readouterr().out
    found = rows(tmp_path / "given", *arguments, "--pfs-bandwidth", "5e9")
    assert {row["final_state"] for row in found.values()} == {"COMPLETED_SUCCESSFULLY"}


def test_what_stages_book_lessens_contention_and_costs_waits(tmp_path: Path) -> None:
    """IO-Aware jobs on the thesis's machine: with the stages' rates booked a thousandfold few of them meet on the link,
    and no two if each job books all of it. (Booked once they do not: their averages are far below 5 GB/s.)"""
    contention, waits = [], []
    for factor in ("0", "1000", "1000000"):
        arguments = ["--workload", "kth-like:jobs=60", "--platform", "thesis", "--policy", "easy"]
        found = rows(tmp_path / factor, *arguments, "--model", f"io:book_stages={factor}").values()
        through = [row for row in found if row["contention_slowdown"]]
        contention.append(sum(float(row["contention_slowdown"]) - 1 for row in through))
        waits.append(sum(float(row["waiting_time"]) for row in through))
    assert contention[1] < 0.5 * contention[0]
    assert contention[0] > 0.01
    assert contention[2] == pytest.approx(0, abs=1e-4)  # times have six decimals
    assert waits[2] > waits[1] > waits[0]

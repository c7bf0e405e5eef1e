"""Burst buffers in job scripts, bytes moved, units, and the known fields of a log."""

from pathlib import Path

import pytest

from spillway.workloads import MachineFacts, WorkloadError, convert
from spillway.workloads.cli import main
from spillway.workloads.conversion.convert import ConvertOptions
from spillway.workloads.logs import slurm_units as units
from spillway.workloads.logs.darshan_totals import MovedBytes, read_totals
from spillway.workloads.logs.directives import read_script
from spillway.workloads.logs.reading import Reading
from spillway.workloads.logs.record import Mark
from spillway.workloads.logs.shares import marks_of, percent, shares_of
from spillway.workloads.requests.directives import Buffer, Requests, Spread, Transfer, directives_of, of_lines
from tests.workloads.logs.forms import draw, sacct, swf
from tests.workloads.logs.test_formats import read

TOTALS = "# jobid: {job}\ntotal_POSIX_BYTES_READ: {read}\ntotal_POSIX_BYTES_WRITTEN: {written}\n"


@pytest.mark.parametrize(("text", "seconds"), [
    ("30:00", 1800),
    ("01:00:00", 3600),
    ("2-12:00:30", 216_030),
    ("UNLIMITED", -2),
    ("Partition_Limit", -1),
    ("", -1),
])  # fmt: skip
def test_durations(text: str, seconds: int) -> None:
    """Slurm's durations."""
    assert units.duration_of(text) == seconds


def test_sizes() -> None:
    """Resources count in powers of 1024 and mega without a suffix, capacities distinguish GB from GiB."""
    assert [units.size_of(text) for text in ("4000M", "1.50G", "10")] == [4000 * 2**20, 3 * 2**29, 10 * 2**20]
    assert [units.capacity_of(t) for t in ("100GB", "100GiB", "100G", "7", "1TB")] == [
        10**11, 100 * 2**30, 100 * 2**30, 7, 10**12,
    ]  # fmt: skip
    assert units.resources_of("bb/a=1G,bb/b=2G,cpu=4,gres/gpu:x=8,mem=8G,node=2")[:5] == (2, 4, 2**33, 3 * 2**30, 8)
    for wrong in ("4Q", "-1G", "G", "1e9"):
        with pytest.raises(units.UnitError):
            units.capacity_of(wrong)


@pytest.mark.parametrize(("line", "found"), [
    ("#DW jobdw capacity=10GiB type=xfs name=project1",
     Requests((Buffer(10 * 2**30, Spread.PER_NODE, "xfs", "project1"),))),
    ("#DW jobdw type=lustre capacity=2TB name=l profile=wide",
     Requests((Buffer(2 * 10**12, Spread.STRIPED, "lustre", "l", profile="wide"),))),
    ("#DW jobdw type=scratch access_mode=private capacity=3GB",
     Requests((Buffer(3 * 10**9, Spread.PRIVATE, "private"),))),
    ("#DW jobdw type=scratch access_mode=striped(MDS=yes),private capacity=1MiB",
     Requests((Buffer(2**20, Spread.STRIPED, "striped"),))),
    ("#BB_LUA pool=bb capacity=60", Requests((Buffer(60, pool="bb"),))),
    ("#BB_LUA", Requests()),
    ("#BB capacity=100GB access=striped type=scratch", Requests((Buffer(10**11, kind="striped"),))),
    ("#BB create_persistent name=x capacity=5TB access=striped",
     Requests(creates=(Buffer(5 * 10**12, kind="striped", name="x"),))),
    ("#BB destroy_persistent name=x", Requests(destroys=("x",))),
    ("#DW persistentdw name=x", Requests(uses=("x",))),
    ("#DW stage_in type=file source=/a destination=$DW_JOB_STRIPED/a",
     Requests(stage_in=(Transfer("/a", "$DW_JOB_STRIPED/a"),))),
    ("#DW copy_in source=/a destination=b", Requests(stage_in=(Transfer("/a", "b"),))),
    ("#DW stage_out type=directory source=$DW_JOB_STRIPED/o destination=/o",
     Requests(stage_out=(Transfer("$DW_JOB_STRIPED/o", "/o"),))),
    ("#DW copy_out source=b destination=/a", Requests(stage_out=(Transfer("b", "/a"),))),
    ("#DW swap 10GB", Requests(others=("swap",))),
    ("#DW jobdw type=scratch access_mode=striped", Requests(others=("jobdw without a capacity",))),
    ("#DW JobDW Type=xfs Capacity=1MiB", Requests((Buffer(2**20, Spread.PER_NODE, "xfs"),))),
    ("#SBATCH --time=10", Requests()),
])  # fmt: skip
def test_directives(line: str, found: Requests) -> None:
    """The requests of each line, and whether a capacity is each node's or the job's."""
    assert directives_of([line], "s:1") == found


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("#DW jobdw type=xfs capacity=much", "s:1: #DW: capacity must be a capacity such as 100GB, .* got 'much' in"),
        ("#BB create_persistent name=x", "s:1: #BB: capacity must be a capacity"),
        ("#DW persistentdw", "s:1: #DW: expected name=NAME, got 'persistentdw'"),
        ("#DW destroy_persistent", "s:1: #DW: expected name=NAME"),
    ],
)
def test_malformed_directives(line: str, message: str) -> None:
    """Located, in one line."""
    with pytest.raises(WorkloadError, match=message):
        directives_of([line], "s:1")


def test_a_buffer_on_each_node_is_so_much_on_each_node(tmp_path: Path) -> None:
    """An xfs of a rabbit is as large as stated on every node; it was read as the whole job's."""
    (tmp_path / "1.sh").write_text("#!/bin/sh\n#DW jobdw type=xfs capacity=8GB name=x\n")
    names = ["JobID", "Submit", "Start", "End", "State", "NNodes", "Timelimit", "SubmitLine"]
    row = ["1", "2024-01-01T00:00:00", "2024-01-01T00:01:00", "2024-01-01T00:02:00", "COMPLETED", "3", "1:00:00"]
    table = read("|".join(names) + "\n" + "|".join([*row, "sbatch --bb='type=xfs capacity=2GiB' a"]) + "\n", "log.txt")
    assert table["burst_buffer_bytes"].tolist() == [3 * 2 * 2**30]
    table = read(swf(draw(3, 3)), "log.swf", Reading(scripts=str(tmp_path)))
    assert table["burst_buffer_bytes"][0] == 8 * 10**9 * table["requested_processors"][0]
    assert "scripts of 1 jobs request a buffer on each node, and the log states no nodes" in table.intake.notes[-1]


def test_directives_in_one_field() -> None:
    """A submitted line's --bb is a directive."""
    assert directives_of(of_lines('sbatch --bb="capacity=2GB access=striped" a.sh'), "s:1").total_bytes(4) == 2 * 10**9


@pytest.mark.parametrize(("line", "found"), [
    ('#SBATCH -N 2 --bb="capacity=2GB access=striped"', Requests((Buffer(2 * 10**9, kind="striped"),))),
    ("#SBATCH --bb='#DW jobdw type=xfs capacity=1MiB'", Requests((Buffer(2**20, Spread.PER_NODE, "xfs"),))),
    ("#SBATCH --bbf=/a.bb", Requests(others=("--bbf (the file that it names is not read)",))),
    ('#FLUX: -N 2 -S dw="#DW jobdw type=xfs capacity=1MiB" -t 5m', Requests((Buffer(2**20, Spread.PER_NODE, "xfs"),))),
    ("# flux: --setattr system.dw='#DW jobdw type=xfs capacity=1MiB'",
     Requests((Buffer(2**20, Spread.PER_NODE, "xfs"),))),
    ("#FLUX: -N 2  # as many as the data need", Requests()),
])  # fmt: skip
def test_options_of_a_script(line: str, found: Requests, tmp_path: Path) -> None:
    """Directives among the options of sbatch and Flux."""
    (tmp_path / "1.sh").write_text(f"#!/bin/sh\n{line}\n")
    assert read_script(tmp_path / "1.sh").requests == found


def test_scripts_of_a_folder(tmp_path: Path) -> None:
    """Scripts are found by the job's number; a wrong capacity names file and line."""
    (tmp_path / "job-1.sh").write_text("#!/bin/sh\n#DW jobdw type=scratch \\\n#DW capacity=8GB\n#DW stage_in\n")
    (tmp_path / "2.sbatch").write_text("#!/bin/sh\necho\n")
    (tmp_path / "readme.txt").write_text("#DW jobdw capacity=1GB\n")
    table = read(swf(draw(3, 3)), "log.swf", Reading(scripts=str(tmp_path)))
    assert list(table["burst_buffer_bytes"]) == [8 * 10**9, 0, -1]
    assert table.intake.notes[0].startswith("2 of 3 jobs have a script in ")
    assert "scripts of 1 jobs stage in" in table.intake.notes[1]
    machine = MachineFacts(nodes=400, storage_nodes=4, storage_bytes=10**12)
    workload, _ = convert(table, machine)
    sizes = [job.res for job in workload.jobs]
    assert workload.profiles["1"]["bb"] == -(-8 * 10**9 // sizes[0])
    assert workload.profiles["2"]["bb"] == 0
    assert workload.profiles["3"]["bb"] > 0  # drawn: the log does not say
    (tmp_path / "3.sh").write_text("\n#BB_LUA capacity=lots\n")
    with pytest.raises(WorkloadError, match=r"3\.sh:2: #BB_LUA: capacity must be a capacity such as 100GB"):
        read(swf(draw(3, 3)), "log.swf", Reading(scripts=str(tmp_path)))


def test_one_wrong_script_of_many(tmp_path: Path) -> None:
    """It refused the log, as did one letter of another alphabet in a comment, and a second script was not told."""
    for number in range(1, 201):
        (tmp_path / f"{number}.sh").write_bytes("#!/bin/sh\n# für\n#BB_LUA capacity=8GB\n".encode("latin-1"))
    (tmp_path / "2.sh").write_text("#BB_LUA capacity=lots\n")
    (tmp_path / "3.zsh").write_text("#BB_LUA capacity=9GB\n")
    table = read(swf(draw(3, 3)), "log.swf", Reading(scripts=str(tmp_path)))
    assert list(table["burst_buffer_bytes"]) == [8 * 10**9, -1, 9 * 10**9]
    assert "1 script in " in table.intake.notes[1]
    assert "2.sh:1: #BB_LUA: capacity must be" in table.intake.notes[1]
    assert table.intake.notes[2].endswith("are further ones of a job: the last name counts (such as 3.zsh)")
    with pytest.raises(WorkloadError, match=r"2\.sh:1"):
        read(swf(draw(3, 3)), "log.swf", Reading(scripts=str(tmp_path), unreadable=0.0))


def test_bytes_of_darshan(tmp_path: Path) -> None:
    """Totals of several programs of a job are added up; an option turns them into a stream."""
    (tmp_path / "a.txt").write_text(TOTALS.format(job=1, read=100, written=10) + "total_STDIO_BYTES_READ: 5\n")
    (tmp_path / "b.txt").write_text(TOTALS.format(job=1, read=1, written=2) + TOTALS.format(job=9, read=1, written=2))
    assert read_totals(tmp_path) == {1: MovedBytes(106, 12), 9: MovedBytes(1, 2)}
    table = read(swf(draw(3, 2)), "log.swf", Reading(darshan=str(tmp_path)))
    assert list(table["read_bytes"]) == [106, -1]
    _, report = convert(table, MachineFacts(nodes=400))
    assert any("have bytes moved on record, which are not played" in line for line in report.lines())
    workload, _ = convert(table, MachineFacts(nodes=400), ConvertOptions(bytes_moved="stream"))
    nodes = workload.jobs[0].res
    assert [job.extras["io_bytes"] for job in workload.jobs] == [-(-118 // nodes), 0]
    (tmp_path / "c.txt").write_text("# jobid: 4\ntotal_POSIX_BYTES_READ: many\n")
    with pytest.raises(WorkloadError, match=r"c\.txt:2: expected a whole number"):
        read_totals(tmp_path)
    for number in range(10, 120):
        (tmp_path / f"{number}.txt").write_bytes(
            b"# exe: f\xfcr\n" + TOTALS.format(job=number, read=1, written=2).encode()
        )
    many = read(swf(draw(3, 2)), "log.swf", Reading(darshan=str(tmp_path)))
    assert (list(many["read_bytes"]), "1 file of Darshan cannot be read" in many.intake.notes[0]) == ([106, -1], True)
    (tmp_path / "d.darshan").write_bytes(b"\x00" * 64)
    with pytest.raises(WorkloadError, match=r"d\.darshan: "):
        read_totals(tmp_path / "d.darshan")


def test_shares() -> None:
    """Measured, requested, made-up or absent fields, and never 100 % of nearly all."""
    marks = marks_of(read(sacct(draw(1, 40))), buffers=True, walltimes=True)
    shares = shares_of(marks)
    assert shares["size"] == {Mark.MEASURED: 1.0}
    assert shares["burst buffer"] == {Mark.REQUESTED: 1.0}
    assert shares["bytes read"] == {Mark.ABSENT: 1.0}
    assert shares_of(marks_of(read(swf(draw(1, 4))), buffers=True))["burst buffer"] == {Mark.IMPUTED: 1.0}
    assert [percent(share) for share in (1, 0.9999, 0.5, 0.0001, 0)] == [
        "100.0 %",
        "> 99.9 %",
        "50.0 %",
        "< 0.1 %",
        "0.0 %",
    ]


def test_info(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Format, period, machine, shares, left-out lines, load."""
    (tmp_path / "log.txt").write_text(sacct(draw(1, 40)))
    assert main(["info", str(tmp_path / "log.txt"), "--nodes", "400"]) == 0
    printed = capsys.readouterr().out
    for text in (
        "format                            sacct (output of Slurm's sacct --parsable2)",
        "records                           40\n",
        "lines                             left out 40 lines: step of a job (its job's line is used)",
        "period                            2020-09-13 ",
        "  burst buffer                    requested 100.0 %\n",
        "  dependency                      absent 100.0 %\n",
        "offered load ",
    ):
        assert text in printed
    assert main(["convert", str(tmp_path / "log.txt"), "--out", str(tmp_path / "w.json"), "--nodes", "400"]) == 0
    assert "40 jobs of 40 records\nleft out 40 lines: step of a job" in capsys.readouterr().out


def test_logs_of_darshan_itself() -> None:
    """A log that Darshan's library ships: job 71317 read 10,000 bytes."""
    darshan = pytest.importorskip("darshan", reason="needs the extra 'darshan'")
    folder = Path(darshan.__file__).parent / "examples" / "darshan-graph"
    found = sorted(folder.glob("pq_app_read_id71317_*.darshan"))
    if not found:
        pytest.skip("this version of the library ships no such log")
    assert read_totals(found[0]) == {71317: MovedBytes(10_000, 348)}


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("2022-03-01T02:00:00+0200", 1_646_092_800),
        ("2022-02-28T18:30:00-05:30", 1_646_092_800),
        ("2022-03-01 00:00:00Z", 1_646_092_800),
        ("2022-03-01T00:00:00", 1_646_092_800),
    ],
)
def test_times_with_an_offset(text: str, seconds: int) -> None:
    """Moved to UTC (was: refused)."""
    assert units.time_of(text) == seconds
    with pytest.raises(units.UnitError):
        units.time_of("2022-03-01T02:00:00+2500")

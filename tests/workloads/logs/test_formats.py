"""A log in any form gives the same jobs; an error in it is one line that names the place."""

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillway.workloads import MachineFacts, SwfLog, WorkloadError, convert
from spillway.workloads.batsim.json_file import format_batsim
from spillway.workloads.conversion.convert import ConvertOptions, convert_columns
from spillway.workloads.load import load_log, load_table
from spillway.workloads.logs.book import Fate
from spillway.workloads.logs.formats import FORMATS, read_log
from spillway.workloads.logs.lines import LogFile
from spillway.workloads.logs.reading import FORMAT_NAMES, STRICT, Reading
from spillway.workloads.logs.table import JobTable
from tests.workloads.conftest import DATA
from tests.workloads.logs.forms import EPOCH_S, FORMS, SACCT, Drawn, draw, jobcomp, parquet, records, sacct, swf

MACHINE = MachineFacts(nodes=400)
JOBS = draw(1, 60)
_SIGNS = ("", "x", "|", ",", "-9", "9" * 25, "\x00", " ", "é", "=")


def read(text: str, name: str = "log.txt", reading: Reading = STRICT) -> JobTable:
    """The jobs of a log's text."""
    return read_log(LogFile(name, Path(name), text.encode()), reading)


def outline(table: JobTable) -> list[tuple[int, ...]]:
    """Number, submission, start, run time, limit and size of each job, times from the beginning."""
    shift = 0 if table["submit_s"].min() < EPOCH_S else EPOCH_S
    return [
        (r.number, r.submit_s - shift, r.start_s - shift, r.run_s, r.requested_s, max(r.nodes, r.requested_processors))
        for r in records(table)
    ]


def expected(jobs: list[Drawn]) -> list[tuple[int, ...]]:
    """The same of drawn jobs."""
    return [(j.number, j.submit_s, j.submit_s + j.wait_s, j.run_s, j.limit_s, j.nodes) for j in jobs]


@pytest.mark.parametrize("form", FORMS)
@given(seed=st.integers(0, 2**16), count=st.integers(1, 30))
def test_every_form_gives_the_same_jobs(form: str, seed: int, count: int) -> None:
    """Written in each form, recognised without a hint, read back: the same jobs, and the same workload."""
    jobs = draw(seed, count)
    name, write = FORMS[form]
    table = read(write(jobs), name)
    assert table.format == form
    assert outline(table) == expected(jobs)
    bare, _ = convert(table, MACHINE, ConvertOptions(burst_buffers=None), "n")
    of_swf, _ = convert(read(swf(jobs)), MACHINE, ConvertOptions(burst_buffers=None), "n")
    assert [(j.id, j.subtime, j.res, j.walltime) for j in bare.jobs] == [
        (j.id, j.subtime, j.res, j.walltime) for j in of_swf.jobs
    ]
    if form != "swf":
        assert [r.burst_buffer_bytes for r in records(table)] == [
            j.buffer_gib * 2**30 if any(k.buffer_gib for k in jobs) else -1 for j in jobs
        ]


@pytest.mark.parametrize("kind", ["PM100", "F-DATA"])
def test_parquet(kind: str, tmp_path: Path) -> None:
    """Both data sets are recognised by their columns; others are named."""
    pytest.importorskip("pyarrow")
    path = tmp_path / "log.parquet"
    parquet(JOBS, path, kind)
    table, _ = load_table(path)
    assert (table.format, outline(table)) == (kind.lower().replace("-", ""), expected(JOBS))
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(WorkloadError, match=r"log\.parquet: cannot be read as parquet"):
        load_table(path)


def test_parquet_needs_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pyarrow the extra is named."""
    (tmp_path / "log.parquet").write_bytes(b"PAR1....")
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(WorkloadError, match=r"pip install 'spillway\[parquet\]'"):
        load_table(tmp_path / "log.parquet")


@pytest.mark.parametrize("form", FORMS)
def test_damaged_lines_are_located(form: str) -> None:
    """A hundred and fifty damaged lines in each form: jobs, or one error that names the line; never anything else."""
    rng = random.Random(5)
    name, write = FORMS[form]
    lines = write(JOBS[:8]).split("\n")
    refused: list[WorkloadError] = []
    for _ in range(150):
        broken = list(lines)
        where = rng.randrange(len(broken) - 1)
        text = list(broken[where])
        for _ in range(rng.randrange(1, 4)):
            place = rng.randrange(len(text) + 1)
            text[place : place + rng.choice((0, 1, 9))] = rng.choice(_SIGNS)
        broken[where] = "".join(text)
        try:
            assert len(read("\n".join(broken), name)) <= 9
        except WorkloadError as error:
            refused.append(error)
    places = (name, *(f"{name}:{line}" for line in range(1, len(lines) + 1)))
    assert all(error.where in places and "\n" not in str(error) for error in refused), refused
    assert len(refused) > 40


def test_columns_of_sacct_in_any_order() -> None:
    """The header decides; a missing required column is named with the command that prints it."""
    assert outline(read(sacct(JOBS, SACCT[::-1]))) == expected(JOBS)
    with pytest.raises(
        WorkloadError, match=r"log\.txt:1: the header of the output of Slurm's sacct .* lacks Submit .*--allusers"
    ):
        read("JobID|User|Start|End|NNodes\n1|a|b|c|1\n")


def test_what_sacct_prints() -> None:
    """Steps, arrays, components, values that are no limit, states with a word behind, requeued jobs."""
    head = "JobID|State|Submit|Start|End|Elapsed|Timelimit|NNodes|ReqMem|User\n"
    day = "2022-03-01T"
    table = read(
        head
        + f"7|COMPLETED|{day}00:00:00|{day}00:01:00|{day}00:03:00|00:02:00|UNLIMITED|2|4Gn|ann\n"
        + f"7.batch|COMPLETED|{day}00:00:00|{day}00:01:00|{day}00:03:00|00:02:00||1||\n"
        + f"8_3|CANCELLED by 123|{day}00:00:01|{day}00:01:00|{day}00:03:00|1-00:02:00|2-00:00:00|1|100M|bob\n"
        + f"8_[4-9%2]|PENDING|{day}00:00:01|Unknown|Unknown|00:00:00|01:00:00|1||bob\n"
        + f"9+1|TIMEOUT|{day}00:00:02|{day}00:01:00|{day}00:03:00|00:30|Partition_Limit|3||ann\n"
        + f"10|RUNNING|{day}00:00:03|{day}00:01:00|Unknown|00:30|10:00|3||ann\n"
        + f"7|FAILED|{day}00:10:00|{day}00:11:00|{day}00:13:00|00:02:10|UNLIMITED|2|4Gn|ann\n"
    )
    rows = [(f"{r.number}{r.part}", r.state, r.run_s, r.requested_s, r.nodes, r.user) for r in records(table)]
    assert rows == [
        ("7", "completed", 120, -1, 2, "ann"),
        ("8_3", "cancelled", 86_520, 172_800, 1, "bob"),
        ("9+1", "timeout", 30, -1, 3, "ann"),
        ("10", "running", 30, 600, 3, "ann"),
        ("7-2", "failed", 130, -1, 2, "ann"),
    ]
    assert list(table["memory_bytes"]) == [8 * 2**30, 100 * 2**20, -1, -1, 8 * 2**30]
    assert table.intake.book.left_out() == {
        "step of a job (its job's line is used)": 1,
        "tasks of an array that had not begun": 1,
    }
    assert "2 jobs have no time limit (UNLIMITED)" in table.intake.notes
    workload, report = convert(table, MACHINE)
    assert [job.id for job in workload.jobs] == [7, "8_3", "9+1", "7-2"]
    assert report.dropped["still running when the log was made"] == 1


def test_twenty_one_columns() -> None:
    """Refused to the letter, with the option; accepted with it; further columns get a meaning by their names."""
    text = swf(JOBS, " 7 2:ppn=4 x")
    with pytest.raises(WorkloadError, match=r"log\.swf:2: expected 18 fields .* got 21: .*--lenient"):
        read(text, "log.swf")
    table = read(text, "log.swf", Reading(lenient=True))
    assert outline(table) == expected(JOBS)
    assert "repaired 60 lines: columns 19 to 21 left out" in next(iter(table.intake.book.said()))
    described = read(text, "log.swf", Reading(fields="swf,-,nodes,-"))
    assert set(described["nodes"]) == {2}
    assert described.intake.notes == ["columns 19, 21 were left out, as --fields says"]
    with pytest.raises(WorkloadError, match="expected 19 columns"):
        read(text, "log.swf", Reading(fields="swf,nodes"))
    with pytest.raises(WorkloadError, match="unknown field 'size'"):
        read(text, "log.swf", Reading(fields="number,submit_s,size"))
    with pytest.raises(WorkloadError, match="'submit_s' is missing"):
        read(text, "log.swf", Reading(fields="number,nodes"))


def test_fewer_columns_and_names() -> None:
    """Lenient reading takes names of users and queues, and lines that end early."""
    text = "1 10 -1 60 4 -1 -1 4 100 -1 1 ann grp -1 long\n2 20 -1 70 5\n"
    table = read(text, "log.swf", Reading(lenient=True))
    assert [(r.user, r.partition, r.allocated_processors) for r in records(table)] == [("ann", "long", 4), (-1, -1, 5)]
    assert [(entry.lines, entry.reason) for entry in table.intake.book.entries(Fate.REPAIRED)] == [
        (1, "the line ends before partition, preceding_job, think_s: taken as not known"),
        (
            1,
            "the line ends before cpu_s, used_memory_kib, requested_processors, requested_s, requested_memory_kib, "
            "status, user, group, executable, queue, partition, preceding_job, think_s: taken as not known",
        ),
    ]


def test_unknown_and_ambiguous_formats() -> None:
    """A text that is no log is shown, with the formats that are; never words about SWF for another file."""
    with pytest.raises(WorkloadError, match=r"notes\.txt: the format is not known: it begins with 'Dear all,'.*sacct"):
        read("Dear all,\n", "notes.txt")
    both = "job_id,wallclock_req,nodes_req,submit_time,start_time,end_time,JobID,Submit,End,NNodes\n"
    with pytest.raises(WorkloadError, match=r"ambiguous: .* as sacct and eagle do"):
        read(both)
    with pytest.raises(WorkloadError, match="unknown format 'lsf'; known: swf, sacct"):
        read(swf(JOBS), "log.swf", Reading(format="lsf"))
    with pytest.raises(WorkloadError, match=r"log\.txt:1: expected 18 fields"):
        read(sacct(JOBS), "log.txt", Reading(format="swf"))
    with pytest.raises(WorkloadError, match="--fields is for the Standard Workload Format"):
        read(jobcomp(JOBS), "log.txt", Reading(fields="swf"))


def test_a_strict_log_converts_to_the_same_bytes(small_log: SwfLog, kth: SwfLog, reference: Path) -> None:
    """As a stream of records and as a log in memory; as text in pieces and as a workload's text."""
    path = reference / "data" / "kth" / "KTH-SP2-1996-2.1-cln.swf.xz"
    for log, file in ((small_log, DATA / "swf" / "small.swf"), (kth, path)):
        options = ConvertOptions(first=3000, model="io")
        workload, report = convert(log, MACHINE, options, "n")
        table, _ = load_table(file)
        columns, again = convert_columns(table, MACHINE, options, "n")
        assert b"".join(columns.text()) == format_batsim(workload).encode()
        assert again.lines() == report.lines()


@pytest.mark.parametrize("form", FORMS)
def test_any_log_becomes_swf(form: str, tmp_path: Path) -> None:
    """Commands that read only the Standard Workload Format (split, fit, streams) get one."""
    name, write = FORMS[form]
    (tmp_path / name).write_text(write(JOBS))
    log, _ = load_log(tmp_path / name)
    first = JOBS[0].submit_s if form != "swf" else 0
    assert [(r.number, r.submit_s, r.wait_s, r.run_s, r.processors, r.requested_s) for r in log.records] == [
        (j.number, j.submit_s - first, j.wait_s, j.run_s, j.nodes, j.limit_s) for j in JOBS
    ]


def test_a_long_line_is_refused() -> None:
    """A file without line breaks does not fill the memory."""
    with pytest.raises(WorkloadError, match=r"log\.swf:1: this line is longer than 1,048,576 bytes"):
        read("1 " * 2**21, "log.swf")


def test_names_of_formats() -> None:
    """The option has those of the table."""
    assert tuple(FORMATS) == FORMAT_NAMES

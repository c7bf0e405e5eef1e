"""Logs as sites have them: wrong lines are repaired, left out or refused with their reason, and counted in the book."""

import bz2
import gzip
import json
import lzma
from pathlib import Path

import pytest

from spillway.simulator.reading.workload import workload_from_object
from spillway.workloads import MachineFacts, WorkloadError, convert
from spillway.workloads.batsim.job_columns import with_site_nodes
from spillway.workloads.batsim.json_file import format_batsim
from spillway.workloads.conversion.convert import ConvertOptions
from spillway.workloads.files import is_workload
from spillway.workloads.logs.book import Fate
from spillway.workloads.logs.directives import read_script
from spillway.workloads.logs.formats import read_log
from spillway.workloads.logs.info import info_rows
from spillway.workloads.logs.lines import LogFile
from spillway.workloads.logs.reading import STRICT, Reading
from spillway.workloads.logs.table import JobTable
from tests.kit.cases import cases
from tests.workloads.logs.forms import records

SACCT = "JobID|User|Account|Partition|State|Submit|Start|End|ElapsedRaw|Timelimit|NNodes|NCPUS"
EAGLE = "job_id,user,partition,wallclock_req,nodes_req,submit_time,start_time,end_time,run_time,state"
HEAD = "; MaxProcs: 64\n"


def read(text: str | bytes, name: str = "log.txt", reading: Reading = STRICT) -> JobTable:
    """The jobs of a log's text."""
    return read_log(LogFile(name, Path(name), text.encode() if isinstance(text, str) else text), reading)


def slurm(
    job: str,
    day: str = "01-01",
    state: str = "COMPLETED",
    nodes: object = 2,
    run: object = 3600,
    start: str = "00:00:10",
) -> str:
    """A line of sacct below ``SACCT``."""
    date = f"2024-{day}"
    end = f"{date}T01:00:10"
    return f"{job}|ann|a|batch|{state}|{date}T00:00:00|{date}T{start}|{end}|{run}|02:00:00|{nodes}|32"


def swf(number: int, text: str = "{n} {n} 10 3600 16 -1 -1 16 7200 -1 1 1 1 -1 1 -1 -1 -1") -> str:
    """A line of the Standard Workload Format."""
    return text.format(n=number)


def labels(table: JobTable) -> dict[str, int]:
    """Nodes of each job, or processors, by its id."""
    return {
        f"{record.number}{record.part}": record.nodes if record.nodes > 0 else record.allocated_processors
        for record in records(table)
    }


def lines(*rows: str, head: str = SACCT) -> str:
    """A log of these rows."""
    return "\n".join((head, *rows)) + "\n"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (lines(slurm("100"), slurm("100", "03-01", nodes=4)), {"100": 2, "100-2": 4}),
        (lines(slurm("1", state="RUNNING"), slurm("1", nodes=3)), {"1": 3}),
        (lines(slurm("1", nodes=3), slurm("1", state="RUNNING")), {"1": 3}),
        (lines(slurm("1", state="NODE_FAIL"), slurm("1", "01-02", nodes=3)), {"1": 3}),
        (lines(slurm("1", state="REQUEUED"), slurm("1", "01-02", "PREEMPTED"), slurm("1", "01-03", nodes=5)), {"1": 5}),
        (lines(slurm("1"), slurm("1")), {"1": 2}),
        (lines(slurm("8_1"), slurm("8_2"), slurm("8+1")), {"8_1": 2, "8_2": 2, "8+1": 2}),
        (lines(slurm("532209.0")), {"532209": 2}),
        (lines(slurm("1"), slurm("1.batch", nodes=1), slurm("1.0", nodes=1, run=9), slurm("1.1", nodes=1)), {"1": 2}),
        (lines(slurm("1.0", nodes=1), slurm("2"), slurm("1")), {"2": 2, "1": 2}),
        (lines("5.0,u,p,3600.0,10.0,2019-01-01 08:55:55,2019-01-01 08:55:56,2019-01-01 09:00:00,9.0,COMPLETED",
               head=EAGLE), {"5": 10}),
        (lines(*2 * ["5,u,p,60,10,2019-01-01 08:55:55,2019-01-01 08:55:56,2019-01-01 09:00:00,9,COMPLETED"],
               head=EAGLE), {"5": 10}),
        (lines("5,u,p,60,10,2019-01-01 08:55:55,2019-01-01 08:55:56,2019-01-01 09:00:00,9,COMPLETED",
               "5,u,p,60,10,2019-01-01 08:55:55,2019-01-01 08:55:56,2019-01-01 09:00:01,10,COMPLETED",
               head=EAGLE), {"5": 10, "5_1": 10}),
    ],
)  # fmt: skip
def test_identity(text: str, found: dict[str, int]) -> None:
    """Number, part and submission, or an earlier state of a requeue: used again, newest first, twice, attempts."""
    assert labels(read(text)) == found


HINTS = {
    "JobID           JobName  Partition\n------------ ---------- ----------\n": "sacct needs --parsable2",
    "12|ann|a|batch|COMPLETED|2024-01-01T00:00:00\n": "sacct must not have --noheader",
    "a.swf" + 95 * "\x00" + "0000644": "a tar archive",
    "a.txt" + 95 * "\x00" + "0000644|Submit|ElapsedRaw|User": "a tar archive",
}


@pytest.mark.parametrize("text", HINTS)
def test_forms_that_are_no_logs_are_named(text: str) -> None:
    """With the way to a log."""
    with pytest.raises(WorkloadError, match=HINTS[text]):
        read(text)


def test_tasks_of_an_array_may_look_alike() -> None:
    """Two of three equal lines of a number are tasks; where all its lines are there twice, they were written twice."""
    text = "5,u,p,60,10,2019-01-01 08:55:55,2019-01-01 08:55:56,2019-01-01 09:00:00,{},COMPLETED"
    one, other = map(text.format, (9, 8))
    assert len(read(lines(one, other, one, head=EAGLE))) == 3
    assert len(read(lines(one, other, one, other, head=EAGLE))) == 2
    assert len(read(lines(one, one, one, head=EAGLE))) == 1


@pytest.mark.reference
def test_the_sample_of_eagle_is_read_whole(reference: Path) -> None:
    """Of the 452 tasks of an array 34 equal others in every column."""
    table = read_log(LogFile.of(reference / "data" / "sites" / "slurm" / "eagle-sample-1000.csv"))
    assert len(table) == 1000
    assert not table.intake.book.left_out()


def test_two_clusters() -> None:
    """Jobs of the same number on two clusters are two jobs; the note names the option for one of them."""
    text = lines("1|north|2024-01-01T00:00:00|60|2", "1|south|2024-01-01T00:00:00|60|3",
                 head="JobID|Cluster|Submit|ElapsedRaw|NNodes")  # fmt: skip
    table = read(text)
    assert sorted(labels(table).values()) == [2, 3]
    assert "--where cluster=north" in table.intake.notes[0]
    assert labels(read(text, reading=Reading(where=("cluster=south",)))) == {"1@south": 3}


def test_attempts_are_stated_with_their_share() -> None:
    """The node-seconds of attempts that are not played."""
    table = read(lines(slurm("1", state="REQUEUED"), slurm("1", "01-02", nodes=2)))
    entry = next(table.intake.book.entries(Fate.LEFT_OUT))
    assert (entry.lines, entry.node_s) == (1, 7200.0)
    said = list(table.intake.book.said(node_s=7200.0))
    assert (
        said[1] == "left out 1 line, 50 % of the node-hours: earlier attempt of a requeued job (its last one is used)"
    )


REPAIRED = {
    "memory": ("JobID|Submit|ElapsedRaw|NNodes|ReqMem", "1|2024-01-01T00:00:00|60|2|1Me"),
    "eligible": ("JobID|Submit|Eligible|ElapsedRaw|NNodes", "1|2024-01-01T00:00:00|soon|60|2"),
    "clock back": ("JobID|Submit|Start|End|NNodes",
                   "1|2024-10-27T02:30:00|2024-10-27T02:40:00|2024-10-27T02:20:00|2"),
    "start before submission": ("JobID|Submit|Start|End|NNodes",
                                "1|2024-10-27T02:50:00|2024-10-27T02:05:00|2024-10-27T02:35:00|2"),
    "slow clock of a node": ("JobID|Submit|Start|End|NNodes",
                             "1|2024-10-27T02:50:30|2024-10-27T02:50:00|2024-10-27T02:50:10|2"),
    "directive": ("JobID|Submit|ElapsedRaw|NNodes|Comment", "1|2024-01-01T00:00:00|60|2|#BB capacity=lots"),
}  # fmt: skip
"""Lines with a value that no run needs: the job is read, the line counted."""


@pytest.mark.parametrize("name", REPAIRED)
def test_repaired(name: str) -> None:
    """One job, one repaired line, with its reason."""
    table = read("\n".join(REPAIRED[name]))
    assert labels(table) == {"1": 2}
    assert [entry.lines for entry in table.intake.book.entries(Fate.REPAIRED)] == [1]


def test_a_slow_clock_is_no_change_of_clocks() -> None:
    """Was: a start a second before the submission became a wait of 59 min 59 s, on any day."""
    for day, start, end in (("10-27", "02:50:29", "02:51:29"), ("06-05", "02:50:00", "02:51:00")):
        text = f"JobID|Submit|Start|End|NNodes\n1|2024-{day}T02:50:30|2024-{day}T{start}|2024-{day}T{end}|2\n"
        [job] = records(read(text))
        assert (job.start_s - job.submit_s, job.run_s) == (0, 60)


READ = dict(cases("log-odd-lines"))
"""Lines that are odd, and mean what they seem to."""


@pytest.mark.parametrize("name", READ)
def test_read(name: str) -> None:
    """One job of two nodes, no line left out."""
    table = read("\n".join(READ[name]))
    assert labels(table) == {"1": 2}
    assert table["submit_s"][0] > 1_704_000_000
    assert not table.intake.book.left_out()


WRONG = dict(cases("log-wrong-lines"))
"""Lines of sacct that cannot be read."""

WRONG_SWF = dict(cases("swf-wrong-options"))


@pytest.mark.parametrize("name", WRONG)
def test_one_wrong_line_of_many(name: str) -> None:
    """It is left out and named; alone among few it refuses the log, with its place."""
    good = [slurm(str(100 + number)) for number in range(200)]
    table = read(lines(*good[:100], WRONG[name], *good[100:]))
    assert len(table) == 200
    [entry] = table.intake.book.entries(Fate.UNREADABLE)
    assert (entry.lines, entry.examples[0].partition(":")[0]) == (1, "102")
    with pytest.raises(WorkloadError, match=r"log\.txt:4: .* 1 line of 3 cannot be read .*--unreadable SHARE"):
        read(lines(*good[:2], WRONG[name]))


@pytest.mark.parametrize("name", WRONG_SWF)
def test_one_wrong_line_of_swf(name: str) -> None:
    """The same; --lenient takes a value that cannot be read as not known, but not number and submission."""
    good = [swf(number) for number in range(100, 300)]
    assert len(read(lines(*good, WRONG_SWF[name], head=HEAD), "log.swf")) == 200
    with pytest.raises(WorkloadError, match=r"log\.swf:4: .*--lenient"):
        read(lines(*good[:2], WRONG_SWF[name], head=HEAD.strip()), "log.swf")
    lenient = read(lines(*good[:2], WRONG_SWF[name], head=HEAD), "log.swf", Reading(lenient=True))
    assert len(lenient) == (2 if name == "no submission" else 3)


@pytest.mark.parametrize("name", ["MaxProcs", "MaxNodes", "UnixStartTime"])
@pytest.mark.parametrize("number", ["1,024", "1 024", "1_024", "1024.5", "1e3", "0x400", "1’024"])
def test_numbers_in_a_header_are_whole_or_refused(name: str, number: str) -> None:
    """1,024 was read as 1."""
    with pytest.raises(WorkloadError, match=f"header {name} must begin with a whole number, got '{number}'"):
        read(f"; {name}: {number}\n{swf(1)}\n", "log.swf")
    assert read(f"; MaxProcs: 1024 (338 nodes)\n{swf(1)}\n", "log.swf").intake.machine_processors == 1024


def test_a_pause_of_an_hour_is_a_pause() -> None:
    """Stated by start, end and run time, or by Suspended; unless clocks go forward meanwhile, on a Sunday at night."""
    hour = "1|2024-01-02T00:00:00|2024-01-02T00:00:00|2024-01-02T02:00:00|3600|4|n1"
    assert "were suspended" in dict(info_rows(read(lines(hour, head=SHARED))))["not played"]
    text = "JobID|Submit|Start|ElapsedRaw|Suspended|NNodes\n1|2024-01-02T00:00:00|2024-01-02T00:00:10|3600|02:00:00|2\n"
    assert "were suspended" in dict(info_rows(read(text)))["not played"]
    sunday = hour.replace("2024-01-02T00", "2024-03-31T01").replace("2024-01-02T02", "2024-03-31T03")
    assert "not played" not in dict(info_rows(read(lines(sunday, head=SHARED))))


def test_fractions_of_times() -> None:
    """The format allows them in times: rounded to seconds."""
    assert read(HEAD + "1 0 10 3600.7 16 -1 -1 16 7200 -1 1 1 1 -1 1 -1 -1 -1\n", "log.swf")["run_s"].tolist() == [3601]


def test_pieces_of_checkpointed_jobs() -> None:
    """By the format only the first piece has a submission: the further ones refused the log. A summary counts once."""
    line = "{} {} 10 {} 16 -1 -1 16 7200 -1 {} 1 1 -1 1 -1 -1 -1".format
    pieces = [(1, 0, 3600, 1), (2, 9, 1000, 1), (2, 9, 400, 2), (2, -1, 300, 2), (2, -1, 300, 3), (3, 99, 60, 0)]
    for text in (
        lines(*(line(*piece) for piece in pieces), head=HEAD),
        lines(*(line(*one) for one in pieces), head=""),
    ):
        rows = dict(info_rows(read(text, "log.swf")))
        assert (rows["with runtime and size"], rows["runtime s, mean"]) == ("3", "1,553")
        jobs = convert(read(text, "log.swf"), MachineFacts(nodes=64), name="w")[0].jobs
        assert [job.id for job in jobs] == [1, 2, 3]
    with pytest.raises(WorkloadError, match="submit_s"):
        read(lines(line(1, -1, 60, 1), head=HEAD), "log.swf")


def test_a_job_that_changed_its_size() -> None:
    """sacct has a line for each size, each submitted when the size changed. One job, as large as when it began: it was
    the last piece alone, half as long and without its wait. One that had not ended has no other line."""
    head = "JobID|State|Submit|Start|End|ElapsedRaw|NNodes"
    day = "2024-01-02T00:"
    text = lines(
        f"1|RESIZING|{day}00:00|{day}00:10|{day}10:10|600|4",
        f"1|COMPLETED|{day}20:10|{day}20:10|{day}30:10|600|3",
        f"1|RESIZING|{day}10:10|{day}10:10|{day}20:10|600|2",
        f"2|RESIZING|{day}00:00|{day}00:20|{day}10:10|590|4",
        f"3|COMPLETED|{day}00:05|{day}00:30|{day}10:30|600|1",
        head=head,
    )
    table = read(text)
    found = {r.number: (r.start_s - r.submit_s, r.run_s, r.nodes, r.state) for r in records(table)}
    assert found == {1: (10, 1800, 4, "completed"), 2: (20, 590, 4, "running"), 3: (25, 600, 1, "completed")}
    [entry] = table.intake.book.entries(Fate.LEFT_OUT)
    assert (entry.lines, entry.reason.partition(" (")[0]) == (2, "earlier size of a job")


@pytest.mark.parametrize("pack", [bz2.compress, gzip.compress, lzma.compress])
def test_packed_without_a_suffix(pack: object, tmp_path: Path) -> None:
    """The packing is told by the contents."""
    (tmp_path / "log").write_bytes(pack((HEAD + swf(1)).encode()))  # type: ignore[operator]
    assert labels(read_log(LogFile.of(tmp_path / "log"))) == {"1": 16}


@pytest.mark.parametrize(
    ("magic", "word"),
    [
        (b"\x28\xb5\x2f\xfd", "zstd"),
        (b"PK\x03\x04", "zip archive"),
        (b"\x1f\x9d", "compress"),
        (b"7z\xbc\xaf", "7-Zip"),
    ],
)
def test_packings_that_are_not_unpacked_are_named(magic: bytes, word: str) -> None:
    """With the command that unpacks them."""
    with pytest.raises(WorkloadError, match=f"{word}.*unpack it first"):
        read(magic + b"\x00" * 40, "log.swf")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "latin-1"])
def test_encodings(encoding: str) -> None:
    """UTF-16 as Windows writes it, a byte order mark, and single lines in Latin-1."""
    text = lines(slurm("1").replace("ann", "jürgen"))
    data = ("\ufeff" + text if encoding == "utf-16-be" else text).encode(encoding)
    [record] = records(read(data))
    assert (record.user, record.nodes) == ("jürgen", 2)
    mixed = lines(slurm("1").replace("ann", "müller")).encode() + slurm("2").replace("ann", "jürgen").encode("latin-1")
    assert [record.user for record in records(read(mixed))] == ["müller", "jürgen"]


PBS_JOB = (
    "user=ann queue=batch ctime=1704189600 start=1704190000 exec_host=n1/0*8+n2/0*8 Resource_List.nodect=2 "
    "Resource_List.walltime=240:00:00 end=1704193600 Exit_status=0 resources_used.walltime=01:00:00"
)


def test_events_of_pbs() -> None:
    """Deleted and aborted jobs, licences, arrays, a job that ran again: each line has its reason."""
    events = (
        *(
            ("Q", "1.s", "queue=batch"),
            ("D", "1.s", "requestor=ann@host"),
            ("A", "3.s", ""),
            ("L", "license", "floating"),
        ),
        *(("E", f"7[{task}].s", PBS_JOB) for task in ("", 1, 2)),
        *(("E", "2.s", PBS_JOB), ("R", "2.s", PBS_JOB), ("E", "2.s", PBS_JOB.replace("17041936", "17041976"))),
    )
    table = read("".join(f"01/02/2024 10:00:00;{kind};{job};{rest}\r\n" for kind, job, rest in events))
    assert labels(table) == {"7_1": 2, "7_2": 2, "2": 2}
    assert table["requested_s"].tolist() == [864_000] * 3
    assert {entry.reason.partition(" (")[0]: entry.lines for entry in table.intake.book.entries(Fate.LEFT_OUT)} == {
        "event other than the end of a job": 3,
        "deletion or abort of a job": 2,
        "array as a whole": 1,
        "earlier attempt of a requeued job": 1,
    }


@pytest.mark.parametrize("pack", [bz2.compress, gzip.compress, lzma.compress])
def test_a_packed_file_that_is_cut_off(pack: object, tmp_path: Path) -> None:
    """One line with its name, whatever was read until then."""
    data = pack(lines(*(slurm(str(number)) for number in range(500))).encode())  # type: ignore[operator]
    (tmp_path / "log").write_bytes(data[: len(data) // 2])
    with pytest.raises(WorkloadError, match=r"log: expected a complete .* file, decompression failed"):
        read_log(LogFile.of(tmp_path / "log"))


def test_an_empty_answer_of_sacct_json(tmp_path: Path) -> None:
    """Was: "expected a log, got a Batsim workload"."""
    (tmp_path / "jobs.json").write_text('{"meta": {"plugin": {}}, "jobs": []}')
    assert not is_workload(tmp_path / "jobs.json")
    assert len(read_log(LogFile.of(tmp_path / "jobs.json"))) == 0


def test_sacct_json() -> None:
    """Two versions of the output of sacct --json: numbers in objects and bare, states in lists and alone."""
    new = {"job_id": 1, "user": "ann", "state": {"current": ["COMPLETED"]}, "allocation_nodes": 2,
           "array": {"job_id": 7, "task_id": {"set": True, "number": 3}},
           "tres": {"requested": [{"type": "cpu", "count": 8}, {"type": "gres", "name": "gpu", "count": 4}]},
           "time": {"submission": 1704067200, "start": 1704067210, "end": 1704070810, "elapsed": 3600,
                    "limit": {"set": True, "infinite": False, "number": 120}}}  # fmt: skip
    old = {
        "job_id": 2,
        "association": {"user": "bob"},
        "state": {"current": "TIMEOUT"},
        "allocation_nodes": 3,
        "time": {"submission": 1704067200, "start": 1704067210, "end": 1704070810, "elapsed": 3600, "limit": 60},
    }
    table = read(json.dumps({"jobs": [new, old], "meta": {}}), "log.json")
    first, second = records(table)
    assert (first.part, first.nodes, first.requested_s, first.gpus, first.user) == ("_3", 2, 7200, 4, "ann")
    assert (second.state, second.nodes, second.requested_s, second.user) == ("timeout", 3, 3600, "bob")
    assert table.format == "sacct-json"


def test_pbs() -> None:
    """The end of a job states all; other events of it are counted, tasks of arrays are jobs."""
    end = (
        "04/02/2024 11:00:00;E;{};user=ann group=g queue=batch ctime=1712000000 qtime=1712000000 etime=1712000005 "
        "start=1712000010 end=1712003610 exec_host=n1/0*16+n2/0*16 Resource_List.ncpus=32 Resource_List.nodect=2 "
        "Resource_List.mem=4gb Resource_List.walltime=02:00:00 Exit_status=0 resources_used.walltime=01:00:00"
    )
    begin = "04/02/2024 10:00:00;S;12.server;user=ann start=1712000010"
    table = read("\n".join((begin, end.format("12.server"), end.format("13[4].server"))))
    first, second = records(table)
    assert (first.number, first.nodes, first.run_s, first.requested_s) == (12, 2, 3600, 7200)
    assert (first.memory_bytes, first.node_list, first.state, first.account) == (2**32, "n1,n2", "completed", "g")
    assert (second.number, second.part) == (13, "_4")
    assert [entry.lines for entry in table.intake.book.entries(Fate.LEFT_OUT)] == [1]


SHARED = "JobID|Submit|Start|End|ElapsedRaw|NNodes|NodeList"


def of_nodes(number: int, minute: int, nodes: str, count: int = 1) -> str:
    """A job of an hour on these nodes."""
    begin, end = f"2024-01-01T00:{minute:02}:00", f"2024-01-01T01:{minute:02}:00"
    return f"{number}|2024-01-01T00:00:00|{begin}|{end}|3600|{count}|{nodes}"


def test_jobs_that_share_nodes() -> None:
    """Three of four jobs have a node together with another; two nodes are in use at once, not four."""
    alone = "4|2024-01-01T02:00:00|2024-01-01T02:00:00|2024-01-01T03:00:00|3600|1|n1"
    jobs = (of_nodes(1, 0, "n1"), of_nodes(2, 10, "n[1-2]", 2), of_nodes(3, 20, "n2"))
    table = read(lines(*jobs, alone, head=SHARED))
    rows = dict(info_rows(table))
    assert rows["most in use at once"].startswith("2 nodes")
    assert "3 jobs (80.0 % of the node-hours) share nodes with other jobs" in rows["not played"]


def test_used_and_requested_are_two_fields() -> None:
    """Processors in use are those allocated, where the log states them; plays have the request."""
    text = HEAD + "1 0 0 100 32 -1 -1 48 200 -1 1 1 1 -1 1 -1 -1 -1\n2 0 0 100 -1 -1 -1 8 200 -1 1 1 1 -1 1 -1 -1 -1\n"
    table = read(text, "log.swf")
    assert dict(info_rows(table))["most in use at once"].startswith("40 processors")
    workload, _ = convert(table, MachineFacts(nodes=64), ConvertOptions(site_wait=True))
    assert [job.res for job in workload.jobs] == [48, 8]
    assert [job.res for job in with_site_nodes(workload).jobs] == [32, 8]


def test_overruns_and_suspensions_are_stated() -> None:
    """Jobs beyond their limit, and jobs whose end is later than their run time says."""
    over = HEAD + "1 0 0 7300 64 -1 -1 64 7200 -1 1 1 1 -1 1 -1 -1 -1\n"
    assert (
        "1 jobs (100.0 % of the node-hours) ran beyond their limit"
        in dict(info_rows(read(over, "l.swf")))["not played"]
    )
    paused = "1|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T04:00:00|3600|4|n1"
    assert "were suspended at the site" in dict(info_rows(read(lines(paused, head=SHARED))))["not played"]


def test_jobs_of_one_second_keep_the_order_of_the_log() -> None:
    """Batsim takes them in the order of their ids as texts: 1, 10, 2; the file says that they are in order."""
    text = HEAD + "\n".join(f"{n} 0 -1 100 4 -1 -1 4 200 -1 1 1 1 -1 1 -1 -1 -1" for n in range(1, 12)) + "\n"
    workload, _ = convert(read(text, "log.swf"), MachineFacts(nodes=64))
    data = json.loads(format_batsim(workload))
    assert data["in_order"] is True
    jobs = workload_from_object(data).jobs
    jobs.sort()
    assert [job.name.rpartition("!")[2] for job in jobs] == [str(n) for n in range(1, 12)]
    few, _ = convert(read(HEAD + text.splitlines()[1], "log.swf"), MachineFacts(nodes=64))
    assert "in_order" not in json.loads(format_batsim(few))


SCRIPTS = {
    "#FLUX: -N 3\n#FLUX: --setattr=dw=\"\"\"\n#FLUX: #DW jobdw type=xfs capacity=1GiB name=a\n#FLUX: \"\"\"\n":
        (2**30, 3),
    "# flux: -N3\n# flux: --setattr=dw=\"#DW jobdw type=xfs capacity=1GiB name=a\"\n": (2**30, 3),
    "#SBATCH -N 4\n#BB capacity=1GB access=striped type=scratch\n": (10**9, 4),
    "#SBATCH --nodes=2-4   # few\n#DW jobdw type=xfs capacity=1GiB name=a #DW jobdw type=xfs capacity=2GiB name=b\n":
        (3 * 2**30, 2),
    "\n#!/bin/sh\n# a comment\n#DW jobdw type=xfs capacity=1GiB name=a\n": (2**30, 0),
    "  #DW jobdw type=xfs capacity=1GiB name=a\n": (0, 0),
    "##DW jobdw type=xfs capacity=1GiB name=a\n# DW jobdw type=xfs capacity=1GiB\n#SBATCH2 -N 3\n": (0, 0),
    "echo\n#DW jobdw type=xfs capacity=1GiB name=a\n#SBATCH -N 4\n": (0, 0),
}  # fmt: skip
"""Job scripts: bytes of their buffers for one node, and nodes."""


@pytest.mark.parametrize("text", SCRIPTS)
def test_directives_of_scripts(text: str, tmp_path: Path) -> None:
    """Flux's lines, several on a line, none below the first command, none indented or commented out."""
    (tmp_path / "1.sh").write_text(text)
    script = read_script(tmp_path / "1.sh")
    assert (script.requests.total_bytes(1), script.nodes) == SCRIPTS[text]


def test_waits_at_the_site() -> None:
    """Of all jobs and by size; a log without starts has no such rows."""
    rows = [(1, 60, 1), (2, 120, 8), (3, 7200, 64), (4, 0, 1)]
    line = "{} 0 {} 100 {size} -1 -1 {size} 200 -1 1 1 1 -1 1 -1 -1 -1\n"
    text = HEAD + "".join(line.format(job, wait, size=size) for job, wait, size in rows)
    found = dict(info_rows(read(text, "log.swf")))
    assert found["waits at the site"] == "median 1 min 30 s, 95 % within 1 h 42 min, 4 jobs"
    assert found["  of 1 processor"] == "median 30 s, 95 % within 57 s, 2 jobs"
    assert found["  of 2 to 8 processors"] == "median 2 min, 95 % within 2 min, 1 job"
    assert found["  of 9 to 64 processors"] == "median 2 h, 95 % within 2 h, 1 job"
    unknown = HEAD + line.format(1, -1, size=4)
    assert "waits at the site" not in dict(info_rows(read(unknown, "log.swf")))


MORE_WRONG = (
    ("01 0 0", "1 0 0", True), ("1 0 0x0", "", False), ("1 0 +5", "1 0 5", True), ("1 0 1e2", "", True),
    ("1 0 .", "", False), ("1 0 \u0661", "", False), ("1 0 1_0", "", False), ("1 0 inf", "", False),
    ("1 -5 0", "", False), ("-1 0 0", "", False), ("1 0 99999999999999999999", "", False), ("1 0 nan", "", False),
)  # fmt: skip
"""Beginnings of a line (number, submission, wait), and whether it is a job."""


@pytest.mark.parametrize(("begin", "same", "is_job"), MORE_WRONG, ids=[case[0] for case in MORE_WRONG])
def test_numbers_that_are_none(begin: str, same: str, is_job: bool) -> None:
    """One such line among 200 is left out with its number and its field, and no other line is."""
    rest = "3600 16 -1 -1 16 7200 -1 1 1 1 -1 1 -1 -1 -1"
    text = HEAD + "\n".join((f"{begin} {rest}", *(swf(number) for number in range(2, 202)))) + "\n"
    table = read(text, "log.swf")
    assert len(table) == 200 + is_job
    bad = list(table.intake.book.entries(Fate.UNREADABLE))
    assert [entry.lines for entry in bad] == ([] if is_job else [1])
    if same:
        assert labels(table) == labels(read(text.replace(begin, same, 1), "log.swf"))
    if bad:
        assert bad[0].examples[0].startswith("2: field ")

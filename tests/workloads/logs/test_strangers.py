"""Logs as strangers bring them: other separators, quotation, encodings, complaints of commands, ids of two servers."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from spillway.base import durable
from spillway.experiments.cli import main
from spillway.workloads import WorkloadError
from spillway.workloads.logs.slurm import submitted
from spillway.workloads.logs.slurm_units import resources_of
from tests.workloads.logs.test_intake import SACCT, labels, lines, read, slurm, swf

PLAIN = lines(slurm("7"))
PBS = (
    "01/02/2024 01:00:10;E;{};user=ann queue=batch ctime=1704153600 qtime=1704153600 start=1704153610 "
    "Resource_List.nodect={} Resource_List.walltime=02:00:00 end=1704157210 Exit_status=0\n"
)
JOBCOMP = (
    "JobId=1 UserId=ann(1000) Name={} JobState=COMPLETED Partition=batch TimeLimit=120 StartTime=2024-01-02T00:00:10 "
    "EndTime=2024-01-02T01:00:10 NodeList=n[1-2] NodeCnt=2 ProcCnt=32 WorkDir=/a SubmitTime=2024-01-02T00:00:00\n"
)


@pytest.mark.parametrize("text", [
    *(PLAIN.replace("|", sign) for sign in ("^", "~", "||", "@@")),
    "".join("|".join(f'"{cell}"' for cell in line.split("|")) + "\n" for line in PLAIN.splitlines()),
    "# sacct -X -P\n" + PLAIN,
    "sacct: error: the database does not answer\n\n" + PLAIN,
    *(PLAIN.encode(name) for name in ("utf-16", "utf-16-be", "utf-16-le", "utf-32", "utf-8-sig")),
])  # fmt: skip
def test_forms_of_sacct(text: str | bytes) -> None:
    """Any ``--delimiter``, cells in quotation marks, lines above the header, encodings with and without a mark."""
    assert labels(read(text)) == {"7": 2}


def test_lines_above_a_header_are_counted() -> None:
    """The first of them is shown."""
    book = read("# sacct -X\n" + PLAIN).intake.book
    assert (book.lines, next(iter(book.said()))) == (
        2,
        "left out 1 line: line above the header (such as line 1: '# sacct -X')",
    )


@pytest.mark.parametrize("value", ["64+32", "64 x 2", "2^10", "128/2", "2003-01-01"])
def test_a_calculation_in_a_header_is_refused(value: str) -> None:
    """Its first number alone would be wrong."""
    with pytest.raises(WorkloadError, match="must begin with a whole number"):
        read(f"; MaxProcs: {value}\n{swf(1)}\n")
    assert read(f"; MaxProcs: 64 (two halves)\n{swf(1)}\n").intake.machine_processors == 64


def _job(**changes: Any) -> str:
    """The output of ``sacct --json`` with one job."""
    start = 1_704_153_600
    time = {"submission": start, "start": start + 10, "end": start + 3610, "elapsed": 3600, "limit": 120}
    job = {"job_id": 5, "user": "ann", "allocation_nodes": 2, "state": {"current": "COMPLETED"}, "time": time}
    return json.dumps({"meta": {}, "jobs": [job | changes]})


@pytest.mark.parametrize(
    ("text", "label"),
    [
        (b"\xef\xbb\xbf" + _job().encode(), "5"),
        (_job(array={"job_id": 0, "task_id": 0}), "5"),
        (_job(array={"job_id": 4, "task_id": 0}), "4_0"),
        (_job(array={"job_id": 4, "task_id": {"set": False, "number": 0}}), "5"),
    ],
)
def test_forms_of_sacct_json(text: str | bytes, label: str) -> None:
    """A byte order mark; a job without an array, in releases that write its numbers as 0."""
    assert labels(read(text, "log.json")) == {label: 2}


@pytest.mark.parametrize("name", ["x", "my job", "x JobId=9 NodeCnt=7", "a JobState=b", ""])
def test_names_of_jobs_with_keys(name: str) -> None:
    """Users write anything into the name of a job."""
    assert labels(read(JOBCOMP.format(name))) == {"1": 2}


def test_jobs_of_two_pbs_servers() -> None:
    """Numbers of two servers are different jobs; those of one are attempts. Times may have fractions."""
    both = PBS.format("1.a", 2) + PBS.format("1.b", 3)
    assert labels(read(both)) == {"1": 2, "1@b": 3}
    assert labels(read(PBS.format("1.a", 2) + PBS.format("1.a", 3))) == {"1": 3}
    assert labels(read(PBS.format("1[4].a", 2).replace("01:00:10;", "01:00:10.123456;"))) == {"1_4": 2}


def test_forms_of_torque() -> None:
    """Days before the hours of a limit, and tasks of arrays as ``13-4``: both were refused."""
    table = read(PBS.format("13-4.a", 2).replace("walltime=02", "walltime=1:02") + PBS.format("14.a", 3))
    assert labels(table) == {"13_4": 2, "14": 3}
    assert table["requested_s"].tolist() == [93_600, 7200]


@pytest.mark.parametrize(("line", "found"), [
    ("sbatch -N2 --hold -p batch train.py -d 64 -L 5 --nice -a 1-9%2", ("", "", "", "", -1)),
    ("/usr/bin/sbatch --exclusive --depend=afterok:5 -L m:2 x.sh -d 64", ("afterok:5", "m:2", "", "", -1)),
    ("sbatch -L m --wrap=sort -d 64 a", ("", "m:1", "", "", -1)),
    ("salloc -n 4 --nice --array 1-9%2 bash -l", ("", "", "100", "", 2)),
    ("sbatch -vv --reserv=r -J a", ("", "", "", "r", -1)),
])  # fmt: skip
def test_options_of_sbatch(line: str, found: tuple[str, str, str, str, int]) -> None:
    """Those behind the script are the script's own: ``-L 5`` was a license; sbatch takes its own shortened."""
    assert submitted(line) == found


@pytest.mark.parametrize(
    ("text", "gpus"),
    [("gres/gpu:a=4,gres/gpu:b=2", 6), ("gres/gpu=6,gres/gpu:a=4,gres/gpu:b=2", 6), ("cpu=4", -1)],
)
def test_gpus_of_several_kinds(text: str, gpus: int) -> None:
    """They are added up where the log does not state their sum."""
    assert resources_of(text).gpus == gpus


@pytest.mark.parametrize("kind", ["pipe", "link to a device"])
def test_a_device_is_not_replaced(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file took the place of /dev/stdout, for all programs of the machine."""
    log, out = tmp_path / "a.swf", tmp_path / "out"
    log.write_text(f"; MaxProcs: 64\n{swf(1)}\n")
    if kind == "pipe":
        os.mkfifo(out)
    else:
        out.symlink_to("/dev/null")
    before = out.lstat()
    assert main(["workload", "convert", str(log), "--out", str(out)]) == 2
    assert "a device, a pipe or a socket: name a file" in capsys.readouterr().err
    assert out.lstat().st_ino == before.st_ino
    with pytest.raises(OSError, match="a device, a pipe or a socket"):
        durable.write_text(out, "text")
    assert out.lstat().st_ino == before.st_ino
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.swf", "out"]


@pytest.mark.parametrize(("command", "code", "words"), [
    ("{python} -m spillway.experiments.cli list policies > /dev/full", 1,
     "the output cannot be written: No space left"),
    ("{python} -m spillway.experiments.cli run {long}", 2, "no such workload"),
    ("PYTHONIOENCODING=ascii {python} -m spillway.experiments.cli workload info ä.swf", 0, "\\xe4"),
    ("{python} -m spillway.experiments.cli workload info ä.swf >&-", 0, ""),
    ("{python} -m spillway.experiments.cli workload info nope.swf >&- 2>&-", 2, ""),
    ("cd gone && rmdir ../gone; {python} -m spillway.experiments.cli run ../ä.swf -p fcfs -p easy --no-plots", 2,
     "the current folder was removed"),
])  # fmt: skip
def test_outputs_and_names_that_are_unusual(command: str, code: int, words: str, tmp_path: Path) -> None:
    """A full disk behind the output, a name too long for the system, letters without signs: they were tracebacks."""
    (tmp_path / "ä.swf").write_text(f"; MaxProcs: 64\n{swf(1)}\n")
    (tmp_path / "gone").mkdir()
    text = command.format(python=sys.executable, long="a" * 5000)
    done = subprocess.run(text, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert words in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_headers_of_several_words_are_no_separators() -> None:
    """Columns between blanks are refused with their remedy."""
    with pytest.raises(WorkloadError, match="parsable2"):
        read(" ".join(SACCT.split("|")) + "\n")

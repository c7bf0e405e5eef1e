"""Jobs of a log that were cancelled while they waited: left out, or played as waiting until then."""

from typing import Any

import pytest

from spillway.workloads import MachineFacts, convert
from spillway.workloads.batsim.workload import Workload
from spillway.workloads.conversion.convert import ConvertOptions
from tests.workloads.logs.test_intake import HEAD, read

SACCT = "JobID|State|Submit|Start|End|ElapsedRaw|Timelimit|NNodes\n"
DAY = "2024-01-01T"


def line(job: int, start: str, end: str, run: int, nodes: int = 2, state: str = "CANCELLED by 7") -> str:
    """A line of sacct: submitted at midnight."""
    return f"{job}|{state}|{DAY}00:00:00|{start and DAY}{start or 'Unknown'}|{DAY}{end}|{run}|01:00:00|{nodes}\n"


RAN = line(1, "00:00:10", "01:00:10", 3600, state="COMPLETED")
OF_SACCT = SACCT + RAN + line(2, "", "00:20:00", 0) + line(3, "00:30:00", "00:30:00", 0)
OF_SWF = HEAD + (
    "1 0 10 3600 2 -1 -1 2 3600 -1 1 1 1 -1 1 -1 -1 -1\n"
    "2 0 1200 -1 -1 -1 -1 2 3600 -1 5 1 1 -1 1 -1 -1 -1\n"
    "3 0 1800 0 0 -1 -1 2 3600 -1 5 1 1 -1 1 -1 -1 -1\n"
)


def converted(text: str, name: str, **options: Any) -> Workload:
    """The workload of a log's text on eight nodes with burst buffers."""
    machine = MachineFacts(nodes=8, storage_nodes=2, storage_bytes=10**12)
    return convert(read(text, name), machine, ConvertOptions(**options))[0]


@pytest.mark.parametrize(("text", "name"), [(OF_SACCT, "log.txt"), (OF_SWF, "log.swf")], ids=["sacct", "swf"])
def test_they_wait_until_their_cancellation(text: str, name: str) -> None:
    """Job 2 has no start, and job 3 a start that is its end, as older versions of Slurm write it."""
    workload = converted(text, name, cancelled="play", site_wait=True)
    after = {job.name: job.extras.get("cancelled_after_s") for job in workload.jobs}
    assert after == {"1": None, "2": 1200, "3": 1800}
    assert [job.extras["site_wait_s"] for job in workload.jobs] == [10, 1200, 1800]
    assert workload.profiles["2"]["cpu"] == 0
    note = "2 jobs were cancelled while they waited: they hold their place until then (cancelled=leave: left out)"
    assert note in workload.notes


def test_they_are_left_out_by_default_in_files() -> None:
    """Other schedulers do not know the field: a converted file has no such jobs, and the notes count them."""
    workload = converted(OF_SACCT, "log.txt")
    assert [job.name for job in workload.jobs] == ["1"]
    assert "left out 2 lines: cancelled while waiting" in workload.notes


def test_values_drawn_for_other_jobs_are_the_same() -> None:
    """Whether cancelled jobs are played or not."""
    more = OF_SACCT + line(4, "00:10:00", "00:50:00", 2400, state="COMPLETED")
    without, played = converted(more, "log.txt"), converted(more, "log.txt", cancelled="play")
    assert len(played.profiles) == 4
    assert {name: played.profiles[name] for name in without.profiles} == without.profiles


@pytest.mark.parametrize(
    ("job", "words"),
    [
        (line(2, "", "00:20:00", 0, nodes=9), "cancelled while waiting for more than the machine's 8 nodes"),
        (line(2, "", "00:00:00", 0), "cancelled while waiting, at a time that the log does not state"),
        (line(2, "", "00:20:00", 0).replace("|2\n", "|0\n"), "number of processors not known"),
    ],
)
def test_those_that_cannot_be_played(job: str, words: str) -> None:
    """They are left out, each with its reason."""
    assert f"left out 1 line: {words}" in converted(SACCT + RAN + job, "log.txt", cancelled="play").notes

"""Dependencies and array limits of jobs in logs, as fields of jobs."""

from typing import Any

import pytest

from spillway.workloads.batsim.workload import Workload, WorkloadJob
from spillway.workloads.conversion.convert import ConvertOptions, convert
from spillway.workloads.conversion.dependencies import among
from spillway.workloads.conversion.machine_facts import MachineFacts
from tests.workloads.logs.test_formats import read

HEAD = "JobID|Submit|Start|End|ElapsedRaw|NNodes|Dependency|SubmitLine\n"


def _sacct(*jobs: tuple[str, str, str]) -> Workload:
    """A workload of sacct's lines: id, dependency, command."""
    lines = (
        f"{job}|2024-01-01T00:00:{second:02d}|2024-01-01T0{second}:00:00|2024-01-01T0{second}:10:00|600|1|{dependency}|"
        f"{line}\n"
        for second, (job, dependency, line) in enumerate(jobs)
    )
    return _converted(HEAD + "".join(lines))


def _converted(text: str, **options: Any) -> Workload:
    return convert(read(text, "log.txt"), MachineFacts(nodes=8), ConvertOptions(**options))[0]


def _depends(workload: Workload) -> dict[str, Any]:
    return {job.name: job.extras["depends"] for job in workload.jobs if "depends" in job.extras}


def test_slurms_words() -> None:
    """Conditions on ends become afterany, for the log's jobs have ended; an array means all its tasks.

    Those on jobs that are not in the log, or come later, are left out; 8 states its own only on its command.
    """
    workload = _sacct(
        ("1", "", ""),
        ("2_1", "afterok:1(unfulfilled)", ""),
        ("2_2", "after:1+10", ""),
        ("3_1", "aftercorr:2", ""),
        ("4", "afternotok:2_*,afterany:77", ""),
        ("5", "afterok:1?afterok:4", ""),
        ("6", "singleton", ""),
        ("7", "afterany:8", ""),
        ("8", "", "sbatch --dependency=afterok:4:5 job.sh"),
    )
    assert _depends(workload) == {
        "2_1": "afterany:1",
        "2_2": "after:1+10",
        "3_1": "afterany:2_1",
        "4": "afterany:2_1,afterany:2_2",
        "5": "afterany:1?afterany:4",
        "8": "afterany:4,afterany:5",
    }
    assert "6 jobs wait for those that they depended on (dependencies=leave: they do not)" in workload.notes
    omitted = {omission.name: omission.jobs for omission in workload.omissions}
    assert omitted["dependencies"] == 2  # 6 and 7


def test_limits_of_arrays() -> None:
    """The command or the line of the tasks still to come states how many tasks run at a time."""
    workload = _sacct(("3_1", "", "sbatch --array=1-9%4 job.sh"), ("5_1", "", ""), ("5_[2-9%2]", "", ""), ("6", "", ""))
    limits = {job.name: (job.extras.get("array"), job.extras.get("array_limit")) for job in workload.jobs}
    assert limits == {"3_1": (3, 4), "5_1": (5, 2), "6": (None, None)}


def test_a_log_that_contradicts_itself() -> None:
    """Job 2 started while job 1, on which it depends, ran; three tasks of an array with a limit of two ran at once."""
    line = "{}|2024-01-01T00:00:00|2024-01-01T00:0{}:00|2024-01-01T00:1{}:00|600|1|{}|{}\n"
    array = "sbatch --array=1-3%2 job.sh"
    tasks = "".join(line.format(f"3_{task}", task, task, "", array) for task in (1, 2, 3))
    workload = _converted(HEAD + line.format(1, 0, 0, "", "") + line.format(2, 5, 5, "afterok:1", "") + tasks)
    assert _depends(workload) == {}
    assert {job.extras["array_limit"] for job in workload.jobs if "array" in job.extras} == {3}


def test_predecessors_and_thinking_times() -> None:
    """Fields 17 and 18 of SWF; a log whose jobs all name the same predecessor fills the field with a constant."""
    line = "{} {} 1 600 1 -1 -1 1 900 -1 1 1 1 1 1 1 {} {}\n"
    text = line.format(1, 0, -1, -1) + line.format(2, 700, 1, -1) + line.format(3, 2000, 2, 30)
    assert _depends(_converted(text)) == {"2": "afterany:1", "3": "afterany:2+30s"}
    assert _depends(_converted(text, dependencies="leave")) == {}
    assert _depends(_converted(line.format(1, 0, 1, -1) + line.format(2, 700, 1, -1))) == {}


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("afterok:1:9,after:8", "afterok:1"),
        ("afterok:8", None),
        ("afterany:1+30s?afterok:9", "afterany:1+30s"),
        ("singleton", "singleton"),
    ],
)
def test_a_part_of_a_workload_depends_on_itself_alone(text: str, left: str | None) -> None:
    """The jobs of other parts are not there to be waited for."""
    jobs = [WorkloadJob(1, 0, 1, "p"), WorkloadJob(2, 0, 1, "p", extras={"depends": text, "user": 1})]
    assert among(jobs)[1].extras == ({"user": 1} | ({} if left is None else {"depends": left}))

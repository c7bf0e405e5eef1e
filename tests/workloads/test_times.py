"""Times beyond every clock are refused when they are read: a log in microseconds is named as such."""

import json

import pytest

from spillway.workloads.batsim.json_file import parse_batsim
from spillway.workloads.errors import WorkloadError
from spillway.workloads.logs.tables import parse_swf

LINE = "1 0 -1 100 4 -1 -1 4 200 -1 1 7 1 1 1 -1 -1 -1"


@pytest.mark.parametrize("field", [2, 3, 4, 9, 18])
def test_of_a_log(field: int) -> None:
    """Submission, wait, runtime, request and think time; with the line, the field and the remedy."""
    parts = LINE.split()
    parts[field - 1] = "20000000000000"
    with pytest.raises(WorkloadError, match=rf"field {field} .*at most 8589934592 s.*in microseconds\?") as error:
        parse_swf(" ".join(parts), "mine.swf")
    assert "mine.swf:1" in str(error.value)
    parts[field - 1] = "8589934592"
    assert len(parse_swf(" ".join(parts)).records) == 1


def test_of_a_workload() -> None:
    """The same for Batsim's format; a walltime as long as that counts as no walltime there."""
    job = {"id": 1, "subtime": 2e13, "res": 1, "profile": "p", "walltime": 10}
    data = {"nb_res": 4, "jobs": [job], "profiles": {"p": {"type": "delay", "delay": 5}}}
    with pytest.raises(WorkloadError, match=r"at most 8589934592 s") as error:
        parse_batsim(json.dumps(data), where="mine.json", name="mine")
    assert "jobs[0].subtime" in str(error.value)

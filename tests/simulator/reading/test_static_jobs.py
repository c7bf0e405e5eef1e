"""Static jobs before their submission."""

from pathlib import Path

import pytest

from spillway.protocol.messages import SetJobMetadata
from spillway.simulator.errors import SchedulerFault
from tests.simulator.worlds import execute, run, scripted
from tests.simulator.worlds import jobs as listed


def test_a_job_that_is_named_before_its_submission(tmp_path: Path) -> None:
    """Its metadata are in its row of the table; it cannot be executed yet."""
    data = listed({"id": "a"}, {"id": "b", "subtime": 5})
    replies = (SetJobMetadata(0.0, "w0!b", "early"),), (execute("w0!a", 0),), (execute("w0!b", 1, at=5.0),)
    result, _ = run(data, scripted(*replies), export=str(tmp_path / "x"))
    assert result.totals.success == 2
    assert [line.split(",")[-1] for line in (tmp_path / "x_jobs.csv").read_text().splitlines()[1:]] == ['""', '"early"']
    with pytest.raises(SchedulerFault, match="only a SUBMITTED job can be executed, it is NOT_SUBMITTED"):
        run(data, scripted((execute("w0!b", 0),)))

"""The end of a job that waits for a turn when its walltime is over."""

from pathlib import Path

import pytest

from spillway.experiments.run.single import execute
from spillway.experiments.run.spec import Task, Transport
from tests.kit.tables import csv_by
from tests.properties.small_world import runs, workload


@pytest.mark.parametrize("transport", [Transport.DIRECT, Transport.BYTES])
def test_part_of_a_transfer_has_moved(tmp_path: Path, transport: Transport) -> None:
    """Failed before: the job ended with its first part, not with its walltime.

    Two I/O nodes. Job 0, on one node, writes for a long time at its own; job 1 has nodes at both: its part at the other
    I/O node has ended within seconds, its second part waits for job 0 until the walltime of 100 s.
    """
    jobs = [(0, 1, 100.0, 0, 0, 10_000, False), (0, 6, 100.0, 0, 0, 100, False)]
    data = workload("operations", jobs)
    data["profiles"]["p0"]["operations"] = [{"compute_s": 1.0}, {"io_bytes": 3 * 10**12}]
    data["profiles"]["p1"]["operations"] = [{"compute_s": 5.0}, {"io_bytes": 10**7}]
    session = {"io_control": "exclusive", "io_node_depth": "1"}
    (run,) = runs(tmp_path, "operations", data, ["easy"], session=session, transports=(transport,))
    execute(Task(run, tmp_path))
    rows = csv_by(tmp_path / run.id / "jobs.csv")
    assert rows["1"]["final_state"] == "COMPLETED_WALLTIME_REACHED"
    assert float(rows["1"]["execution_time"]) == pytest.approx(100.0, abs=0.01)
    assert float(rows["1"]["transfer_s"]) > 0.0

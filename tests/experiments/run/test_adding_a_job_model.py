"""The job model of the documentation runs as written there: under every policy, with both players."""

import re
from pathlib import Path

import pytest

from spillway.base.errors import OptionError
from spillway.experiments.run.single import execute
from spillway.experiments.run.spec import Task, Transport
from spillway.schedulers.policies import POLICIES
from tests.kit.tables import csv_by
from tests.properties.small_world import runs, workload

PAGE = Path(__file__).resolve().parents[3] / "docs" / "adding-a-job-model.md"
DELAYS: list[tuple[int, int, float, int, int, int | None, bool]] = [
    (0, 4, 50.0, 1, 0, 900, False),
    (0, 2, 35.0, 2, 0, 900, False),
    (1, 8, 20.0, 1, 0, 900, False),
    (2, 1, 45.0, 0, 0, 20, False),
]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page's Python block in a file."""
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len(code.splitlines()) < 60
    path = tmp_path_factory.mktemp("own") / "restart.py"
    path.write_text(code, encoding="utf-8")
    return f"{path}:Restart"


def table(root: Path, run_id: str) -> dict[str, dict[str, str]]:
    """Rows of jobs by id."""
    return csv_by(root / run_id / "jobs.csv")


@pytest.mark.parametrize("policy", POLICIES)
def test_under_every_policy_by_objects_and_bytes(model: str, policy: str, tmp_path: Path) -> None:
    """Jobs end, faults cost the lost work and the reading of checkpoints, the same by objects and bytes."""
    data = workload("timeshared", DELAYS)  # jobs of a known time, without fields of that model
    options = {"interval": 10.0, "mtbf": 15.0, "seed": 3}
    both = (Transport.DIRECT, Transport.BYTES)
    if policy.startswith("gang"):
        with pytest.raises(OptionError, match="cannot be combined"):
            runs(tmp_path, model, data, [policy], options=options)
        return
    direct, in_bytes = runs(tmp_path, model, data, [policy], options=options, transports=both)
    for run in (direct, in_bytes):
        execute(Task(run, tmp_path))
    assert (tmp_path / direct.id / "jobs.csv").read_bytes() == (tmp_path / in_bytes.id / "jobs.csv").read_bytes()
    rows = table(tmp_path, direct.id)
    assert [rows[str(n)]["final_state"] for n in range(4)] == ["COMPLETED_SUCCESSFULLY"] * 3 + [
        "COMPLETED_WALLTIME_REACHED"
    ]
    assert sum(float(row["lost_s"]) for row in rows.values()) > 0
    for number in range(3):
        row, (_, nodes, seconds, gigabytes, *_) = rows[str(number)], DELAYS[number]
        assert float(row["compute_s"]) - float(row["lost_s"]) == pytest.approx(seconds, abs=0.1)
        assert int(row["checkpoint_bytes"]) == (int(seconds / 10.0 + 0.99) - 1) * nodes * gigabytes * 10**9


def test_a_fault_is_drawn_from_seed_and_job(model: str, tmp_path: Path) -> None:
    """The same seed gives the same faults; another seed gives others."""
    data = workload("timeshared", DELAYS)
    lost = []
    for number, seed in enumerate((3, 3, 4)):
        root = tmp_path / str(number)
        (run,) = runs(root, model, data, ["easy"], options={"interval": 10.0, "mtbf": 15.0, "seed": seed})
        execute(Task(run, root))
        lost.append([row["lost_s"] for _, row in sorted(table(root, run.id).items())])
    assert lost[0] == lost[1] != lost[2]

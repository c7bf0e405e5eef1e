"""Static jobs, packed until their submission, are the jobs of a plain sorted list; used names are a plain set."""

from __future__ import annotations

import sys
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillway.core import SimulatedJob
from spillway.protocol.messages import SetJobMetadata
from spillway.simulator.errors import SchedulerFault
from spillway.simulator.reading.registry import UsedNames
from spillway.simulator.reading.workload import workload_from_object
from tests.simulator.worlds import execute, run, scripted
from tests.simulator.worlds import jobs as listed

names = st.lists(st.one_of(st.integers(0, 120).map(str), st.sampled_from(["x", "03", "9" * 20])), max_size=60)


@given(names)
def test_used_names_are_a_set(added: list[str]) -> None:
    """Numbers in any order, with gaps and repetitions, and other names: each is new once, and known afterwards."""
    used, plain = UsedNames(), set[str]()
    for name in added:
        assert used.add(name) is (name not in plain)
        plain.add(name)
        assert all((one in used) is (one in plain) for one in [*added, "0", "7", "64", "200"])


@pytest.mark.parametrize(("first", "step"), [(0, 1), (1, 1), (10**6, 1), (7, 2), (0, 10), (0, 50), (0, 64), (0, 1000)])
def test_used_names_need_no_more_than_a_set(first: int, step: int) -> None:
    """Whatever their distance; those that count up need next to nothing."""
    used = UsedNames()
    added = [str(first + step * number) for number in range(2000)]
    assert all(map(used.add, added))
    kept = [getattr(used, name) for name in UsedNames.__slots__]
    assert sum(map(sys.getsizeof, kept)) <= (1000 if step == 1 else 2 * sys.getsizeof(set(added)))
    assert sum(len(one) for one in kept if isinstance(one, set)) <= 2000 + 100
    assert not any(map(used.add, added))


rows = st.lists(
    st.builds(lambda number, subtime: {"id": number, "subtime": subtime, "note": [subtime, {"id": "y"}]},
              st.integers(0, 10**6), st.sampled_from([0, 0.25, 3, 7.5])),
    unique_by=lambda row: row["id"], max_size=12,
)  # fmt: skip


@given(rows, st.data())
def test_packed_jobs_are_a_sorted_list(members: list[dict[str, Any]], data: st.DataObject) -> None:
    """Read one by one, looked at by place or found by name: the same as jobs in a list sorted by time and id."""
    workload = workload_from_object(listed(*members))
    plain = sorted(workload.jobs, key=attrgetter("subtime", "id"))
    packed = workload.jobs
    assert packed.profile_names == {job.profile.name for job in plain}
    packed.sort()
    assert [_values(job) for job in packed] == [_values(job) for job in plain]
    if plain:
        chosen = data.draw(st.sampled_from(plain))
        found = packed.find(chosen.name)
        assert found is not None
        found.metadata = "kept"
        plain[plain.index(chosen)].metadata = "kept"
    assert packed.find("nothing") is None
    assert [_values(job) for job in packed] == [_values(job) for job in plain]
    assert len(packed) == len(plain)


def _values(job: SimulatedJob) -> tuple[Any, ...]:
    facts = job.id, job.name, job.workload, job.profile.name, job.subtime, job.res, job.walltime
    return *facts, job.source, job.state, job.metadata


def test_a_job_that_is_named_before_its_submission(tmp_path: Path) -> None:
    """Its metadata are in its row of the table; it cannot be executed yet."""
    data = listed({"id": "a"}, {"id": "b", "subtime": 5})
    replies = (SetJobMetadata(0.0, "w0!b", "early"),), (execute("w0!a", 0),), (execute("w0!b", 1, at=5.0),)
    result, _ = run(data, scripted(*replies), export=str(tmp_path / "x"))
    assert result.totals.success == 2
    assert [line.split(",")[-1] for line in (tmp_path / "x_jobs.csv").read_text().splitlines()[1:]] == ['""', '"early"']
    with pytest.raises(SchedulerFault, match="only a SUBMITTED job can be executed, it is NOT_SUBMITTED"):
        run(data, scripted((execute("w0!b", 0),)))

"""Splitting into equal periods: a partition, and the published 16 parts."""

import tarfile
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillway.base.errors import OptionError
from spillway.workloads import THESIS_MACHINE, SwfLog, Workload, WorkloadError, WorkloadJob, convert
from spillway.workloads.batsim.json_file import parse_batsim
from spillway.workloads.conversion.split import SplitOptions, period_slices, split_log, split_workload

times = st.lists(st.one_of(st.integers(0, 1000), st.floats(0, 1000)), min_size=1, max_size=60)


@given(times, st.integers(1, 20))
def test_periods_are_a_partition(submit: list[float], parts: int) -> None:
    """Every entry is in exactly one period; periods follow one another and are equally long."""
    slices = period_slices(submit, SplitOptions(parts=parts))
    assert sorted(index for part in slices for index in part) == list(range(len(submit)))
    first, length = min(submit), max(submit) - min(submit)
    for number, part in enumerate(slices):
        for index in part:
            assert first + number * length / parts - 1e-9 <= submit[index]
            assert submit[index] <= first + (number + 1) * length / parts + 1e-9
    flat = [submit[index] for part in slices for index in part]
    assert flat == sorted(flat)


def test_empty_periods_and_empty_input() -> None:
    """A period without submissions is empty; nothing at all is an error; one instant is the first period."""
    assert period_slices([0, 10], SplitOptions(parts=3)) == [[0], [], [1]]
    assert period_slices([7, 7], SplitOptions(parts=2)) == [[0, 1], []]
    with pytest.raises(WorkloadError, match="nothing to split"):
        period_slices([], SplitOptions())
    with pytest.raises(OptionError, match="option 'parts' must be a whole number of at least 1, got '0'"):
        SplitOptions(parts=0)


def test_workload_parts_start_anew() -> None:
    """Each part begins at its own time and keeps only the profiles it needs, those of sequences included."""
    profiles: dict[str, dict[str, Any]] = {
        "a": {"type": "composed", "seq": ["b"]},
        "b": {"type": "delay", "delay": 1},
        "c": {"type": "delay", "delay": 2},
    }
    jobs = (WorkloadJob(1, 5, 1, "a"), WorkloadJob(2, 60, 1, "c"), WorkloadJob(3, 100, 1, "c", extras={"user": "x"}))
    first, second = split_workload(Workload("w", 4, jobs, profiles), SplitOptions(parts=2))
    assert [(job.id, job.subtime) for job in first.jobs] == [(1, 1)]
    assert [(job.id, job.subtime, job.extras) for job in second.jobs] == [(2, 1, {}), (3, 41, {"user": "x"})]
    assert (list(first.profiles), list(second.profiles)) == (["a", "b"], ["c"])
    assert (first.name, second.name) == ("w-part-0", "w-part-1")


def test_log_parts_say_which_they_are(small_log: SwfLog) -> None:
    """A part of a log keeps the header and its submission times; a period owns its beginning, not its end."""
    parts = split_log(small_log, SplitOptions(parts=2))
    assert [len(part.records) for part in parts] == [4, 4]
    assert parts[1].header.values("Note")[-1] == "period 1 of 0 to 1"
    assert parts[1].records[0].submit_s == 150


@pytest.mark.reference
def test_the_published_parts(reference: Path, kth: SwfLog) -> None:
    """All 16 parts hold the published jobs, with the published submission times, in both models."""
    parts = split_log(kth, SplitOptions(repeat_in_last=True))
    counts = [1766, 1221, 1531, 1745, 1565, 1938, 2234, 1647, 1374, 2036, 2940, 2246, 1893, 1691, 1305, 1336]
    with tarfile.open(reference / "data" / "kth" / "kth-split-32-parts.tar.xz") as archive:
        published = {
            member.name: parse_batsim(content.read())
            for member in archive
            if member.name.endswith(".json") and (content := archive.extractfile(member))
        }
    for number, part in enumerate(parts):
        workload, _ = convert(part, THESIS_MACHINE)
        assert len(workload.jobs) == counts[number]
        jobs = [msgspec.structs.replace(job, extras={}) for job in workload.jobs]
        for model in ("alloc-only", "io-aware"):
            theirs = published[f"KTH-split/{model}/part-{number}.json"].jobs
            assert not [job for job, same in zip(theirs, jobs, strict=True) if job != same][:3]


@pytest.mark.reference
def test_without_the_slip_parts_are_a_partition(kth: SwfLog) -> None:
    """The default rule puts record 27154 only into the 15th part."""
    parts = split_log(kth)
    assert sum(len(part.records) for part in parts) == 28476
    assert [part.records[0].number for part in parts[-2:]] == [25850, 27155]

"""Staging in the request model: bytes, times, kinds of buffers; and jobs that state nothing of it stay as they are."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillway.base.errors import OptionError
from spillway.workloads import ConvertOptions, MachineFacts, convert
from spillway.workloads.batsim.json_file import format_batsim
from spillway.workloads.batsim.workload import Workload
from spillway.workloads.conversion.convert import convert_columns
from spillway.workloads.logs.table import JobTable
from spillway.workloads.logs.tables import as_table
from spillway.workloads.models.synthetic import generator
from spillway.workloads.requests.staging import StagingModel

MACHINE = MachineFacts(nodes=96, storage_nodes=12, storage_bytes=40_000_000_000)
STAGED = ("stage_in_bytes", "stage_out_bytes", "stage_in_s", "stage_out_s")


def log(jobs: int = 60) -> JobTable:
    """A synthetic log."""
    return as_table(generator(f"kth-like:jobs={jobs},seed=4")())


def made(**options: Any) -> Workload:
    """Its workload."""
    return convert(log(), MACHINE, ConvertOptions(**({"model": "io"} | options)), "log")[0]


def test_jobs_and_buffers_stay() -> None:
    """Staging adds fields and changes nothing else: its draws come from streams of their own."""
    plain, staged = made(seed=7), made(seed=7, staging="minutes=20,spread=1,share_in=0.5")
    assert plain.profiles == staged.profiles
    without = [{k: v for k, v in job.to_object().items() if k not in STAGED} for job in staged.jobs]
    assert without == [job.to_object() for job in plain.jobs]
    assert all(field in job.extras for job in staged.jobs for field in STAGED)


def test_times_alone_where_no_bytes_move() -> None:
    """Only the model io moves bytes, and other models would refuse jobs that state some."""
    whole, times = made(staging="minutes=8,spread=1"), made(model="alloc", staging="minutes=8,spread=1")
    for one, other in zip(whole.jobs, times.jobs, strict=True):
        assert {key: one.extras[key] for key in ("stage_in_s", "stage_out_s")} == {
            key: value for key, value in other.extras.items() if key in STAGED
        }


def test_by_hand() -> None:
    """Half of the buffer in, all of it out, at a pace that takes half an hour; without spread nothing is drawn."""
    for job in (workload := made(staging="minutes=30,share_in=0.5")).jobs:
        size = workload.profiles[job.profile]["bb"]
        assert job.extras["stage_in_bytes"] == round(size * 0.5)
        assert job.extras["stage_out_bytes"] == size
        assert (job.extras["stage_in_s"], job.extras["stage_out_s"]) == (1800.0, 1800.0)


@given(
    seed=st.integers(0, 10**6),
    share=st.floats(0, 1),
    minutes=st.floats(0, 60),
    spread=st.floats(0, 1),
    measured=st.booleans(),
)
def test_ranges(seed: int, share: float, minutes: float, spread: float, measured: bool) -> None:
    """No more bytes than the request, no more than an hour, no time without bytes; same seed, same columns."""
    size = np.array([0, 1, 10**7, 4 * 10**10], dtype=np.int64)
    recorded = np.array([5, -1, 10**9, 3], dtype=np.int64)
    model = StagingModel(
        share_in=share, share_out=share, minutes=minutes, spread=spread, volumes="measured" if measured else "share"
    )
    staged, again = model.draw(size, recorded, recorded, seed), model.draw(size, recorded, recorded, seed)
    for name, column in staged.fields().items():
        assert column.tolist() == again.fields()[name].tolist()
    for size_b, seconds in ((staged.in_bytes, staged.in_s), (staged.out_bytes, staged.out_s)):
        assert (size_b <= size).all()
        assert (size_b >= 0).all()
        assert (seconds <= 3600).all()
        assert not seconds[size_b == 0].any()
        if measured:
            assert (size_b[2], size_b[3]) == (10**7, 3)


def test_means() -> None:
    """With the whole spread, shares and times still have the means that were requested."""
    size = np.full(20_000, 10**9, dtype=np.int64)
    unknown = np.full_like(size, -1)
    staged = StagingModel(share_in=0.4, share_out=0.2, minutes=25, spread=1.0).draw(size, unknown, unknown, 3)
    assert staged.in_bytes.mean() == pytest.approx(0.4e9, rel=0.02)
    assert staged.out_bytes.mean() == pytest.approx(0.2e9, rel=0.02)
    assert staged.in_s.mean() == pytest.approx(1500, rel=0.02)
    assert abs(np.corrcoef(staged.in_s, staged.out_s)[0, 1]) < 0.03


def test_measured_volumes() -> None:
    """The recorded bytes of a job are shared out to its nodes, read bytes in and written bytes out."""
    table = log()
    table = table.with_column("read_bytes", np.where(np.arange(len(table)) % 2, -1, 6_000_001))
    measured: dict[str, Any] = {"model": "io", "staging": "volumes=measured,share_in=0,share_out=0"}
    workload, _ = convert(table, MACHINE, ConvertOptions(**measured), "log")
    for row, job in enumerate(workload.jobs):
        expected = 0 if row % 2 else min(-(-6_000_001 // job.res), workload.profiles[job.profile]["bb"])
        assert (job.extras["stage_in_bytes"], job.extras["stage_out_bytes"]) == (expected, 0)


@pytest.mark.parametrize("stripes", [1, 3, 40])
def test_striped(stripes: int) -> None:
    """The same bytes in all as with a buffer for each node, in equal parts that fit on a storage node."""
    plain, striped = made(), made(stripes=stripes, staging="share_in=1")
    for one, other in zip(plain.jobs, striped.jobs, strict=True):
        total, parts = other.extras["bb_total"], other.extras["bb_stripes"]
        assert total == plain.profiles[one.profile]["bb"] * one.res
        assert "bb" not in striped.profiles[other.profile]
        assert parts == max(min(stripes, 12), -(-total // MACHINE.storage_bytes))
        assert other.extras["stage_in_bytes"] == total // parts
        assert plain.burst_buffer_bytes(one) == striped.burst_buffer_bytes(other)


def test_as_a_stream() -> None:
    """Columns give the text of the objects' file, fields and all."""
    options = ConvertOptions(model="io", stripes=2, staging="minutes=5,spread=0.5")
    workload, _ = convert(log(), MACHINE, options, "log")
    columns, _ = convert_columns(log(), MACHINE, options, "log")
    assert b"".join(columns.text()).decode() == format_batsim(workload)


@pytest.mark.parametrize(("text", "message"), [
    ("minutes=61", "'minutes' must be a number from 0 to 60"),
    ("minutes=nan", "'minutes' must be a number from 0 to 60"),
    ("share_in=-0.1", "'share_in' must be a number from 0 to 1"),
    ("spread=2", "'spread'"),
    ("volumes=all", "'volumes' must be one of share, measured"),
    ("minuets=3", "unknown option 'minuets'; known options: share_in, .*did you mean 'minutes'"),
    ("minutes", "got 'minutes'"),
    ("minutes=1,minutes=2", "'minutes' is given twice"),
    ("minutes=long", "'minutes' must be a number from 0 to 60 .min., got 'long'"),
])  # fmt: skip
def test_mistakes(text: str, message: str) -> None:
    """Each names the option and its accepted values."""
    with pytest.raises(OptionError, match=message):
        ConvertOptions(staging=text)

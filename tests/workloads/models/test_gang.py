"""The workload of Zhang et al. 2003: means, intensities, files, pairs; and the source of the shipped numbers."""

from pathlib import Path

import numpy as np
import pytest

from spillway.base.errors import OptionError
from spillway.workloads.errors import WorkloadError
from spillway.workloads.load import load_log
from spillway.workloads.models.gang import (
    ATLAS,
    MEAN_GAPS_S,
    MEAN_TIMES_S,
    GangJob,
    GangOptions,
    as_workload,
    draw_gang,
    fit_classes,
)


def test_the_papers_grid() -> None:
    """Nine execution times up to 3,102 s, each a tenth of the first after the other."""
    assert MEAN_TIMES_S == (1723, 1896, 2068, 2240, 2413, 2585, 2757, 2930, 3102)
    assert len(MEAN_GAPS_S) == 9
    assert 583 in MEAN_GAPS_S


@pytest.mark.parametrize("layout", ["spread", "neighbours", "aligned"])
def test_what_is_drawn(layout: str) -> None:
    """Means as requested; blocks take half of the local time at intensity 0.5; files have a node per task."""
    jobs = draw_gang(GangOptions(jobs=3000, mean_time_s=2000.0, layout=layout))
    local_us = np.array([job.cpu_us + 30_000 * job.blocks for job in jobs])
    assert local_us.mean() / 1e6 == pytest.approx(2000.0, abs=0.1)
    assert jobs[-1].submit_us / 1e6 == pytest.approx(583.0 * 2999)
    assert sum(30_000 * job.blocks for job in jobs) / local_us.sum() == pytest.approx(0.5, abs=1e-4)
    for job in jobs:
        assert 1 <= job.size <= 320
        assert len(set(job.file_nodes)) == job.size
        assert list(job.file_nodes) == sorted(job.file_nodes)
    steps = {b - a for job in jobs for a, b in zip(job.file_nodes, job.file_nodes[1:], strict=False)}
    assert (steps == {1} or len(steps) > 5) if layout == "spread" else 1 in steps


def test_aligned_files_of_powers_meet_wholly_or_not_at_all() -> None:
    """Sizes are powers of two up to 256, files begin at their multiples: two files are nested or disjoint."""
    jobs = draw_gang(GangOptions(jobs=400, layout="aligned", sizes="powers"))
    plain = draw_gang(GangOptions(jobs=400))
    assert {job.size for job in jobs} <= {1, 2, 4, 8, 16, 32, 64, 128, 256}
    assert all(
        other.size <= job.size < 2 * other.size or job.size == 256 for job, other in zip(jobs, plain, strict=True)
    )
    files = {frozenset(job.file_nodes) for job in jobs}
    assert all(span <= other or other <= span or not span & other for span in files for other in files)
    assert max(max(job.file_nodes) for job in jobs) < 320


def test_pairs_differ_in_one_thing() -> None:
    """Other times and intensities keep arrivals, sizes and files."""
    one = draw_gang(GangOptions(jobs=200, seed=3, mean_time_s=1448, intensities=(0.1,)))
    other = draw_gang(GangOptions(jobs=200, seed=3, mean_time_s=3102, intensities=(0.5,)))
    for name in ("submit_us", "size", "file_nodes"):
        assert [getattr(job, name) for job in one] == [getattr(job, name) for job in other]
    assert draw_gang(GangOptions(jobs=200, seed=4)) != draw_gang(GangOptions(jobs=200, seed=3))


def test_mixed_intensities() -> None:
    """Each equally likely; intensity 0 means no blocks."""
    jobs = draw_gang(GangOptions(jobs=3000, intensities=(0.0, 0.5)))
    assert sum(job.blocks == 0 for job in jobs) / 3000 == pytest.approx(0.5, abs=0.05)


def test_batsim_form() -> None:
    """A delay of the computing time; blocks and file as fields of the job."""
    workload = as_workload([GangJob(1_500_000, 2, 10_000_000, 7, (3, 4))])
    (job,) = workload.jobs
    assert workload.profiles[job.profile] == {"type": "delay", "delay": 10.0}
    assert job.to_object() == {
        "id": 0, "subtime": 1.5, "res": 2, "profile": job.profile, "io_blocks": 7, "file_nodes": [3, 4]
    }  # fmt: skip


@pytest.mark.parametrize(
    "wrong", [{"jobs": 0}, {"layout": "spiral"}, {"sizes": "odd"}, {"intensities": (1.0,)}, {"mean_time_s": 0.0}]
)
def test_wrong_options(wrong: dict[str, object]) -> None:
    """Named."""
    with pytest.raises((OptionError, WorkloadError), match=next(iter(wrong))):
        GangOptions(**wrong)  # type: ignore[arg-type]


def test_shipped_numbers_are_a_fit_to_atlas(reference: Path) -> None:
    """The classes are those that our fit finds in the log."""
    log = load_log(str(reference / "data/swf/LLNL-Atlas-2006-2.1-cln.swf.xz"))[0]
    found = fit_classes(log)
    assert [(c.least, c.most, c.weight) for c in found] == [(c.least, c.most, c.weight) for c in ATLAS]
    for mine, shipped in zip(found, ATLAS, strict=True):
        assert mine.times.mean == pytest.approx(shipped.times.mean)
        assert mine.gaps.mean == pytest.approx(shipped.gaps.mean)
        assert (mine.times.order, mine.gaps.order) == (shipped.times.order, shipped.gaps.order)

"""The workload model of Herbein et al., section 4.2."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from spillway.base.errors import OptionError
from spillway.workloads.batsim.profiles import check_profile
from spillway.workloads.draws import Draws
from spillway.workloads.errors import WorkloadError
from spillway.workloads.load import load_log
from spillway.workloads.models.arrivals import ArrivalModel, Calendar, user_arrivals
from spillway.workloads.models.herbein import (
    DIVERSE_RATES,
    PAPER_RATE,
    PORTABLE,
    HerbeinOptions,
    draw_herbein,
    fit_herbein,
)
from spillway.workloads.swf import SwfHeader, SwfLog, SwfRecord


def record(number: int, submit: int, user: int = 1, nodes: int = 1, run: int = 60, limit: int = 100) -> SwfRecord:
    """A complete job."""
    return SwfRecord(number, submit, 0, run, nodes, requested_processors=nodes, requested_s=limit, status=1, user=user)


def test_submissions_in_quick_succession_are_one_arrival() -> None:
    """Less than 10 s after the user's previous job: the same arrival, in a chain of any length; 10 s: a new one."""
    log = [record(1, 0), record(2, 9), record(3, 18), record(4, 28), record(5, 12, user=2)]
    assert user_arrivals(log) == ([0, 12, 28], [3, 1, 1])


def test_four_periods_of_the_week() -> None:
    """Day is from 6:00 to 18:59, the weekend is Saturday and Sunday."""
    monday, saturday = 0, 5 * 86400
    hours = [5.99, 6.0, 18.99, 19.0]
    calendar = Calendar()
    assert calendar.period([monday + hour * 3600 for hour in hours]).tolist() == [1, 0, 0, 1]
    assert calendar.period([saturday + hour * 3600 for hour in hours]).tolist() == [3, 2, 2, 3]


def test_the_calendar_of_a_log_is_its_local_time() -> None:
    """LLNL Atlas: Fri Nov 10 15:05:01 PST 2006 is Unix time 1163199901."""
    header = SwfHeader((" UnixStartTime: 1163199901", " StartTime: Fri Nov 10 15:05:01 PST 2006"))
    assert Calendar.of(SwfLog(header)).offset_s == 4 * 86400 + 15 * 3600 + 5 * 60 + 1


def test_arrivals_have_the_four_rates() -> None:
    """Drawn over many weeks, each period has its own rate, within five standard deviations."""
    rates = (4e-3, 1e-3, 2e-3, 5e-4)
    model = ArrivalModel(rates, (1,))
    times = model.draw(Draws(7, "test"), 20000)
    seconds = np.bincount(Calendar().period(np.arange(0, times[-1], 60.0)), minlength=4) * 60
    counts = np.bincount(Calendar().period(times), minlength=4)
    assert np.all(np.diff(times) >= 0)
    assert np.all(np.abs(counts - rates * seconds) < 5 * np.sqrt(counts) + 5)


def test_mean_gap_is_the_mean_over_whole_weeks() -> None:
    """The four rates keep their proportions, the mean is as requested."""
    model = ArrivalModel((4e-3, 1e-3, 2e-3, 5e-4), (6, 3, 1))
    times = model.draw(Draws(3, "test"), 30000, mean_gap_s=126.8)
    assert times[-1] / 30000 == pytest.approx(126.8, rel=0.03)


def test_drawn_quantities_follow_the_log() -> None:
    """Sizes are powers of two in the log's proportions; pairs of limit and elapsed time are the log's own."""
    sizes = [1] * 60 + [2, 3] * 10 + [8] * 20
    times = [(100, 60)] * 70 + [(3600, 10)] * 30
    log = SwfLog(
        SwfHeader(),
        tuple(
            record(i, 50 * i, nodes=size, limit=limit, run=run)
            for i, (size, (limit, run)) in enumerate(zip(sizes, times, strict=True))
        ),
    )
    model = fit_herbein(log)
    assert model.sizes == (60, 20, 0, 20)
    workload = draw_herbein(model, HerbeinOptions(jobs=4000))
    drawn = Counter(job.res for job in workload.jobs)
    assert drawn.keys() == {1, 2, 8}
    assert drawn[1] / 4000 == pytest.approx(0.6, abs=0.04)
    pairs = Counter((job.extras["requested_s"], workload.profiles[job.profile]["cpu"] / 1e9) for job in workload.jobs)
    assert pairs.keys() == {(100, 60.0), (3600, 10.0)}
    assert pairs[100, 60.0] / 4000 == pytest.approx(0.7, abs=0.04)
    assert {job.extras["io_rate"] for job in workload.jobs} == {PAPER_RATE}
    for profile in workload.profiles.values():
        check_profile(profile, "here")


def test_same_seed_same_workload() -> None:
    """The checksum depends only on the seed."""
    model = fit_herbein(SwfLog(SwfHeader(), tuple(record(i, 300 * i, user=i % 3) for i in range(50))))
    one, same, other = (draw_herbein(model, HerbeinOptions(jobs=50, seed=seed)).checksum for seed in (1, 1, 2))
    assert one == same != other


def test_diverse_rates_and_the_portable_form() -> None:
    """The mix is drawn in its shares; for the real Batsim the bytes are in the job, the profile is Batsim's own."""
    model = fit_herbein(SwfLog(SwfHeader(), tuple(record(i, 300 * i) for i in range(50))))
    workload = draw_herbein(model, HerbeinOptions(jobs=3000, rates=DIVERSE_RATES, form=PORTABLE))
    counts = Counter(job.extras["io_rate"] for job in workload.jobs)
    for rate, share in DIVERSE_RATES:
        assert counts[rate] / 3000 == pytest.approx(share, abs=0.03)
    assert all(job.extras["io_bytes"] == 60 * job.extras["io_rate"] for job in workload.jobs)
    assert {profile["type"] for profile in workload.profiles.values()} == {"parallel_homogeneous"}


@pytest.mark.parametrize("wrong", [{"jobs": 0}, {"mean_gap_s": 0.0}, {"size_factor": 0.0}, {"rates": ()}])
def test_options_out_of_range(wrong: dict[str, object]) -> None:
    """The message names the option."""
    with pytest.raises((OptionError, WorkloadError), match=next(iter(wrong))):
        HerbeinOptions(**wrong)  # type: ignore[arg-type]


def test_an_empty_log_is_refused() -> None:
    """Nothing to fit."""
    with pytest.raises(WorkloadError, match="nothing to fit"):
        fit_herbein(SwfLog())


@pytest.mark.reference
def test_atlas(reference: Path) -> None:
    """The substitute log: 8 processors per node, and 2,500 jobs at the paper's pace."""
    log = load_log(reference / "data/swf/LLNL-Atlas-2006-2.1-cln.swf.xz")[0]
    model = fit_herbein(log)
    assert len(model.sizes) == 11  # up to 1,024 and more of 1,152 nodes
    assert model.arrivals.rates_per_s[0] == max(model.arrivals.rates_per_s)
    workload = draw_herbein(model)
    assert len(workload.jobs) == 2500
    assert 2500 * 126.8 * 0.6 < workload.jobs[-1].subtime < 2500 * 126.8 * 1.4

"""The paper's pace: the search for the time between submissions."""

from __future__ import annotations

import pytest

from spillway.experiments.studies.herbein.pace import STEADY_GAP_S, STEPS, pace_of, play, search
from spillway.platforms.catalogue import platform_from
from spillway.schedulers.core.session import Session
from spillway.schedulers.policies import POLICIES
from spillway.workloads.herbein import HerbeinOptions, fit_herbein
from spillway.workloads.swf import SwfHeader, SwfLog, SwfRecord
from spillway.workloads.workload import Workload, WorkloadJob
from tests.schedulers.runtimes import rigid


def test_a_machine_that_keeps_up_needs_no_search() -> None:
    """Four changes per job: at 4 x 31.7 s between submissions they are 31.7 s apart, at once."""
    tried: list[float] = []

    def change_s(gap_s: float) -> float:
        tried.append(gap_s)
        return gap_s / 4

    found = search(change_s)
    assert found.reached
    assert found.gap_s == STEADY_GAP_S
    assert len(tried) == 1


@pytest.mark.parametrize(
    ("tail_s", "gap_s"), [(6.0, 102.8), (-6.0, 150.8)], ids=["a long last job", "fewer submissions at night"]
)
def test_the_gap_is_found(tail_s: float, gap_s: float) -> None:
    """31.7 = tail + gap / 4, on either side of the first trial."""
    found = search(lambda gap: tail_s + gap / 4)
    assert found.reached
    assert found.gap_s == pytest.approx(gap_s, abs=0.2)


def test_a_jump_gives_the_nearest_pace() -> None:
    """If no gap gives the pace, the best of a bounded number of trials counts."""
    tried: list[float] = []

    def change_s(gap_s: float) -> float:
        tried.append(gap_s)
        return gap_s / 4 + (5.0 if gap_s > 120 else -5.0)

    found = search(change_s)
    assert not found.reached
    assert len(tried) == STEPS
    assert found.change_s == min((change_s(gap) for gap in tried[:STEPS]), key=lambda change: abs(change - 31.7))


@pytest.mark.parametrize("level_s", [40.0, 3.0], ids=["too much work", "never slow enough"])
def test_what_cannot_be_reached_keeps_the_steady_gap(level_s: float) -> None:
    """The state changes do not depend on the gap: submissions come every 126.8 s, and nothing is called reached."""
    found = search(lambda _: level_s)
    assert (found.gap_s, found.change_s, found.reached) == (STEADY_GAP_S, level_s, False)


def test_pace_of_a_model() -> None:
    """200 short jobs: the span from the first submission to the last end is close to 4 x 31.7 s per job."""
    log = SwfLog(
        SwfHeader(),
        tuple(SwfRecord(i, 12_000 * i, 0, 100 + i, 4, requested_s=900, status=1, user=i % 5) for i in range(100)),
    )
    pace = pace_of(fit_herbein(log), HerbeinOptions(jobs=200, nodes=360))
    assert pace.reached
    assert 31.65 <= pace.change_s <= 31.75


def test_the_span_of_a_play() -> None:
    """Two nodes; jobs of 10, 20 and 5 s come at 3, 4 and 4 s: the last ends at 24 s, 21 s after the first came."""
    jobs = tuple(
        WorkloadJob(number, submit, nodes, f"p{seconds}", None, {"io_rate": 0})
        for number, submit, nodes, seconds in ((1, 3.0, 1, 10), (2, 4.0, 1, 20), (3, 4.0, 1, 5))
    )
    profiles = {f"p{seconds}": {"type": "io_stream", "cpu": seconds * 1e9, "io_bytes": 0} for seconds in (10, 20, 5)}
    session = Session(POLICIES["fcfs"].build(), rigid())
    assert play(session, Workload("w", 2, jobs, profiles, "", {}, ()), platform_from("cts1")) == pytest.approx(21.0)

"""Moldable starts: the least number of nodes of a job, and hand cases under policies that start jobs in order."""

from typing import Any

import pytest

from spillway.base.errors import OptionError
from spillway.base.options import build
from spillway.protocol.messages import JobState
from spillway.schedulers.applications.moldable import Moldable
from spillway.schedulers.assembly import Settings, assemble
from spillway.schedulers.jobmodels import make_model
from spillway.schedulers.model.job import Job
from spillway.schedulers.policies import POLICIES
from tests.schedulers.controllers.played import application, play

IN_ORDER = ("fcfs", "easy", "sjf-easy", "filler", "maxutil", "window", "plan-square")


def job(walltime_s: float, nodes: int = 4, **changes: Any) -> Job:
    """Ten iterations of 40/n s: 400, 200, 133.3, 100 s on one to four nodes."""
    profile = {"type": "delay", "delay": 1, "malleable": application(**changes)}
    return Job("w0!1", 0, 0.0, walltime_s, nodes, profile=profile)


@pytest.mark.parametrize("policy", IN_ORDER)
def test_a_job_starts_on_what_is_free(policy: str) -> None:
    """A rigid job holds one of four nodes until 100; a job of four nodes, minimum 2, starts on three at 1.

    Its ten iterations take 40/3 s each: it ends at 134.33. By default it waits until 100, and ends at 200.
    """
    jobs = {
        "rigid": {"nodes": 1, "delay": 100.0, "walltime": 150},
        "wide": {"nodes": 4, "subtime": 1.0, "malleable": application(minimum=2), "walltime": 300},
    }
    seen = play(jobs, policy, moldable=True)
    assert seen.sizes["wide"] == [(1.0, 3)]
    assert seen.ends["wide"][0] == pytest.approx(134.33, abs=0.02)
    seen = play(jobs, policy)
    assert seen.sizes["wide"] == [(pytest.approx(100.0, abs=0.02), 4)]
    assert seen.ends["wide"][0] == pytest.approx(200.0, abs=0.02)


def test_no_fewer_than_the_minimum() -> None:
    """Three of four nodes are taken until 100 and the minimum is 2: the job waits, and then has all four."""
    jobs = {
        "rigid": {"nodes": 3, "delay": 100.0},
        "wide": {"nodes": 4, "subtime": 1.0, "malleable": application(minimum=2)},
    }
    seen = play(jobs, moldable=True)
    assert seen.sizes["wide"] == [(100.0, 4)]


def test_no_fewer_than_the_walltime_allows() -> None:
    """With a walltime of 180 s three nodes do (133.3 s), two do not (200 s): it starts on three, or waits."""
    wide = {"nodes": 4, "subtime": 1.0, "malleable": application(), "walltime": 180}
    assert play({"rigid": {"nodes": 1, "delay": 100.0}, "wide": wide}, moldable=True).sizes["wide"] == [(1.0, 3)]
    seen = play({"rigid": {"nodes": 2, "delay": 100.0}, "wide": wide}, moldable=True)
    assert seen.sizes["wide"] == [(100.0, 4)]
    assert seen.states["wide"] is JobState.COMPLETED_SUCCESSFULLY


def test_burst_buffers_count() -> None:
    """Four nodes and a burst buffer of 10 GB at each of two switches; the job requests four nodes with 5 GB each.

    Two of its requests fit into each buffer. A rigid job holds 9 GB of one until 100: seven nodes are free, but only
    two of the requests fit, and so it starts on two nodes.
    """
    jobs = {
        "rigid": {"nodes": 1, "delay": 100.0, "bb": 9 * 10**9},
        "wide": {"nodes": 4, "subtime": 1.0, "malleable": application(), "bb": 5 * 10**9},
    }
    seen = play(jobs, moldable=True, capacity="10GB", nodes=8)
    assert seen.sizes["wide"] == [(1.0, 2)]


def test_resizes_after_a_moldable_start() -> None:
    """It starts on three of four nodes, and expansion gives it the fourth after an interval: the rigid job ends at 30.

    Two iterations on three nodes take 26.67 s, and end at 27.67; the next control point after 30 is at 54.33; four
    iterations are done then, the reconfiguration ends at 57.33, six iterations of 10 s at 117.33.
    """
    jobs = {
        "rigid": {"nodes": 1, "delay": 30.0},
        "wide": {"nodes": 4, "subtime": 1.0, "malleable": application()},
    }
    seen = play(jobs, moldable=True, expansion="fair")
    assert seen.sizes["wide"] == [(1.0, 3), (pytest.approx(57.33, abs=0.02), 4)]
    assert seen.ends["wide"][0] == pytest.approx(117.33, abs=0.02)


def test_fewest_nodes() -> None:
    """Down to the minimum, but no further than the walltime allows; rigid and wrong descriptions: all."""
    fewest = Moldable()
    assert fewest(job(1000.0)) == 1
    assert Moldable()(job(1000.0, minimum=2)) == 2
    assert Moldable()(job(200.0)) == 2
    assert Moldable()(job(199.0)) == 3
    assert Moldable()(job(50.0)) == 4
    assert Moldable()(Job("w0!2", 0, 0.0, 9.0, 4)) == 4
    assert Moldable()(job(1000.0, iterations=-1)) == 4
    io = {"io_every": 2, "control_every": 2, "model": {"work": 40.0, "io_fixed": 10.0}}
    assert Moldable()(job(200.0, **io)) == 3, "five writes of 10 s"


@pytest.mark.parametrize("policy", ["conservative", "pack", "gang"])
def test_policies_that_cannot_are_refused(policy: str) -> None:
    """Nothing is dropped in silence."""
    model = make_model("malleable", {"moldable": True})
    with pytest.raises(OptionError, match="cannot be combined"):
        assemble(POLICIES[policy].build({}), Settings(), model)


def test_it_needs_malleable_jobs() -> None:
    """Without them nothing could start on fewer nodes."""
    with pytest.raises(OptionError, match="unknown option 'moldable'"):
        build(Settings, {"moldable": True})

"""A run over Batsim 5's messages gives the starts of one over Batsim 4's, where the two agree."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.experiments.trials.world import TrialJob, World
from spillway.platforms.catalogue import platform_from
from spillway.schedulers.assembly import SessionSpec
from tests.properties.small_world import JOBS
from tests.properties.wired import Talk, play

TINY = platform_from("tiny")
"""Its names have one digit each: both versions number its hosts alike."""

EXACT_S = 2e-3
"""Times are printed with six decimals or twelve, and Batsim 5 calls at whole milliseconds."""

DRAWN = JOBS.map(lambda rows: [TrialJob(*row) for row in rows])
MODELS = {
    "rigid": [{}],
    "io": [{}, {"io_control": "exclusive", "io_order": "shortest"}],
    "operations": [{}],
    "malleable": [{}],
}
LIVES = [{"bb_life": "slurm"}, {"bb_life": "standby:bound=3"}, {"bb_life": "two-reservations"}]


def both(model: str, policy: str, session: dict[str, str], jobs: list[TrialJob]) -> tuple[Talk, Talk]:
    """One world over the messages of each version."""
    spec = SessionSpec(policy, model=model, settings=dict(session))
    data = World(tuple(jobs), model).workload()
    return play(TINY, json.loads(json.dumps(data)), spec, 4), play(TINY, data, spec, 5)


def agree(model: str, policy: str, session: dict[str, str], jobs: list[TrialJob]) -> None:
    """All jobs, and all sub-jobs, start on the same nodes at the same time."""
    four, five = both(model, policy, session, jobs)
    assert five.link.starts.keys() == four.link.starts.keys()
    for job, (start_s, nodes) in four.link.starts.items():
        assert five.link.starts[job] == (pytest.approx(start_s, abs=EXACT_S), nodes), job
    assert five.end_s == pytest.approx(four.end_s, abs=EXACT_S)
    assert five.success == four.success
    written = b"".join(five.link.replies)
    assert b"OnStorage" not in written, "5.0.0-rc2 writes what is to be read"
    assert b"DataStaging" not in written, "5.0.0-rc2 aborts"


@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative", "filler", "sjf-easy"])
@settings(max_examples=15)
@given(jobs=DRAWN)
def test_policies_start_the_same_jobs(policy: str, jobs: list[TrialJob]) -> None:
    """Rigid jobs with burst buffers."""
    agree("rigid", policy, {}, jobs)


@pytest.mark.slow
@pytest.mark.parametrize("model", sorted(MODELS))
@settings(max_examples=12)
@given(data=st.data(), jobs=DRAWN)
def test_models_start_the_same_jobs(model: str, data: st.DataObject, jobs: list[TrialJob]) -> None:
    """Transfers of every kind, and lives of buffers, which stage through the file system."""
    lives = LIVES if model != "malleable" else []
    agree(model, "easy", data.draw(st.sampled_from([*MODELS[model], *lives])), jobs)

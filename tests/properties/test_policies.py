"""Invariants of every policy, for every entry of POLICIES; and the promises of each backfilling."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.schedulers.core.session import Session
from spillway.schedulers.core.terms import Cadence, Terms
from spillway.schedulers.policies import POLICIES
from tests.kit.story import Story
from tests.properties.mini import SPACE_SHARING, MiniJob, MiniMachine, play
from tests.schedulers.runtimes import rigid

GB = 10**9
SHAPE = MiniMachine(nodes=8, storages=2, storage_bytes=10 * GB)
TREE = MiniMachine(
    nodes=8,
    storages=2,
    storage_bytes=10 * GB,
    io_paths=tuple(f"pfs=100/edge{i // 4}=60" for i in range(8)),
)


JOBS = st.lists(
    st.builds(
        lambda submit, nodes, run, slack, bb, rate, wait: MiniJob(
            float(submit), nodes, float(run + slack), float(run), bb * GB, rate, float(wait)
        ),
        submit=st.integers(0, 60),
        nodes=st.integers(1, 9),
        run=st.integers(1, 40),
        slack=st.integers(0, 30),
        bb=st.integers(0, 6),
        rate=st.sampled_from([0, 0, 5, 20, 40]),
        wait=st.integers(0, 30),
    ),
    min_size=1,
    max_size=14,
)


def run(
    name: str, jobs: list[MiniJob], shape: MiniMachine = SHAPE, *, literal: bool = False
) -> tuple[Story, list[object]]:
    """Play jobs under a policy."""
    played = Story()
    cadence = Cadence.EVENT if literal else Cadence.MESSAGE
    session = Session(
        POLICIES[name].build({}, literal=literal),
        rigid(),
        terms=Terms(seed=3, cadence=cadence, explain=True),
        observer=played,
    )
    return played, play(session, shape, jobs)


@pytest.mark.parametrize("literal", [False, True], ids=["default", "literal"])
@pytest.mark.parametrize("name", SPACE_SHARING)
@settings(max_examples=15)
@given(jobs=JOBS, tree=st.booleans())
def test_feasible_jobs_run_and_others_are_rejected(name: str, literal: bool, jobs: list[MiniJob], tree: bool) -> None:
    """Every feasible job starts, every other is refused with its reason; books agree after every message."""
    shape = TREE if tree else SHAPE
    played, _ = run(name, jobs, shape, literal=literal)
    assert played.starts.keys() | played.refused.keys() == {f"w0!{i}" for i in range(len(jobs))}
    assert played.starts.keys().isdisjoint(played.refused)
    for index, job in enumerate(sorted(jobs, key=lambda j: j.submit_s)):
        too_big = job.nodes > 8 or (job.bb_bytes and 2 * (10 * GB // job.bb_bytes) < job.nodes)
        if job.io_rate and not tree:
            too_big = True  # no link is stated: its bandwidth cannot be known
        elif job.io_rate:
            too_big = too_big or min(100 // job.io_rate, 2 * min(4, 60 // job.io_rate)) < job.nodes
        assert (f"w0!{index}" in played.refused) == bool(too_big)


@pytest.mark.parametrize("name", ["easy", "sjf-easy", "filler"])
@given(jobs=JOBS, tree=st.booleans())
def test_replay_repeats_a_schedule(name: str, jobs: list[MiniJob], tree: bool) -> None:
    """A schedule that was made on this machine is repeated start by start, and fits it."""
    shape = TREE if tree else SHAPE
    made = run(name, jobs, shape)[0].starts
    ordered = sorted(jobs, key=lambda j: j.submit_s)
    waits = [made.get(f"w0!{index}", job.submit_s) - job.submit_s for index, job in enumerate(ordered)]
    again = Story()
    session = Session(POLICIES["replay"].build({}), rigid(), observer=again)
    play(session, shape, [replace(job, site_wait_s=wait) for job, wait in zip(ordered, waits, strict=True)])
    assert again.starts == made
    assert not [warning for warning in session.warnings() if "schedule" in warning]

"""A part of storage nodes is drained and comes back, under every policy, life of buffers and rule for outages."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.protocol.messages import JobState
from spillway.schedulers.assembly import SessionSpec
from spillway.schedulers.core.outages import OnOutage
from spillway.schedulers.lives import LIVES
from spillway.schedulers.policies import POLICIES
from tests.properties.outage_world import Change, Drain, play
from tests.properties.small_world import GB, workload
from tests.properties.test_outages import PAIRS, RANDOM_JOBS, playable, settled

Described = tuple[int, int, float, int, int, int | None, bool]
JOBS: list[Described] = [
    (0, 4, 30.0, 2, 0, 400, True),
    (1, 8, 10.0, 1, 0, 300, True),
    (2, 1, 40.0, 0, 0, 90, False),
    (3, 2, 12.0, 4, 0, 200, True),
    (5, 3, 20.0, 3, 0, 180, True),
    (30, 2, 9.0, 5, 0, 120, False),
]
DRAINS: list[Drain] = [(2.0, (8,), 7 * GB), (4.0, (9,), 9 * GB), (20.0, (8,), 10 * GB), (60.0, (8,), 3 * GB),
                       (150.0, (9,), GB), (300.0, (8, 9), 0)]  # fmt: skip
"""First while jobs hold more than the rest; one storage node entirely, for a while; all bytes come back."""


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy(policy: str, tmp_path: Path) -> None:
    """No drained byte is given to a job (``Watch`` checks it), no job loses bytes, and in the end all is free."""
    turn = list(POLICIES).index(policy)
    models = ("timeshared",) if policy.startswith("gang") else ("rigid", "io")
    model = models[turn % len(models)]
    life = "with-nodes" if policy.startswith("gang") else list(LIVES)[turn % len(LIVES)]
    rule = ("continue", "kill", "requeue")[turn % 3]
    spec = SessionSpec(policy, model=model, settings={"bb_life": life, "on_outage": rule})
    assert playable(spec)
    played = play(tmp_path, spec, workload(model, JOBS), [(10.0, False, (9,)), (90.0, True, (9,))], drains=DRAINS)
    settled(played, len(JOBS))
    assert not played.session.book.drained


SIZES = st.sampled_from([0, 1, GB, 4 * GB, 9 * GB, 10 * GB])


@settings(max_examples=50)
@given(
    data=st.data(),
    jobs=RANDOM_JOBS,
    drawn=st.lists(st.tuples(st.integers(0, 80), st.sets(st.sampled_from([8, 9]), min_size=1), SIZES), max_size=6),
    out_s=st.none() | st.integers(0, 60),
)
def test_random_drains(data: st.DataObject, jobs: list[Any], drawn: list[Any], out_s: int | None) -> None:
    """Every policy, model, life and rule, beside an outage of one of the nodes: the same."""
    model, policy = data.draw(st.sampled_from(PAIRS))
    chosen = {"on_outage": data.draw(st.sampled_from(list(OnOutage))), "bb_life": data.draw(st.sampled_from([*LIVES]))}
    literal = chosen["bb_life"] == "with-nodes" and data.draw(st.booleans())
    spec = SessionSpec(policy, model=model, thesis_literal=literal, settings=chosen)
    if not playable(spec):
        return
    drains = [(float(time_s), tuple(sorted(hosts)), size) for time_s, hosts, size in drawn]
    changes: list[Change] = [] if out_s is None else [(float(out_s), False, (8,)), (2000.0, True, (8,))]
    with tempfile.TemporaryDirectory() as folder:
        everything = [*drains, (1500.0, (8, 9), 0)]
        played = play(Path(folder), spec, workload(model, jobs), changes, drains=everything)
    settled(played, len(jobs))


@pytest.mark.parametrize("rule", ["continue", "kill", "requeue"])
def test_what_is_held_stays(rule: str, tmp_path: Path) -> None:
    """Under every rule a job keeps its drained bytes; others get a buffer once enough was given back.

    The first job holds 8 of 10 GB on each storage node. 5 GB of each are drained at 1 s: the rest, 5 GB, is less. So
    the second, which needs 2 GB on each, waits for the end of the first; the third, which needs 6 GB on each, until all
    is back.
    """
    jobs: list[Described] = [
        (0, 2, 30.0, 8, 0, 100, False),
        (2, 2, 5.0, 2, 0, 100, False),
        (3, 2, 5.0, 6, 0, 100, False),
    ]
    spec = SessionSpec("filler", model="rigid", settings={"on_outage": rule})
    drains: list[Drain] = [(1.0, (8, 9), 5 * GB), (60.0, (8, 9), 0)]
    played = play(tmp_path, spec, workload("rigid", jobs), [], drains=drains)
    settled(played, 3)
    assert set(played.watch.states.values()) == {JobState.COMPLETED_SUCCESSFULLY}
    assert not played.watch.lost
    started = {name: round(time_s) for time_s, what, name in played.watch.story if what == "started"}
    assert started == {"w0!0": 0, "w0!1": 30, "w0!2": 60}


@pytest.mark.parametrize(
    ("rule", "states"),
    [("continue", ["COMPLETED_SUCCESSFULLY"]), ("kill", ["COMPLETED_KILLED"]),
     ("requeue", ["COMPLETED_KILLED", "COMPLETED_SUCCESSFULLY"])],
)  # fmt: skip
def test_a_whole_node_is_drained_and_returns(rule: str, states: list[str], tmp_path: Path) -> None:
    """An outage of storage nodes: under ``continue`` the job ends as it would have, and nothing new is placed there."""
    jobs: list[Described] = [(0, 2, 30.0, 8, 0, 100, False), (2, 1, 5.0, 2, 0, 100, False)]
    spec = SessionSpec("filler", model="rigid", settings={"on_outage": rule})
    changes: list[Change] = [(1.0, False, (8, 9)), (60.0, True, (8, 9))]
    played = play(tmp_path, spec, workload("rigid", jobs), changes)
    settled(played, 2)
    firsts = [state.value for name, state in played.watch.states.items() if name.startswith("w0!0")]
    assert firsts == states
    started = {name: round(time_s) for time_s, what, name in played.watch.story if what == "started"}
    assert started["w0!1"] == 60
    assert started.get("w0!0#2", 60) == 60


def test_a_waiting_job_keeps_its_buffer(tmp_path: Path) -> None:
    """Under a life in which buffers come first, a partial drain evicts no buffer; an outage of the whole node does."""
    jobs: list[Described] = [(0, 8, 30.0, 0, 0, 100, False), (1, 2, 5.0, 8, 0, 100, False)]
    spec = SessionSpec("easy", model="rigid", settings={"bb_life": "slurm"})
    data = workload("rigid", jobs)
    played = play(tmp_path, spec, data, [], drains=[(5.0, (8, 9), 9 * GB), (70.0, (8, 9), 0)])
    settled(played, 2)
    assert not any(what == "evicted" for _, what, _ in played.watch.story)
    assert next(round(time_s) for time_s, what, name in played.watch.story if (what, name) == ("started", "w0!1")) == 30


@pytest.mark.parametrize("out_s", [1.5, 3.0, 8.0])
def test_a_stage_in_that_loses_its_storage_node(out_s: float, tmp_path: Path) -> None:
    """The whole node goes out while a waiting job fills its buffer there: it is evicted, and stages in anew later."""
    jobs: list[Described] = [(0, 2, 10.0, 8, 0, 400, False)]
    spec = SessionSpec("easy", model="io", settings={"bb_life": "slurm"})
    changes: list[Change] = [(out_s, False, (8, 9)), (60.0, True, (8, 9))]
    played = play(tmp_path, spec, workload("io", jobs), changes)
    settled(played, 1)
    assert played.watch.states == {"w0!0": JobState.COMPLETED_SUCCESSFULLY}
    assert [what for _, what, _ in played.watch.story] == ["evicted", "started", "ended"]

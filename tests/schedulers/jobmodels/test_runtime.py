"""Restarts from checkpoints, worked out by hand: surviving checkpoints by failure, repeated work, and its cost."""

from pathlib import Path
from typing import Any

import pytest

from spillway.base.errors import OptionError
from spillway.schedulers.jobmodels.io_aware import IoAware
from spillway.schedulers.jobmodels.record import Checkpoints, JobRecord
from spillway.schedulers.model.job import Allocation, Job
from tests.kit.specs import session_spec
from tests.properties.outage_world import Change, Played, play

GB = 10**9
NODE, STORAGE = 0, 8
"""Batsim's ids on the platform tiny: nodes 0 to 7, storage nodes 8 (of nodes 0 to 3) and 9."""

SIXTY = {"interval": 1000.0, "checkpoint": 60.0, "restart": 30.0}
"""A job of 2500 s computes to 833.3 s, writes to 893.3, computes to 1726.7, writes to 1786.7, computes to 2620."""


def one_job(profile: dict[str, Any], nodes: int = 4) -> dict[str, Any]:
    """A workload of one job, submitted at 0 s, without a walltime."""
    return {
        "nb_res": 8,
        "jobs": [{"id": "0", "subtime": 0, "res": nodes, "profile": "p"}],
        "profiles": {"p": profile},
    }


def checkpointed(tmp_path: Path, changes: list[Change], bb_bytes: int = 0, restart: str = "checkpoint") -> Played:
    """2500 s on four nodes."""
    settings = {"on_outage": "requeue", "restart": restart}
    spec = session_spec("easy", model="checkpointed", model_options=SIXTY, settings=settings)
    return play(tmp_path, spec, one_job({"type": "delay", "delay": 2500.0, "bb": bb_bytes}), changes)


def io(tmp_path: Path, changes: list[Change], nodes: int = 4) -> Played:
    """Three phases of 10 s, 1 GB of burst buffer per node; staging it takes four nodes 4 s, a checkpoint of half 2 s.

    So it computes from 4, 16 and 28 s on, writes from 14 and 26 s on; drains run beside, for 2 s from 16 and 28 s on.
    """
    spec = session_spec(
        "easy",
        model="io",
        model_options={"phase_target": 1e10},
        settings={"on_outage": "requeue", "restart": "checkpoint"},
    )
    profile = {"type": "parallel_homogeneous", "cpu": 30e9, "com": 0, "bb": GB}
    return play(tmp_path, spec, one_job(profile, nodes), changes)


@pytest.mark.parametrize(
    ("down_s", "resumed", "end_s", "lost_s"),
    [
        (2000.0, 2, 2000 + 30 + 2500 / 3, 2000 - 2 * 2500 / 3),
        (1780.0, 1, 1780 + 30 + 2 * 2500 / 3 + 60, 1780 - 2500 / 3),
        (800.0, 0, 800 + 2620, 800),
    ],
    ids=["in the third phase", "while the second checkpoint is written", "in the first phase"],
)
def test_from_the_last_checkpoint(down_s: float, resumed: int, end_s: float, lost_s: float, tmp_path: Path) -> None:
    """A node fails; the next attempt starts at once on others and reads the last whole checkpoint."""
    played = checkpointed(tmp_path, [(down_s, False, (NODE,))])
    again = played.records["w0!0#2"]
    assert (again.resumed.last if again.resumed else 0) == resumed
    assert (again.start_s, again.end_s) == (pytest.approx(down_s, abs=1e-3), pytest.approx(end_s, abs=1e-2))
    assert played.watch.lost == {"w0!0": pytest.approx(4 * lost_s, abs=0.1)}


IO_CASES: list[tuple[str, float, int, Checkpoints | None, float, float]] = [
    # a node, both checkpoints written and drained: reads 0.5 GB, phase 3, stages out
    ("node", 34.0, NODE, Checkpoints(2, 2), 10.0, 2.0 * GB),
    # a storage node: stages in, the checkpoint from the file system and on to the nodes, phase 3
    ("storage", 34.0, STORAGE, Checkpoints(0, 2), 10.0, 8.0 * GB),
    ("storage in phase 2", 24.0, STORAGE, Checkpoints(0, 1), 20.0, 8.0 * GB),
    # the first drain is under way: lost with its storage node, finished where only a node fails
    ("storage in a drain", 17.0, STORAGE, None, 30.0, 4.0 * GB),
    ("node in a drain", 17.0, NODE, Checkpoints(1, 1), 20.0, 2.0 * GB),
    ("while staging in", 2.0, NODE, None, 30.0, 4.0 * GB),
]


@pytest.mark.parametrize(
    ("down_s", "host", "resumed", "computed_s", "read"),
    [case[1:] for case in IO_CASES],
    ids=[case[0] for case in IO_CASES],
)
def test_io_aware(
    down_s: float, host: int, resumed: Checkpoints | None, computed_s: float, read: float, tmp_path: Path
) -> None:
    """The furthest checkpoint that survived: its phases are not computed again, and nothing else is read."""
    again = io(tmp_path, [(down_s, False, (host,))]).records["w0!0#2"]
    assert again.resumed == resumed
    assert again.seconds["compute"] == pytest.approx(computed_s, abs=0.01)
    assert again.moved_bytes["stage_in"] == read
    assert again.state.value == "COMPLETED_SUCCESSFULLY"


def _record(resumed: Checkpoints | None, written: int, drained: int, computed_s: float, bb: int = GB) -> JobRecord:
    """An attempt of a job with a burst buffer: its checkpoints at the begin, written and drained ones, computed
    time."""
    through = {"checkpoint": written} if written else {}
    computed = [computed_s] if computed_s else []
    job = Job("w0!0", 0, 0.0, 100.0, 1, bb)
    return JobRecord(job, Allocation((0,)), 0.0, resumed=resumed, through=through, computed_s=computed, drained=drained)


@pytest.mark.parametrize(
    ("record", "kept"),
    [
        (_record(None, 2, 1, 9.0), Checkpoints(2, 1)),
        (_record(None, 1, 0, 9.0), Checkpoints(1, 0)),
        # it continued from checkpoint 2 in the buffers, and only 1 was drained: the first drain is that of 2
        (_record(Checkpoints(2, 1), 1, 1, 9.0), Checkpoints(3, 2)),
        (_record(Checkpoints(2, 1), 1, 2, 9.0), Checkpoints(3, 3)),
        (_record(Checkpoints(2, 1), 0, 0, 9.0), Checkpoints(2, 1)),
        # the drains of 2 and 3 were lost: without one of its own, no more than 1 is on the file system
        (_record(Checkpoints(3, 1), 0, 0, 9.0), Checkpoints(3, 1)),
        # from one in the buffers that was drained already: the first drain is that of the next
        (_record(Checkpoints(2, 2), 1, 1, 9.0), Checkpoints(3, 3)),
        # from the file system: nothing is in the buffers until something was computed from it
        (_record(Checkpoints(0, 2), 0, 0, 0.0), Checkpoints(0, 2)),
        (_record(Checkpoints(0, 2), 0, 0, 1.0), Checkpoints(2, 2)),
        (_record(Checkpoints(0, 2), 1, 1, 9.0), Checkpoints(3, 3)),
        (_record(Checkpoints(1, 0), 0, 0, 0.0), Checkpoints(1, 0)),
        (_record(None, 0, 0, 9.0), Checkpoints()),
        (_record(None, 2, 1, 9.0, bb=0), Checkpoints()),
    ],
)
def test_which_checkpoints_an_attempt_has(record: JobRecord, kept: Checkpoints) -> None:
    """In the buffers the last one, on the file system the last one drained; drains end in their order."""
    assert IoAware().checkpoints(record) == kept


def test_a_buffer_is_lost_while_the_job_waits(tmp_path: Path) -> None:
    """Killed on all nodes, it waits; its storage nodes go out and come back before its node does."""
    changes: list[Change] = [
        (50.0, False, (NODE,)), (60.0, False, (8, 9)), (70.0, True, (8, 9)), (80.0, True, (NODE,)),
    ]  # fmt: skip
    first, again = io(tmp_path, changes, nodes=8).records.values()
    assert first.end_s == pytest.approx(50.0, abs=2.5), "a drain may outlive it"
    assert again.start_s == pytest.approx(80.0, abs=1e-3)
    assert again.resumed == Checkpoints(0, first.drained)
    assert first.drained


@pytest.mark.parametrize(
    ("model", "settings", "message"),
    [
        ("rigid", {"on_outage": "requeue", "restart": "checkpoint"}, "models with checkpoints: io, checkpointed"),
        ("io", {"on_outage": "kill", "restart": "checkpoint"}, "setting restart=checkpoint needs on_outage=requeue"),
    ],
)
def test_what_would_do_nothing_is_refused(model: str, settings: dict[str, str], message: str) -> None:
    """A model without checkpoints, or no restart at all."""
    with pytest.raises(OptionError, match=message):
        session_spec("easy", model=model, settings=settings).session()

"""Machines and parts of storage nodes go out and come back: cases by hand; ``tools.fuzz worlds`` draws others."""

from pathlib import Path

import pytest

from spillway.base.errors import OptionError
from spillway.protocol.messages import JobState
from tests.kit.specs import session_spec
from tests.properties.outage_world import Change, Drain, Played, play
from tests.properties.small_world import GB, workload

NODES, STORAGES, FILE_SYSTEM = tuple(range(8)), (8, 9), 10
"""Batsim's ids on the platform ``tiny``."""

Described = tuple[int, int, float, int, int, int | None, bool]


def settled(played: Played, jobs: int) -> None:
    """Nothing waits, runs or is held, and every job has a row and an end; attempts have rows of their own."""
    session = played.session
    assert session.waiting == 0
    assert not session.book.running
    assert not session.book.held
    book, machine = session.book, session.machine
    assert len(book.free_nodes()) == len(machine.nodes) - len(book.nodes_out)
    free_bytes = book.timeline.free_storage_now()
    for index, storage in enumerate(machine.storages):
        assert free_bytes[index] == (0 if index in book.storages_out else storage.capacity_bytes)
    assert book.timeline.free_bandwidth_now() == [link.capacity_bytes_per_s for link in machine.links]
    firsts = {name for name in played.rows if "#" not in name and played.rows[name]["workload_name"] == "w0"}
    assert firsts == {str(number) for number in range(jobs)}
    assert {f"w0!{name}" for name in firsts} <= played.watch.states.keys()
    for job_id, state in played.watch.states.items():
        again = [name for time_s, what, name in played.watch.story if what.startswith("requeued") and name == job_id]
        assert not again or state is JobState.COMPLETED_KILLED, f"{job_id} ended as {state} and was submitted anew"


def as_events(drawn: list[tuple[int, set[int], int]]) -> list[Change]:
    """Outages that Batsim accepts: no machine that is out goes away again; each comes back, maybe under a job."""
    changes: list[Change] = []
    back_s: dict[int, float] = {}
    for begin_s, hosts, length_s in sorted(drawn, key=lambda one: one[0]):
        fresh = tuple(sorted(host for host in hosts if back_s.get(host, -1.0) < begin_s))
        if fresh:
            back_s |= dict.fromkeys(fresh, float(begin_s + length_s))
            changes += [(float(begin_s), False, fresh), (float(begin_s + length_s), True, fresh)]
    return changes


def test_a_restarted_job_is_shown(tmp_path: Path) -> None:
    """Its second attempt has a row of its own; waiting and turnaround count from the first submission."""
    jobs = [(0, 8, 30.0, 0, 0, 100, False), (3, 8, 10.0, 0, 0, 100, False)]
    spec = session_spec("fcfs", model="rigid", settings={"on_outage": "requeue"})
    played = play(tmp_path, spec, workload("rigid", jobs), [(10.0, False, (2,)), (40.0, True, (2,))])  # type: ignore[arg-type]
    first, second, other = played.rows["0"], played.rows["0#2"], played.rows["1"]
    assert (first["final_state"], second["final_state"]) == ("COMPLETED_KILLED", "COMPLETED_SUCCESSFULLY")
    assert float(first["finish_time"]) == pytest.approx(10.0, abs=1e-3)
    assert float(second["submission_time"]) == 0.0
    assert float(second["starting_time"]) == pytest.approx(40.0, abs=1e-3)
    assert float(second["waiting_time"]) == pytest.approx(40.0, abs=1e-3), "it counts from the first submission"
    assert float(other["starting_time"]) > float(second["finish_time"]) - 1e-3, "it kept its place"
    assert [what for _, what, _ in played.watch.story if what.startswith("requeued")] == ["requeued as 0#2"]


@pytest.mark.parametrize(("rule", "states"), [
    ("continue", {"w0!0": "COMPLETED_SUCCESSFULLY"}),
    ("kill", {"w0!0": "COMPLETED_KILLED"}),
    ("requeue", {"w0!0": "COMPLETED_KILLED", "w0!0#2": "COMPLETED_SUCCESSFULLY"}),
])  # fmt: skip
@pytest.mark.parametrize("machine", [0, 8], ids=["node", "storage"])
def test_what_is_lost_counts_alike(rule: str, states: dict[str, str], machine: int, tmp_path: Path) -> None:
    """A node of a running job, or the storage node with its burst buffer; new buffers go to the other one."""
    jobs = [(0, 4, 30.0, 2, 0, 100, False)]
    spec = session_spec("easy", model="rigid", settings={"on_outage": rule})
    played = play(tmp_path, spec, workload("rigid", jobs), [(10.0, False, (machine,))])  # type: ignore[arg-type]
    assert {job_id: state.value for job_id, state in played.watch.states.items()} == states


def test_transfers_wait_for_the_file_system(tmp_path: Path) -> None:
    """It is out while a job would stage in, and while it would stage out; nothing is lost but time."""
    jobs = [(0, 2, 10.0, 1, 0, 400, False)]
    data = workload("io", jobs)  # type: ignore[arg-type]
    alone = play(tmp_path, session_spec("easy", model="io"), data, [(900.0, False, (FILE_SYSTEM,))])
    delayed = play(
        tmp_path, session_spec("easy", model="io"), data, [(0.0, False, (FILE_SYSTEM,)), (70.0, True, (FILE_SYSTEM,))]
    )
    assert delayed.watch.states == {"w0!0": JobState.COMPLETED_SUCCESSFULLY}
    end_s = {name: max(time_s for time_s, what, _ in played.watch.story if what == "ended")
             for name, played in (("alone", alone), ("delayed", delayed))}  # fmt: skip
    assert end_s["delayed"] == pytest.approx(end_s["alone"] + 70.0, abs=1e-2)


@pytest.mark.parametrize(
    ("rule", "lost", "states", "size"),
    [
        ("shrink", (1,), {"w0!0": "COMPLETED_SUCCESSFULLY"}, 3),
        ("shrink", (0, 2, 3), {"w0!0": "COMPLETED_SUCCESSFULLY"}, 1),
        ("shrink", (8,), {"w0!0": "COMPLETED_KILLED"}, 4),
        ("shrink-or-requeue", (0, 1, 2, 3), {"w0!0": "COMPLETED_KILLED", "w0!0#2": "COMPLETED_SUCCESSFULLY"}, 4),
    ],
    ids=["one node", "all but the minimum", "all burst buffers", "below the minimum"],
)
@pytest.mark.parametrize("lost_s", [6.0, 20.0])
def test_malleable_applications_shrink(
    rule: str, lost: tuple[int, ...], states: dict[str, str], size: int, lost_s: float, tmp_path: Path
) -> None:
    """They give up nodes that are out when the current interval there has ended, as long as they keep their minimum."""
    spec = session_spec("easy", model="malleable", settings={"on_outage": rule})
    played = play(tmp_path, spec, workload("malleable", [(0, 4, 30.0, 2, 0, 900, True)]), [(lost_s, False, lost)])
    assert {job_id: state.value for job_id, state in played.watch.states.items()} == states
    assert played.watch.sizes["w0!0"] == size
    settled(played, 1)


def test_settings_that_cannot_be_combined() -> None:
    """Only malleable applications shrink; without dynamic jobs no job can be requeued."""
    with pytest.raises(OptionError, match=r"on_outage=shrink and --model rigid cannot be combined"):
        session_spec("easy", model="rigid", settings={"on_outage": "shrink"}).session()
    assert not session_spec("easy").needs().dynamic_jobs
    assert session_spec("easy", settings={"on_outage": "requeue"}).needs().profile_reuse
    assert GB == 10**9


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
    spec = session_spec("filler", model="rigid", settings={"on_outage": rule})
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
    spec = session_spec("filler", model="rigid", settings={"on_outage": rule})
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
    spec = session_spec("easy", model="rigid", settings={"bb_life": "slurm"})
    data = workload("rigid", jobs)
    played = play(tmp_path, spec, data, [], drains=[(5.0, (8, 9), 9 * GB), (70.0, (8, 9), 0)])
    settled(played, 2)
    assert not any(what == "evicted" for _, what, _ in played.watch.story)
    assert next(round(time_s) for time_s, what, name in played.watch.story if (what, name) == ("started", "w0!1")) == 30


@pytest.mark.parametrize(("model", "lost"), [("io", 8), ("io", 0), ("operations", 3), ("malleable", 1)])
def test_a_job_that_cannot_go_on_ends(model: str, lost: int, tmp_path: Path) -> None:
    """Its next operation would need a machine that is out: it is killed then, with the reason."""
    jobs = [(0, 4, 30.0, 2, 0, 400, True)]
    played = play(tmp_path, session_spec("easy", model=model), workload(model, jobs), [(6.0, False, (lost,))])  # type: ignore[arg-type]
    assert played.watch.states == {"w0!0": JobState.COMPLETED_KILLED}
    assert [what for _, what, _ in played.watch.story] == ["started", "ended", "killed"]
    settled(played, 1)

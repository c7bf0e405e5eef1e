"""The observer flags conversations that are wrong by hand, each by the requirement that is meant for it."""

import pytest

from spillway.experiments.trials.observer import Breach, Observer
from spillway.protocol import messages as m

GB = 10**9
Step = tuple[float, list[m.Event], list[m.Request]]


def begins(nodes: int, *capacities_gb: int) -> Step:
    """The first message: nodes 0 .. nodes - 1, storage nodes after them."""
    compute = tuple(m.ResourceInfo(number, f"n{number}") for number in range(nodes))
    storage = tuple(
        m.ResourceInfo(nodes + place, f"bb{place}", properties={"capacity_bytes": str(gb * GB)})
        for place, gb in enumerate(capacities_gb)
    )
    return 0.0, [m.SimulationBegins(0.0, compute, storage)], []


def job(number: int, at_s: float, nodes: int, walltime_s: float, gb: int = 0) -> m.JobSubmitted:
    """A submission."""
    own = {"id": f"w0!{number}", "subtime": at_s, "res": nodes, "walltime": walltime_s, "profile": "p"}
    return m.JobSubmitted(at_s, f"w0!{number}", own | ({"bb": gb * GB} if gb else {}))


def start(number: int, at_s: float, *hosts: int) -> m.ExecuteJob:
    """A start."""
    return m.ExecuteJob(at_s, f"w0!{number}", hosts)


def end(number: int, at_s: float) -> m.JobCompleted:
    """An end."""
    return m.JobCompleted(at_s, f"w0!{number}", m.JobState.COMPLETED_SUCCESSFULLY, 0, ())


def seen(*steps: Step) -> dict[str, str]:
    """Notes of an observer on a conversation, step by step: time, events, requests."""
    observer = Observer()
    try:
        for now_s, events, requests in steps:
            observer.message(m.Message(now_s, tuple(events)))
            observer.reply(m.Reply(now_s, tuple(requests)))
    except Breach:
        pass
    return observer.faults


HEAD_WAITS: list[Step] = [
    begins(4, 10),
    (1.0, [job(1, 1.0, 2, 20.0, 2)], [start(1, 1.0, 0, 1)]),
    (2.0, [job(2, 2.0, 3, 10.0, 1)], []),
]
"""Job 1 runs on two of four nodes with 4 of 10 GB until 21 s; job 2 waits for three nodes and 3 GB."""


@pytest.mark.parametrize(
    ("steps", "requirement", "words"),
    [
        ([begins(2), (1.0, [job(1, 1.0, 2, 9.0)], [start(1, 1.0, 0)])], "nodes", "which requests 2 nodes, was given 1"),
        (
            [begins(2, 10), (1.0, [job(1, 1.0, 1, 9.0)], [start(1, 1.0, 2)])],
            "nodes",
            "was started on host 2, no compute node",
        ),
        ([*HEAD_WAITS, (3.0, [job(3, 3.0, 1, 5.0)], [start(3, 3.0, 1)])], "nodes", "on node 1, on which job 1 runs"),
        (
            [*HEAD_WAITS, (3.0, [job(3, 3.0, 1, 5.0, 7)], [start(3, 3.0, 2)])],
            "buffers",
            "at 3 s job 3 was started with 1 node and 7 GB, when 6 GB were free",
        ),
        (
            [
                begins(3, 10, 10),
                (1.0, [job(1, 1.0, 2, 9.0, 6), job(2, 1.0, 1, 9.0, 6)], [start(1, 1.0, 0, 1), start(2, 1.0, 2)]),
            ],
            "buffers",
            "when 0 GB in whole requests were free",
        ),
        (
            [begins(2), (1.0, [job(1, 1.0, 1, 9.0)], [start(1, 1.0, 0)]), (2.0, [], [start(1, 2.0, 1)])],
            "once",
            "'w0!1' was started, which was started before",
        ),
        ([begins(2), (1.0, [job(1, 1.0, 2, 9.0)], [m.RejectJob(1.0, "w0!1")])], "once", "was rejected, although"),
        ([*HEAD_WAITS, (3.0, [], [m.KillJob(3.0, ("w0!1",))])], "once", "was killed, 18 s before its walltime"),
        ([*HEAD_WAITS, (3.0, [job(3, 3.0, 1, 5.0)], [start(3, 3.0, 2)])], "order", "although job 2, submitted before"),
        (
            [*HEAD_WAITS, (9.0, [end(1, 9.0)], []), (10.0, [m.SimulationEnds(10.0)], [])],
            "first",
            "at 9 s job 2, first in the queue, waits for its 3 nodes and 3 GB beside 4 nodes and 10 GB",
        ),
        (
            [*HEAD_WAITS, (3.0, [job(3, 3.0, 2, 50.0)], [start(3, 3.0, 2, 3)])],
            "promise",
            "at 3 s job 3 was started with 2 nodes for up to 50 s, so that job 2, first in the queue with 3 nodes "
            "and 3 GB, which by the walltimes could start at 21 s, can start at 53 s at the earliest",
        ),
        (
            [*HEAD_WAITS, (3.0, [job(3, 3.0, 1, 50.0, 6)], []), (4.0, [job(4, 4.0, 1, 50.0, 6)], [start(4, 4.0, 3)])],
            "",
            "",
        ),
        (
            [
                begins(3, 10),
                (1.0, [job(1, 1.0, 1, 20.0, 8)], [start(1, 1.0, 0)]),
                (2.0, [job(2, 2.0, 1, 9.0, 9)], []),
                (3.0, [job(3, 3.0, 1, 50.0, 2)], [start(3, 3.0, 1)]),
            ],
            "promise",
            "could start at 21 s, can start at 53 s",
        ),
        (
            [*HEAD_WAITS, (3.0, [job(3, 3.0, 2, 10.0)], []), (4.0, [m.SimulationEnds(4.0)], [])],
            "backfill",
            "job 3, which requests 2 nodes for up to 10 s, waits beside 2 nodes and 6 GB: it would end before 21 s",
        ),
        (
            [*HEAD_WAITS, (3.0, [job(3, 3.0, 1, 50.0, 6)], []), (4.0, [m.SimulationEnds(4.0)], [])],
            "spare",
            "and job 2, first in the queue, leaves them free when it can start at 21 s",
        ),
    ],
)
def test_what_is_wrong_is_flagged(steps: list[Step], requirement: str, words: str) -> None:
    """By its own requirement, with job, time and amounts; a start beside the first job breaks no promise."""
    faults = seen(*steps)
    if not requirement:
        assert "promise" not in faults
        return
    assert words in faults[requirement]


def test_a_right_conversation_is_silent() -> None:
    """EASY by hand: a filler that ends in time, one on spare nodes, the first job at its shadow time."""
    faults = seen(
        *HEAD_WAITS,
        (3.0, [job(3, 3.0, 1, 18.0)], [start(3, 3.0, 2)]),
        (4.0, [job(4, 4.0, 1, 500.0, 7)], []),
        (5.0, [job(5, 5.0, 1, 500.0, 6)], [start(5, 5.0, 3)]),
        (21.0, [end(1, 21.0)], []),
        (21.0, [end(3, 21.0)], [start(2, 21.0, 0, 1, 2)]),
        (31.0, [end(2, 31.0)], []),
    )
    assert faults.keys() == {"order"}  # EASY is no FCFS


def test_what_can_never_run_must_be_rejected() -> None:
    """And must not count as the first job of the queue."""
    observer = Observer()
    for now_s, events, requests in [
        begins(2, 10),
        (1.0, [job(1, 1.0, 3, 9.0)], []),
        (2.0, [job(2, 2.0, 1, 9.0)], [start(2, 2.0, 0)]),
    ]:
        observer.message(m.Message(now_s, tuple(events)))
        observer.reply(m.Reply(now_s, tuple(requests)))
    observer.message(m.Message(11.0, (end(2, 11.0),)))
    observer.stuck()
    assert observer.faults == {
        "ends": "job 1 requests 3 nodes, more than the empty machine has; it was not rejected, so that the simulation "
        "never ends"
    }


def test_rejecting_what_can_never_run_is_right() -> None:
    """More nodes, and more whole requests than storage nodes hold."""
    rejected = [m.RejectJob(1.0, "w0!1"), m.RejectJob(1.0, "w0!2")]
    assert seen(begins(3, 10, 10), (1.0, [job(1, 1.0, 4, 9.0), job(2, 1.0, 3, 9.0, 6)], rejected)) == {}

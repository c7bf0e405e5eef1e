"""Invariants of the gang policies for any jobs: every job ends and receives its full time, no job overtakes."""

from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spillway.protocol.messages import ExecuteJob, JobCompleted, JobKilled, JobState, Message, Reply
from spillway.schedulers.policies import POLICIES
from spillway.schedulers.policies.gang import Gang
from spillway.schedulers.timesharing.sharing import NodeSharingPolicy
from tests.schedulers.jobmodels.shared_machine import NODES, job, play

NAMES = [name for name, entry in POLICIES.items() if issubclass(entry.cls, NodeSharingPolicy)]
OPTIONS = {"quantum": "7", "level": "3", "migration_cost": "2", "migration_limit": "3"}

JOBS = st.lists(
    st.tuples(
        st.integers(0, 40),
        st.integers(1, NODES + 1),
        st.integers(1, 30),
        st.integers(0, 200),
        st.integers(0, NODES - 1),
    ),
    min_size=1,
    max_size=8,
)


def described(rows: list[tuple[int, int, int, int, int]], walltime: float | None = None) -> list[dict[str, Any]]:
    """Jobs from (submission, nodes, seconds, blocks, first node of the file)."""
    extras = {} if walltime is None else {"walltime": walltime}
    return [
        job(
            str(number), nodes, float(seconds), float(submit), io_blocks=blocks,
            file_nodes=sorted((first + step) % NODES for step in range(nodes)) if nodes <= NODES else [], **extras,
        )
        for number, (submit, nodes, seconds, blocks, first) in enumerate(sorted(rows))
    ]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=6)
@given(rows=JOBS)
def test_every_job_gets_what_it_needs(name: str, rows: list[tuple[int, int, int, int, int]]) -> None:
    """Feasible jobs end well, not before their time with all blocks local, and start in order of submission; the books
    agree after every message (checked inside)."""
    shown = play(POLICIES[name].build(OPTIONS), described(rows))
    fitting = {str(n): row for n, row in enumerate(sorted(rows)) if row[1] <= NODES}
    assert shown.ends.keys() == fitting.keys()
    assert shown.refused.keys() == {str(n) for n in range(len(rows))} - fitting.keys()
    for number, (_, _, seconds, blocks, _) in fitting.items():
        end_s, state = shown.ends[number]
        assert state is JobState.COMPLETED_SUCCESSFULLY
        assert end_s - shown.starts[number] >= seconds + 0.03 * blocks - 1e-5
    starts = [shown.starts[number] for number in sorted(fitting, key=int)]
    assert starts == sorted(starts)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=6)
@given(rows=JOBS)
def test_every_job_ends_where_the_whole_queue_is_scanned(name: str, rows: list[tuple[int, int, int, int, int]]) -> None:
    """Jobs may overtake then; each that fits the machine ends well all the same."""
    shown = play(POLICIES[name].build({**OPTIONS, "queue": "scan"}), described(rows))
    assert shown.ends.keys() == {str(number) for number, row in enumerate(sorted(rows)) if row[1] <= NODES}
    assert {state for _, state in shown.ends.values()} <= {JobState.COMPLETED_SUCCESSFULLY}


@settings(max_examples=6)
@given(rows=JOBS)
def test_walltimes_are_received_time(rows: list[tuple[int, int, int, int, int]]) -> None:
    """With eight seconds each: a job that needs as many or more is ended, not before it can have received them."""
    plain = sorted((submit, nodes, run, 0, 0) for submit, nodes, run, _, _ in rows)
    shown = play(Gang(quantum=3.0, level=2), described(plain, walltime=8.0))
    for number, (_, nodes, seconds, _, _) in enumerate(plain):
        if nodes > NODES:
            continue
        end_s, state = shown.ends[str(number)]
        if seconds < 8:
            assert state is JobState.COMPLETED_SUCCESSFULLY
        elif state is not JobState.COMPLETED_WALLTIME_REACHED:
            assert state is JobState.COMPLETED_KILLED
            assert end_s % 3.0 == 0.0, "only the end of a slice kills a job"
        assert end_s - shown.starts[str(number)] >= min(seconds, 8) - 1e-5


LINKS = {"pfs": (100, (0, 1, 2, 3)), "left": (60, (0, 1)), "n1": (40, (1,)), "right": (50, (2, 3))}
"""Bytes per second of each link, and the nodes below it."""
PATHS = ("pfs=100/left=60", "pfs=100/left=60/n1=40", "pfs=100/right=50", "pfs=100/right=50")


@dataclass
class Meter:
    """Adds up the load of each link, only from the conversation: executions, completions, confirmed kills."""

    rates: list[int]
    live: dict[str, tuple[int, tuple[int, ...]]] = field(default_factory=dict)
    turns: int = 0

    def __call__(self, message: Message, reply: Reply) -> None:
        """After each message: no link carries more than it can."""
        for event in message.events:
            if isinstance(event, JobCompleted):
                self.live.pop(event.job_id, None)
            elif isinstance(event, JobKilled):
                for job_id in event.job_ids:
                    self.live.pop(job_id, None)
        for request in reply.events:
            if isinstance(request, ExecuteJob):
                job = int(request.job_id.partition("%")[2].partition("!")[0])
                self.live[request.job_id] = self.rates[job], request.alloc
                self.turns += 1
        for name, (capacity, below) in LINKS.items():
            load = sum(rate * len(set(nodes) & set(below)) for rate, nodes in self.live.values())
            assert load <= capacity, f"{load} on {name} at {message.now} s: {self.live}"


def carried(nodes: tuple[int, ...], rate: int) -> bool:
    """Whether the links carry an uncontended job."""
    return all(rate * len(set(nodes) & set(below)) <= capacity for capacity, below in LINKS.values())


@pytest.mark.parametrize("start", ["next-quantum", "at-once"])
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=8)
@given(rows=JOBS, rates=st.lists(st.sampled_from([0, 10, 20, 25, 30, 41, 60]), min_size=8, max_size=8))
def test_no_link_carries_too_much_at_any_instant(
    name: str, start: str, rows: list[tuple[int, int, int, int, int]], rates: list[int]
) -> None:
    """Rows use links one at a time: running jobs fit on each, also before a move. A job that fits uncontended ends."""
    meter = Meter(rates)
    jobs = [{**job, "io_rate": rate} for job, rate in zip(described(rows), rates, strict=False)]
    shown = play(POLICIES[name].build({**OPTIONS, "migration_start": start}), jobs, paths=PATHS, watch=meter)
    for entry, rate in zip(jobs, rates, strict=False):
        places = [tuple(entry["file_nodes"])] if name == "gang-io" else list(combinations(range(NODES), entry["res"]))
        fits = entry["res"] <= NODES and any(carried(place, rate) for place in places)
        assert (entry["id"] in shown.ends, entry["id"] in shown.refused) == (fits, not fits)
    assert meter.turns >= len(shown.ends)
    assert not meter.live

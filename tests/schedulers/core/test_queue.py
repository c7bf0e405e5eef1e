"""The queue's columns against a plain list of the waiting jobs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from spillway.schedulers.core.queue import Queue
from spillway.schedulers.model.job import Job
from spillway.schedulers.policykit.waiting_jobs import WaitingJobs


def job(number: int, nodes: int) -> Job:
    """A job that waits."""
    return Job(f"w0!{number}", number, 0.0, 60.0 + number, nodes)


def queue() -> Queue:
    """An empty queue with the nodes and the number in its rows."""
    return Queue(lambda job: (job.nodes, job.number, 0, 0, 0, 0), few=0)


@given(
    steps=st.lists(
        st.one_of(
            st.tuples(st.just("come"), st.integers(1, 5)),
            st.tuples(st.just("go"), st.integers(0, 300)),
            st.tuples(st.just("again"), st.integers(0, 300)),
            st.tuples(st.just("look"), st.integers(0, 8)),
        ),
        max_size=60,
    ),
    many=st.integers(0, 200),
)
def test_views_are_the_list_as_it_was(steps: list[tuple[str, int]], many: int) -> None:
    """For any arrivals and departures: length, order, parts and the small ones; views of before do not change."""
    line, plain, gone = queue(), list[Job](), list[Job]()
    seen: list[tuple[WaitingJobs, list[Job]]] = []
    look, before_look = None, list[Job]()
    number = 0
    before = [("come", 1 + at % 7) for at in range(many)] + [("go", at // 3) for at in range(many // 2)]
    for what, value in before + steps:
        if what == "come":
            plain.append(job(number, value))
            line.add(plain[-1])
            number += 1
        elif what == "go" and plain:
            gone.append(plain.pop(value % len(plain)))
            line.remove(gone[-1].id)
        elif what == "again" and gone:
            plain = sorted([*plain, gone.pop(value % len(gone))], key=lambda one: one.number)
            line.add_again(next(one for one in plain if one.id not in line.jobs))
        elif what == "look":
            shown = line.shown()
            assert (len(shown), list(shown), list(reversed(shown))) == (len(plain), plain, plain[::-1])
            rest = shown[value:]
            assert (len(rest), list(rest), list(rest[1:])) == (len(plain[value:]), plain[value:], plain[value + 1 :])
            assert list(shown[:value]) == plain[:value]
            assert list(shown[1:-1:2]) == plain[1:-1:2]
            assert [shown[at] for at in range(-len(plain), len(plain))] == plain * 2
            small, expected = rest.of_at_most(3), [one for one in plain[value:] if one.nodes <= 3]  # type: ignore[attr-defined]
            assert list(small) == expected
            assert list(small[1:].of_at_most(2)) == [one for one in expected[1:] if one.nodes <= 2]
            assert small.demands[:, 1].tolist() == [one.number for one in expected]
            assert small.walltimes_s.tolist() == [one.walltime_s for one in expected]
            parts = list(rest.in_parts(4))  # type: ignore[attr-defined]
            assert [one for part in parts for one in part] == plain[value:]
            assert sum(map(len, parts)) == len(plain[value:])
            assert isinstance(shown, WaitingJobs)
            changed = None if look is None else shown.since(look)
            if changed is None:
                look = shown.look()
            else:
                left, come = changed
                assert left == [one for one in before_look if one not in plain]
                assert come == [one for one in plain if one not in before_look]
            before_look = list(plain)
            seen.append((shown, list(plain)))
        line.check()
    for shown, then in seen:
        assert list(shown) == then


def test_who_has_gone_and_come_is_told_as_long_as_jobs_keep_their_places() -> None:
    """Of jobs 0 to 199 the first two and the last go, and 200 comes. When 100 more have gone the gaps are closed: the
    jobs have other places, and a new look is needed.
    """
    line, jobs = queue(), [job(number, 1) for number in range(201)]
    for one in jobs[:200]:
        line.add(one)
    shown = line.shown()
    assert isinstance(shown, WaitingJobs)
    look = shown.look()
    for one in (jobs[199], jobs[0], jobs[1]):
        line.remove(one.id)
    line.add(jobs[200])
    shown = line.shown()
    assert isinstance(shown, WaitingJobs)
    assert shown.since(look) == ([jobs[0], jobs[1], jobs[199]], [jobs[200]])
    assert shown.since(look) == ([], [])
    for one in jobs[50:150]:
        line.remove(one.id)
    shown = line.shown()
    assert isinstance(shown, WaitingJobs)
    assert shown.since(look) is None

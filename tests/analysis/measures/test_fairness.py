"""Fairness, by hand and against counting."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spillway.analysis.measures import fairness
from spillway.analysis.tables.jobs import JobTable
from tests.analysis.samples import make_table


def test_overtaken_by_hand(table: JobTable) -> None:
    """Job c (submitted at 20) started at 50, before b (submitted at 10, started at 100)."""
    assert fairness.overtaken(table).tolist() == [0, 1, 0]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=20))
def test_overtaken_against_counting(jobs: list[tuple[int, int]]) -> None:
    """Counting in blocks gives the result of two nested loops; equal submissions are ordered as in the file."""
    jobs = sorted(jobs)
    made = make_table([(submit, submit + wait, 1, 1) for submit, wait in jobs])
    starts = made.start_s
    expected = [sum(starts[later] < starts[job] for later in range(job + 1, len(jobs))) for job in range(len(jobs))]
    assert fairness.overtaken(made).tolist() == expected


def test_against_fcfs(table: JobTable) -> None:
    """One of three jobs starts 40 s later than in the fair schedule, one earlier."""
    fair = dataclasses.replace(table, start_s=np.array([0.0, 60, 60, np.nan]))
    assert fairness.later_share(table, fair) == 1 / 3


def test_users_and_starvation(table: JobTable) -> None:
    """User u1 has jobs a and c; b waits longest."""
    assert fairness.waits_by_user(table) == {"u1": (2, 15.0), "u2": (1, 90.0)}
    assert fairness.starved(table, 60) == 1
    assert fairness.starved(table) == 0
    assert fairness.waits_by_user(table.take(np.zeros(0, np.intp))) == {}


@given(st.lists(st.tuples(st.sampled_from(["", "u1", "u2", "u10"]), st.floats(0, 1e6)), min_size=1, max_size=40))
def test_users_against_one_look_each(rows: list[tuple[str, float]]) -> None:
    """All users are grouped at once; numbers of jobs and means are those of each user's own rows, bit for bit."""
    made = make_table([(0, wait_s, 1, 1) for _, wait_s in rows])
    made = dataclasses.replace(made, user=[user for user, _ in rows])
    users = np.array(made.user)
    expected = {
        user: (int((users == user).sum()), float(made.wait_s[users == user].mean()))
        for user in sorted({user for user, _ in rows if user})
    }
    assert list(fairness.waits_by_user(made).items()) == list(expected.items())


def test_jain() -> None:
    """1 for equal shares, 1/n if one user has everything."""
    assert fairness.jain(np.array([3.0, 3, 3])) == pytest.approx(1.0)
    assert fairness.jain(np.array([5.0, 0, 0, 0])) == pytest.approx(0.25)
    assert np.isnan(fairness.jain(np.zeros(2)))

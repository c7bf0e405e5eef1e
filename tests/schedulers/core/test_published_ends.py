"""Ends of jobs at just their expected end under published rules, which hold nodes a rounding step longer."""

from __future__ import annotations

import math
from typing import Any

import pytest

from spillway.core import PublishedTimeline
from spillway.schedulers.assembly import SessionSpec
from spillway.schedulers.core.book import Book
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.model.machine import simple_machine
from spillway.schedulers.policykit.estimates import Walltimes
from tests.schedulers.lives.story import GB, TINY, job, play

CASES: dict[str, tuple[list[dict[str, Any]], dict[str, Any], tuple[str, float]]] = {
    "stage-in": (
        [job("15", 18, 1, "p15", walltime=30), job("1", 20, 8, "p1", walltime=100)],
        {
            "p1": {"type": "delay", "delay": 20},
            "p15": {"type": "delay", "delay": 40, "bb": 1, "stage_in_s": 10000},
        },
        ("1", 48.0),
    ),
    "stage-out": (
        [job("6", 0, 8, "p6", walltime=30), job("1", 18, 8, "p1", walltime=10)],
        {
            "p1": {"type": "delay", "delay": 1},
            "p6": {"type": "delay", "delay": 20, "bb_total": 2 * GB, "stage_out_s": 11},
        },
        ("1", 30.0),
    ),
}
"""Jobs, profiles, and a job with its start: a requested call ends the previous job, at its walltime."""


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("policy", ["fcfs", "easy", "filler"])
@pytest.mark.parametrize("options", [{}, {"book_stages": "1"}])
def test_the_next_job_starts_when_a_call_ends_the_one_before(case: str, policy: str, options: dict[str, str]) -> None:
    """Nothing else happens after that call, so the nodes must be free in its pass."""
    jobs, profiles, (name, start_s) = CASES[case]
    spec = SessionSpec(policy, model="io", model_options=options, thesis_literal=True)
    story = play(TINY, spec, jobs, profiles)
    assert story.started_s[name] == start_s


def test_nodes_are_free_at_the_very_end() -> None:
    """A job of 10 s holds its node to the next number after 10; one that has ended at 10 does not."""
    timeline = PublishedTimeline(simple_machine(2))
    book = Book(timeline.machine, timeline, Walltimes())
    one = Job("w0!0", 0, 0.0, 10.0, 1)
    book.start(one, Allocation((0,)), 0.0)
    assert timeline.breakpoints() == [0.0, math.nextafter(10.0, math.inf)]
    book.end("w0!0", 10.0)
    assert timeline.free_nodes_now() == 2
    assert timeline.breakpoints() == [10.0]
    book.check()

"""Priorities in random worlds: equal to a plain reference, in every policy that takes the order, and reproducible."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from spillway.protocol.messages import JobState
from spillway.schedulers.core.session import Session
from spillway.schedulers.core.terms import Passes, SiteTerms
from spillway.schedulers.model.explanations import PassNotes, Role
from spillway.schedulers.model.job import Allocation, Job
from spillway.schedulers.model.site import Site
from spillway.schedulers.policies import POLICIES
from spillway.schedulers.policykit.view import Running
from tests.properties.mini import SPACE_SHARING, MiniJob, MiniMachine, Played, play
from tests.properties.sites import SITES, fields_of
from tests.reference import priority as reference
from tests.schedulers.runtimes import rigid

GB = 10**9
MACHINE = MiniMachine(nodes=8, storages=2, storage_bytes=10 * GB)
CHOSEN = [
    (name, info.name)
    for name in SPACE_SHARING
    for info in POLICIES[name].options()
    if "multifactor" in (info.choices or ())
]
"""Policies with each of their options that takes the order."""

UNUSED = {("fcfs", "fill_order"), ("filler", "order"), ("filler-sjf", "order")}
"""Of these those that never look at jobs in it: they fill no gaps, or do nothing else."""


class Compared(Played):
    """Compares each pass's priorities with the reference's."""

    def __init__(self, site: Site) -> None:
        super().__init__()
        self.site = site
        self.jobs: dict[str, Job] = {}
        self.held: dict[str, reference.Held] = {}
        self.terms = 0

    def submitted(self, job: Job, now_s: float) -> None:
        """It is known."""
        self.jobs[job.id] = job

    def rejected(self, job: Job, reason: str, now_s: float) -> None:
        """It never waited."""
        super().rejected(job, reason, now_s)
        del self.jobs[job.id]

    def started(self, job: Job, allocation: Allocation, now_s: float) -> None:
        """It holds its nodes."""
        super().started(job, allocation, now_s)
        self.held[job.id] = reference.Held(job, len(allocation.nodes), now_s, float("inf"))

    def ended(self, running: Running, state: JobState, now_s: float) -> None:
        """It held them until now."""
        self.held[running.job.id] = self.held[running.job.id]._replace(end_s=now_s)

    def notes(self, now_s: float, notes: PassNotes) -> None:
        """Each term, and the sum but for its rounding."""
        super().notes(now_s, notes)
        before = [one for one in self.held.values() if one.start_s < now_s]
        for job_id, found in notes.priorities.items():
            job = self.jobs[job_id]
            told = reference.terms(self.site, 8, 20 * GB, job, now_s, self.jobs.values(), before)
            assert found.age == pytest.approx(told.age)
            assert found.fairshare == pytest.approx(told.fairshare), (job_id, now_s, before)
            assert abs(found.priority - told.priority) <= 1
            self.terms += 1


def jobs_of(rng: Random, *, buffers: bool = True) -> list[MiniJob]:
    """Jobs of some users that crowd the machine."""
    return [
        MiniJob(
            float(rng.randint(0, 60)), rng.choice((1, 2, 3, 4, 8)), float(run_s := rng.randint(1, 30)) + 5.0,
            float(run_s), rng.choice((0, 0, 1, 2)) * GB if buffers else 0, extras=fields_of(rng),
        )
        for _ in range(rng.randint(8, 25))
    ]  # fmt: skip


def made(policy: str, options: Mapping[str, Any], site: Site, observer: Played, *, explain: bool) -> Session:
    """A session at a site."""
    return Session(
        POLICIES[policy].build(options),
        rigid(),
        passes=Passes(seed=1, explain=explain),
        site=SiteTerms(site=site),
        observer=observer,
    )


@pytest.mark.parametrize("name", SITES)
@pytest.mark.parametrize(("policy", "option"), CHOSEN)
def test_every_policy_in_this_order(policy: str, option: str, name: str) -> None:
    """Every job starts, with priorities as the reference has them; the same replies again, not explained."""
    terms = 0
    for seed in range(2):
        jobs, options = jobs_of(Random(f"{policy} {name} {seed}")), {option: "multifactor"}
        observer = Compared(SITES[name])
        replies = play(made(policy, options, SITES[name], observer, explain=True), MACHINE, jobs)
        assert observer.starts.keys() | observer.refused.keys() == {f"w0!{place}" for place in range(len(jobs))}
        assert all("partition debug: 8 nodes > 4" in reason for reason in observer.refused.values())
        if not seed:
            again = made(policy, options, SITES[name], Played(), explain=False)
            assert play(again, MACHINE, jobs) == replies
        terms += observer.terms
    assert (terms > 10) != ((policy, option) in UNUSED)


@pytest.mark.parametrize("name", SITES)
def test_strict_order(name: str) -> None:
    """Without backfilling each pass starts the first jobs in order of tier, priority, submission and number."""
    for seed in range(8):
        jobs, observer = jobs_of(Random(f"strict {name} {seed}"), buffers=False), Compared(SITES[name])
        play(made("fcfs", {"order": "multifactor"}, SITES[name], observer, explain=True), MACHINE, jobs)
        for _, notes in observer.passes:
            priorities = {job_id: one.priority for job_id, one in notes.priorities.items()}
            expected = reference.order_of(priorities, observer.jobs, SITES[name])
            started = [job_id for job_id, note in notes.notes.items() if note.role is Role.STARTED]
            assert started == expected[: len(started)]


def test_without_a_site_the_order_is_that_of_submission() -> None:
    """Session by session the replies of fcfs, where no job states a nice value."""
    for policy, option in CHOSEN:
        jobs = [replace(one, extras={}) for one in jobs_of(Random(policy))]
        found = [
            play(Session(POLICIES[policy].build({option: order}), rigid(), passes=Passes(seed=1)), MACHINE, jobs)
            for order in ("fcfs", "multifactor")
        ]
        assert found[0] == found[1], policy

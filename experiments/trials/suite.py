"""All cases and a seeded search through random worlds; each failure in the smallest world that was found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from random import Random

import msgspec

from spillway.experiments.run.errors import SpecError
from spillway.experiments.trials.cases import CASES, Case
from spillway.experiments.trials.disciplines import DISCIPLINES, REQUIREMENTS, SAFETY
from spillway.experiments.trials.drawing import plain_world
from spillway.experiments.trials.observer import EXACT_S
from spillway.experiments.trials.play import Played, Subject
from spillway.experiments.trials.shrink import fewer_jobs, simpler
from spillway.experiments.trials.verdict import (
    FAILS,
    NOT_APPLICABLE,
    PASSES,
    Extent,
    Failure,
    Tell,
    Verdict,
    silent,
)
from spillway.experiments.trials.world import Job, World

FIRST = World((Job(1, 1, walltime_s=10),), nodes=1)
"""Played before all others: what does not run this job does not speak the protocol."""


def verdicts(subject: Subject, discipline: str, extent: Extent, tell: Tell = silent) -> list[Verdict]:
    """Test a scheduler for a discipline (:data:`spillway.experiments.trials.disciplines.DISCIPLINES`).

    Raises
    ------
    SpecError
        It does not run a single job.
    """
    greet(subject)
    found, required = [], frozenset(DISCIPLINES[discipline])
    for place, case in enumerate(CASES):
        tell("cases", place, len(CASES))
        verdict = Verdict(case.name, case.aims, case.source, NOT_APPLICABLE)
        if discipline in case.disciplines and (extent.buffers or not case.buffers):
            failures = tuple(_of_case(subject, case, required | set(case.also), extent))
            verdict = replace(verdict, result=FAILS if failures else PASSES, failures=failures)
        found.append(verdict)
    failures_by = _search(subject, required, extent, tell)
    for name, words in REQUIREMENTS.items() if extent.worlds else ():
        failures = (failures_by[name],) if name in failures_by else ()
        applies = name in required and (extent.buffers or name != "buffers")
        result = FAILS if failures else PASSES if applies else NOT_APPLICABLE
        found.append(Verdict(f"random: {name}", words, f"{extent.worlds} worlds, seed {extent.seed}", result, failures))
    return found


def standing(subject: Subject, extent: Extent) -> dict[str, dict[str, Failure]]:
    """By discipline what a scheduler breaks of it, by requirement; all cases and random worlds are played once.

    Raises
    ------
    SpecError
        It does not run a single job.
    """
    greet(subject)
    every = frozenset(REQUIREMENTS)
    broken: dict[str, dict[str, Failure]] = {discipline: {} for discipline in DISCIPLINES}
    for case in CASES:
        failures = {one.requirement: one for one in _of_case(subject, case, every, extent)}
        for discipline in case.disciplines:
            _keep(broken[discipline], failures, (*DISCIPLINES[discipline], *case.also))
    found = _search(subject, every, extent)
    for discipline, required in DISCIPLINES.items():
        _keep(broken[discipline], found, required)
    return broken


def _keep(broken: dict[str, Failure], failures: Mapping[str, Failure], required: Iterable[str]) -> None:
    broken |= {
        name: failures[name] for name in REQUIREMENTS if name in failures and name in required and name not in broken
    }


def greet(subject: Subject) -> None:
    """Let a scheduler run one job; raise :class:`SpecError` where it cannot."""
    faults = subject.play(FIRST).faults
    if faults:
        words = next(iter(faults.values()))
        raise SpecError(f"{subject.name}: expected a scheduler that runs a single job: {words}")


def _of_case(subject: Subject, case: Case, required: frozenset[str], extent: Extent) -> Iterator[Failure]:
    """What is broken in a case; its sizes stay, so that it shows what it aims at."""
    for name, words in judged(subject, case.world, required).items():
        yield _smallest(subject, Failure(name, words, case.world), fewer_jobs, extent.tries)


def _search(subject: Subject, required: frozenset[str], extent: Extent, tell: Tell = silent) -> dict[str, Failure]:
    """The first breach of each requirement in random worlds; what is found broken is not looked for again."""
    rng, found = Random(f"conformance {extent.seed}"), dict[str, Failure]()
    for place in range(extent.worlds):
        tell("random worlds", place, extent.worlds)
        world = plain_world(rng, extent.buffers)
        for name, words in judged(subject, world, required - found.keys()).items():
            found[name] = _smallest(subject, Failure(name, words, world), simpler, extent.tries)
    return found


def _smallest(subject: Subject, failure: Failure, steps: Callable[[World], Iterable[World]], most: int) -> Failure:
    required = frozenset({failure.requirement})
    return failure.smallest(lambda world: judged(subject, world, required), steps, most)


def judged(subject: Subject, world: World, requirements: frozenset[str]) -> dict[str, str]:
    """Which of these requirements are broken in a world, in words."""
    played = subject.play(world)
    faults = {name: words for name, words in played.faults.items() if name in requirements}
    if "promises" in requirements and not played.faults.keys() & set(SAFETY):
        words = _promises(subject, world, played)
        faults |= {"promises": words} if words else {}
    return faults


def _promises(subject: Subject, world: World, played: Played) -> str:
    """Whether a job starts later than it was promised, in words.

    What was promised is seen by playing the world as it looked when the job was submitted: without later jobs, and with
    whole walltimes for what had not ended by then. A scheduler that decides alike on equal messages is presumed.
    """
    for number, job in enumerate(world.jobs, 1):
        start_s = played.starts.get(number)
        if start_s is None:
            continue
        known = tuple(
            other if _ended(other.run_s, played.starts.get(place), job.submit_s) else other._replace(run_s=0)
            for place, other in enumerate(world.jobs[:number], 1)
        )
        promised_s = subject.play(msgspec.structs.replace(world, jobs=known)).starts.get(number, start_s)
        if start_s > promised_s + EXACT_S:
            return (
                f"job {number} starts at {start_s:g} s; when it was submitted, at {job.submit_s} s, it would have "
                f"started at {promised_s:g} s had no further job come and all runs taken their walltimes"
            )
    return ""


def _ended(run_s: float, start_s: float | None, now_s: int) -> bool:
    """Whether a job had ended by itself."""
    return bool(run_s) and start_s is not None and start_s + run_s < now_s - EXACT_S

"""All cases and a seeded search through random worlds; each failure in the smallest world that was found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random

from spillway.experiments.run.errors import SpecError
from spillway.experiments.trials.checks.shrink import shrink
from spillway.experiments.trials.conformance.cases import CASES, Case
from spillway.experiments.trials.conformance.disciplines import DISCIPLINES, REQUIREMENTS
from spillway.experiments.trials.conformance.play import judged, play
from spillway.experiments.trials.conformance.subject import Subject
from spillway.experiments.trials.conformance.world import World, WorldJob, fewer_jobs, random_world, simpler

PASSES, FAILS, NOT_APPLICABLE = "passes", "fails", "not applicable"

FIRST = World(1, (WorldJob(1, 1, 10),))
"""Played before all others: what does not run this job does not speak the protocol."""

Tell = Callable[[str, int, int], None]
"""Gets what is being done, how much of it is done, and how much there is at most."""


@dataclass(frozen=True)
class Extent:
    """How much is tested.

    Attributes
    ----------
    worlds
        Random worlds, at least 0.
    seed
        Of these.
    buffers
        Whether there are storage nodes.
    tries
        Worlds that are tried to find a smaller one for a failure.
    """

    worlds: int = 200
    seed: int = 0
    buffers: bool = True
    tries: int = 400


@dataclass(frozen=True)
class Failure:
    """A broken requirement: what the scheduler did, and the smallest world that was found."""

    requirement: str
    words: str
    world: World


@dataclass(frozen=True)
class Verdict:
    """What came of one case, or of the random worlds for one requirement.

    Attributes
    ----------
    name, aims, source
        As the case has it.
    result
        :data:`PASSES`, :data:`FAILS` or :data:`NOT_APPLICABLE`.
    failures
        One for each requirement that was broken.
    """

    name: str
    aims: str
    source: str
    result: str
    failures: tuple[Failure, ...] = ()


def verdicts(
    subject: Subject, discipline: str, extent: Extent, tell: Tell = lambda what, done, of: None
) -> list[Verdict]:
    """Test a scheduler for a discipline (:data:`spillway.experiments.trials.conformance.disciplines.DISCIPLINES`).

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
    faults = play(subject, FIRST).faults
    if faults:
        words = next(iter(faults.values()))
        raise SpecError(f"{subject.name}: expected a scheduler that runs a single job: {words}")


def _of_case(subject: Subject, case: Case, required: frozenset[str], extent: Extent) -> Iterator[Failure]:
    """What is broken in a case; its sizes stay, so that it shows what it aims at."""
    for name, words in judged(subject, case.world, required).items():
        yield _smallest(subject, Failure(name, words, case.world), fewer_jobs, extent.tries)


def _search(
    subject: Subject, required: frozenset[str], extent: Extent, tell: Tell = lambda what, done, of: None
) -> dict[str, Failure]:
    """The first breach of each requirement in random worlds; what is found broken is not looked for again."""
    rng, found = Random(f"conformance {extent.seed}"), dict[str, Failure]()
    for place in range(extent.worlds):
        tell("random worlds", place, extent.worlds)
        world = random_world(rng, extent.buffers)
        for name, words in judged(subject, world, required - found.keys()).items():
            found[name] = _smallest(subject, Failure(name, words, world), simpler, extent.tries)
    return found


def _smallest(subject: Subject, failure: Failure, steps: Callable[[World], Iterable[World]], most: int) -> Failure:
    """The same breach in the smallest world that is found."""
    words, required = [failure.words], frozenset({failure.requirement})

    def fails(world: World) -> bool:
        found = judged(subject, world, required).get(failure.requirement)
        if found is not None:
            words[0] = found
        return found is not None

    return replace(failure, world=shrink(failure.world, steps, fails, most), words=words[0])

"""Tests of a scheduler's discipline: all cases, and a seeded search in random worlds (``conformance``)."""

from __future__ import annotations

import argparse
import functools
import shlex
from collections.abc import Callable, Iterable, Mapping

from msgspec.structs import replace

from spillway.analysis.document.blocks import Code, Heading
from spillway.analysis.document.terminal import terminal
from spillway.base.arguments import tell
from spillway.base.errors import OptionError
from spillway.experiments.run.errors import SpecError
from spillway.experiments.trials.cases import CASES
from spillway.experiments.trials.disciplines import DISCIPLINES, REQUIREMENTS, SAFETY
from spillway.experiments.trials.drawing import plain_worlds
from spillway.experiments.trials.observer import EXACT_S
from spillway.experiments.trials.play import Subject, WorldObservations
from spillway.experiments.trials.report import (
    CLAIMS,
    count,
    deliver,
    plain_story,
    shown,
    standing_table,
    story,
    verdict_table,
)
from spillway.experiments.trials.shrink import fewer_jobs, simpler
from spillway.experiments.trials.subject import Command, OwnPolicy, Scheduler
from spillway.experiments.trials.verdict import FAILS, NOT_APPLICABLE, PASSES, Extent, Failure, Outcome, Tell, silent
from spillway.experiments.trials.world import PLAIN, TrialJob, World, world_from
from spillway.schedulers.policies import POLICIES

FAILED = 1
"""Exit code if a case failed."""

FIRST = World((TrialJob(1, 1, walltime_s=10),), nodes=1)
"""Played before all others: a scheduler that does not run this job does not implement the protocol."""


def verdicts(subject: Subject, discipline: str, extent: Extent, tell: Tell = silent) -> list[Outcome]:
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
        failures: Mapping[str, Failure] = {}
        applies = discipline in case.disciplines and (extent.buffers or not case.buffers)
        if applies:
            failures = _failures(subject, [case.world], required | set(case.also), fewer_jobs, extent)
        found.append(_verdict(case.name, case.aims, case.source, applies, failures.values()))
    failures = _failures(subject, plain_worlds(extent, tell), required, simpler, extent)
    for name, words in REQUIREMENTS.items() if extent.worlds else ():
        applies = name in required and (extent.buffers or name != "buffers")
        broken = [failures[name]] if name in failures else []
        found.append(_verdict(f"random: {name}", words, f"{extent.worlds} worlds, seed {extent.seed}", applies, broken))
    return found


def _verdict(name: str, aims: str, source: str, applies: bool, failures: Iterable[Failure]) -> Outcome:
    failures = tuple(failures)
    return Outcome(name, aims, source, FAILS if failures else PASSES if applies else NOT_APPLICABLE, failures)


def standing(subject: Subject, extent: Extent) -> dict[str, dict[str, Failure]]:
    """Failures of a scheduler by discipline and requirement; all cases and random worlds are played once.

    Raises
    ------
    SpecError
        It does not run a single job.
    """
    greet(subject)
    every = frozenset(REQUIREMENTS)
    broken: dict[str, dict[str, Failure]] = {discipline: {} for discipline in DISCIPLINES}
    for case in CASES:
        failures = _failures(subject, [case.world], every, fewer_jobs, extent)
        for discipline in case.disciplines:
            _keep(broken[discipline], failures, (*DISCIPLINES[discipline], *case.also))
    failures = _failures(subject, plain_worlds(extent, silent), every, simpler, extent)
    for discipline, required in DISCIPLINES.items():
        _keep(broken[discipline], failures, required)
    return broken


def _keep(broken: dict[str, Failure], failures: Mapping[str, Failure], required: Iterable[str]) -> None:
    """Add the failures of required requirements that are not known to be broken."""
    broken |= {name: failures[name] for name in REQUIREMENTS if name in {*failures} & {*required} - {*broken}}


def greet(subject: Subject) -> None:
    """Let a scheduler run one job; raise :class:`SpecError` if it fails."""
    faults = subject.play(FIRST).faults
    if faults:
        words = next(iter(faults.values()))
        raise SpecError(f"{subject.name}: expected a scheduler that runs a single job: {words}")


def _failures(
    subject: Subject,
    worlds: Iterable[World],
    required: frozenset[str],
    steps: Callable[[World], Iterable[World]],
    extent: Extent,
) -> dict[str, Failure]:
    """The first breach of each requirement, shrunk; a broken requirement is not tested again."""
    found: dict[str, Failure] = {}
    for world in worlds:
        for name, words in judged(subject, world, required - found.keys()).items():
            faults = functools.partial(judged, subject, requirements=frozenset({name}))
            found[name] = Failure(name, words, world).smallest(faults, steps, extent.tries)
    return found


def judged(subject: Subject, world: World, requirements: frozenset[str]) -> dict[str, str]:
    """Breaches of these requirements in a world, in words."""
    played = subject.play(world)
    faults = {name: words for name, words in played.faults.items() if name in requirements}
    if "promises" in requirements and not played.faults.keys() & set(SAFETY):
        words = _promises(subject, world, played)
        faults |= {"promises": words} if words else {}
    return faults


def _promises(subject: Subject, world: World, played: WorldObservations) -> str:
    """A job that starts later than promised, in words; "" if no job does.

    The promise is found by playing the world as of the job's submission: without later jobs, and with whole walltimes
    for jobs that had not ended by then. This requires a scheduler that decides equally on equal messages.
    """
    for number, job in enumerate(world.jobs, 1):
        start_s = played.starts.get(number)
        if start_s is None:
            continue
        known = tuple(
            other if _ended(other.run_s, played.starts.get(place), job.submit_s) else other._replace(run_s=0)
            for place, other in enumerate(world.jobs[:number], 1)
        )
        promised_s = subject.play(replace(world, jobs=known)).starts.get(number, start_s)
        if start_s > promised_s + EXACT_S:
            return (
                f"job {number} starts at {start_s:g} s; when it was submitted, at {job.submit_s} s, it would have "
                f"started at {promised_s:g} s without later jobs and with whole walltimes for all runs"
            )
    return ""


def _ended(run_s: float, start_s: float | None, now_s: int) -> bool:
    """Whether a job had ended before its walltime, by a given time."""
    return bool(run_s) and start_s is not None and start_s + run_s < now_s - EXACT_S


def try_one(options: argparse.Namespace, extent: Extent, discipline: str) -> int:
    """Test one scheduler for one discipline; return the exit code."""
    subject, tested = _subject(options)
    if options.world is not None:
        return _world(options, subject, discipline)
    with shown(terminal(stderr=True), lines=False) as tell:
        found = verdicts(subject, discipline, extent, tell)
    stories = [story(outcome.name, failure, discipline, tested) for outcome in found for failure in outcome.failures]
    title = Heading(f"{subject.name} as {discipline}: {count(found)}", 1)
    members = {"scheduler": subject.name, "discipline": discipline, "verdicts": found}
    deliver(options, [title, verdict_table(found), *stories], members)
    return FAILED if any(outcome.result == FAILS for outcome in found) else 0


def _world(options: argparse.Namespace, subject: Scheduler, discipline: str) -> int:
    """Play one world; return the exit code."""
    world = world_from(options.world, PLAIN)
    tell("\n".join(plain_story(world)))
    faults = judged(subject, world, frozenset(DISCIPLINES[discipline]))
    tell("\n".join(f"{name}: {words}" for name, words in faults.items()) or f"{discipline}: nothing is broken")
    return FAILED if faults else 0


def try_every_policy(options: argparse.Namespace, extent: Extent) -> int:
    """Test all built-in policies for all disciplines; return the exit code."""
    found: dict[str, dict[str, dict[str, Failure]] | str] = {}
    with shown(terminal(stderr=True), lines=False) as tell:
        for place, name in enumerate(POLICIES):
            tell("policies", place, len(POLICIES))
            try:
                found[name] = standing(OwnPolicy(name), extent)
            except (OptionError, SpecError) as error:
                found[name] = str(error)
    stories = [
        story(f"{name} as {claim}", failure, claim, f"--policy {name}")
        for name, broken in found.items()
        if not isinstance(broken, str)
        for claim in (CLAIMS.get(name, "any"),)
        for failure in broken[claim].values()
    ]
    reasons = [Code(f"{name}: not applicable: {reason}") for name, reason in found.items() if isinstance(reason, str)]
    title = Heading("our policies by discipline (* their claims)", 1)
    deliver(options, [title, standing_table(found), *stories, *reasons], {"policies": found})
    return FAILED if stories else 0


def _subject(options: argparse.Namespace) -> tuple[Scheduler, str]:
    """The tested scheduler, and its options on the command line."""
    if options.policy:
        return OwnPolicy(options.policy), f"--policy {shlex.quote(options.policy)}"
    batsim = "--batsim 5 " if options.batsim == 5 else ""
    return Command(tuple(options.words), options.silence, options.batsim), f"{batsim}-- {shlex.join(options.words)}"

"""Checks of the rules that hold for every policy: small random worlds, every job model, both players.

``python -m spillway.experiments.trials.checks POLICY EXTENT`` plays the worlds of a check and prints their digests.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

import msgspec

from spillway.base.arguments import tell
from spillway.base.errors import OptionError
from spillway.experiments.run.offspring import own_modules
from spillway.experiments.trials.disciplines import CHECKS
from spillway.experiments.trials.drawing import other_options, random_world
from spillway.experiments.trials.examination import ExaminedPolicy, spec_of
from spillway.experiments.trials.play import WorldObservations
from spillway.experiments.trials.shrink import simpler
from spillway.experiments.trials.verdict import FAILS, NOT_SEEN, PASSES, Extent, Failure, Outcome, Tell, silent
from spillway.experiments.trials.watch import CPU_S
from spillway.experiments.trials.world import World
from spillway.schedulers.policies import find_policy

_HASH_SEEDS = ("1", "2")
"""Hash seeds of the other processes: two, as this process's seed is random and may give the same order as one."""

_ENOUGH = 5
"""Number of failing worlds after which the others are left out."""

TRIES = 60
"""Worlds that are tried to find a smaller one."""
TRIES_ENDLESS = 6
"""The same for a pass that does not end: each try then takes the whole time limit."""

_OTHERWISE = "a process with another hash seed differs: does it iterate over a set, or use hash() or id()?"
SMALLER = "a check failed: looking for a smaller world"
"""Text of the progress display after a check has failed."""


@dataclass(frozen=True)
class Findings:
    """Number of worlds played, reasons why job models cannot be combined with the policy, and a verdict per check."""

    worlds: int
    refused: Mapping[str, str]
    verdicts: tuple[Outcome, ...]


def worlds_of(policy: str, extent: Extent, refused: dict[str, str]) -> list[World]:
    """Draw the worlds of a check: per job model and bandwidth, with outages, and with options changed.

    ``refused`` receives the reasons why job models cannot be combined with the policy.
    """
    found: list[World] = []
    cases, seed = extent.worlds, extent.seed
    for model in extent.models:
        for bandwidth in ("aware", "ignorant"):
            if not _playable(policy, World((), model, settings={"bandwidth": bandwidth}), refused):
                continue
            rng = Random(f"{seed} {model} {bandwidth}")
            found += [random_world(rng, model, bandwidth) for _ in range(cases)]
            found += [random_world(rng, model, bandwidth, outages=True) for _ in range((cases + 1) // 2)]
    models = {world.model for world in found}
    if models:
        rng, model = Random(f"{seed} options"), "rigid" if "rigid" in models else min(models)
        for options in other_options(find_policy(policy).options(), rng, cases):
            world = random_world(rng, model, "aware", options)
            if _playable(policy, world, {}):
                found.append(world)
    return found


def check(policy: str, extent: Extent, tell: Tell = silent) -> Findings:
    """Check a policy on random worlds.

    Parameters
    ----------
    policy
        Name, ``FILE.py:CLASS`` or ``MODULE:CLASS``.
    extent
        Number and kind of the worlds.
    tell
        Called after each world.

    Raises
    ------
    OptionError
        The policy cannot be loaded, or cannot be combined with any job model.
    """
    find_policy(policy)
    refused: dict[str, str] = {}
    worlds = worlds_of(policy, extent, refused)
    if not worlds:
        raise OptionError(f"policy {policy!r} can be combined with no job model: {next(iter(refused.values()))}")
    others = [_elsewhere(policy, extent, hash_seed) for hash_seed in _HASH_SEEDS]
    digests, failures, bad = [], dict[str, Failure](), 0
    try:
        for place, world in enumerate(worlds):
            faults, digest = _examine(policy, world, extent.cpu_s)
            digests.append(digest)
            for name, words in faults.items():
                failures.setdefault(name, Failure(name, words, world))
            tell("playing worlds", place + 1, len(worlds))
            bad += bool(faults)
            if bad == _ENOUGH or "stops" in faults:
                break
        failures = {name: _smallest(policy, failure, extent.cpu_s, tell) for name, failure in failures.items()}
        if not failures:
            tell("waiting for the process with another hash seed", 0, 1)
            for other in others:
                for world, here, there in zip(worlds, digests, _answer(other), strict=False):
                    if here != there:
                        failures.setdefault("same again", Failure("same again", _OTHERWISE, world))
    finally:
        for other in others:
            other.kill()
            other.communicate()
    return Findings(len(digests), refused, _verdicts(failures, clean=len(digests) - bad))


def check_one(policy: str, world: World, cpu_s: float = CPU_S) -> Findings:
    """Check a policy on one world that a failed check printed."""
    refused: dict[str, str] = {}
    if not _playable(policy, world, refused):
        raise OptionError(f"this world cannot be played: {refused[world.model]}")
    faults, _ = _examine(policy, world, cpu_s)
    failures = {name: Failure(name, words, world) for name, words in faults.items()}
    return Findings(1, {}, _verdicts(failures, clean=not failures))


def _verdicts(failures: Mapping[str, Failure], clean: int) -> tuple[Outcome, ...]:
    """A verdict for each check: not seen if no world passed; for other processes also if any check failed."""
    found = []
    for name, words in CHECKS.items():
        unseen = not clean or (name == "same again" and failures)
        result = FAILS if name in failures else NOT_SEEN if unseen else PASSES
        found.append(Outcome(name, words, "", result, (failures[name],) if name in failures else ()))
    return tuple(found)


def _digests_of(policy: str, extent: Extent) -> list[str]:
    """Hash of the outcome of every world, which must be the same under another hash seed.

    The first world with a fault is the last: it already shows a difference.
    """
    digests = []
    for world in worlds_of(policy, extent, {}):
        played = ExaminedPolicy(policy, cpu_s=extent.cpu_s).play(world)
        digests.append(played.digest)
        if played.faults:
            break
    return digests


def _examine(policy: str, world: World, cpu_s: float) -> tuple[dict[str, str], str]:
    """Faults of one world by check, and the digest of its first play."""
    subject = ExaminedPolicy(policy, cpu_s=cpu_s)
    first = subject.play(world)
    faults = dict(first.faults)
    if not faults:
        again = subject.play(world)
        wire = ExaminedPolicy(policy, False, cpu_s).play(world)
        if again.digest != first.digest:
            faults["same again"] = _difference(first, again, "two plays in one process differ")
        elif wire.digest != first.digest:
            faults["players"] = _difference(first, wire, "the players differ")
    return faults, first.digest


def _difference(first: WorldObservations, second: WorldObservations, words: str) -> str:
    """The first difference of two plays."""
    if second.faults:
        return f"{words}: {next(iter(second.faults.values()))}"
    for name, table in first.tables.items():
        for line, other in zip(table.splitlines(), second.tables[name].splitlines(), strict=False):
            if line != other:
                return f"{words} in {name}: {line.decode()} against {other.decode()}"
    return words


def _smallest(policy: str, failure: Failure, cpu_s: float, tell: Tell) -> Failure:
    most = TRIES_ENDLESS if failure.requirement == "stops" else TRIES
    tried = 0

    def faults(world: World) -> Mapping[str, str]:
        nonlocal tried
        tried += 1
        tell(SMALLER, tried, most)
        return _examine(policy, world, cpu_s)[0] if _playable(policy, world, {}) else {}

    return failure.smallest(faults, simpler, most)


def _elsewhere(policy: str, extent: Extent, hash_seed: str) -> subprocess.Popen[str]:
    """Start to play the same worlds in a process with this hash seed."""
    arguments = (policy, msgspec.json.encode(extent).decode())
    command = [sys.executable, "-m", "spillway.experiments.trials.checks", *arguments]
    environment = os.environ | own_modules() | {"PYTHONHASHSEED": hash_seed}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def _answer(process: subprocess.Popen[str]) -> list[str]:
    out, err = process.communicate()
    if process.returncode:
        raise OptionError(f"the policy cannot be played in a separate process: {err.strip().splitlines()[-1:]}")
    digests: list[str] = json.loads(out.splitlines()[-1])
    return digests


def _playable(policy: str, world: World, refused: dict[str, str]) -> bool:
    """Whether policy, model, settings and options can be combined; if not, the reason is kept."""
    try:
        spec_of(policy, world).check()
    except OptionError as error:
        refused.setdefault(world.model, str(error))
        return False
    return True


if __name__ == "__main__":
    tell(json.dumps(_digests_of(sys.argv[1], msgspec.json.decode(sys.argv[2], type=Extent))))

"""What the house checks of a policy, on small random worlds: every job model, both players."""

from __future__ import annotations

import enum
import itertools
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

import msgspec

from spillway.base.errors import OptionError
from spillway.base.options import OptionInfo, plain
from spillway.experiments.cli import warm
from spillway.experiments.trials.checks.limit import CPU_S
from spillway.experiments.trials.checks.play import Outcome, play, spec_of
from spillway.experiments.trials.checks.shrink import shrink
from spillway.experiments.trials.checks.world import SPECIAL, World, random_world, simpler
from spillway.schedulers.assembly import check_combination
from spillway.schedulers.policies import find_policy

CHECKS: Mapping[str, str] = {
    "decisions": "each decision is one that the guard accepts, and no pass fails",
    "nothing over-committed": "no node is held twice, no burst buffer beyond its capacity, nothing where hosts are out",
    "stops": "each pass comes to its end, and the policy does not have itself called for ever",
    "ends": "once arrivals stop, every job ends, is killed or is rejected",
    "view": "what is shown to the policy is left as it is",
    "clock and chance": "no clock, no chance but view.rng",
    "same again": "the same seed gives the same tables, in this process and with other hash seeds",
    "players": "the direct player and messages over the wire give the same tables",
}
"""The checks, in the order of the report."""

HASH_SEEDS = ("1", "2")
"""Hash seeds of the other processes: two, as that of this one is by chance and may give the order of one of them."""

ENOUGH = 5
"""Worlds that fail until the others are left out."""

TRIES = 60
"""Worlds that are tried to find a smaller one."""
TRIES_ENDLESS = 6
"""The same where a pass does not come to its end: each try lasts as long as it may."""

MOST_VALUE = 1000
"""Largest number that an option is given: budgets of searches may have no bound."""
LEAST_S = 0.1
"""Shortest time that an option is given where it must be above 0: a slice of 1 ms is played 60,000 times a minute."""


class Extent(msgspec.Struct, frozen=True):
    """What is played.

    Attributes
    ----------
    cases
        Worlds per job model and way of booking bandwidth, at least 1; half as many more with outages.
    seed
        Of the worlds.
    models
        Job models that are played, of :data:`spillway.experiments.trials.checks.world.SPECIAL`.
    cpu_s
        Seconds of CPU time after which the play of one world is interrupted.
    """

    cases: int = 2
    seed: int = 0
    models: tuple[str, ...] = tuple(SPECIAL)
    cpu_s: float = CPU_S


class Phase(enum.Enum):
    """What is being done."""

    WORLDS = "playing worlds"
    SMALLER = "a check failed: looking for a smaller world"
    ELSEWHERE = "waiting for the process with another hash seed"


Tell = Callable[[Phase, int, int], None]
"""Gets what is being done, how much of it is done, and how much there is at most."""


@dataclass(frozen=True)
class Failure:
    """A check that failed: what the policy did, in the smallest world that was found, and where it was played."""

    check: str
    words: str
    world: World


@dataclass(frozen=True)
class Verdict:
    """What was found.

    Attributes
    ----------
    worlds
        How many worlds were played.
    refused
        Why combinations could not be played, by job model.
    failures
        By check; the first of each.
    unseen
        Checks that could not be made, because others failed.
    """

    worlds: int
    refused: Mapping[str, str]
    failures: Mapping[str, Failure]
    unseen: frozenset[str] = frozenset()


def worlds_of(policy: str, extent: Extent, refused: dict[str, str]) -> list[World]:
    """Draw the worlds of a check: per job model and bandwidth, with outages, and with options changed.

    ``refused`` gets why job models cannot be combined with the policy.
    """
    found: list[World] = []
    cases, seed = extent.cases, extent.seed
    for model in extent.models:
        for bandwidth in ("aware", "ignorant"):
            if not _playable(policy, World(model, (), {"bandwidth": bandwidth}), refused):
                continue
            rng = Random(f"{seed} {model} {bandwidth}")
            found += [random_world(rng, model, bandwidth) for _ in range(cases)]
            found += [random_world(rng, model, bandwidth, outages=True) for _ in range((cases + 1) // 2)]
    models = {world.model for world in found}
    if models:
        rng, model = Random(f"{seed} options"), "rigid" if "rigid" in models else min(models)
        for options in _other_options(policy, rng, cases):
            world = random_world(rng, model, "aware", options)
            if _playable(policy, world, {}):
                found.append(world)
    return found


def check(policy: str, extent: Extent, tell: Tell = lambda phase, done, of: None) -> Verdict:
    """Check a policy on random worlds.

    Parameters
    ----------
    policy
        Name, ``FILE.py:CLASS`` or ``MODULE:CLASS``.
    extent
        How much is played.
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
    warm.load()  # no world's CPU time is that of loading compiled code
    others = [_elsewhere(policy, extent, hash_seed) for hash_seed in HASH_SEEDS]
    digests, failures, bad = [], dict[str, Failure](), 0
    try:
        for place, world in enumerate(worlds):
            faults, digest = _examine(policy, world, extent.cpu_s)
            digests.append(digest)
            for name, words in faults.items():
                failures.setdefault(name, Failure(name, words, world))
            tell(Phase.WORLDS, place + 1, len(worlds))
            bad += bool(faults)
            if bad == ENOUGH or "stops" in faults:
                break
        failures = {name: _smallest(policy, failure, extent.cpu_s, tell) for name, failure in failures.items()}
        if not failures:
            tell(Phase.ELSEWHERE, 0, 1)
            for other in others:
                _compare(worlds, digests, _answer(other), failures)
    finally:
        for other in others:
            other.kill()
            other.communicate()
    return Verdict(len(digests), refused, failures, _unseen(failures, clean=len(digests) - bad))


def _unseen(failures: Mapping[str, Failure], clean: int) -> frozenset[str]:
    """Checks that say nothing: all others where no world was played to its end, other processes where any failed."""
    if not clean:
        return frozenset(CHECKS) - failures.keys()
    return frozenset({"same again"} if failures else ()) - failures.keys()


def check_one(policy: str, world: World, cpu_s: float = CPU_S) -> Verdict:
    """Check a policy on one world, as a failed check printed it."""
    refused: dict[str, str] = {}
    if not _playable(policy, world, refused):
        raise OptionError(f"this world cannot be played: {refused[world.model]}")
    warm.load()
    faults, _ = _examine(policy, world, cpu_s)
    failures = {name: Failure(name, words, world) for name, words in faults.items()}
    return Verdict(1, {}, failures, _unseen(failures, clean=not failures))


def digests_of(policy: str, extent: Extent) -> list[str]:
    """Hash of the outcome of every world: what a process with another hash seed must find, too.

    The first world with a fault is the last: it shows a difference.
    """
    digests = []
    warm.load()
    for world in worlds_of(policy, extent, {}):
        outcome = play(policy, world, cpu_s=extent.cpu_s)
        digests.append(outcome.digest)
        if outcome.faults:
            break
    return digests


def _examine(policy: str, world: World, cpu_s: float) -> tuple[dict[str, str], str]:
    """All checks of one world, and the digest of its outcome."""
    first = play(policy, world, cpu_s=cpu_s)
    faults = dict(first.faults)
    if not faults:
        again = play(policy, world, cpu_s=cpu_s)
        wire = play(policy, world, direct=False, cpu_s=cpu_s)
        if again.digest != first.digest:
            faults["same again"] = _difference(first, again, "two plays in one process differ")
        elif wire.digest != first.digest:
            faults["players"] = _difference(first, wire, "the players differ")
    return faults, first.digest


def _difference(first: Outcome, second: Outcome, words: str) -> str:
    """Where two outcomes differ."""
    if second.faults:
        return f"{words}: {next(iter(second.faults.values()))}"
    for name, table in first.tables.items():
        for line, other in zip(table.splitlines(), second.tables[name].splitlines(), strict=False):
            if line != other:
                return f"{words} in {name}: {line.decode()} against {other.decode()}"
    return words


def _smallest(policy: str, failure: Failure, cpu_s: float, tell: Tell) -> Failure:
    words = [failure.words]
    most = TRIES_ENDLESS if failure.check == "stops" else TRIES
    tried = itertools.count(1)

    def fails(world: World) -> bool:
        tell(Phase.SMALLER, next(tried), most)
        if not _playable(policy, world, {}):
            return False
        found = _examine(policy, world, cpu_s)[0].get(failure.check)
        if found is not None:
            words[0] = found
        return found is not None

    world = shrink(failure.world, simpler, fails, most)
    return Failure(failure.check, words[0], world)


def _compare(worlds: list[World], here: list[str], there: list[str], failures: dict[str, Failure]) -> None:
    """Keep the first world that another process plays otherwise."""
    for world, one, other in zip(worlds, here, there, strict=False):
        if one != other:
            words = "a process with another hash seed differs: does it iterate over a set, or use hash() or id()?"
            failures.setdefault("same again", Failure("same again", words, world))
            return


def _elsewhere(policy: str, extent: Extent, hash_seed: str) -> subprocess.Popen[str]:
    """Begin to play the same worlds in a process with this hash seed."""
    command = [
        sys.executable,
        "-m",
        "spillway.experiments.trials.checks.elsewhere",
        policy,
        msgspec.json.encode(extent).decode(),
    ]
    path = os.pathsep.join(part for part in sys.path if part)
    environment = os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": path}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def _answer(process: subprocess.Popen[str]) -> list[str]:
    out, err = process.communicate()
    if process.returncode:
        raise OptionError(f"the policy cannot be played in a process of its own: {err.strip().splitlines()[-1:]}")
    digests: list[str] = json.loads(out.splitlines()[-1])
    return digests


def _playable(policy: str, world: World, refused: dict[str, str]) -> bool:
    """Whether policy, model, settings and options can be combined; else the reason is kept."""
    spec = spec_of(policy, world)
    try:
        check_combination(spec.make_policy(), spec.make_settings(), spec.make_model())
    except OptionError as error:
        refused.setdefault(world.model, str(error))
        return False
    return True


def _other_options(policy: str, rng: Random, cases: int) -> Iterator[dict[str, Any]]:
    """Every option at each of some values by itself, then several at once; what does not go together is left out."""
    values = {info.name: list(_values(info)) for info in find_policy(policy).options()}
    for name, some in values.items():
        yield from ({name: value} for value in some)
    for _ in range(cases if len(values) > 1 else 0):
        yield {name: rng.choice(some) for name, some in values.items() if some and rng.random() < 0.5}


def _values(info: OptionInfo) -> Iterator[Any]:
    """A few values of an option besides its default."""
    default = info.default
    if info.choices:
        yield from (plain(choice) for choice in info.choices if choice != default)
    elif issubclass(info.type, enum.Enum):
        yield from (plain(member) for member in info.type if member is not default)
    elif info.type is bool:
        yield not default
    elif info.type in (int, float):
        low, high = info.low, info.high
        if info.unit == "s" and low is not None and low > 0:
            low = max(low, LEAST_S)
        wanted = {low, high, 1 if low is None else low + 1, None if default is None else 2 * default}
        for value in sorted(value for value in wanted if value is not None and value not in (default, math.inf)):
            if (low is None or low <= value) and (high is None or value <= high):
                yield info.type(min(value, MOST_VALUE))

"""The extent of a trial, and its outcomes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

import msgspec

from spillway.experiments.trials.shrink import shrink
from spillway.experiments.trials.watch import CPU_S
from spillway.experiments.trials.world import SPECIAL, World

PASSES, FAILS, NOT_APPLICABLE, NOT_SEEN = "passes", "fails", "not applicable", "not seen"

Tell = Callable[[str, int, int], None]
"""Receives the name of the current step, its finished parts, and the most that it can have."""


def silent(what: str, done: int, of: int) -> None:
    """Report nothing, as a :data:`Tell`."""


class Extent(msgspec.Struct, frozen=True):
    """Number and kind of the worlds of a trial.

    Attributes
    ----------
    worlds, seed
        Number of random worlds, at least 0, and their seed; on ``tiny`` at least 1 for each job model and setting of
        bandwidth, and half as many more with outages.
    models, cpu_s
        Job models on ``tiny``, and seconds of CPU time after which the play of one world is interrupted.
    buffers, tries
        Whether plain machines have storage nodes, and number of worlds tried to find a smaller one for a failure.
    """

    worlds: int = 2
    seed: int = 0
    models: tuple[str, ...] = tuple(SPECIAL)
    cpu_s: float = CPU_S
    buffers: bool = True
    tries: int = 400


@dataclass(frozen=True)
class Failure:
    """A broken requirement: its breach in words, and the smallest world found."""

    requirement: str
    words: str
    world: World

    def smallest(
        self, faults: Callable[[World], Mapping[str, str]], steps: Callable[[World], Iterable[World]], most: int
    ) -> Failure:
        """The same failure in the smallest world that is found.

        ``faults`` returns the breaches in a world, by requirement; for the other parameters see
        :func:`spillway.experiments.trials.shrink.shrink`.
        """
        words = [self.words]

        def fails(world: World) -> bool:
            found = faults(world).get(self.requirement)
            if found is not None:
                words[0] = found
            return found is not None

        return replace(self, world=shrink(self.world, steps, fails, most), words=words[0])


@dataclass(frozen=True)
class Outcome:
    """Outcome of one case, or of the random worlds for one requirement.

    Attributes
    ----------
    name, aims, source
        Its name, the mistake that it finds or the requirement in words, and its source.
    result
        :data:`PASSES`, :data:`FAILS`, :data:`NOT_APPLICABLE` or :data:`NOT_SEEN`.
    failures
        One for each broken requirement.
    """

    name: str
    aims: str
    source: str
    result: str
    failures: tuple[Failure, ...] = ()

"""How much is tried, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

import msgspec

from spillway.experiments.trials.shrink import shrink
from spillway.experiments.trials.watch import CPU_S
from spillway.experiments.trials.world import SPECIAL, World

PASSES, FAILS, NOT_APPLICABLE, NOT_SEEN = "passes", "fails", "not applicable", "not seen"

Tell = Callable[[str, int, int], None]
"""Gets what is being done, how much of it is done, and how much there is at most."""


def silent(what: str, done: int, of: int) -> None:
    """A :data:`Tell` that says nothing."""


class Extent(msgspec.Struct, frozen=True):
    """How much is tried.

    Attributes
    ----------
    worlds, seed
        Random worlds, at least 0; on ``tiny`` at least 1 for each job model and way of booking bandwidth, and half as
        many more with outages.
    models, cpu_s
        Job models on ``tiny``, and seconds of CPU time after which the play of one world is interrupted.
    buffers, tries
        Whether plain machines have storage nodes, and how many worlds are tried to find a smaller one for a failure.
    """

    worlds: int = 2
    seed: int = 0
    models: tuple[str, ...] = tuple(SPECIAL)
    cpu_s: float = CPU_S
    buffers: bool = True
    tries: int = 400


@dataclass(frozen=True)
class Failure:
    """A broken requirement: what was done, and the smallest world that was found."""

    requirement: str
    words: str
    world: World

    def smallest(
        self, faults: Callable[[World], Mapping[str, str]], steps: Callable[[World], Iterable[World]], most: int
    ) -> Failure:
        """The same failure in the smallest world that is found.

        ``faults`` says what is wrong in a world, by requirement; for the others see
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
    """What came of one case, or of the random worlds for one requirement.

    Attributes
    ----------
    name, aims, source
        What it is called, the mistake that it finds or the requirement in words, and where it comes from.
    result
        :data:`PASSES`, :data:`FAILS`, :data:`NOT_APPLICABLE` or :data:`NOT_SEEN`.
    failures
        One for each requirement that was broken.
    """

    name: str
    aims: str
    source: str
    result: str
    failures: tuple[Failure, ...] = ()

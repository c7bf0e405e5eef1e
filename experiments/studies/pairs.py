"""Pairs of statements that no reading gives together, the choices that decide between them, and untried readings.

If choices of a paper are compared one at a time, readings that change two of them together are left out. If no single
reading gives both statements of a pair, a reading that gives one and a reading that gives the other are joined.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from spillway.experiments.studies.claims import Choice
from spillway.experiments.studies.points import Value
from spillway.experiments.studies.study import Study
from spillway.experiments.studies.verdicts import JudgedClaim

Reading = tuple[tuple[str, Value], ...]
"""Axes of a study's choices with their values, in order."""

_Crossed = Mapping[Reading, Sequence[JudgedClaim]]
"""The claims under each reading that was compared."""


@dataclass(frozen=True)
class Pair:
    """Two statements: some reading gives each of them, but no reading gives both, not even by their means.

    Attributes
    ----------
    one, other
        Names of the statements.
    gives_one, gives_other
        Readings under which they hold.
    tried, left
        Readings with the changes of one of the first and one of the second, each with no more changes than needed:
        those that were compared, and those that were not.
    """

    one: str
    other: str
    gives_one: tuple[Reading, ...]
    gives_other: tuple[Reading, ...]
    tried: tuple[Reading, ...]
    left: tuple[Reading, ...]

    def decided_by(self, choices: Sequence[Choice]) -> tuple[Choice, ...]:
        """Choices that decide which of the two statements holds: no value of them gives both."""
        return tuple(
            choice
            for choice in choices
            if not {dict(reading)[choice.axis] for reading in self.gives_one}
            & {dict(reading)[choice.axis] for reading in self.gives_other}
        )


def apart(study: Study, crossed: _Crossed) -> list[Pair]:
    """Find the pairs, in the order of the claims."""
    claims = [judged.claim.name for judged in next(iter(crossed.values()), ())]
    holds = [
        [reading for reading, every in crossed.items() if every[place].verdict.holds] for place in range(len(claims))
    ]
    found = []
    for first, other in itertools.combinations(range(len(claims)), 2):
        together = any(every[first].by_value and every[other].by_value for every in crossed.values())
        if holds[first] and holds[other] and not together:
            joined = list(dict.fromkeys(_joined(study, holds[first], holds[other])))
            tried = tuple(reading for reading in joined if reading in crossed)
            left = tuple(reading for reading in joined if reading not in crossed)
            found.append(Pair(claims[first], claims[other], tuple(holds[first]), tuple(holds[other]), tried, left))
    return found


def to_try(study: Study, crossed: _Crossed) -> list[Reading]:
    """For each pair without a compared joined reading, the first joined reading with the fewest changed choices."""
    usual = study.usual

    def changed(reading: Reading) -> int:
        return sum(value != usual[axis] for axis, value in reading)

    found = (min(pair.left, key=changed) for pair in apart(study, crossed) if pair.left and not pair.tried)
    return list(dict.fromkeys(found))


def _joined(study: Study, ones: Sequence[Reading], others: Sequence[Reading]) -> Iterator[Reading]:
    """Readings that join the changes of two readings.

    The two must not contradict each other, and the joined one must differ from both. Only readings that change no more
    than needed to give a statement are joined.
    """
    usual = study.usual
    for point, other in itertools.product(_least(usual, ones), _least(usual, others)):
        both = point | other
        if len(dict(both)) == len(both) and both not in (point, other):
            yield tuple({**usual, **dict(both)}.items())


def _least(usual: Mapping[str, Value], readings: Sequence[Reading]) -> list[frozenset[tuple[str, Value]]]:
    """Changes of readings, without those that contain all changes of another reading and more."""
    changes = [frozenset((axis, value) for axis, value in reading if value != usual[axis]) for reading in readings]
    return [change for change in changes if not any(other < change for other in changes)]

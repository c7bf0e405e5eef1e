"""The rules of combination: a policy, a job model, a life of burst buffers and settings each state their own.

One part may need a trait that another one lacks. :func:`refuse` compares all rules, independently of the parts.
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from spillway.base.errors import OptionError


class Trait(enum.Enum):
    """Traits that a part may need of the others, in the order in which refusals are given."""

    TURNS = "jobs take turns on nodes"
    FEWER_NODES = "jobs start on fewer nodes than they request"
    SHRINKING = "jobs go on with fewer nodes"
    ANY_STORAGE = "a storage node need not be in the racks of the job's nodes"
    CHECKPOINTS = "jobs write checkpoints"
    BANDWIDTH = "bandwidth is booked"
    APART = "burst buffers are held longer than nodes"
    BUFFER_ORDER = "the policy gives burst buffers in its own order"
    GATE = "transfers take turns"
    PREEMPTION = "running jobs make room for others"
    CUT = "jobs can be cut at any time, and go on later"


Stated = Mapping[Trait, tuple[str, str]]
"""By trait: the option of the part that states it, as a suffix of the part's name; and the reason why two parts exclude
each other, if this part states it."""


@dataclass(frozen=True)
class Rules:
    """Traits that a part needs of the others, and traits that it lacks."""

    needs: Stated = field(default_factory=dict)
    lacks: Stated = field(default_factory=dict)


def refuse(parts: Sequence[tuple[str, Rules]]) -> None:
    """Raise :class:`spillway.base.errors.OptionError` for the first trait that one part needs and another one lacks.

    Parameters
    ----------
    parts
        Name of each part, as an error spells it, and its rules.
    """
    for trait in Trait:
        needing = [(name, *rules.needs[trait]) for name, rules in parts if trait in rules.needs]
        lacking = [(name, *rules.lacks[trait]) for name, rules in parts if trait in rules.lacks]
        for (name, option, reason), (other, its_option, its_reason) in itertools.product(needing, lacking):
            raise OptionError(f"{name}{option} and {other}{its_option} cannot be combined: {reason or its_reason}")


NODES_CHANGE: Stated = {
    Trait.APART: ("", "jobs that change their nodes on the way do not leave their burst buffer behind")
}
"""Traits that models lack if their jobs change nodes."""

"""The base of all lives of burst buffers, and their common parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from spillway.schedulers.model.decisions import Decision
from spillway.schedulers.model.job import Job
from spillway.schedulers.model.rules import Rules, Trait
from spillway.schedulers.model.staging import StageLimits
from spillway.schedulers.policykit.view import Policy, PolicyWrapper, View


class ExpectedStaging(NamedTuple):
    """Expected staging of a job: bytes of the whole job, and least seconds, in and out."""

    in_bytes: float = 0.0
    in_s: float = 0.0
    out_bytes: float = 0.0
    out_s: float = 0.0


Expects = Callable[[Job], ExpectedStaging]
"""Function that returns a job's expected staging under the job model."""


@dataclass(frozen=True)
class Life:
    """Base of all lives: frozen dataclasses with their options as fields."""

    source: ClassVar[str] = ""

    def limits(self) -> StageLimits | None:
        """Time-outs of staging; ``None`` if jobs stage on their nodes."""
        return None

    def rules(self) -> Rules:
        """Needs of this life: buffers that can be held without nodes, if jobs stage without nodes."""
        reason = "a buffer is placed before its job's nodes, so it cannot follow their racks"
        return Rules({Trait.APART: ("", ""), Trait.ANY_STORAGE: ("", reason)} if self.apart else {})

    @property
    def apart(self) -> bool:
        """Whether buffers are staged while the job has no nodes."""
        return self.limits() is not None

    def keep(self, view: View, expects: Expects) -> None:
        """Make the bookings that precede all others in the pass's timeline; a repeated call books nothing twice.

        The default books nothing: buffers of waiting jobs are booked already.
        """

    def decide(self, policy: Policy, view: View, expects: Expects) -> Iterable[Decision]:
        """Run one pass of a policy under this life; by default the policy decides everything."""
        return policy(view)


@dataclass(frozen=True)
class NodeLife(Life):
    """A job's burst buffer is given and taken back with its nodes: it stages in and out on them."""

    source: ClassVar[str] = "Kopanski 2020, section 2.4"


@dataclass(frozen=True)
class LifePolicy(PolicyWrapper):
    """A policy under a life: itself a policy.

    Attributes
    ----------
    life
        The life of burst buffers.
    expects
        Expected staging of jobs.
    """

    life: Life
    expects: Expects

    def keep(self, view: View) -> None:
        """Make the bookings that precede all others (:meth:`Life.keep`)."""
        self.life.keep(view, self.expects)

    def __call__(self, view: View) -> Iterator[Decision]:
        """Run one pass."""
        yield from self.life.decide(self.policy, view, self.expects)

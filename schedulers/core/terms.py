"""Settings of a session beside its policy and its runtime, one value for those that belong together."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, field

from spillway.schedulers.core.execution import Demand
from spillway.schedulers.core.outages import OnOutage
from spillway.schedulers.core.preemption import Rest
from spillway.schedulers.core.steering import Steering
from spillway.schedulers.model.job import Job, Lives
from spillway.schedulers.model.machine import MachineDefaults
from spillway.schedulers.model.site import Site
from spillway.schedulers.policykit.estimates import Estimator, Walltimes
from spillway.schedulers.timeline import Timeline
from spillway.schedulers.timeline.placement import Placement


class Cadence(enum.Enum):
    """When the policy is called: once per message, or (the published experiment) after every single event."""

    MESSAGE = "message"
    EVENT = "event"


@dataclass(frozen=True)
class Passes:
    """How decisions come about beside the policy.

    Attributes
    ----------
    seed
        Of the generator that policies may use.
    cadence
        When the policy is called.
    explain
        Whether passes note why jobs wait.
    estimator
        Expected durations of jobs; default: their walltimes.
    steering
        Controllers that resize running jobs.
    """

    seed: int = 0
    cadence: Cadence = Cadence.MESSAGE
    explain: bool = False
    estimator: Estimator = field(default_factory=Walltimes)
    steering: Steering | None = None


@dataclass(frozen=True)
class Ground:
    """How the machine is read, and who gets which of its places.

    Attributes
    ----------
    defaults
        What to assume where the platform states no properties.
    placement
        Which nodes and storage nodes serve a request.
    timeline
        Kind of timeline; :class:`spillway.schedulers.timeline.published_timeline.PublishedTimeline` reproduces
        published numbers.
    """

    defaults: MachineDefaults | None = None
    placement: Placement = field(default_factory=Placement)
    timeline: type[Timeline] = Timeline


@dataclass(frozen=True)
class JobTerms:
    """What holds for jobs beside what they state themselves, most of it by the job model.

    Attributes
    ----------
    unplayable
        Gives the reason why a submitted job cannot be played although the machine could hold it; ``None`` where it can.
        Default: what the runtime refuses.
    fewest_nodes
        Fewest nodes that a job may start on; ``None``: jobs start on all that they request.
    demand
        Bandwidth that jobs need under the job model; default: what they state (``io_rate``).
    lives
        How long a job's burst buffers and bandwidth are held, around its nodes; default: as long as its nodes.
    """

    unplayable: Callable[[Job], str | None] | None = None
    fewest_nodes: Callable[[Job], int] | None = None
    demand: Demand | None = None
    lives: Callable[[Job], Lives | None] | None = None


@dataclass(frozen=True)
class SiteTerms:
    """What the site states, and what ends running jobs before their time.

    Attributes
    ----------
    site
        Partitions, shares and pools; default: the site has none.
    suspend
        What is played where the site suspends jobs (:class:`spillway.schedulers.model.preemption.Preemption`).
    rest
        What is left of a job that is suspended; needed where some are.
    on_outage
        What happens to running jobs on nodes and storage nodes that machine events take away.
    """

    site: Site | None = None
    suspend: str = ""
    rest: Rest | None = None
    on_outage: OnOutage = OnOutage.CONTINUE

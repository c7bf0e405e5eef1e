"""Settings of a session besides its policy and its runtime."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, field

from spillway.core import Placement, Timeline
from spillway.schedulers.core.demand import Demand
from spillway.schedulers.core.outages import OnOutage
from spillway.schedulers.core.preemption import Rest
from spillway.schedulers.core.steering import Steering
from spillway.schedulers.model.job import Job, Lives
from spillway.schedulers.model.machine import MachineDefaults
from spillway.schedulers.model.preemption import Preemption
from spillway.schedulers.model.site import Site
from spillway.schedulers.policykit.estimates import Estimator, Walltimes


class Cadence(enum.Enum):
    """Times of the policy's passes: once per message, or (the published experiment) after every single event."""

    MESSAGE = "message"
    EVENT = "event"


@dataclass(frozen=True, kw_only=True)
class Terms:
    """Settings of a session, of its machine, of its jobs and of its site.

    Attributes
    ----------
    seed
        Seed of the random generator that policies may use.
    cadence
        Times of the policy's passes.
    explain
        Whether passes note why jobs wait.
    estimator
        Expected durations of jobs; default: their walltimes.
    steering
        Controllers that resize running jobs.
    defaults
        Default properties, for a platform that does not state them.
    placement
        Choice of nodes and storage nodes for a request.
    timeline
        Class of the timeline; :class:`spillway.core.PublishedTimeline` reproduces published numbers.
    unplayable
        Gives the reason why a submitted job cannot be played although the machine could hold it; ``None`` if it can.
        Default: the runtime's refusals.
    fewest_nodes
        Fewest nodes that a job may start on; ``None``: jobs start on all that they request.
    demand
        Bandwidth that jobs need under the job model; default: their field ``io_rate``.
    lives
        Intervals of a job's burst buffers and bandwidth, around that of its nodes; default: the interval of its nodes.
    site
        Partitions, shares and pools; default: no site.
    preemption
        Which jobs may preempt which; default: as the site states, where it suspends no jobs.
    rest
        Profile of the rest of a suspended job; needed if jobs are suspended.
    on_outage
        Handling of running jobs on nodes and storage nodes that machine events make unavailable.
    """

    seed: int = 0
    cadence: Cadence = Cadence.MESSAGE
    explain: bool = False
    estimator: Estimator = field(default_factory=Walltimes)
    steering: Steering | None = None
    defaults: MachineDefaults | None = None
    placement: Placement = field(default_factory=Placement)
    timeline: type[Timeline] = Timeline
    unplayable: Callable[[Job], str | None] | None = None
    fewest_nodes: Callable[[Job], int] | None = None
    demand: Demand | None = None
    lives: Callable[[Job], Lives | None] | None = None
    site: Site | None = None
    preemption: Preemption | None = None
    rest: Rest | None = None
    on_outage: OnOutage = OnOutage.CONTINUE

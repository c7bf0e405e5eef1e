"""What a policy may decide. The guard checks each decision, the session enacts it."""

from __future__ import annotations

import msgspec

from schedulers.core.job import Allocation, Job


class Start(msgspec.Struct, frozen=True, gc=False):
    """Start a waiting job now, on this allocation."""

    job: Job
    allocation: Allocation


class Reject(msgspec.Struct, frozen=True, gc=False):
    """Refuse a waiting job for good, with the reason in words."""

    job: Job
    reason: str


class Kill(msgspec.Struct, frozen=True, gc=False):
    """Kill a running job, with the reason in words."""

    job: Job
    reason: str


class WakeAt(msgspec.Struct, frozen=True, gc=False):
    """Call the policy again at this time even if nothing happens."""

    time_s: float


class SetPowerState(msgspec.Struct, frozen=True, gc=False):
    """Switch nodes (indices into the machine's nodes) to a power state."""

    nodes: tuple[int, ...]
    pstate: int


class Arrange(msgspec.Struct, frozen=True, gc=False):
    """Give running jobs other allocations, all at once, so that they may change places with each other.

    Only where jobs share nodes in time (:class:`schedulers.jobmodels.base.TimeSharing`).
    """

    places: tuple[tuple[Job, Allocation], ...]


Decision = Start | Reject | Kill | WakeAt | SetPowerState | Arrange

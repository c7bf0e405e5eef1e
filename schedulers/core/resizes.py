"""The controllers' turn: they resize running jobs with resources that the policy left free, booked before use."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from spillway.schedulers.core.allocation import find_growth, fits_beside, without
from spillway.schedulers.core.layers import growable
from spillway.schedulers.core.steering import Steering
from spillway.schedulers.model.job import Allocation, Job


class Resizes:
    """Carries out the decisions of controllers, of one conversation."""

    def __init__(self, session: Any, steering: Steering) -> None:
        self._session = session
        self._steering = steering

    def turn(self) -> None:
        """Let controllers resize running jobs."""
        session, steering, now_s = self._session, self._steering, self._session.now_s
        book = session.book
        book.advance(now_s)
        free_nodes = len(book.free_nodes())
        for resize in steering.decide(now_s, free_nodes, session.queue, self._fits_beside):
            gained: Allocation | None = None
            if resize.growth:
                gained = self._growth(resize.id, resize.growth)
                if gained is None:
                    steering.drop(resize)
                    continue
                changed = book.expand(resize.id, gained, now_s, resize.until_s)
                session.observer.resized(changed, now_s)
            elif resize.leaving:
                book.give_up(resize.id, steering.left_by(resize), now_s, resize.until_s)
            steering.enact(resize, gained, now_s)

    def _growth(self, job_id: str, nodes: int) -> Allocation | None:
        """Find further nodes for a running job, with all that belongs to them; ``None`` if too few are free."""
        book = self._session.book
        job, held = book.running[job_id].job, book.running[job_id].allocation
        free_bytes, bandwidth = book.timeline.free_storage_now(), book.timeline.free_bandwidth_now()
        free = book.machine.usable(job.partitions, book.free_nodes(), held.nodes)
        if job.pools:
            free = growable(book.machine, job, held.pools, free)
        return find_growth(book.timeline, held, nodes, free, free_bytes, bandwidth)

    def _fits_beside(self, job: Job, kept: Mapping[str, Collection[int]]) -> bool:
        """Whether a waiting job could start if running jobs held only these of their nodes."""
        book = self._session.book
        left = [book.there(without(book.running[name].allocation, nodes)) for name, nodes in kept.items()]
        bandwidth = book.timeline.free_bandwidth_now()
        return fits_beside(book.timeline, job, book.free_nodes(), book.left_storage(), bandwidth, left)

"""Nodes that machine events took away: blocked in the timeline from the moment nothing runs on them any more.

A job that runs on such a node goes on (Batsim's rule); the block starts where the job's booking ends and moves with it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from schedulers.core.job import Allocation
from schedulers.timeline import Resource, Timeline


class Availability:
    """Keeps a timeline's blocks of unavailable nodes; ``timeline`` is the session's own."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._blocked_from: dict[int, float] = {}

    def blocked(self, time_s: float) -> set[int]:
        """Nodes that are blocked at a time; at infinity those whose block begins at all."""
        return {node for node, from_s in self._blocked_from.items() if from_s <= time_s and from_s < math.inf}

    def block(self, node: int, from_s: float) -> None:
        """Take a node away from ``from_s`` on; taking it twice changes nothing."""
        if node not in self._blocked_from:
            self._blocked_from[node] = from_s
            self._book(node, from_s, math.inf)

    def unblock(self, node: int, now_s: float) -> None:
        """Give a node back."""
        from_s = self._blocked_from.pop(node, None)
        if from_s is not None:
            self._free(node, max(from_s, now_s), math.inf)

    def before_booking(self, nodes: Iterable[int], from_s: float, until_s: float) -> None:
        """Make way for a running job that is booked on beyond ``from_s``: its blocks start at ``until_s``."""
        for node in self._affected(nodes):
            self._free(node, max(from_s, self._blocked_from[node]), until_s)
            self._blocked_from[node] = until_s

    def after_release(self, nodes: Iterable[int], now_s: float) -> None:
        """A job on these nodes ended: their blocks start now."""
        for node in self._affected(nodes):
            self._book(node, now_s, self._blocked_from[node])
            self._blocked_from[node] = now_s

    def _affected(self, nodes: Iterable[int]) -> list[int]:
        return [node for node in nodes if node in self._blocked_from] if self._blocked_from else []

    def _book(self, node: int, start_s: float, end_s: float) -> None:
        start_s = max(start_s, self._timeline.now_s)
        if start_s < end_s:
            self._timeline.reserve(start_s, end_s, Allocation((node,)), Resource.NODES)

    def _free(self, node: int, start_s: float, end_s: float) -> None:
        start_s = max(start_s, self._timeline.now_s)
        if start_s < end_s:
            self._timeline.release(start_s, end_s, Allocation((node,)), Resource.NODES)

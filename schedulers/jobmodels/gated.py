"""Phased execution through a gate: what goes to or comes from the PFS takes turns (stage-in, drains, stage-out).

Checkpoints go to burst buffers and pass. A stage's transfers through one I/O node are one turn; drains, which run
beside computing and outlive a kill, are turns of their own.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from schedulers.core.job import Job
from schedulers.core.machine import Machine
from schedulers.jobmodels.base import NOTHING, Ended, Step
from schedulers.jobmodels.gates import Gate
from schedulers.jobmodels.io_nodes import IoNodes
from schedulers.jobmodels.phased import Phased, PhasedOptions, PhaseRecord, Stage, _Phased
from schedulers.jobmodels.sub_jobs import SHORTEST_WALLTIME_S
from schedulers.wire.messages import (
    BatsimConfig,
    CallMeLater,
    Event,
    JobCompleted,
    JobState,
    Request,
    RequestedCall,
)


class _Turn(NamedTuple):
    """Transfers of a stage through one I/O node; ``places`` are positions in the allocation."""

    phased: _Phased
    stage: Stage
    places: tuple[int, ...]


class GatedPhased(Phased):
    """Phased execution whose transfers to and from the PFS pass a gate.

    Parameters
    ----------
    gate
        Who may transfer.
    io_node_depth
        See :class:`schedulers.jobmodels.io_nodes.IoNodes`.
    options, on_record
        See :class:`schedulers.jobmodels.phased.Phased`.
    """

    def __init__(
        self,
        gate: Gate,
        io_node_depth: int = 0,
        options: PhasedOptions | None = None,
        on_record: Callable[[PhaseRecord], None] | None = None,
    ) -> None:
        super().__init__(options, on_record)
        self._gate = gate
        self._depth = io_node_depth
        self._io_nodes: IoNodes
        self._turns: dict[str, _Turn] = {}
        self._turn_of: dict[str, str] = {}
        self._moving: dict[str, int] = {}
        self._waiting: dict[str, set[str]] = {}
        self._number = 0
        self._watched: set[str] = set()

    def begin(self, machine: Machine, config: BatsimConfig) -> None:
        """See :meth:`Phased.begin`; learn the I/O nodes."""
        super().begin(machine, config)
        self._io_nodes = IoNodes(machine, self._depth)

    def kill(self, job: Job, now_s: float) -> Step:
        """Give up the stage that waits, kill what runs, drains excepted."""
        phased = self._jobs[job.id]
        step = super().kill(job, now_s)
        self._withdraw(phased, now_s)
        if phased.live or phased.stage is Stage.ENDING:
            return step
        phased.stage = Stage.ENDING
        return _joined(step, self._end_if_through(phased, now_s))

    def handle(self, event: Event, now_s: float) -> Step | None:
        """Digest what concerns sub-jobs; pass turns on; end jobs whose walltime is over while they wait."""
        if isinstance(event, RequestedCall):
            return self._expire(now_s)
        if not isinstance(event, JobCompleted):
            return super().handle(event, now_s)
        granted: tuple[str, ...] = ()
        key = self._turn_of.pop(event.job_id, None)
        if key is not None:
            self._moving[key] -= 1
            if not self._moving[key]:
                del self._moving[key]
                granted = self._gate.release(key, now_s)
        step = super().handle(event, now_s)
        return step if step is None or not granted else _joined(step, self._serve(granted, now_s))

    # ------------------------------------------------------------------ turns

    def _move(self, phased: _Phased, stage: Stage, walltime: float, now_s: float, requests: list[Request]) -> None:
        if stage is Stage.CHECKPOINT:
            super()._move(phased, stage, walltime, now_s, requests)
            return
        application = _application(phased, stage)
        size = phased.job.bb_bytes
        if stage is Stage.DRAIN:
            size = int(self._options.checkpoint_fraction * size)
        for node, nodes in self._io_nodes.groups(phased.allocation).items():
            chosen = set(nodes)
            places = tuple(place for place, index in enumerate(phased.allocation.nodes) if index in chosen)
            key = f"{phased.job.id}/{self._number}"
            self._number += 1
            self._turns[key] = _Turn(phased, stage, places)
            self._waiting.setdefault(application, set()).add(key)
            for granted in self._gate.request(key, application, node, float(size * len(places)), now_s):
                self._begin(granted, now_s, requests)
        if stage is not Stage.DRAIN and self._waiting.get(application):
            self._watch(phased, now_s, requests)

    def _begin(self, key: str, now_s: float, requests: list[Request]) -> None:
        """Start the transfers of a turn."""
        phased, stage, places = self._turns.pop(key)
        self._waiting[_application(phased, stage)].discard(key)
        remaining_s = phased.deadline_s - now_s
        walltime = -1 if stage is Stage.DRAIN or remaining_s == math.inf else remaining_s
        ids = self._transfers(phased, stage, walltime, now_s, requests, places)
        self._moving[key] = len(ids)
        self._turn_of.update(dict.fromkeys(ids, key))
        if stage is Stage.DRAIN:
            phased.drains.update(dict.fromkeys(ids, now_s))
        else:
            phased.live.update(dict.fromkeys(ids))

    def _serve(self, granted: tuple[str, ...], now_s: float) -> Step:
        """Start the turns that were granted; one whose job is overdue passes on at once."""
        requests: list[Request] = []
        ended: list[Ended] = []
        keys = deque(granted)
        while keys:
            key = keys.popleft()
            phased, stage, _ = self._turns[key]
            if stage is Stage.DRAIN or phased.deadline_s - now_s >= SHORTEST_WALLTIME_S:
                self._begin(key, now_s, requests)
                continue
            del self._turns[key]
            self._waiting[_application(phased, stage)].discard(key)
            keys.extend(self._gate.release(key, now_s))
            ended += self._overdue(phased, now_s).ended
        return Step(requests, ended)

    def _watch(self, phased: _Phased, now_s: float, requests: list[Request]) -> None:
        """Nothing of a waiting job runs, so Batsim does not watch its walltime: ask to be called."""
        if phased.deadline_s < math.inf and phased.job.id not in self._watched:
            self._watched.add(phased.job.id)
            requests.append(CallMeLater(now_s, max(phased.deadline_s, now_s + SHORTEST_WALLTIME_S)))

    def _expire(self, now_s: float) -> Step | None:
        late = [
            phased
            for job_id, phased in self._jobs.items()
            if self._waiting.get(job_id) and not phased.live and phased.deadline_s - now_s < SHORTEST_WALLTIME_S
        ]
        step = NOTHING
        for phased in late:
            step = _joined(step, self._overdue(phased, now_s))
        return step if late else None

    def _overdue(self, phased: _Phased, now_s: float) -> Step:
        if phased.return_code == 0:
            phased.state, phased.return_code = JobState.COMPLETED_WALLTIME_REACHED, -1
        self._withdraw(phased, now_s)
        if phased.live:
            return NOTHING
        phased.stage = Stage.ENDING
        return self._end_if_through(phased, now_s)

    def _withdraw(self, phased: _Phased, now_s: float) -> None:
        for key in self._gate.withdraw(phased.job.id, now_s):
            del self._turns[key]
            self._waiting[phased.job.id].discard(key)

    # ------------------------------------------------------------------ what phased execution asks

    def _waits(self, phased: _Phased, now_s: float) -> bool:
        if phased.return_code != 0:
            self._withdraw(phased, now_s)
        return bool(self._waiting.get(phased.job.id))

    def _keeps(self, phased: _Phased) -> bool:
        return bool(self._waiting.get(_application(phased, Stage.DRAIN)))

    def _close(self, phased: _Phased, now_s: float) -> None:
        phased.record.waited_s = self._gate.leave(phased.job.id, now_s).waited_s
        self._waiting.pop(phased.job.id, None)
        self._waiting.pop(_application(phased, Stage.DRAIN), None)
        if not phased.drains:  # with early release drains outlive the job
            self._gate.leave(_application(phased, Stage.DRAIN), now_s)
        self._watched.discard(phased.job.id)


def _application(phased: _Phased, stage: Stage) -> str:
    """Drains are an application of their own: they run beside the job's stages and outlive its kill."""
    return f"{phased.job.id}#drains" if stage is Stage.DRAIN else phased.job.id


def _joined(first: Step, second: Step) -> Step:
    return Step((*first.requests, *second.requests), (*first.ended, *second.ended))

"""The interference controller in plain Python, one conflict after another: what the compiled one is compared with."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from schedulers.controllers.coupling import couple, coupled_size
from schedulers.controllers.interference import Conflict, Interference, Strategy
from schedulers.controllers.overlaps import Fleet
from schedulers.controllers.prediction import Phase, Step
from schedulers.controllers.running import AppView
from schedulers.controllers.scene import Reason, Resize, Scene
from schedulers.controllers.shifting import Refusal, plan_shift, select_application

NEVER = Phase(math.inf, 0.0, math.inf)
"""The phase of an application that does no more I/O."""


@dataclass(frozen=True)
class PlainInterference(Interference):
    """The same decisions as :class:`schedulers.controllers.interference.Interference`, with the same options."""

    def __call__(self, scene: Scene) -> Iterator[Resize]:
        """Look at the applications whose I/O phase has ended."""
        if self.strategy is Strategy.NONE or not scene.ended or len(scene.applications) < 2:
            return
        phases = [application.next_phase or NEVER for application in scene.applications]
        places = {application.id: place for place, application in enumerate(scene.applications)}
        idle, touched = scene.idle, set[int]()
        for ended in scene.ended:
            place = places.get(ended.id)
            if place is None or place in touched or phases[place] is NEVER:
                continue
            other = self._collides(place, phases)
            if other is None:
                continue
            if self.strategy is Strategy.WATCH:
                self._told(scene, phases, place, other)
                continue
            chosen, answer = self._resolve(scene.applications, phases, place, other, idle, touched)
            if self.tell is not None:
                self.tell(self._conflict(scene, phases, place, other, chosen, answer))
            if isinstance(answer, Resize):
                idle -= answer.growth
                touched.add(chosen)
                yield answer

    def _told(self, scene: Scene, phases: list[Phase], place: int, other: int) -> None:
        if self.tell is not None:
            names = (scene.applications[place].id, scene.applications[other].id)
            starts = (phases[place].start_s, phases[other].start_s)
            self.tell(Conflict(scene.now_s, *names, *starts, self.strategy.value))

    def _margin(self, phase: Phase) -> float:
        return max(self.uncertainty_s, self.sigmas * phase.error_s)

    def _collides(self, place: int, phases: list[Phase]) -> int | None:
        """The application whose next phase collides first with that of ``place``."""
        fleet = Fleet.of(phases)
        margins = np.full(len(phases), self.uncertainty_s)
        if self.sigmas:
            margins = np.maximum(margins, self.sigmas * np.array([phase.error_s for phase in phases]))
        wide = Fleet(fleet.starts, np.where(np.isfinite(fleet.starts), fleet.durations + margins, 0.0), fleet.periods)
        hits = wide.colliding(phases[place].widened(self._margin(phases[place])))
        return next((int(hit) for hit in hits if hit != place), None)

    def _resolve(
        self, views: Sequence[AppView], phases: list[Phase], place: int, other: int, idle: int, touched: set[int]
    ) -> tuple[int, Resize | Refusal]:
        if self.strategy is Strategy.COUPLE:
            coupled = self._couple(views, phases, place, other, idle, touched)
            if coupled is not None:
                return coupled
        return self._shift(views, phases, place, other, idle, touched)

    def _couple(
        self, views: Sequence[AppView], phases: list[Phase], place: int, other: int, idle: int, touched: set[int]
    ) -> tuple[int, Resize] | None:
        coupling = couple(phases[place], phases[other], self.tolerance)
        if coupling is None:
            return None
        chosen = (place, other)[coupling.chosen]
        view = views[chosen]
        if not view.willing or chosen in touched:
            return None
        application = view.application
        size = coupled_size(coupling, phases[chosen], application.model, view.nodes, view.base, application.io_every)
        if size is None or size == view.nodes or size - view.nodes > idle:
            return None
        return chosen, Resize(view.id, (Step(view.next_control, size - view.nodes),), Reason.COUPLE, view.returnable_s)

    def _shift(
        self, views: Sequence[AppView], phases: list[Phase], place: int, other: int, idle: int, touched: set[int]
    ) -> tuple[int, Resize | Refusal]:
        wide = [phases[index].widened(self._margin(phases[index])) for index in (place, other)]
        which = select_application(wide[0], wide[1], self.equal, self.similar)
        chosen = (place, other)[which]
        view = views[chosen]
        if not view.willing or chosen in touched:
            return chosen, Refusal.UNWILLING
        application, margin = view.application, self._margin(phases[chosen])
        first, at = view.next_control, application.next_io(view.iteration)
        assert at is not None, "an application with a predicted phase has I/O left"
        last = at - application.control_every
        mean_s = view.observed.iteration(view.nodes, application.model).mean
        rest = Fleet.of([phase for index, phase in enumerate(phases) if index not in (place, other)])
        plan = plan_shift(
            wide[which],
            wide[1 - which],
            rest,
            original_s=(last - first) * mean_s,
            overhead_s=application.overhead_s,
            uncertainty_s=margin,
            model=application.model,
            nodes=view.nodes,
            idle=idle,
        )
        if isinstance(plan, Refusal):
            return chosen, plan
        steps = (Step(first, plan.extra), Step(last, -plan.extra))
        return chosen, Resize(view.id, steps, Reason.SHIFT, phases[chosen].start_s)

    def _conflict(
        self, scene: Scene, phases: list[Phase], place: int, other: int, chosen: int, answer: Resize | Refusal
    ) -> Conflict:
        names = (scene.applications[place].id, scene.applications[other].id)
        starts = (phases[place].start_s, phases[other].start_s)
        if isinstance(answer, Refusal):
            return Conflict(scene.now_s, *names, *starts, answer.value)
        shift_s = 0.0
        if answer.reason is Reason.SHIFT:
            rival = other if chosen == place else place
            shift_s = phases[chosen].end_s - phases[rival].start_s + 2 * self._margin(phases[chosen])
        view = scene.applications[chosen]
        return Conflict(scene.now_s, *names, *starts, answer.reason.value, view.id, answer.steps[0].change, shift_s)

"""The I/O interference controller: when a collision is predicted, shift a phase, or couple periods and then shift.

It checks for collisions when an application's I/O phase has ended, as in the paper: the next is a whole period away.

References
----------
Singh & Carretero 2019 (DOI 10.1016/j.jss.2018.11.006), sections 4.2, 4.2.1, 4.2.2.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from msgspec import Struct

from spillway.schedulers.controllers.coupling import couple, coupled_size
from spillway.schedulers.controllers.overlaps import Fleet, Floats
from spillway.schedulers.controllers.prediction import Phase, Step
from spillway.schedulers.controllers.running_application import AppView
from spillway.schedulers.controllers.scene import Reason, Resize, Scene
from spillway.schedulers.controllers.shifting import Refusal, plan_shift, select_application


class Strategy(enum.Enum):
    """Reactions to predicted collisions."""

    NONE = "none"
    WATCH = "watch"
    """Predict and report, but change nothing."""
    SHIFT = "phase-shifting"
    COUPLE = "period-coupling"


class Conflict(Struct, frozen=True, gc=False):
    """A predicted collision and its outcome.

    Attributes
    ----------
    time_s
        Time of the prediction.
    first, second
        The application whose I/O phase had just ended, and the other one.
    start_s, other_s
        Predicted starts of both phases.
    outcome
        ``watch``, ``shift``, ``couple``, or the reason why nothing is done.
    chosen
        The resized application; "" without a change of size.
    extra
        Nodes that it receives (negative: gives up).
    shift_s
        Seconds by which its phase should come earlier, uncertainty included; 0 for a coupling.
    """

    time_s: float
    first: str
    second: str
    start_s: float
    other_s: float
    outcome: str
    chosen: str = ""
    extra: int = 0
    shift_s: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class _Prospect:
    """The next I/O phases of all applications, with margins for errors of their prediction.

    Attributes
    ----------
    views
        The applications.
    fleet
        Their next phases.
    wide
        The same phases, longer by the margins.
    margins_s
        Margins for errors in seconds, by application.
    """

    views: Sequence[AppView]
    fleet: Fleet
    wide: Fleet
    margins_s: Floats

    @classmethod
    def of(cls, scene: Scene, uncertainty_s: float, sigmas: float) -> _Prospect:
        """Prospect of a scene; margins are ``uncertainty_s``, or ``sigmas`` standard errors where these are longer."""
        outlook = scene.outlook
        margins_s = np.maximum(uncertainty_s, sigmas * outlook.errors_s)
        fleet = Fleet(outlook.starts_s, outlook.durations_s, outlook.periods_s)
        durations_s = np.where(np.isfinite(fleet.starts), fleet.durations + margins_s, 0.0)
        return cls(scene.applications, fleet, Fleet(fleet.starts, durations_s, fleet.periods), margins_s)

    def phase(self, place: int) -> Phase:
        """The next phase of an application that has I/O left, as every colliding application has."""
        phase = self.views[place].next_phase
        assert phase is not None, "an application without I/O collides with no other"
        return phase

    def margin_s(self, place: int) -> float:
        """Margin in seconds for errors of an application's prediction."""
        return self.margins_s.item(place)

    def widened(self, place: int) -> Phase:
        """An application's next phase, longer by its margin."""
        return self.phase(place).widened(self.margin_s(place))

    def first_collision(self, place: int) -> int | None:
        """The application whose next phase collides first with that of ``place``."""
        hits = self.wide.colliding(self.widened(place)).tolist()
        return next((hit for hit in hits if hit != place), None)


@dataclass(frozen=True)
class Interference:
    """The I/O interference controller; see the module.

    Attributes
    ----------
    strategy
        Reaction to predicted collisions.
    uncertainty_s
        Seconds added to the duration of predicted phases and to every shift, >= 0 (paper: 2).
    sigmas
        This many standard errors of a prediction replace ``uncertainty_s`` where they are longer; 0: never.
    equal, similar
        Largest relative differences of periods called equal, and similar
        (:func:`spillway.schedulers.controllers.shifting.select_application`).
    tolerance
        Tolerated relative difference of coupled periods.
    tell
        Called with every predicted collision.
    """

    strategy: Strategy = Strategy.SHIFT
    uncertainty_s: float = 2.0
    sigmas: float = 0.0
    equal: float = 0.02
    similar: float = 0.2
    tolerance: float = 0.01
    tell: Callable[[Conflict], None] | None = None

    def __call__(self, scene: Scene) -> Iterator[Resize]:
        """Check the applications whose I/O phase has ended; no application is resized twice in one call."""
        if self.strategy is Strategy.NONE or not scene.ended or len(scene.applications) < 2:
            return
        prospect = _Prospect.of(scene, self.uncertainty_s, self.sigmas)
        places = {application.id: place for place, application in enumerate(scene.applications)}
        idle, touched = scene.idle, set[int]()
        for ended in scene.ended:
            place = places.get(ended.id)
            if place is None or place in touched or prospect.views[place].next_phase is None:
                continue
            other = prospect.first_collision(place)
            if other is None:
                continue
            if self.strategy is Strategy.WATCH:
                self._report(scene, prospect, place, other)
                continue
            chosen, answer = self._resolve(prospect, place, other, idle, touched)
            self._report(scene, prospect, place, other, chosen, answer)
            if isinstance(answer, Resize):
                idle -= answer.growth
                touched.add(chosen)
                yield answer

    def _resolve(
        self, prospect: _Prospect, place: int, other: int, idle: int, touched: set[int]
    ) -> tuple[int, Resize | Refusal]:
        """Couple the periods where that is chosen and possible; else shift a phase, or return the reason against it."""
        if self.strategy is Strategy.COUPLE:
            coupled = self._couple(prospect, place, other, idle, touched)
            if coupled is not None:
                return coupled
        return self._shift(prospect, place, other, idle, touched)

    def _couple(
        self, prospect: _Prospect, place: int, other: int, idle: int, touched: set[int]
    ) -> tuple[int, Resize] | None:
        """Algorithm 4: the application with the larger period, and the size that fits."""
        coupling = couple(prospect.phase(place), prospect.phase(other), self.tolerance)
        if coupling is None:
            return None
        chosen = (place, other)[coupling.chosen]
        view = prospect.views[chosen]
        if not view.willing or chosen in touched:
            return None
        application, phase = view.application, prospect.phase(chosen)
        size = coupled_size(coupling, phase, application.model, view.nodes, view.base, application.io_every)
        if size is None or size == view.nodes or size - view.nodes > idle:
            return None
        return chosen, Resize(view.id, (Step(view.next_control, size - view.nodes),), Reason.COUPLE, view.returnable_s)

    def _shift(
        self, prospect: _Prospect, place: int, other: int, idle: int, touched: set[int]
    ) -> tuple[int, Resize | Refusal]:
        """Algorithm 3: the chosen application gets nodes from its next control point to the last before its write."""
        pair = (place, other)
        wide = [prospect.widened(index) for index in pair]
        which = select_application(wide[0], wide[1], self.equal, self.similar)
        chosen = pair[which]
        view = prospect.views[chosen]
        if not view.willing or chosen in touched:
            return chosen, Refusal.UNWILLING
        application, first = view.application, view.next_control
        at = application.next_io(view.iteration)
        assert at is not None, "an application with a predicted phase has I/O left"
        last = at - application.control_every
        plan = plan_shift(
            wide[which],
            wide[1 - which],
            prospect.fleet.without(pair),
            original_s=(last - first) * view.observed.iteration(view.nodes, application.model).mean,
            overhead_s=application.overhead_s,
            uncertainty_s=prospect.margin_s(chosen),
            model=application.model,
            nodes=view.nodes,
            idle=idle,
        )
        if isinstance(plan, Refusal):
            return chosen, plan
        steps = (Step(first, plan.extra), Step(last, -plan.extra))
        return chosen, Resize(view.id, steps, Reason.SHIFT, prospect.phase(chosen).start_s)

    def _report(
        self,
        scene: Scene,
        prospect: _Prospect,
        place: int,
        other: int,
        chosen: int = -1,
        answer: Resize | Refusal | None = None,
    ) -> None:
        """Report a collision and the answer to it; without an answer it is only observed."""
        if self.tell is None:
            return
        names = (prospect.views[place].id, prospect.views[other].id)
        starts = (prospect.phase(place).start_s, prospect.phase(other).start_s)
        if not isinstance(answer, Resize):
            outcome = self.strategy.value if answer is None else answer.value
            self.tell(Conflict(scene.now_s, *names, *starts, outcome))
            return
        shift_s = 0.0
        if answer.reason is Reason.SHIFT:
            rival = other if chosen == place else place
            end_s, margin_s = prospect.phase(chosen).end_s, prospect.margin_s(chosen)
            shift_s = end_s - prospect.phase(rival).start_s + 2 * margin_s
        change = answer.steps[0].change
        self.tell(Conflict(scene.now_s, *names, *starts, answer.reason.value, answer.id, change, shift_s))

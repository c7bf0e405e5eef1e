"""The I/O interference controller: when a collision is predicted, shift a phase, or couple periods and then shift.

It looks when an application's I/O phase has ended, as the paper does: the next one is a whole period away.

References
----------
Singh & Carretero 2019 (DOI 10.1016/j.jss.2018.11.006), sections 4.2, 4.2.1, 4.2.2.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from schedulers.controllers import interference_kernels as kernels
from schedulers.controllers.outlook import Flags, Floats, Outlook
from schedulers.controllers.prediction import Step
from schedulers.controllers.running import AppView
from schedulers.controllers.scene import Reason, Resize, Scene
from schedulers.controllers.shifting import Refusal

Integers = npt.NDArray[np.int64]

_REFUSALS = {
    kernels.UNWILLING: Refusal.UNWILLING,
    kernels.NO_CONTROL_POINTS: Refusal.NO_CONTROL_POINTS,
    kernels.THIRD: Refusal.THIRD,
    kernels.TOO_SHORT: Refusal.TOO_SHORT,
    kernels.TOO_SLOW: Refusal.TOO_SLOW,
}


class Strategy(enum.Enum):
    """What to do about predicted collisions."""

    NONE = "none"
    WATCH = "watch"
    """Predict and tell, but do nothing."""
    SHIFT = "phase-shifting"
    COUPLE = "period-coupling"


class Conflict(Struct, frozen=True, gc=False):
    """A predicted collision and what came of it.

    Attributes
    ----------
    time_s
        When it was predicted.
    first, second
        The applications: that whose I/O phase had just ended, and the other.
    start_s, other_s
        Predicted starts of both phases.
    outcome
        ``watch``, ``shift``, ``couple``, or the reason why nothing is done.
    chosen
        The application that is resized ("" for none).
    extra
        Nodes that it is given (negative: gives).
    shift_s
        How much earlier its phase should come, uncertainty included; 0 for a coupling.
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


@dataclass(frozen=True)
class Interference:
    """See the module.

    Attributes
    ----------
    strategy
        What to do.
    uncertainty_s
        Seconds added to the duration of predicted phases and to every shift, >= 0 (paper: 2).
    sigmas
        Where this many standard errors of a prediction are more than ``uncertainty_s``, they take its place; 0: never.
    equal, similar
        Largest relative differences of periods called equal, and similar
        (:func:`schedulers.controllers.shifting.select_application`).
    tolerance
        Relative difference of coupled periods that is left alone.
    tell
        Told of every predicted collision.
    """

    strategy: Strategy = Strategy.SHIFT
    uncertainty_s: float = 2.0
    sigmas: float = 0.0
    equal: float = 0.02
    similar: float = 0.2
    tolerance: float = 0.01
    tell: Callable[[Conflict], None] | None = None

    def __call__(self, scene: Scene) -> Iterator[Resize]:
        """Look at the applications whose I/O phase has ended; an application is asked of one thing at a time."""
        if self.strategy is Strategy.NONE or not scene.ended or len(scene.applications) < 2:
            return
        outlook = scene.outlook
        known = {application.id: place for place, application in enumerate(scene.applications)}
        places = np.array([known[ended.id] for ended in scene.ended if ended.id in known], np.int64)
        places = places[np.isfinite(outlook.starts_s[places])]
        margins_s = np.maximum(self.uncertainty_s, self.sigmas * outlook.errors_s)
        ends_s = outlook.starts_s + (outlook.durations_s + margins_s)
        others = np.empty_like(places)
        kernels.first_collisions(outlook.starts_s, ends_s, places, others)
        places, others = places[others >= 0], others[others >= 0]
        if self.strategy is Strategy.WATCH:
            self._watched(scene, places, others)
        elif len(places):
            answers = self._answers(scene, margins_s, ends_s, places, others)
            yield from self._decide(scene, margins_s, np.column_stack((places, others, answers)).tolist())

    def _watched(self, scene: Scene, places: Integers, others: Integers) -> None:
        if self.tell is not None:
            starts, names = scene.outlook.starts_s.tolist(), [view.id for view in scene.applications]
            for place, other in zip(places.tolist(), others.tolist(), strict=True):
                pair = (names[place], names[other], starts[place], starts[other])
                self.tell(Conflict(scene.now_s, *pair, self.strategy.value))

    def _answers(self, scene: Scene, margins_s: Floats, ends_s: Floats, places: Integers, others: Integers) -> Integers:
        """What could be done about each conflict, as far as it does not depend on idle nodes."""
        rules = np.array([self.equal, self.similar, self.tolerance, self.strategy is Strategy.COUPLE], np.float64)
        answers = np.zeros((len(places), 5), np.int64)
        apps, marked = _apps(scene.outlook, margins_s), np.zeros(len(ends_s), np.bool_)
        kernels.mark_resizable(apps, places, others, rules, marked)
        firsts, tables = _tables(scene.applications, marked)
        kernels.resolve(apps, ends_s, tables, firsts, places, others, rules, answers)
        return answers

    def _decide(self, scene: Scene, margins_s: Floats, conflicts: Sequence[Sequence[int]]) -> Iterator[Resize]:
        """Take what the idle nodes allow: a coupling, else a shift."""
        outlook, views, idle, touched = scene.outlook, scene.applications, scene.idle, set[int]()
        starts, ends = outlook.starts_s.tolist(), (outlook.starts_s + outlook.durations_s).tolist()
        for place, other, coupled, coupled_by, shifted, outcome, extra in conflicts:
            if place in touched:
                continue
            resize, taken, shift_s = None, 0, 0.0
            if shifted in touched:
                outcome = kernels.UNWILLING
            if coupled >= 0 and coupled not in touched and coupled_by <= idle:
                chosen, taken = coupled, coupled_by
                steps: tuple[Step, ...] = (Step(int(outlook.next_control.item(chosen)), taken),)
                resize = Resize(views[chosen].id, steps, Reason.COUPLE, outlook.returnable_s.item(chosen))
            elif outcome == kernels.SHIFT and extra <= idle:
                chosen, taken = shifted, extra
                last = int(outlook.last_control.item(chosen))
                steps = (Step(int(outlook.next_control.item(chosen)), taken), Step(last, -taken))
                resize = Resize(views[chosen].id, steps, Reason.SHIFT, starts[chosen])
                rival = other if chosen == place else place
                shift_s = ends[chosen] - starts[rival] + 2 * margins_s.item(chosen)
            if self.tell is not None:
                pair = (views[place].id, views[other].id, starts[place], starts[other])
                if resize is None:
                    self.tell(Conflict(scene.now_s, *pair, _REFUSALS.get(outcome, Refusal.NO_NODES).value))
                else:
                    self.tell(Conflict(scene.now_s, *pair, resize.reason.value, resize.id, taken, shift_s))
            if resize is not None:
                idle -= max(0, taken)
                touched.add(chosen)
                yield resize


def _apps(outlook: Outlook, margins_s: Floats) -> Floats:
    """The table of :mod:`schedulers.controllers.interference_kernels`."""
    rows = {
        kernels.START: outlook.starts_s,
        kernels.DURATION: outlook.durations_s,
        kernels.PERIOD: outlook.periods_s,
        kernels.MARGIN: margins_s,
        kernels.MEAN: outlook.mean_s,
        kernels.NODES: outlook.nodes,
        kernels.BASE: outlook.base,
        kernels.MINIMUM: outlook.minimum,
        kernels.NEXT_CONTROL: outlook.next_control,
        kernels.LAST_CONTROL: outlook.last_control,
        kernels.IO_EVERY: outlook.io_every,
        kernels.OVERHEAD: outlook.overhead_s,
        kernels.WILLING: outlook.willing.astype(np.float64),
    }
    return np.stack([rows[row] for row in range(len(rows))])


def _tables(views: Sequence[AppView], marked: Flags) -> tuple[Integers, Floats]:
    """Iteration times by size of the marked applications, one after another, and where each begins."""
    chosen = np.flatnonzero(marked)
    tables = [views[place].application.model.iterations_s for place in chosen.tolist()]
    lengths = np.zeros(len(views) + 1, np.int64)
    lengths[chosen + 1] = [len(table) for table in tables]
    return np.cumsum(lengths), np.concatenate(tables) if tables else np.zeros(0)

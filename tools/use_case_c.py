"""Which of the seven numbers of use case C (Singh & Carretero 2019) can one pair of writers meet together?

``python -m tools.use_case_c FOLDER`` searches by random draws, then small steps, prints the most numbers met at once,
and draws the distance of each two numbers from being met together (``docs/singh.md``).

Two applications compute and write in turns. Without control their writes share the file system, with blocking they take
turns, with shifting one write of application 1 also comes earlier. All numbers that the paper leaves open are drawn:
the uncontended time of a write and the slowdown of two at once against one after the other, the period, the second
application's pace and delay, the variation of periods, the time and the length of the shift.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from spillway.workloads.draws import Draws

Floats = npt.NDArray[np.float64]

DRAWS = 12_000
STEPS, STARTS = 200, 20
"""Steps of a search after the draws; number of draws from which the search for all seven numbers begins."""

PUBLISHED: Mapping[str, tuple[float, float]] = {
    "I/O 1, blocking": (-39, 0.5),
    "I/O 2, blocking": (-25, 0.5),
    "I/O 1, shifting": (-49, 0.5),
    "I/O 2, shifting": (-41, 0.5),
    "writes 2": (-45, 0.5),
    "delay, blocking": (64.7, 1.0),
    "delay, shifting": (18.0, 1.0),
}
"""Section 5.1: percent of the I/O time without control, and seconds; with tolerances."""
NAMES = tuple(PUBLISHED)
WANTED, TOLERANCE = (np.array(column) for column in zip(*PUBLISHED.values(), strict=True))


@dataclass(frozen=True)
class Pair:
    """Two applications and a shift; times in seconds.

    Attributes
    ----------
    write, slowdown
        Uncontended time of a write; time of two at once over that of one after the other.
    compute, periods
        Computation between two writes, and number of periods.
    later, pace
        Begin of the second application, and its computation relative to the first's.
    variation
        Relative standard deviation of the computation.
    shift_after, shift
        Period of application 1 with the shift, as a share of all periods; time by which its write comes earlier.
    again
        Share of the periods at whose end, before the shift, both begin in step again; the paper has no such effect.
    """

    write: float
    slowdown: float
    compute: float
    periods: float
    later: float
    pace: float
    variation: float
    shift_after: float
    shift: float
    again: float


LOW = Pair(3.0, 1.0, 5.0, 15.0, 0.0, 0.95, 0.0, 0.0, 0.0, 0.0)
HIGH = Pair(9.0, 1.3, 80.0, 60.0, 10.0, 1.05, 0.03, 1.0, 20.0, 1.0)


def search(*, again: bool, seed: int) -> dict[str, float]:
    """Draw pairs of writers; return the most numbers met at once, and the smallest distance for each two numbers.

    Parameters
    ----------
    again
        Whether a share of the periods begins in step again.

    Returns
    -------
    dict[str, float]
        ``most``: most numbers that a draw or a step of the search meets; ``NAME | NAME``: the larger of both distances,
        in tolerances, at its minimum (at most 1: both are met).
    """
    draws = Draws(seed, f"malleable/exclusion/{again}")
    low, high = _row(LOW), _row(HIGH if again else replace(HIGH, again=0.0))
    rows = low + (high - low) * draws.uniform(DRAWS * len(low)).reshape(DRAWS, -1)
    noise = draws.normal(2 * math.ceil(HIGH.periods)).reshape(2, -1)
    distances = np.array([distance(_pair(row), noise) for row in rows])
    most = int((distances <= 1).sum(axis=1).max())
    found: dict[str, float] = {}
    for one, other in itertools.combinations(range(len(NAMES)), 2):
        start = rows[int(distances[:, [one, other]].max(axis=1).argmin())]
        nearest, met = _near(start, partial(_larger, one, other), low, high, noise, draws)
        found[f"{NAMES[one]} | {NAMES[other]}"], most = nearest, max(most, met)
    for start in rows[np.argsort([_all(at) for at in distances], kind="stable")[:STARTS]]:
        _, met = _near(start, _all, low, high, noise, draws)
        most = max(most, met)
    return {"most": float(most), **found}


def _larger(one: int, other: int, at: Floats) -> float:
    """Distance of a pair of writers from two numbers, in tolerances."""
    return max(at.item(one), at.item(other))


def _all(at: Floats) -> float:
    """Distance of a pair of writers from all numbers; each counts at least 1 tolerance and at most 20."""
    return float(np.clip(at, 1.0, 20.0).sum())


def _near(
    row: Floats, cost: Callable[[Floats], float], low: Floats, high: Floats, noise: Floats, draws: Draws
) -> tuple[float, int]:
    """Step from a draw towards lower costs of the distances; return the least cost, and the most numbers met at once.

    A step changes each parameter with probability 1/2; steps become smaller.
    """
    at = distance(_pair(row), noise)
    least, most = cost(at), int((at <= 1).sum())
    for step in range(STEPS):
        reach = 0.3 * (high - low) * 0.01 ** (step / STEPS)
        moved = np.clip(row + reach * draws.normal(len(row)) * (draws.uniform(len(row)) < 0.5), low, high)
        there = distance(_pair(moved), noise)
        most = max(most, int((there <= 1).sum()))
        if cost(there) <= least:
            row, least = moved, cost(there)
    return least, most


def distance(pair: Pair, noise: Floats) -> Floats:
    """Distance of a pair from each published number, in tolerances."""
    return np.asarray(np.abs(numbers(pair, noise) - WANTED) / TOLERANCE, np.float64)


def numbers(pair: Pair, noise: Floats) -> Floats:
    """The seven numbers of a pair, in the order of :data:`PUBLISHED`."""
    alone = pair.write * round(pair.periods)
    shared = shared_io(pair, noise)
    blocked, shifted = (exclusive_delays(pair, noise, shift=shift) for shift in (False, True))
    changes = [100 * ((alone + delays[place]) / shared[place] - 1) for delays in (blocked, shifted) for place in (0, 1)]
    return np.array([*changes, 100 * (alone / shared[1] - 1), sum(blocked), sum(shifted)])


def exclusive_delays(pair: Pair, noise: Floats, *, shift: bool) -> list[float]:
    """Seconds that each application waits if one writes at a time, first come, first served."""
    turns = _Turns(pair, noise, shift=shift)
    ready, free, delays = turns.first(), 0.0, [0.0, 0.0]
    while min(ready) < math.inf:
        place = 0 if ready[0] <= ready[1] else 1
        begin = max(ready[place], free)
        delays[place] += begin - ready[place]
        free = begin + pair.write
        turns.wrote(place, free, ready)
    return delays


def shared_io(pair: Pair, noise: Floats) -> list[float]:
    """Seconds that the writes of each application take if two at once share the file system."""
    turns = _Turns(pair, noise, shift=False)
    ready, left, io_s, now = turns.first(), [0.0, 0.0], [0.0, 0.0], 0.0
    while min(ready) < math.inf or max(left) > 0:
        writing = [place for place in (0, 1) if left[place] > 0]
        rate = 1.0 / (2 * pair.slowdown) if len(writing) == 2 else 1.0
        step = min([ready[place] - now for place in (0, 1)] + [left[place] / rate for place in writing])
        now += step
        for place in writing:
            io_s[place] += step
            left[place] -= step * rate
            if left[place] <= 1e-9:
                left[place] = 0.0
                turns.wrote(place, now, ready)
        for place in (0, 1):
            if ready[place] <= now + 1e-12:
                left[place], ready[place] = pair.write, math.inf
    return io_s


class _Turns:
    """Times at which both applications are ready for their next writes."""

    def __init__(self, pair: Pair, noise: Floats, *, shift: bool) -> None:
        count = round(pair.periods)
        computing = pair.compute * (1 + pair.variation * noise[:, :count]) * np.array([[1.0], [pair.pace]])
        last = count
        if shift:
            last = min(count - 1, int(pair.shift_after * count))
            computing[0, last] = max(0.0, computing[0, last] - pair.shift)
        every = max(1, round(1 / pair.again)) if pair.again else count + 1
        self._together = frozenset(range(every - 1, last, every))
        self._computing = computing.tolist()
        self._written = [0, 0]
        self._later = pair.later

    def first(self) -> list[float]:
        """Times at which they are ready for their first writes."""
        return [self._computing[0][0], self._later + self._computing[1][0]]

    def wrote(self, place: int, now: float, ready: list[float]) -> None:
        """Set the time at which the application is ready after a write; that of both if they begin in step again."""
        done = self._written[place]
        self._written[place] = done + 1
        ready[place] = math.inf
        if done not in self._together:
            self._go_on(place, now, ready)
        elif self._written[1 - place] > done:
            for each in (0, 1):
                self._go_on(each, now, ready)

    def _go_on(self, place: int, now: float, ready: list[float]) -> None:
        if self._written[place] < len(self._computing[place]):
            ready[place] = now + self._computing[place][self._written[place]]


def _row(pair: Pair) -> Floats:
    return np.array([getattr(pair, one.name) for one in fields(pair)])


def _pair(row: Floats) -> Pair:
    return Pair(*row.tolist())


def draw(found: Mapping[str, Mapping[str, float]], folder: Path) -> list[Path]:
    """Draw the distances of each two numbers, a panel for each search; return the files."""
    from matplotlib.patches import Rectangle

    from spillway.analysis.plots.axes import set_title
    from spillway.analysis.plots.colours import PALETTE
    from spillway.analysis.plots.style import panels, save

    axes = panels(1, len(found), width=12.0, height=4.6)
    for ax, (title, values) in zip(axes, found.items(), strict=True):
        for row, one in enumerate(NAMES):
            for column, other in enumerate(NAMES[:row]):
                apart = values[f"{other} | {one}"]
                colour = PALETTE[2] if apart <= 1 else PALETTE[1]
                ax.add_patch(Rectangle((column - 0.48, row - 0.48), 0.96, 0.96, color=colour, alpha=0.35))
                words = "both" if apart <= 1 else f"{apart:.1f}" if apart < 10 else f"{apart:.0f}"
                ax.annotate(words, (column, row), ha="center", va="center", fontsize="small")
        ax.set_xlim(-0.5, len(NAMES) - 1.5)
        ax.set_ylim(len(NAMES) - 0.5, 0.5)
        ax.set_xticks(range(len(NAMES) - 1), NAMES[:-1], rotation=35, ha="right", fontsize="small")
        ax.set_yticks(range(1, len(NAMES)), NAMES[1:], fontsize="small")
        set_title(ax, f"{title}: at most {values['most']:.0f} of 7 together")
    return save(axes[0], folder / "use-case-c")


def main(folder: Path) -> None:
    """Search twice, print and draw."""
    found = {
        title: search(again=again, seed=0)
        for title, again in (("as in the paper", False), ("in step again at times", True))
    }
    for title, values in found.items():
        print(f"{title}: at most {values['most']:.0f} of 7 numbers together")
    print(*draw(found, folder), sep="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "results/malleable"))

"""Colours of jobs in charts of schedules: by waiting time, user, nodes or burst buffer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from spillway.analysis.plots.colours import NOTHING, PALETTE, RAMP
from spillway.analysis.tables.jobs import JobTable


@dataclass(frozen=True)
class Scale:
    """Steps of a quantity, each with a colour of the ramp.

    Attributes
    ----------
    title
        Name of the quantity.
    borders
        Upper ends of all steps but the last, ascending.
    names
        Names of the steps, for a legend.
    zero
        Name of the value 0, which is drawn in grey; "": 0 is in the first step.
    """

    title: str
    borders: tuple[float, ...]
    names: tuple[str, ...]
    zero: str = ""

    def colour(self, value: float) -> str:
        """Colour of a value."""
        if self.zero and value <= 0:
            return NOTHING
        return RAMP[sum(value > border for border in self.borders)]

    def legend(self) -> list[tuple[str, str]]:
        """Colours with their names."""
        return [*zip(RAMP, self.names, strict=True), *([(NOTHING, self.zero)] if self.zero else [])]


WAIT = Scale(
    "waited",
    (60.0, 600.0, 3600.0, 21_600.0, 86_400.0),
    ("≤ 1 min", "≤ 10 min", "≤ 1 h", "≤ 6 h", "≤ 1 day", "longer"),
)
SIZE = Scale("nodes", (1, 4, 16, 64, 256), ("1", "≤ 4", "≤ 16", "≤ 64", "≤ 256", "more"))
BUFFER = Scale(
    "burst buffer in all",
    (1e9, 1e10, 1e11, 1e12, 1e13),
    ("≤ 1 GB", "≤ 10 GB", "≤ 100 GB", "≤ 1 TB", "≤ 10 TB", "more"),
    zero="none",
)

_NAMED_USERS = len(PALETTE)
"""Number of users with a colour of their own: those with most jobs."""


@dataclass(frozen=True)
class JobColours:
    """Colours of a table's jobs.

    Attributes
    ----------
    title
        Their meaning.
    of_jobs
        One for each row.
    legend
        Colours with their names.
    """

    title: str
    of_jobs: Sequence[str]
    legend: Sequence[tuple[str, str]]


Colouring = Callable[[JobTable], JobColours]


def by_wait(table: JobTable) -> JobColours:
    """Colours by waiting time."""
    return _by(WAIT, table.wait_s.tolist())


def by_size(table: JobTable) -> JobColours:
    """Colours by requested compute nodes."""
    return _by(SIZE, table.nodes.tolist())


def by_buffer(table: JobTable) -> JobColours:
    """Colours by requested bytes of burst buffer, over all nodes of a job."""
    return _by(BUFFER, (table.requests * table.bb_bytes).tolist())


def by_user(table: JobTable) -> JobColours:
    """Colours by user: one for each of the users with most jobs, grey for the others."""
    most = Counter(filter(None, table.user)).most_common()
    named = {
        user: PALETTE[place]
        for place, (user, _) in enumerate(sorted(most, key=lambda item: (-item[1], item[0]))[:_NAMED_USERS])
    }
    legend = [(colour, user) for user, colour in named.items()]
    others = [(NOTHING, "others")] if any(user not in named for user in table.user) else []
    return JobColours("user", [named.get(user, NOTHING) for user in table.user], [*legend, *others])


def _by(scale: Scale, values: Sequence[float]) -> JobColours:
    return JobColours(scale.title, [scale.colour(value) for value in values], scale.legend())

"""Windows of maintenance and advance reservations, as a setting or a site states them.

References
----------
SchedMD, *Slurm Advanced Resource Reservation Guide*: reservations of nodes, licenses and burst buffers, for users and
accounts, recurring ones, the flags MAINT and FLEX.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from spillway.base.dates import date_of, seconds_of
from spillway.base.errors import OptionError, shown
from spillway.base.units import TIME
from spillway.protocol.intervals import parse_intervals
from spillway.schedulers.model.charging import Charging
from spillway.schedulers.model.job import RESERVATION_FIELD, Job
from spillway.schedulers.model.site import Site
from spillway.schedulers.model.site_parts import SHORTEST_S

_FORM = re.compile(
    r"(?P<start>\S+)\s+(?P<length>\S+)(?:\s+every\s+(?P<every>\S+))?(?:\s+nodes\s+(?P<nodes>[\d-]+(?:\s+[\d-]+)*))?"
)
_DATE = re.compile(r"\d{4}-\d\d-\d\d(T.*)?", re.ASCII)
AHEAD = 12
"""Number of next occurrences of a recurring window that passes consider."""

SAME_S = 2e-6
"""Times nearer than this are the same: messages have six decimals, and no call comes sooner."""

FLEX = "FLEX"
"""Flag of a reservation with jobs that may also run outside of it."""


@dataclass(frozen=True)
class Window:
    """Resources kept over an interval, and the jobs allowed in it.

    Attributes
    ----------
    start_s
        Begin in simulated time; below 0 if before its origin.
    length_s
        Length, at least :data:`~spillway.schedulers.model.site_parts.SHORTEST_S`.
    every_s
        Time from one begin to the next, above its length; infinite for a single window.
    nodes
        Ranges of nodes by their place in the machine, first and last; ``None``: all nodes.
    name
        Name that jobs state (field ``reservation``); "": no job may use it.
    users, accounts
        Users and accounts (with the accounts below them) of the jobs that may name it; both must hold, (): all. A minus
        sign before a name excludes it.
    pools
        Amounts of counted pools, by their names in the machine.
    bb_bytes
        Bytes of burst buffers, of each storage node in proportion to its capacity.
    flexible
        Whether its jobs may also run outside of it.
    """

    start_s: float
    length_s: float
    every_s: float = math.inf
    nodes: tuple[tuple[int, int], ...] | None = None
    name: str = ""
    users: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()
    pools: tuple[tuple[str, int], ...] = ()
    bb_bytes: int = 0
    flexible: bool = False

    def indices(self, nodes: int) -> list[int]:
        """Nodes of the window on a machine with this number of nodes."""
        if self.nodes is None:
            return list(range(nodes))
        return sorted({node for first, last in self.nodes for node in range(first, min(last + 1, nodes))})

    def coming(self, now_s: float) -> Iterator[tuple[float, float]]:
        """Begin and end of the next occurrences that have not ended (s), as many as passes consider.

        One whose rest is below the resolution of calls has ended.
        """
        now_s += SAME_S
        if self.every_s == math.inf:
            if now_s < self.start_s + self.length_s:
                yield self.start_s, self.start_s + self.length_s
            return
        first = max(0, math.floor((now_s - self.start_s - self.length_s) / self.every_s) + 1)
        for number in range(first, first + AHEAD):
            start_s = self.start_s + number * self.every_s
            yield start_s, start_s + self.length_s


def parse_windows(text: str, begins_s: float | None = 0.0) -> tuple[Window, ...]:
    """Read ``START LENGTH [every PERIOD] [nodes 0-15 20]``, several separated by ``;``.

    Parameters
    ----------
    begins_s
        Date of time 0 (s since 1970), for a date as START; ``None``: not known.

    Raises
    ------
    OptionError
        The text has another form, an invalid time, or a date while the date of time 0 is not known.
    """
    return tuple(_parse(part.strip(), begins_s) for part in text.split(";"))


_MOST_STARTS = 100
"""Most begins in a range."""


def starts_of(text: str) -> list[str]:
    """Begins of windows from the first to the last: ``3d..9d/1d``, ``2026-12-01T08:00..2026-12-07T08:00/1d``.

    Raises
    ------
    ValueError
        The text has another form, the last begin is before the first, or there are too many.
    """
    first, _, rest = text.partition("..")
    last, _, step = rest.partition("/")
    if not (first and last and step):
        raise ValueError("expected FIRST..LAST/STEP LENGTH, such as '3d..9d/1d 12h'")
    dated = bool(_DATE.fullmatch(first))
    if dated != bool(_DATE.fullmatch(last)):
        raise ValueError("expected FIRST and LAST both as times since the begin of the simulation, or both as dates")
    first_s, last_s = _start_s(first, 0.0), _start_s(last, 0.0)
    step_s = TIME.read(step)
    if not (last_s >= first_s and step_s > 0 and (last_s - first_s) / step_s < _MOST_STARTS):
        raise ValueError(f"expected LAST at or after FIRST, and at most {_MOST_STARTS} windows, a STEP above 0 apart")
    times = [first_s + number * step_s for number in range(math.floor((last_s - first_s) / step_s + 1e-9) + 1)]
    return [date_of(time_s) if dated else _written(float(f"{time_s:.10g}")) for time_s in times]


def _written(time_s: float) -> str:
    """Write a time in the largest unit in which it is whole: ``1d``, ``36h``, not ``86400s``."""
    units = (("d", 86_400), ("h", 3600), ("m", 60))
    unit, size_s = next((unit_of_time for unit_of_time in units if time_s and time_s % unit_of_time[1] == 0), ("s", 1))
    return f"{time_s / size_s:.10g}{unit}"


def has_date(text: str) -> bool:
    """Whether a text of windows states a date."""
    return any(_DATE.fullmatch(word) for word in text.split())


def _parse(text: str, begins_s: float | None) -> Window:
    found = _FORM.fullmatch(text)
    try:
        if found is None:
            raise ValueError("it has another form")
        start_s, length_s = _start_s(found["start"], begins_s), TIME.read(found["length"])
        every_s = TIME.read(found["every"]) if found["every"] else math.inf
        nodes = tuple(_range(word) for word in found["nodes"].split()) if found["nodes"] else None
        if every_s < 1:
            raise ValueError("the time from one to the next must be at least 1 s")
        if not SHORTEST_S <= length_s < every_s:
            raise ValueError(f"its length must be at least {SHORTEST_S:g} s, and below the time from one to the next")
        if begins_s is not None and every_s == math.inf and start_s + length_s <= 0:
            raise ValueError(f"it is over when the simulation begins, on {date_of(begins_s)}")
    except ValueError as error:
        raise OptionError(
            "setting maintenance must be START LENGTH [every PERIOD] [nodes 0-15 20], times since the begin of the "
            "simulation, such as '3d 12h' or '3d 4h every 14d nodes 0-15', or a date, '2026-12-01T08:00 12h', several "
            f"separated by ';'; got {shown(text)}: {error}"
        ) from None
    return Window(start_s, length_s, every_s, nodes)


def _start_s(text: str, begins_s: float | None) -> float:
    if not _DATE.fullmatch(text):
        return TIME.read(text)
    if begins_s is None:
        raise ValueError(_UNKNOWN_BEGIN)
    return seconds_of(text) - begins_s


_UNKNOWN_BEGIN = (
    "the date of the simulation's time 0 is not known: the workload does not state it, so set begins to it "
    "(--begins 2026-11-01T00:00:00)"
)
"""Error for a date without a known date of time 0."""


def _range(text: str) -> tuple[int, int]:
    first, _, last = text.partition("-")
    if not first or ("-" in text and not last) or (last and int(last) < int(first)):
        raise ValueError(f"{text!r} is no range of nodes")
    return int(first), int(last or first)


def reservations_of(site: Site, begins_s: float | None) -> tuple[Window, ...]:
    """The advance reservations of a site as windows.

    Parameters
    ----------
    begins_s
        Date of time 0 (s since 1970); ``None``: not known.

    Raises
    ------
    OptionError
        The date of time 0 is not known, and there are reservations.
    """
    found = []
    for reservation in site.reservations:
        if begins_s is None:
            raise OptionError(
                f"reservation {shown(reservation.name)} of the site begins at a date, and {_UNKNOWN_BEGIN}"
            )
        places = parse_intervals(reservation.nodes) if reservation.nodes else ()
        everything = not reservation.nodes and "ALL_NODES" in reservation.flags
        found.append(
            Window(
                reservation.start_s - begins_s,
                reservation.length_s,
                reservation.every_s or math.inf,
                None if everything else tuple((place, place) for place in places),
                reservation.name,
                reservation.users,
                reservation.accounts,
                tuple((f"license {name}", count) for name, count in reservation.licenses.items()),
                sum(size for name, size in reservation.tres.items() if name.startswith("bb/")),
                FLEX in reservation.flags,
            )
        )
    return tuple(found)


def admission(windows: Sequence[Window], site: Site | None) -> Callable[[Job], str | None]:
    """Make the check of jobs against their named reservations; without reservations the field has no effect."""
    named = {window.name: window for window in windows if window.name}
    charging = Charging(site or Site())

    def refuses(job: Job) -> str | None:
        name = reservation_of(job)
        if not named or not name:
            return None
        window = named.get(name)
        if window is None:
            return f"reservation {shown(name)} is unknown; the site has {', '.join(named)}"
        account = charging.account(job.account, job.user)
        for what, given, own, listed in (
            ("user", job.user, {job.user}, window.users),
            ("account", account, {account, *charging.above(account)}, window.accounts),
        ):
            barred = own.intersection(word[1:] for word in listed if word.startswith("-"))
            if barred:
                return f"reservation {name} is not for the {what} {min(barred)}"
            allowed = [word for word in listed if not word.startswith("-")]
            if allowed and own.isdisjoint(allowed):
                several = "s" if len(allowed) > 1 else ""
                return f"reservation {name} is for the {what}{several} {', '.join(allowed)}, not for {shown(given)}"
        return None

    return refuses


def reservation_of(job: Job) -> str:
    """The reservation that a job names, else ""."""
    return str(job.extras.get(RESERVATION_FIELD) or "")

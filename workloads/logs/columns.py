"""From a format's columns to those of a table: each cell is read once, and one that cannot be read has its reason."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from spillway.base.hostlist import expanded
from spillway.protocol.limits import LATEST_S
from spillway.workloads.logs.book import Book, Fate
from spillway.workloads.logs.lines import shown
from spillway.workloads.logs.record import MEMORY_REQUESTED, NODES_REQUESTED, NUMBERS, TEXTS
from spillway.workloads.logs.slurm_units import UNKNOWN, UNLIMITED, UnitError, count_of, seconds_of, time_of
from spillway.workloads.logs.table import CALENDAR_FROM_S, Intake, Ints
from spillway.workloads.requests.directives import Requests

NO_LIMIT = "jobs have no time limit (UNLIMITED)"
NEVER_SUBMITTED = "submission not known"
_HOUR, _WEEK_S = 3600, 604_800
_SUNDAY_S = 3 * 86_400
"""The first Sunday of 1970: clocks change in the first hours of such a day."""
_CHANGES_S = 4 * _HOUR
_SLOW_S = 60
"""Largest difference between the clocks of two computers of a site."""


class NoJobError(Exception):
    """A line that is no job of its own: the reason, and the values of its fields where they tell of other jobs."""


@dataclass(frozen=True)
class Column:
    """A column of a format.

    Attributes
    ----------
    names
        Its name, and others, between ``|``, that are read where it is missing or empty.
    fields
        Its statements, between blanks: fields of :mod:`~spillway.workloads.logs.record`, or of ``RAW``.
    read
        Reads a cell: a value, or a tuple of one for each field.
    played
        Whether runs depend on it: a line whose cell cannot be read is left out, else the value is taken as not known.
    fast
        Reads many cells at once; ``None`` where one of them needs ``read``.
    label
        Its name in errors, if it has another there.
    """

    names: str
    fields: str
    read: Callable[[str], Any]
    played: bool = False
    fast: Callable[[Sequence[Any]], Ints | None] | None = None
    label: str = ""

    def values(self, cells: Sequence[Any], faults: Faults) -> Mapping[str, Sequence[Any] | Ints]:
        """Each field with its values."""
        fields, fast = self.fields.split(), self.fast or FAST.get(self.read)
        if fast is not None and (quick := fast(cells)) is not None:
            return {fields[0]: quick}
        if isinstance(cells, np.ndarray):
            cells = cells.tolist()
        found, bad = {}, {}
        for cell in dict.fromkeys(cells):
            try:
                found[cell] = self.read(_text(cell))
            except (UnitError, NoJobError) as error:
                bad[cell] = error
                nothing = tuple(map(unknown, fields))
                found[cell] = error.args[1] if len(error.args) > 1 else nothing if len(fields) > 1 else nothing[0]
        for row, cell in enumerate(cells) if bad else ():
            if cell in bad:
                faults.add(row, self, _text(cell), bad[cell])
        columns = list(map(found.__getitem__, cells))
        if len(fields) == 1:
            return {fields[0]: columns}
        return dict(zip(fields, zip(*columns, strict=True), strict=True))

    def headings(self) -> list[str]:
        """Its names, in lower case."""
        return self.names.lower().split("|")


def of(read: Callable[[str], Any], played: bool = True, /, **columns: str) -> tuple[Column, ...]:
    """Columns that are read alike: the names of each by its field."""
    return tuple(Column(names, field, read, played) for field, names in columns.items())


def _text(cell: Any) -> str:
    return cell.strip() if isinstance(cell, str) else "" if cell is None or cell != cell else str(cell)


RAW = (
    *("wait_s", "elapsed_s", "suspended_s", "wanted_nodes", "node_memory", "core_memory", "used_core_memory"),
    *("used_memory", "array_limit", "think_s", "dependency_number"),
)
"""Numbers that fields of a record are made of."""

_OBJECTS = {"requests": Requests()}


def unknown(name: str) -> Any:
    """Value of a field that is not known."""
    return "" if name in TEXTS else _OBJECTS.get(name, -1)


@dataclass
class Faults:
    """Cells of some rows that cannot be read.

    Attributes
    ----------
    lines
        Number of each row's line.
    lenient
        Whether a cell that cannot be read is taken as not known.
    """

    lines: Sequence[int]
    lenient: bool
    no_job: dict[int, str] = field(default_factory=dict)
    unreadable: dict[int, tuple[str, str]] = field(default_factory=dict)
    repaired: dict[str, set[int]] = field(default_factory=dict)

    def add(self, row: int, column: Column, text: str, error: Exception) -> None:
        """Keep the reason of a row; the first counts."""
        name = column.label or column.names.partition("|")[0]
        if isinstance(error, NoJobError):
            self.no_job.setdefault(row, error.args[0])
        elif column.fields.split()[0] in ("number", "submit_s") or (column.played and not self.lenient):
            self.unreadable.setdefault(row, (f"{name} cannot be read", f"{name} must be {error}, got {shown(text)}"))
        else:
            self.repair(f"{name} cannot be read: taken as not known", row)

    def repair(self, reason: str, *rows: int) -> None:
        """Count rows as repaired."""
        if rows:
            self.repaired.setdefault(reason, set()).update(rows)


class Values(dict[str, Any]):
    """Fields of some rows; those that a format does not state are not known."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self._count = count

    def __missing__(self, name: str) -> Any:
        return [""] * self._count if name in TEXTS else np.broadcast_to(np.int64(-1), self._count)


def read_cells(columns: Sequence[Column], cells: Mapping[str, Any], faults: Faults) -> Values:
    """Fields of some rows, from their cells by the names of columns."""
    raw = Values(len(faults.lines))
    for column in columns:
        stated = [cells[heading] for heading in column.headings() if heading in cells]
        for found in stated[:1] if column.fields.startswith("number") else stated:
            for target, values in column.values(found, faults).items():
                raw[target] = values if target not in raw else _either(target, raw[target], values)
    for name in (*NUMBERS, *RAW):
        if name in raw and not isinstance(raw[name], np.ndarray):
            raw[name] = _whole(name, raw[name], faults)
    return raw


def _whole(name: str, values: Sequence[int], faults: Faults) -> Ints:
    try:
        return np.array(values, dtype=np.int64)
    except OverflowError:
        for row, value in enumerate(values):
            if not -(2**63) <= value < 2**63:
                faults.unreadable.setdefault(row, (f"{name} too large", f"{name} must be a number of at most 63 bits"))
        return np.array([value if -(2**63) <= value < 2**63 else -1 for value in values], dtype=np.int64)


def _either(name: str, first: Any, second: Any) -> Any:
    """The first of two columns' values where it is known, else the second."""
    if name in NUMBERS or name in RAW:
        found, other = np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64)
        return np.where(found > 0, found, np.maximum(found, other))
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        return np.where(first >= 0, first, second)
    nothing = (unknown(name), -1)
    return [other if value in nothing else value for value, other in zip(first, second, strict=True)]


def records_of(raw: Values, faults: Faults, intake: Intake) -> dict[str, Any]:
    """The fields of a record, from those that a format states: one rule for all formats."""
    submit, elapsed, limit, wait, paused = (
        raw[f"{name}_s"] for name in ("submit", "elapsed", "requested", "wait", "suspended")
    )
    start = np.where(wait >= 0, submit + wait, raw["start_s"])
    start, end = _clock_went_back(submit, start, raw["end_s"], faults)
    start = _contradictions(submit, start, end, elapsed, faults)
    run = np.where(elapsed >= 0, elapsed, np.where((start >= 0) & (end >= start), end - start, -1))
    follows = (end < 0) & (start >= 0) & (run >= 0) & ((wait >= 0) | (paused > 0))
    intake.unlimited += int((limit == UNLIMITED).sum())
    nodes, wanted = raw["nodes"], raw["wanted_nodes"]
    asked_only = (nodes <= 0) & ((wanted > 0) | ("wanted_nodes" in raw and "nodes" not in raw))
    nodes = _listed(raw, np.where(nodes > 0, nodes, np.maximum(wanted, nodes)), faults)
    memory, marks = _memory(raw, nodes)
    limited = np.flatnonzero(raw["array_limit"] > 0).tolist()
    intake.limited_arrays |= {int(raw["number"][row]): int(raw["array_limit"][row]) for row in limited}
    return {name: raw[name] for name in (*NUMBERS, *TEXTS)} | {
        "start_s": start,
        "end_s": np.where(follows, start + run + np.maximum(paused, 0), end),
        "run_s": run,
        "requested_s": np.where(limit == UNLIMITED, -1, limit),
        "nodes": nodes,
        "memory_bytes": memory,
        "burst_buffer_bytes": _buffers(raw, nodes, faults),
        "marks": marks | np.where(asked_only, NODES_REQUESTED, 0),
        "dependency": _after(raw["dependency_number"], raw["think_s"]) if "think_s" in raw else raw["dependency"],
    }


def _listed(raw: Values, nodes: Ints, faults: Faults) -> Ints:
    """Nodes; of rows that state only a list of them, its length."""
    lists = raw.get("node_list")
    if lists is None or (nodes > 0).all():
        return nodes
    found, lengths = nodes.copy(), dict.fromkeys(lists, 0)
    for text in lengths:
        with contextlib.suppress(ValueError):
            lengths[text] = len(expanded(text))
    rows = [row for row in np.flatnonzero(nodes <= 0).tolist() if lengths[lists[row]]]
    found[rows] = [lengths[lists[row]] for row in rows]
    if rows:
        faults.repair("no number of nodes: counted in the list of its nodes", *rows)
    return found


def _clock_went_back(submit: Ints, start: Ints, end: Ints, faults: Faults) -> tuple[Ints, Ints]:
    """Starts and ends in local times, moved on an hour where the clock went back between two of them; not far apart
    otherwise, a start is that of a computer whose clock is slow: the job starts when it is submitted."""

    def is_changing(times: Ints) -> npt.NDArray[np.bool_]:
        return (times > CALENDAR_FROM_S) & ((times - _SUNDAY_S) % _WEEK_S < _CHANGES_S)

    slow = (start >= 0) & (start < submit) & (start >= submit - _SLOW_S)
    end = np.where(slow & (end >= 0), end + submit - start, end)
    start = np.where(slow, submit, start)
    before = is_changing(submit) & (start >= 0) & (start < submit) & (start >= submit - _HOUR)
    start = np.where(before, start + _HOUR, start)
    end = np.where(before & (end >= 0), end + _HOUR, end)
    over = is_changing(start) & (end >= 0) & (end < start) & (end >= start - _HOUR)
    went_back = "times go back by less than an hour, as when clocks change: the later ones are moved on"
    faults.repair(went_back, *np.flatnonzero(before | over).tolist())
    slowly = "the job starts less than a minute before its submission: taken as submitted then"
    faults.repair(slowly, *np.flatnonzero(slow).tolist())
    return start, np.where(over, end + _HOUR, end)


def _contradictions(submit: Ints, start: Ints, end: Ints, elapsed: Ints, faults: Faults) -> Ints:
    """Starts; of rows that start before their submission, or end before their start without a duration, none."""
    early = (start >= 0) & (start < submit)
    for row in np.flatnonzero(early | ((elapsed < 0) & (start >= 0) & (end >= 0) & (end < start))).tolist():
        what, by = ("starts", "submission") if early[row] else ("ends", "start")
        much = submit[row] - start[row] if early[row] else start[row] - end[row]
        words = f"the job {what} {much} s before its {by}"
        if faults.lenient:
            faults.repair(f"the job {what} before its {by}: taken as not known", row)
        else:
            faults.unreadable.setdefault(row, (f"the job {what} before its {by}", words))
    return np.where(early, -1, start)


def _memory(raw: Values, nodes: Ints) -> tuple[Ints, Ints]:
    """Bytes of memory of whole jobs, and the bit of those that are requests."""
    cores = np.maximum(np.maximum(raw["requested_processors"], raw["allocated_processors"]), 1)
    asked, used = raw["memory_bytes"], raw["used_memory"]
    for name, parts in (("node_memory", np.maximum(nodes, 1)), ("core_memory", cores)):
        asked = np.where(asked >= 0, asked, _product(raw[name], parts)) if name in raw else asked
    used = _product(raw["used_core_memory"], cores) if "used_core_memory" in raw else used
    return np.where(asked >= 0, asked, used), np.where(asked >= 0, MEMORY_REQUESTED, 0)


def _product(bytes_each: Ints, times: Ints) -> Ints:
    product = np.minimum(bytes_each.astype(np.float64) * times, 2.0**62 - 1024).astype(np.int64)
    return np.where(bytes_each > 0, product, -1)


def _buffers(raw: Values, nodes: Ints, faults: Faults) -> Ints:
    """Bytes of burst buffers: counted as resources, else by directives; 0: none although the log states such."""
    if "requests" not in raw:
        return raw["burst_buffer_bytes"]  # type: ignore[no-any-return]
    asked, found = raw["requested_processors"], raw["burst_buffer_bytes"].copy()
    processors = np.where(asked > 0, asked, raw["allocated_processors"])
    sizes = np.maximum(np.where(nodes > 0, nodes, processors), 1)
    for row, requests in enumerate(raw["requests"]):
        if requests.buffers and found[row] <= 0:
            found[row] = requests.total_bytes(int(sizes[row]))
            if requests.per_node and nodes[row] <= 0:
                faults.repair("a buffer on each node, and no number of nodes: each processor has one", row)
    sized: Ints = np.maximum(found, 0)
    return sized


def _after(preceding: Sequence[int] | Ints, think_s: Ints) -> list[Any]:
    """Dependencies on preceding jobs, with the think time of the user after these."""
    return [
        f"afterany:{number}+{think}s" if number > 0 and think > 0 else number
        for number, think in zip(np.asarray(preceding).tolist(), think_s.tolist(), strict=True)
    ]


def settled(made: Mapping[str, Any], faults: Faults, book: Book) -> npt.NDArray[np.bool_]:
    """Count the rows in the book by their fates; returns the mask of those that become jobs."""
    for row in np.flatnonzero(np.asarray(made["submit_s"]) < 0).tolist():
        faults.no_job.setdefault(row, NEVER_SUBMITTED)
    left = faults.no_job.keys() | faults.unreadable.keys()
    kept = np.ones(len(faults.lines), dtype=bool)
    kept[list(left)] = False
    size = np.where(made["nodes"] > 0, made["nodes"], made["allocated_processors"])
    node_s = np.maximum(size, 0).astype(np.float64) * np.maximum(made["run_s"], 0)
    for row in sorted(left):
        if row in faults.unreadable:
            reason, words = faults.unreadable[row]
            book.unreadable(reason, faults.lines[row], words, 1, float(node_s[row]))
        else:
            reason = faults.no_job[row]
            book.add(Fate.LEFT_OUT, reason, 1, int(reason == NEVER_SUBMITTED))
    mended: set[int] = set()
    for reason, rows in faults.repaired.items():
        if rows := rows - left:
            entry = book.add(Fate.REPAIRED, reason, len(rows), len(rows), float(node_s[list(rows)].sum()))
            entry.examples[:] = entry.examples or [str(faults.lines[min(rows)])]
        mended |= rows
    plain = int(kept.sum()) - len(mended)
    book.add(Fate.READ, "as written", plain, plain)
    return kept


# ----------------------------------------------------------------- readers of cells that several formats have


def name(text: str) -> str:
    """A name; "" where it is not known."""
    return "" if text.lower() in UNKNOWN or text == "None assigned" else text


_WHOLE = frozenset({str, int})
"""Types of cells of which int() makes no other number; Boolean values and fractions are read one by one."""


def _is_float(cell: Any) -> bool:
    return type(cell) is float


def fast_whole(cells: Sequence[Any], least: int = -1, most: int = 2**53) -> Ints | None:
    """Whole numbers of a range, all at once."""
    if isinstance(cells, np.ndarray):
        return cells if cells.min() >= least and cells.max() <= most else None
    try:
        joined = "".join(cells) if cells and isinstance(cells[0], str) else ""
        if not joined.isascii() or "_" in joined:  # int() reads digits of other scripts, and underscores
            return None
        kinds = set(map(type, cells)) - _WHOLE
        if kinds and (kinds != {float} or not all(map(float.is_integer, filter(_is_float, cells)))):
            return None
        found = np.array(list(map(int, cells)), dtype=np.int64)
    except (ValueError, TypeError, OverflowError):
        return None
    return found if not len(found) or (found.min() >= least and found.max() <= most) else None


def fast_times(cells: Sequence[Any]) -> Ints | None:
    """Times as Slurm writes them, all at once."""
    try:
        if any(len(cell) != 19 or cell[13] != ":" or cell[16] != ":" for cell in cells):
            return None
        found = np.array(cells, dtype="datetime64[s]").astype(np.int64)
    except (ValueError, TypeError, IndexError):
        return None
    return found if len(found) and found.min() > 86_400 and found.max() < 2**33 else None


FAST: Mapping[Callable[[str], Any], Callable[[Sequence[Any]], Ints | None]] = {
    time_of: fast_times,
    count_of: fast_whole,
    seconds_of: partial(fast_whole, most=int(LATEST_S)),
}
"""Readers of many cells at once, by those of one."""

"""The book of a log's lines: how many were read, repaired or left out, with their jobs and node-hours, by reason."""

from __future__ import annotations

import copy
import enum
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from spillway.base.units import many
from spillway.workloads.errors import WorkloadError

UNREADABLE = 0.01
"""Largest share of lines that may be unreadable, unless an option states another."""

_EXAMPLES = 3
_HOPELESS = 1_000
"""Unreadable lines after which a log is given up as soon as they are the larger part."""


class Fate(enum.Enum):
    """Fate of a line."""

    READ = "read"
    REPAIRED = "repaired"
    LEFT_OUT = "left out"
    UNREADABLE = "unreadable"


@dataclass
class Entry:
    """Lines of one fate and reason.

    Attributes
    ----------
    lines, jobs
        Their number, and the number of jobs among them.
    node_s
        Node-seconds of these jobs, where the line states them.
    examples
        The first of them: line, and its fault.
    """

    fate: Fate
    reason: str
    lines: int = 0
    jobs: int = 0
    node_s: float = 0.0
    examples: list[str] = field(default_factory=list)


class Book:
    """All lines of a log with a fate; comments, headers and empty lines are none.

    Parameters
    ----------
    where
        Name of the log in errors.
    """

    def __init__(self, where: str) -> None:
        self.where = where
        self.lines = 0
        self._entries: dict[tuple[Fate, str], Entry] = {}

    def copy(self) -> Book:
        """A book that goes on from here."""
        return copy.deepcopy(self)

    def add(self, fate: Fate, reason: str, lines: int = 1, jobs: int = 0, node_s: float = 0.0) -> Entry:
        """Count lines; returns their entry."""
        entry = self._entries.setdefault((fate, reason), Entry(fate, reason))
        entry.lines += lines
        entry.jobs += jobs
        entry.node_s += node_s
        return entry

    def unreadable(self, reason: str, line: int, words: str, jobs: int = 1, node_s: float = 0.0) -> None:
        """Count a line that cannot be read.

        Raises
        ------
        WorkloadError
            More than a thousand cannot, the larger part of all: this is no log of the format.
        """
        entry = self.add(Fate.UNREADABLE, reason, 1, jobs, node_s)
        if len(entry.examples) < _EXAMPLES:
            entry.examples.append(f"{line}: {words}")
        if entry.lines > _HOPELESS and entry.lines * 2 > self.lines:
            self.settle(0.0, "")

    def settle(self, share: float, remedy: str) -> None:
        """Refuse the log if more than a share of its lines cannot be read.

        Raises
        ------
        WorkloadError
            With the first three of them, and the remedy.
        """
        bad = list(self.entries(Fate.UNREADABLE))
        count = sum(entry.lines for entry in bad)
        if not count or count <= share * self.lines:
            return
        examples = (example.partition(": ") for entry in bad for example in entry.examples)
        first, *others = sorted((int(line), words) for line, _, words in examples)[:_EXAMPLES]
        more = "".join(f"; line {line}: {words}" for line, words in others)
        lines = f"{many(count, 'line', 'lines')} of {max(self.lines, count):,}"
        of = f"{lines} cannot be read (more than {100 * share:g} %)"
        raise WorkloadError(f"{first[1]}{more}; {of}{remedy}", f"{self.where}:{first[0]}")

    def entries(self, *fates: Fate) -> Iterator[Entry]:
        """Entries of some fates (default: all), in order of their first line."""
        return (entry for entry in self._entries.values() if entry.lines and (not fates or entry.fate in fates))

    def move(self, reason: str, jobs: int, node_s: float = 0.0) -> None:
        """Count jobs that were read, and are left out all the same."""
        self.add(Fate.LEFT_OUT, reason, jobs, jobs, node_s)
        self.add(Fate.READ, "as written", -jobs, -jobs)

    def rows(self) -> list[dict[str, object]]:
        """The entries as a record keeps them."""
        return [
            {"fate": entry.fate.value, "reason": entry.reason, "lines": entry.lines, "jobs": entry.jobs,
             "node_h": round(entry.node_s / 3600, 3), "examples": entry.examples}
            for entry in self.entries()
        ]  # fmt: skip

    def left_out(self) -> dict[str, int]:
        """Lines that are not among the jobs, by reason."""
        return {entry.reason: entry.lines for entry in self.entries(Fate.LEFT_OUT, Fate.UNREADABLE)}

    def said(self, *fates: Fate, node_s: float = 0.0) -> Iterator[str]:
        """A line for each entry of some fates (default: all); ``node_s``: node-seconds of the jobs that are played."""
        return said(self.rows(), node_s / 3600, *fates)


def said(rows: Sequence[Mapping[str, Any]], node_h: float, *fates: Fate) -> Iterator[str]:
    """A line for each row of a book (:meth:`Book.rows`); ``node_h``: node-hours of the jobs that are played."""
    lost = {Fate.LEFT_OUT.value, Fate.UNREADABLE.value}
    all_h = node_h + sum(row["node_h"] for row in rows if row["fate"] in lost)
    for row in rows:
        if fates and Fate(row["fate"]) not in fates:
            continue
        hours = f", {100 * row['node_h'] / all_h:.3g} % of the node-hours" if row["node_h"] and all_h else ""
        example = f" (such as line {row['examples'][0]})" if row["examples"] else ""
        yield f"{row['fate']} {many(row['lines'], 'line', 'lines')}{hours}: {row['reason']}{example}"

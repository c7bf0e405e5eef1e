"""Mutants that no test can notice, each with the reason: :mod:`tools.mutants` leaves them out of its scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Equivalent(NamedTuple):
    """Changes of a line that make no difference.

    Attributes
    ----------
    line
        A part of the lines that are changed.
    changes
        Each as the tool prints it, without the line's number.
    reason
        Reason why they make no difference.
    """

    line: str
    changes: tuple[str, ...]
    reason: str

    def covers(self, line: str, change: str) -> bool:
        """Whether a change of a line is one of these."""
        return self.line in line and change in self.changes


_ONE_AT_A_TIME = "the server handles no request while a message to it is on its way"

EQUIVALENT: Mapping[str, Sequence[Equivalent]] = {
    "simulator/world/power.py": (
        Equivalent(
            "if switch.target == target and number in switch.left:",
            ("switch.target == target and number in switch.left -> number in switch.left",),
            _ONE_AT_A_TIME,
        ),
    ),
}
"""By file, as the tool names it."""

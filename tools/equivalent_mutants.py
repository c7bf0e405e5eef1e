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


_FIRST_LOOK = "cases that pass this first check are refused later"
_ONE_AT_A_TIME = "the server handles no request while a message to it is on its way"
_SIGN = "a number below 0 means no handle or timer; its value is never read"

EQUIVALENT: Mapping[str, Sequence[Equivalent]] = {
    "simulator/jobs/execution.py": (
        Equivalent(".handle = -1", ("1 -> 2",), _SIGN),
        Equivalent("job.timer = -1", ("1 -> 2",), _SIGN),
        Equivalent("class Start(", ("True -> False", "False -> True"), "starts are neither changed nor compared"),
        Equivalent(
            "if self._outputs.traced:",
            ("self._outputs.traced -> True",),
            "saves a call: without traces it writes nothing",
        ),
        Equivalent("if self._new:", ("self._new -> True",), "saves a call: starting no tasks does nothing"),
        Equivalent("strict=True", ("True -> False",), "both have the same length"),
        Equivalent("4 * math.ulp", ("4 -> 5",), "roundings of the clock are one or two units"),
        Equivalent(
            "if budget > 0:",
            ("budget > 0 -> True", "budget > 0 -> budget >= 0"),
            "without a walltime it is below 0 and stays there; at 0 no wait is shorter",
        ),
        Equivalent(
            "self._meter is not None and job.allocation is not None",
            ("self._meter is not None and job.allocation is not None -> self._meter is not None",),
            "a job that has waited has machines",
        ),
        Equivalent(
            "if job.timer >= 0:",
            ("0 -> 1", "job.timer >= 0 -> True", "job.timer >= 0 -> job.timer > 0"),
            "timers count from 1, and removing one that never existed does nothing",
        ),
        Equivalent("if job.state is JobState.RUNNING:", ("job.state is JobState.RUNNING -> True",), _ONE_AT_A_TIME),
    ),
    "simulator/world/power.py": (
        Equivalent(
            "if switch.target == target and number in switch.left:",
            ("switch.target == target and number in switch.left -> number in switch.left",),
            _ONE_AT_A_TIME,
        ),
    ),
    "schedulers/timeline/fit_kernels.py": (
        Equivalent(
            "outside = len(machine.node_link) - work[BELOW, column]",
            ("len(machine.node_link) - work[BELOW, column] -> len(machine.node_link) + work[BELOW, column]",),
            _FIRST_LOOK,
        ),
        Equivalent(
            "rows[segment, FREE_BYTES] < demand.requests * demand.bb_bytes",
            ("demand.requests * demand.bb_bytes -> demand.requests / demand.bb_bytes",),
            _FIRST_LOOK,
        ),
    ),
}
"""By file, as the tool names it."""

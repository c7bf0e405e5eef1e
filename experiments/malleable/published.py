"""What the paper states as numbers, and whether ours agree.

Singh & Carretero, *Combining malleability and I/O control mechanisms to enhance the execution of multiple
applications*, J. Syst. Softw. 148, 2019 (DOI 10.1016/j.jss.2018.11.006). Nothing is read off its figures. The
tolerances are ours: the experiments are reproduced in kind, on a simulated machine.
"""

from __future__ import annotations

import csv
import enum
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

PUBLISHED = Path(__file__).with_name("published.csv")


class Verdict(enum.Enum):
    """Whether a value agrees with the paper's."""

    KEPT = "kept"
    MISSED = "missed"
    MISSING = "not run"


@dataclass(frozen=True, slots=True)
class Published:
    """One statement.

    Attributes
    ----------
    name
        Name of our measure.
    value
        The paper's statement.
    rule
        ``within``: ours may differ by the tolerance; ``at most``, ``at least``: ours is as good or better.
    tolerance, unit
        In the value's unit.
    section, statement
        Where the paper has it, and its text.
    fitted
        Whether a parameter of ours was chosen to give this value: then agreement is no result.
    """

    name: str
    value: float
    rule: str
    tolerance: float
    unit: str
    section: str
    statement: str
    fitted: bool = False

    def judge(self, ours: float | None) -> Verdict:
        """Compare our value with the paper's."""
        if ours is None or not math.isfinite(ours):
            return Verdict.MISSING
        return Verdict.KEPT if _RULES[self.rule](ours, self.value, self.tolerance) else Verdict.MISSED


_NOISE = 1e-9
_RULES: Mapping[str, Callable[[float, float, float], bool]] = {
    "within": lambda ours, value, tolerance: abs(ours - value) <= tolerance + _NOISE,
    "at most": lambda ours, value, tolerance: ours <= value + tolerance + _NOISE,
    "at least": lambda ours, value, tolerance: ours >= value - tolerance - _NOISE,
}


def read_published(path: Path = PUBLISHED) -> list[Published]:
    """Read the statements, in the paper's order."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        return [
            Published(
                row["name"],
                float(row["value"]),
                row["rule"],
                float(row["tolerance"]),
                row["unit"],
                row["section"],
                row["statement"],
                row["fitted"] == "yes",
            )
            for row in rows
        ]

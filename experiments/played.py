"""What every player leaves: files with one prefix, and what playing cost."""

from __future__ import annotations

from dataclasses import dataclass

PREFIX = "out"
"""Export prefix inside a run's folder; the files lose it in the end."""


@dataclass(frozen=True)
class Played:
    """What playing cost.

    Attributes
    ----------
    simulator_cpu_s
        CPU seconds of everything but the scheduler's answers.
    other_rss_bytes
        Memory of the simulator's process where it is another one.
    """

    simulator_cpu_s: float
    other_rss_bytes: int = 0

"""Singh & Carretero 2019, sections 2 and 5.1: colliding I/O phases, and the effects of blocking, shifting, coupling.

Tolerances follow from the paper's own repetitions: its I/O phases came up to 0.9 s off their predictions (1 s for
times, but no more than half of the value, so that 0 never agrees), three repetitions ended with 57, 59 and 59
processes (1 process), percentages are whole (0.5).
"""

from __future__ import annotations

from pathlib import Path

from spillway.experiments.studies.description import read_study
from spillway.experiments.studies.malleable import four
from spillway.experiments.studies.malleable.cases import play
from spillway.experiments.studies.malleable.figures import Shift
from spillway.experiments.studies.study import ComputedPoints

STUDY = read_study(
    Path(__file__).with_name("study.toml"),
    ComputedPoints(play, batch=4),
    figures=[Shift("figure-13")],
)

SHARING = read_study(Path(__file__).with_name("sharing.toml"), ComputedPoints(four.play, batch=4))
"""Sections 5.2 and 7: idle processes shared among four applications by three rules. Percentages are whole in the paper,
so 0.5 are allowed on both sides; everything else that it states is an order."""

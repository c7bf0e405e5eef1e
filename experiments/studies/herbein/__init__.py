"""The evaluation of Herbein et al. (HPDC 2016): I/O-aware against I/O-ignorant scheduling on CTS-1."""

from pathlib import Path

from spillway.experiments.studies.description import read_study
from spillway.experiments.studies.herbein.logs import LOGS
from spillway.experiments.studies.herbein.play import inputs, play, policies
from spillway.experiments.studies.local_logs import at_hand_on
from spillway.experiments.studies.points import Point
from spillway.experiments.studies.study import ComputedPoints


def _as_played(point: Point) -> Point:
    """The point without the purpose of its test and the order of its axes, which have no effect."""
    return Point(tuple(sorted(point.replaced(test="levels").axes)))


STUDY = read_study(
    Path(__file__).with_name("study.toml"),
    ComputedPoints(play, inputs, policies, batch=10, same=_as_played),
    has=at_hand_on("log", LOGS),
)
